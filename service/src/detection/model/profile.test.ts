import { expect, test } from "vitest";
import { labelledRows, rowFields, sampleOf } from "../../../test/labelled-rows.ts";
import { profileOf, stabilityOf } from "./profile.ts";

const profile = profileOf(sampleOf(labelledRows(2000)).rows(), rowFields);
const columnOf = (seed: number, code: string, change: (value: number) => number) =>
  Float32Array.from(labelledRows(2000, seed), ({ values }) => change(values[rowFields.indexOf(code)] ?? NaN));

test("profile: other rows of the same kind are stable in every field", () => {
  const index = stabilityOf(profile, (code) => columnOf(2, code, (value) => value));
  expect(Object.keys(index)).toEqual(rowFields);
  for (const value of Object.values(index)) expect(value).toBeLessThan(0.05);
});

test("profile: a field that has changed, or that is missing now, stands out", () => {
  const index = stabilityOf(profile, (code) =>
    columnOf(2, code, (value) => (code === "a0" ? value * 2 + 40 : code === "b1" ? NaN : value)),
  );
  expect(index["a0"]).toBeGreaterThan(0.25);
  expect(index["b1"]).toBeGreaterThan(0.25);
  expect(index["d3"]).toBeLessThan(0.05);
});
