import { expect, test } from "vitest";
import { maturedLabel, maturityMs } from "./maturity.ts";

const dayMs = 24 * 60 * 60 * 1000;

test.each([
  ["no delays are known", { count: 0, p95Ms: 0 }, 30],
  ["49 delays are known", { count: 49, p95Ms: 7 * dayMs }, 30],
  ["50 delays are known", { count: 50, p95Ms: 7 * dayMs }, 7],
  ["frauds are reported within minutes", { count: 500, p95Ms: 60_000 }, 1],
  ["some are reported after a year", { count: 500, p95Ms: 365 * dayMs }, 60],
])("maturity time if %s", (_name, delays, days) => {
  expect(maturityMs(delays)).toBe(days * dayMs);
});

const now = Date.parse("2026-11-15T00:00:00.000Z");
const old = { at: now - 30 * dayMs, score: 1, hasCase: false, isDeclined: false, isImported: false };

test.each([
  ["an old activity is honest", {}, 0],
  ["one that scored 2 is too", { score: 2 }, 0],
  ["a young activity is unknown", { at: now - 30 * dayMs + 1 }, null],
  ["one in the future is unknown", { at: now + dayMs }, null],
  ["a declined payment is unknown", { isDeclined: true }, null],
  ["evidence in a case is unknown", { hasCase: true }, null],
  ["one that repeated the evidence of a case is unknown", { score: 3 }, null],
  ["an imported one is honest whatever its score, because nobody acted on it", { score: 5, isImported: true }, 0],
])("maturity: %s", (_name, more, wanted) => {
  expect(maturedLabel({ ...old, ...more }, { now, matureMs: 30 * dayMs })).toBe(wanted);
});
