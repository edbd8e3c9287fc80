import { expect, test } from "vitest";
import { nextPagesMax } from "./page-batches.ts";

test("page batches: a batch that takes too long makes the next one as small as its time allows, but never tiny", () => {
  expect(nextPagesMax(1_000, { scored: 1_000, tookMs: 1_000 })).toBe(250);
  expect(nextPagesMax(1_000, { scored: 400, tookMs: 500 })).toBe(200);
  expect(nextPagesMax(250, { scored: 250, tookMs: 60_000 })).toBe(50);
});

test("page batches: a full batch that was quick makes the next one larger, up to the limit", () => {
  expect(nextPagesMax(50, { scored: 50, tookMs: 50 })).toBe(250);
  expect(nextPagesMax(250, { scored: 400, tookMs: 50 })).toBe(1_000);
});

test("page batches: a quick batch that was not full changes nothing", () => {
  expect(nextPagesMax(1_000, { scored: 3, tookMs: 20 })).toBe(1_000);
  expect(nextPagesMax(100, { scored: 0, tookMs: 0 })).toBe(100);
});
