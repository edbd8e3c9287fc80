import { expect, test } from "vitest";
import { errorShown } from "./log.ts";

test("log: an error shows what went wrong, but not the data that could not be read", () => {
  const outer = new Error("A batch failed.", { cause: Object.assign(new Error('bad value: "user-42"'), { code: "22P02" }) });
  const text = JSON.stringify(errorShown(outer));
  expect(text).toContain("A batch failed.");
  expect(text).toContain("22P02");
  expect(text).not.toContain("user-42");
  let parsing: unknown;
  try {
    JSON.parse("user-42");
  } catch (error) {
    parsing = error;
  }
  expect(String(parsing)).toContain("user-42");
  expect(JSON.stringify(errorShown(parsing))).toMatch(/SyntaxError/);
  expect(JSON.stringify(errorShown(parsing))).not.toContain("user-42");
});
