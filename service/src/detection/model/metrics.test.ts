import { assert, array, boolean, integer, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { averagePrecision, calibrationError, precisionAtBudgets, rocAuc, stabilityIndex, type Scored } from "./metrics.ts";

// Frauds are marked by an exclamation mark.
function scored(text: string): Scored[] {
  return text.split(" ").map((word) => ({ score: Number.parseFloat(word), isFraud: word.endsWith("!"), weight: 1 }));
}

const mixed = scored("0.9! 0.8 0.7! 0.6 0.5!");

test("metrics: AUC counts the pairs in the right order, a tie as half", () => {
  // Of the six pairs of a fraud and a genuine row, 2 + 1 + 0 are in the right order.
  expect(rocAuc(mixed)).toBe(0.5);
  expect(rocAuc(scored("2! 1 0"))).toBe(1);
  expect(rocAuc(scored("1! 1"))).toBe(0.5);
  expect(rocAuc(scored("0! 1"))).toBe(0);
  expect(rocAuc(scored("1!"))).toBeNull();
});

test("metrics: average precision is the mean precision at the frauds", () => {
  expect(averagePrecision(mixed)).toBeCloseTo((1 + 2 / 3 + 3 / 5) / 3, 12);
  expect(averagePrecision(scored("1! 1 1 1"))).toBe(0.25);
  expect(averagePrecision(scored("1"))).toBeNull();
});

test("metrics: the calibration error compares chances with frauds, bin by bin", () => {
  // Two bins: 0.8 and 0.6 predicted with one fraud of two, 0.4 and 0.2 predicted with none.
  expect(calibrationError(scored("0.8! 0.6 0.4 0.2"), 2)).toBeCloseTo((Math.abs(1.4 - 1) + Math.abs(0.6 - 0)) / 4, 12);
  expect(calibrationError(scored("0.5! 0.5"), 10)).toBe(0);
  expect(calibrationError(scored("0 1!"), 10)).toBe(0);
  expect(calibrationError([])).toBeNull();
});

test("metrics: a budget gives the lowest threshold that stays within it", () => {
  expect(precisionAtBudgets(mixed, 1, [0, 1, 2, 3, 9])).toEqual([
    { alertsPerDay: 0, threshold: Infinity, precision: 0, recall: 0 },
    { alertsPerDay: 1, threshold: 0.9, precision: 1, recall: 1 / 3 },
    { alertsPerDay: 2, threshold: 0.8, precision: 0.5, recall: 1 / 3 },
    { alertsPerDay: 3, threshold: 0.7, precision: 2 / 3, recall: 2 / 3 },
    { alertsPerDay: 5, threshold: 0.5, precision: 0.6, recall: 1 },
  ]);
  // Four rows of one score fit into a budget together or not at all.
  const tied = scored("1! 1 1 1");
  expect(precisionAtBudgets(tied, 2, [1, 2]).map(({ alertsPerDay }) => alertsPerDay)).toEqual([0, 2]);
});

function values(text: string): { value: number; weight: number }[] {
  return text.split(" ").map((word) => ({ value: Number(word), weight: 1 }));
}

describe("metrics: the stability index", () => {
  test("is 0 for the same values, and grows with the shift", () => {
    expect(stabilityIndex(values("1 2 3 4"), values("4 3 2 1"))).toBe(0);
    // Two bins of 1/2 each become 1/4 and 3/4.
    const shifted = stabilityIndex(values("1 1 2 2"), values("1 2 2 2"), 2);
    expect(shifted).toBeCloseTo(-0.25 * Math.log(0.5) + 0.25 * Math.log(1.5), 9);
  });

  test("detects values that become missing, and values above all earlier ones", () => {
    expect(stabilityIndex(values("1 1 1 1"), values("1 1 NaN NaN"))).toBeGreaterThan(1);
    expect(stabilityIndex(values("1 1 1 1"), values("1 1 7 7"))).toBeGreaterThan(1);
  });

  test("is not known without values", () => {
    expect(stabilityIndex([], values("1"))).toBeNull();
    expect(stabilityIndex(values("1"), [])).toBeNull();
  });
});

function measures(rows: readonly Scored[]): number[] {
  const before = rows.map(({ score, weight }) => ({ value: score, weight }));
  const now = rows.map(({ score, weight, isFraud }) => ({ value: isFraud ? score : 0, weight }));
  return [
    rocAuc(rows) ?? -1,
    averagePrecision(rows) ?? -1,
    calibrationError(rows) ?? -1,
    stabilityIndex(before, now) ?? -1,
    ...precisionAtBudgets(rows, 3, [1, 5]).flatMap(({ alertsPerDay, precision, recall }) => [alertsPerDay, precision, recall]),
  ];
}

test("metrics: a weight of n counts as n rows", () => {
  const row = record({
    score: integer({ min: 0, max: 9 }).map((tenth) => tenth / 9),
    isFraud: boolean(),
    weight: integer({ min: 1, max: 4 }),
  });
  assert(
    property(array(row, { minLength: 1, maxLength: 30 }), (rows) => {
      const repeated = rows.flatMap((each) => Array.from({ length: each.weight }, () => ({ ...each, weight: 1 })));
      const expected = measures(repeated);
      measures(rows).forEach((measure, index) => expect(measure).toBeCloseTo(expected[index] ?? NaN, 9));
    }),
  );
});
