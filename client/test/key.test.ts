import { expect, test } from "vitest";
import { newKey } from "../src/index.ts";

test("newKey: returns a new UUID version 7 with the current time on each call", () => {
  const before = Date.now();
  const keys = Array.from({ length: 1000 }, newKey);
  const times = keys.map((key) => Number.parseInt(key.slice(0, 8) + key.slice(9, 13), 16));
  expect(new Set(keys).size).toBe(1000);
  expect(keys.filter((key) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(key))).toEqual([]);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(before);
  expect(Math.max(...times)).toBeLessThanOrEqual(Date.now());
});
