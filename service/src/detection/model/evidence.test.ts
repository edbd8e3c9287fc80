import { array, assert, boolean, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { leastShare, offsetMax, type Judged } from "./evidence.ts";

const threshold = 2.5;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const row = (more: Partial<Judged>): Judged => {
  return { day: "2026-11-01", account: "a", isFraud: false, evidence: 1, score: 0, rules: 0, ...more };
};
// `count` accounts with scores just below `score`, of which the first `frauds` were frauds.
const band = (name: string, score: number, [frauds, count]: [number, number]): Judged[] =>
  numbers(count).map((index) => row({ account: `${name}-${index}`, isFraud: index < frauds, score: score - index / 1000 }));
// The lowest score that reaches the threshold.
const lowestWith = (rows: Judged[]) => threshold - offsetMax(rows, threshold);

test("evidence: the threshold is at the lowest score at which most accounts were frauds", () => {
  const rows = [
    ...band("high", 3, [20, 20]),
    ...band("middle", 1, [9, 10]),
    ...band("low", -1, [3, 10]),
    ...band("base", -5, [0, 500]),
  ];
  expect(lowestWith(rows)).toBeCloseTo(0.991);
});

test("evidence: sure frauds with high scores say nothing about lower scores", () => {
  // Together, 100 of 140 would be frauds.
  const rows = [...band("sure", 6, [100, 100]), ...band("doubtful", 1, [0, 40])];
  expect(lowestWith(rows)).toBeGreaterThan(5.5);
});

test("evidence: a model with a short record opens no case by itself, even if all that it found were frauds", () => {
  expect(lowestWith([...band("few", 3, [7, 7]), ...band("base", -5, [0, 500])])).toBeGreaterThan(3);
  // The next accounts, far below, are honest. They do not lower the threshold.
  expect(lowestWith([...band("some", 3, [8, 8]), ...band("base", -5, [0, 500])])).toBeCloseTo(2.993);
});

test("evidence: what the rules found anyway is not the model's record", () => {
  const found = band("found", 3, [50, 50]).map((each) => ({ ...each, rules: threshold }));
  expect(lowestWith([...found, ...band("alone", 2, [1, 20])])).toBeGreaterThan(2);
  expect(offsetMax(found, threshold)).toBe(Infinity);
});

test("evidence: an account counts once, however many days it is rated on, and the rest of a fraud's day belongs to its case", () => {
  const rows = band("fraud", 3, [20, 20]);
  const robot = numbers(1000).map((index) => row({ day: `day ${index}`, account: "robot", score: 3.5 }));
  expect(lowestWith([...rows, ...robot])).toBeLessThan(3);
  const before = rows.map((each) => ({ ...each, isFraud: false, score: each.score + 1 }));
  expect(lowestWith([...rows, ...before])).toBe(lowestWith(rows));
});

const someRows = array(
  record({
    account: integer({ min: 0, max: 60 }),
    isFraud: boolean(),
    score: integer({ min: -6, max: 6 }),
    rules: constantFrom(0, 1.5, 3),
  }),
  { maxLength: 200 },
).map((rows) => rows.map(({ account, ...each }, index) => row({ ...each, day: `day ${index}`, account: `a-${account}` })));

test("evidence: whatever the record is, most accounts that the model alone would accuse again were frauds", () => {
  assert(
    property(someRows, (rows) => {
      const offset = offsetMax(rows, threshold);
      const accused = rows.filter(({ rules, score }) => rules < threshold && score + offset >= threshold);
      const accounts = (isFraud: boolean) =>
        new Set(accused.filter((each) => each.isFraud === isFraud).map(({ account }) => account)).size;
      expect(accounts(true)).toBeGreaterThanOrEqual(accounts(false));
    }),
    { numRuns: 500 },
  );
});

test("evidence: honest accounts below the supported scores change nothing, so nobody silences a model with harmless accounts", () => {
  assert(
    property(someRows, integer({ min: 1, max: 100 }), (rows, count) => {
      const lowest = lowestWith(rows);
      if (!Number.isFinite(lowest)) return;
      const harmless = numbers(count).map((index) => row({ account: `harmless-${index}`, score: lowest - 1 - index }));
      expect(lowestWith([...rows, ...harmless])).toBe(lowest);
    }),
  );
});

test("evidence: the least share grows with the number of accounts", () => {
  expect([leastShare(0, 0), leastShare(0, 10)]).toEqual([0, 0]);
  expect(leastShare(8, 10)).toBeGreaterThan(0.5);
  expect(leastShare(7, 10)).toBeLessThan(0.5);
  expect(leastShare(70, 100)).toBeGreaterThan(0.6);
});
