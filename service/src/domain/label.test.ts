import { expect, test } from "vitest";
import { activityTypes } from "./activity.ts";
import { isKnownFraud, labelFaults, ratedTypes, sourcesByRank, type LabelSource, type Vote } from "./label.ts";

const votes = (...given: [LabelSource, Vote["y"]][]): Vote[] => given.map(([source, y]) => ({ source, y }));

test.each([
  ["no label", votes(), false],
  ["a label that was taken back", votes(["case", null]), false],
  ["a case before the API", votes(["api", 1], ["case", 0]), false],
  ["the API before a report", votes(["report", 1], ["api", 0]), false],
  ["a report", votes(["report", 1]), true],
  ["the API after a case was reopened", votes(["api", 1], ["case", null]), true],
  ["one confirmed case among several", votes(["case", 0], ["case", 1], ["case", 0]), true],
  ["a guess alone", votes(["account_report", 1]), false],
  ["a guess next to a report", votes(["account_report", 1], ["report", 0]), false],
])("known fraud: %s", (_name, given, wanted) => {
  expect(isKnownFraud(given)).toBe(wanted);
  expect(isKnownFraud(given.toReversed())).toBe(wanted);
});

test("label sources: people's decisions come first, then the API, then reports, then guesses", () => {
  expect(sourcesByRank).toEqual(["case", "api", "report", "account_report"]);
});

test("rated activities are known types, and failed log-ins, page views and reports are not among them", () => {
  expect(activityTypes).toEqual(expect.arrayContaining([...ratedTypes]));
  for (const type of ["login_failed", "page_view", "logout", "fraud_report"]) expect(ratedTypes).not.toContain(type);
});

test("label faults: a label names either an activity or an order, and no time in the future", () => {
  const now = Date.parse("2026-11-15T10:00:00.000Z");
  const labels = [
    { activity_id: "a", fraudulent: true },
    { fraudulent: true },
    { activity_id: "a", order_id: "b", fraudulent: false },
    { order_id: "b", fraudulent: true, known_at: "2026-11-15T10:09:00.000Z" },
    { order_id: "b", fraudulent: true, known_at: "2026-11-15T10:11:00.000Z" },
  ];
  const fields = labelFaults({ labels }, now).map(({ field }) => field);
  expect(fields).toEqual(["labels[1].activity_id", "labels[2].order_id", "labels[4].known_at"]);
});
