import { expect, test } from "vitest";
import { countTests } from "./suites.ts";

test("proof on a cluster: counts the tests of all runs, and those that failed", () => {
  const output = `
 Test Files  1 failed | 32 passed (33)
      Tests  3 failed | 812 passed (815)
   Duration  210.03s

 Test Files  1 passed (1)
      Tests  204 passed (204)
`;
  expect(countTests(output)).toEqual({ files: 34, tests: 1_019, failed: 3 });
});
