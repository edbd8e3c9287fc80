import { expect, test } from "vitest";
import { cuts } from "./cuts.ts";
import { proveShort } from "./prove.ts";

test("proof of cuts: a change cut off at COMMIT has one outcome, which the same key returns", async () => {
  const figures = await proveShort(cuts);
  expect(figures["cuts"]).toBeGreaterThanOrEqual(60);
  expect(figures["found by a replay to have been applied"]).toBeGreaterThan(0);
});
