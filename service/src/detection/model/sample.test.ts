import { assert, property, shuffledSubarray } from "fast-check";
import { expect, test } from "vitest";
import { labelledRows, rowFields, sampleOf } from "../../../test/labelled-rows.ts";
import { TrainingSample } from "./sample.ts";

test("sample: all frauds are kept, and the kept genuine rows stand for all", () => {
  const rows = labelledRows(3000);
  const frauds = rows.filter(({ isFraud }) => isFraud).length;
  const { labels, weights, count } = sampleOf(rows, { rowsMax: 1000 }).rows();
  expect(count).toBe(frauds + 1000);
  const weightOf = (label: number): number => weights.reduce((sum, weight, row) => sum + (labels[row] === label ? weight : 0), 0);
  expect(weightOf(1)).toBe(frauds);
  expect(weightOf(0)).toBeCloseTo(3000 - frauds, 6);
});

test("sample: which rows are kept does not depend on their order", () => {
  const rows = labelledRows(40);
  const expected = sampleOf(rows, { rowsMax: 10 }).rows();
  assert(
    property(shuffledSubarray(rows, { minLength: rows.length }), (moved) => {
      expect(sampleOf(moved, { rowsMax: 10 }).rows()).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

test("sample: each row is kept with the same chance", () => {
  const rows = labelledRows(400).map((row) => ({ ...row, isFraud: false, values: [Number(row.key.slice(4)), 0, 0, 0] }));
  const kept = new Map<number, number>();
  for (let seed = 0; seed < 200; seed++) {
    const [column = new Float32Array(0)] = sampleOf(rows, { rowsMax: 100, seed }).rows().columns;
    for (const value of column) kept.set(value, (kept.get(value) ?? 0) + 1);
  }
  expect(kept.size).toBe(400);
  // 50 rows are expected. 20 and 80 are nearly five standard deviations away.
  expect(Math.min(...kept.values())).toBeGreaterThan(20);
  expect(Math.max(...kept.values())).toBeLessThan(80);
});

test("sample: rows that cannot be used are refused by name", () => {
  const [row] = labelledRows(1);
  if (!row) throw new Error("no row");
  const sample = sampleOf([row]);
  for (const weight of [0, -1, NaN, Infinity]) expect(() => sample.add({ ...row, weight })).toThrow(/row 0 has the weight/);
  expect(() => sample.add({ ...row, ruleLogOdds: NaN })).toThrow("row 0 has the log-odds NaN");
  expect(() => sample.add({ ...row, values: [1] })).toThrow("row 0 has 1 values");
  expect(sample.seen).toBe(1);
  sample.add(row);
  expect(() => sample.rows()).toThrow("row 0 appears twice");
});

test("sample: fields are named once", () => {
  expect(() => new TrainingSample({ fields: [...rowFields, "a0"] })).toThrow("a field appears twice");
  expect(() => new TrainingSample({ fields: [] })).toThrow("a model reads 1 to 256 fields");
});
