import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { readWorkers } from "./worker-count.ts";

test("workers: one by default, and `auto` is one for each core, up to 16", () => {
  expect(readWorkers(null)).toEqual({ count: 1, isAuto: false });
  expect(readWorkers("12")).toEqual({ count: 12, isAuto: false });
  expect(readWorkers("auto")).toEqual({ count: Math.min(availableParallelism(), 16), isAuto: true });
});
