import { assert, double, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { recallOf, type CheckCounts } from "./random-check.ts";

const counts = (more: Partial<CheckCounts>): CheckCounts => {
  return { checks: 0, decided: 0, frauds: 0, found: 0, weightAll: 0, weightDecided: 0, weightFrauds: 0, ...more };
};

test("random checks: without a decision nothing is estimated", () => {
  expect(recallOf(counts({ checks: 9, found: 5, weightAll: 900 }))).toMatchObject({
    missed: null,
    recall: null,
    recall_low: null,
  });
});

test("random checks: one fraud in 100 decided checks of 10,000 activities means 100 missed frauds", () => {
  const given = counts({
    checks: 100,
    decided: 100,
    frauds: 1,
    found: 300,
    weightAll: 10_000,
    weightDecided: 10_000,
    weightFrauds: 100,
  });
  expect(recallOf(given)).toMatchObject({ missed: 100, recall: 0.75 });
});

test("random checks: undecided checks are assumed to be like the others", () => {
  const given = counts({
    checks: 200,
    decided: 100,
    frauds: 1,
    found: 300,
    weightAll: 20_000,
    weightDecided: 10_000,
    weightFrauds: 100,
  });
  expect(recallOf(given).missed).toBe(200);
});

test("random checks: if no check is a fraud, about three frauds may still have been missed", () => {
  const given = counts({ checks: 100, decided: 100, found: 97, weightAll: 100, weightDecided: 100 });
  expect(recallOf(given)).toMatchObject({ missed: 0, recall: 1, recall_low: 0.9703 });
});

test("random checks: the estimate is a share, and its lower bound is not above it", () => {
  const given = record({
    decided: integer({ min: 1, max: 500 }),
    share: double({ min: 0, max: 1, noNaN: true }),
    found: integer({ min: 0, max: 500 }),
    weight: integer({ min: 1, max: 5_000 }),
  });
  assert(
    property(given, ({ decided, share, found, weight }) => {
      const frauds = Math.floor(decided * share);
      const weights = { weightAll: decided * weight, weightDecided: decided * weight, weightFrauds: frauds * weight };
      const { recall, recall_low } = recallOf(counts({ checks: decided, decided, frauds, found, ...weights }));
      if (recall === null) return;
      expect(recall).toBeGreaterThanOrEqual(0);
      expect(recall).toBeLessThanOrEqual(1);
      expect(recall_low ?? 0).toBeLessThanOrEqual(recall);
    }),
  );
});
