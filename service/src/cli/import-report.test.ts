import type { Model } from "@casehound/client";
import { expect, test } from "vitest";
import { reportText, type ImportReport } from "./import-report.ts";

const side = { auc: 0.9, average_precision: 0.7, precision: 0.5 };
const held_out = {
  frauds: 61,
  days: Array.from({ length: 14 }),
  before: { ...side, recall: 0.44, cases_per_day: 9.1 },
  model: { ...side, recall: 0.81, cases_per_day: 12.3 },
};
// Only the figures that the report shows.
const model = {
  model_id: "0f3a9c11d2e4",
  state: "CHALLENGER",
  figures: { rows: 43_870, frauds: 251, held_out },
} as unknown as Model;

const report: ImportReport = {
  from: "2026-08-19T00:00:00.000Z",
  until: "2026-11-16T12:00:00.000Z",
  days: 90,
  activities: 51_220,
  frauds: 312,
  found: 143,
  cases: 882,
  models: [{ moment: "value", reason: null, model }],
};

test("import: the report gives the shares of found frauds and the cases a day in sentences of their own, because their thresholds differ", () => {
  const text = reportText(report);
  expect(text).toContain(
    "With the same number of alerts a day, 44 % of the frauds are found without the model, and 81 % with it.",
  );
  expect(text).toContain("With today's thresholds, there are 9.1 cases a day without the model, and 12.3 cases a day with it.");
  for (const line of text.split("\n").filter((each) => each.includes("model"))) expect(line).not.toMatch(/%.*cases/);
});
