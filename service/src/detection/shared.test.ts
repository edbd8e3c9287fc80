import { expect, test } from "vitest";
import type { Days } from "./days.ts";
import { fraudRates } from "./shared.ts";

const day = 20_500;
const at = (day + 0.5) * 24 * 60 * 60 * 1000;
// The newest day comes first.
const daysOf = (n: number[], frauds: number[]): Days => ({ day, n, frauds });
const tenDays = <T>(value: T) => Array.from({ length: 10 }, () => value);

// Most frauds of the last three days are not yet known.
const totals = daysOf(tenDays(1_000), [2, 0, 0, 20, 20, 20, 20, 20, 20, 20]);
const usual = 141 / 7_100;

test("fraud rates: a large new payee is not rated by its early reports alone", () => {
  // 2 of 3,000 payments are known frauds, where 59.6 are to be expected: 3.4 % of all reports. So 600 payments count as 20.1.
  const { fraud_rate, compromise } = fraudRates(daysOf([600], [2]), totals, at);
  expect(fraud_rate).toBeCloseTo((2 + 5 * usual) / (600 * (2 / 3_000 / usual) + 5), 3);
  expect(compromise).toBeLessThan(0);
});

test("fraud rates: a small new payee with early reports is suspicious at once", () => {
  const { fraud_rate, compromise } = fraudRates(daysOf([4], [2]), totals, at);
  expect(fraud_rate).toBeCloseTo((2 + 5 * usual) / (2 + 5), 3);
  expect(compromise).toBeGreaterThan(3);
});

test("fraud rates: payments that nobody has reported yet do not clear a payee, and older payments without a report do", () => {
  const abused = daysOf(tenDays(6), [0, 0, 0, 3, 3, 3, 3, 3, 3, 3]);
  expect(fraudRates(abused, totals, at)).toMatchObject({ fraud_rate: expect.closeTo(0.44, 1) });
  expect(fraudRates(abused, totals, at).compromise).toBeGreaterThan(5);
  const recovered = daysOf(tenDays(6), [0, 0, 0, 0, 0, 0, 0, 3, 3, 3]);
  expect(fraudRates(recovered, totals, at).compromise).toBeLessThan(1);
});

test("fraud rates: if the newest frauds are reported at once, the newest payments count in full", () => {
  const prompt = daysOf(tenDays(1_000), tenDays(20));
  const { fraud_rate } = fraudRates(daysOf([600], [2]), prompt, at);
  expect(fraud_rate).toBeLessThan(0.01);
});
