import { expect, test } from "vitest";
import { cuts } from "./cuts.ts";
import { proveShort } from "./prove.ts";

test("proof of cuts: whatever is cut off at COMMIT has one outcome, which the same key tells", async () => {
  const figures = await proveShort(cuts);
  expect(figures["cuts"]).toBeGreaterThanOrEqual(60);
  expect(figures["told by a replay that they had been applied"]).toBeGreaterThan(0);
});
