import { array, assert, float, property } from "fast-check";
import { expect, test } from "vitest";
import { binRows, type BinnedField } from "./bins.ts";
import { TrainingSample } from "./sample.ts";

function binned(values: readonly number[]): { field: BinnedField | undefined; bins: number[] } {
  const sample = new TrainingSample({ fields: ["a0"] });
  values.forEach((value, row) =>
    sample.add({ key: String(row).padStart(9, "0"), isFraud: false, weight: 1, ruleLogOdds: 0, values: [value] }),
  );
  const { fields, packed } = binRows(sample.rows());
  return { field: fields[0], bins: Array.from(packed[0] ?? []) };
}

test("bins: up to 254 values have a bin each, and thresholds are short numbers between them", () => {
  const { field, bins } = binned([3, 1, 57.16, 58.91, 1, NaN]);
  expect(bins).toEqual([1, 0, 2, 3, 0, 4]);
  expect(field?.thresholds.slice(0, -1)).toEqual([2, 30, 58]);
});

test("bins: a common value has a bin of its own, however many other values there are", () => {
  const { field, bins } = binned(
    Array.from({ length: 5000 }, (_, row) => (row % 2 === 0 ? 0 : row % 3 === 0 ? 1 : 1 + row / 5000)),
  );
  expect(field?.thresholds.length).toBeGreaterThan(200);
  expect(field?.thresholds.length).toBeLessThanOrEqual(254);
  expect(bins.every((bin, row) => (bin === 0) === (row % 2 === 0) && (bin === 1) === (row % 2 === 1 && row % 3 === 0))).toBe(
    true,
  );
});

test("bins: a value is in the first bin whose threshold is not below it", () => {
  assert(
    property(array(float({ noDefaultInfinity: true }), { minLength: 2, maxLength: 600 }), (values) => {
      const { field, bins } = binned(values);
      if (!field) return;
      expect(field.thresholds.length).toBeLessThanOrEqual(254);
      values.forEach((value, row) => {
        const bin = field.thresholds.findIndex((threshold) => value <= threshold);
        expect(bins[row]).toBe(bin < 0 ? field.thresholds.length : bin);
      });
    }),
    { numRuns: 50 },
  );
});

test("bins: a field with one value in all rows is left out", () => {
  expect(binned([5, 5, 5]).field).toBeUndefined();
  expect(binned([NaN, NaN]).field).toBeUndefined();
  expect(binned([5, NaN]).field?.thresholds).toHaveLength(1);
});
