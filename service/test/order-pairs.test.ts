import { expect, test } from "vitest";
import { operations } from "../src/api/operations.ts";
import { isSecretKept, misses } from "./fault-answers.ts";
import { useWorld } from "./fault-world.ts";
import { faultsOf } from "./faults.ts";
import { useService } from "./harness.ts";

const service = useService();
const world = useWorld(service);

const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

test.each(table)("%s: of two faults the earlier check decides the response, and nothing changes", async (_at, operation) => {
  const all = faultsOf(operation);
  const pairs = all.flatMap((one) => all.filter((two) => one.check < two.check).map((two) => [one, two]));
  expect(await misses(world.current, operation, pairs)).toEqual([]);
  expect(await isSecretKept(world.current)).toBe(true);
});
