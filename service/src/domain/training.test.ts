import { expect, test } from "vitest";
import type { Comparison } from "./model.ts";
import { isInShadow, isTrainingDue } from "./training.ts";

const now = "2026-11-15T03:00:00.000Z";
const before = (days: number) => new Date(Date.parse(now) - days * 24 * 60 * 60 * 1000).toISOString();

test.each([
  ["the first with 49 frauds", null, 49, false],
  ["the first with 50 frauds", null, 50, true],
  ["another on the same day, however many frauds are new", 0.5, 1000, false],
  ["another on the next day with 49 new frauds", 1, 49, false],
  ["another on the next day with 50 new frauds", 1, 50, true],
  ["another after 7 days with one new fraud", 7, 1, true],
  ["another after 7 days without a new fraud", 7, 0, false],
])("a model is due: %s", (_name, days, newFrauds, wanted) => {
  expect(isTrainingDue({ last: days === null ? null : before(days), newFrauds, now })).toBe(wanted);
});

const measured = { auc: 1, average_precision: 1, recall: 1, precision: 1, cases_per_day: 1 };
const shadowOf = (frauds: number): Comparison => {
  return { from: "", until: "", rows: 9, frauds, calibration_error: 0, model: measured, before: measured, days: [] };
};

test.each([
  ["before it is measured", null, 40, true],
  ["with too few known frauds", 29, 40, true],
  ["with enough known frauds", 30, 40, false],
  ["with too few known frauds after 45 days", 29, 46, false],
  ["if it cannot be measured for 45 days", null, 46, false],
])("a challenger is kept %s", (_name, frauds, days, wanted) => {
  const figures = {
    trees: 1,
    rows: 2,
    frauds: 1,
    offset: 0,
    held_out: null,
    ...(frauds !== null && { shadow: shadowOf(frauds) }),
  };
  expect(isInShadow({ created_at: before(days), figures }, now)).toBe(wanted);
});
