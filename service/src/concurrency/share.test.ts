import { afterEach, expect, test } from "vitest";
import { partOf, shareLimits } from "./share.ts";

afterEach(() => shareLimits(1));

test("shares: one process has the whole limit, and the shares of several never exceed it", () => {
  expect([partOf(64), partOf(1), partOf(Infinity)]).toEqual([64, 1, Infinity]);
  for (const processes of [2, 3, 4, 7, 16]) {
    shareLimits(processes);
    for (const limit of [64, 100, 128, 2_000]) {
      expect(partOf(limit) * processes).toBeLessThanOrEqual(limit);
      expect(partOf(limit)).toBeGreaterThanOrEqual(4);
    }
    expect(partOf(Infinity)).toBe(Infinity);
  }
});

test("shares: a process always gets what it needs in order to work", () => {
  shareLimits(16);
  expect([partOf(2), partOf(32, 16), partOf(8, 16)]).toEqual([1, 16, 8]);
});
