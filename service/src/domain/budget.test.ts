import { array, assert, constantFrom, integer, option, property, record } from "fast-check";
import { expect, test } from "vitest";
import { casesIn, thresholdsFor, type DayCount } from "./budget.ts";
import { thresholdFaults } from "./rule.ts";

test("budget: the thresholds rise, and the expected number of cases is within the budget unless the highest alone are more", () => {
  // Few different values, so that many are equal, also across days.
  const count = record({
    log_odds: integer({ min: 1, max: 200 }).map((value) => value / 10),
    subjects: integer({ min: 1, max: 50 }),
  });
  assert(
    property(
      array(count, { maxLength: 40 }),
      integer({ min: 1, max: 200 }),
      integer({ min: 1, max: 28 }),
      (counts, casesPerDay, days) => {
        const { thresholds, expected } = thresholdsFor(counts, { days, casesPerDay });
        expect(thresholdFaults(thresholds)).toEqual([]);
        expect(thresholds.score_2).toBeGreaterThan(0);
        const highest = Math.max(0, ...counts.map(({ log_odds }) => log_odds));
        const atMost = thresholds.score_3 === highest ? Infinity : casesPerDay * 1.005;
        expect(expected).toBeLessThanOrEqual(atMost);
        const real = counts.reduce((sum, { log_odds, subjects }) => sum + (log_odds >= thresholds.score_3 ? subjects : 0), 0);
        expect(Math.abs(expected - real / days)).toBeLessThanOrEqual(0.006 * expected);
      },
    ),
  );
});

const one = (log_odds: number, subjects = 1) => ({ log_odds, subjects });

test("budget: the lowest threshold within the budget is taken, and four of ten cases score 4 or more", () => {
  const counts = Array.from({ length: 100 }, (_, index) => one((index + 1) / 10));
  expect(thresholdsFor(counts, { days: 1, casesPerDay: 40 })).toEqual({
    thresholds: { score_2: 2.44, score_3: 6.1, score_4: 8.5, score_5: 9.7 },
    expected: 40,
  });
  expect(thresholdsFor(counts, { days: 1, casesPerDay: 4000 })).toMatchObject({ thresholds: { score_3: 0.5 }, expected: 96 });
});

test("budget: equal log-odds of different days stay together", () => {
  const counts = [one(5), one(3, 4), one(3, 4), one(3, 4)];
  expect(thresholdsFor(counts, { days: 3, casesPerDay: 2 })).toMatchObject({ thresholds: { score_3: 5 }, expected: 0.333 });
});

test("budget: if the highest log-odds alone give more cases than wanted, they still become cases, and the expected number says so", () => {
  expect(thresholdsFor([one(3, 50), one(2, 9)], { days: 1, casesPerDay: 5 })).toMatchObject({
    thresholds: { score_3: 3 },
    expected: 50,
  });
  expect(thresholdsFor([one(400, 2)], { days: 1, casesPerDay: 1 }).thresholds).toEqual({
    score_2: 39.88,
    score_3: 99.7,
    score_4: 99.8,
    score_5: 99.9,
  });
});

test("budget: without suspicious activity, the lowest thresholds are used, and they give no case", () => {
  expect(thresholdsFor([], { days: 28, casesPerDay: 40 })).toEqual({
    thresholds: { score_2: 0.2, score_3: 0.5, score_4: 0.6, score_5: 0.7 },
    expected: 0,
  });
});

const ofDay = (subject: string | null, log_odds: number, case_id: string | null = null): DayCount => {
  return { subject, log_odds, case_id, subjects: 1 };
};

test("budget: a case counts once, with its highest log-odds, even if activity joined or repeated it on several days", () => {
  const days = [
    [ofDay("a", 3, "c1"), ofDay("b", 4), ofDay(null, 1)],
    [ofDay("a", 5), ofDay("b", 4)],
    [ofDay("a", 4, "c1"), ofDay("source", 6, "c1")],
    [ofDay("a", 3, "c2"), ofDay("a", 7)],
  ];
  const counted = casesIn(days).map(({ log_odds }) => log_odds);
  expect(counted.toSorted((x, y) => x - y)).toEqual([1, 4, 4, 6, 7]);
});

test("budget: there are never more cases than days with suspicious subjects", () => {
  const row = record({
    subject: option(constantFrom("a", "b", "c"), { nil: null }),
    case_id: option(constantFrom("1", "2"), { nil: null }),
    log_odds: integer({ min: 1, max: 9 }),
    subjects: integer({ min: 1, max: 1 }),
  });
  assert(
    property(array(array(row)), (days) => {
      expect(casesIn(days).length).toBeLessThanOrEqual(days.flat().length);
    }),
  );
});
