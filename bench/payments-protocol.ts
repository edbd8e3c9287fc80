import { averagePrecision, calibrationError, precisionAtBudgets, rocAuc } from "../service/src/detection/model/metrics.ts";
import { probabilityOf } from "../service/src/detection/model/prior.ts";
import type { Payment } from "./payments-file.ts";

// The protocol of the handbook "Reproducible Machine Learning for Credit Card Fraud Detection": test weeks, each after a week
// whose labels are not known yet, without customers who are already known to be compromised.
export const dayMs = 24 * 3_600_000;
export const delayMs = 7 * dayMs;
const trainedFromMs = 14 * dayMs;

// The times at which the test weeks begin. They are the last whole weeks of the file, up to the end of its last day (UTC).
export function testWeeksOf(payments: readonly Payment[], weeks: number): number[] {
  const last = payments.at(-1)?.atMs ?? 0;
  const endMs = (Math.floor(last / dayMs) + 1) * dayMs;
  return Array.from({ length: weeks }, (_, index) => endMs - (weeks - index) * delayMs);
}

// The payments of a test week that count. A customer is known as compromised after a fraud in the days that the handbook's models
// are trained on, or in the days up to 8 days before the payment's day.
export function testedPayments(payments: readonly Payment[], weekMs: number): Payment[] {
  const since = weekMs - trainedFromMs;
  const firstFraud = new Map<string, number>();
  for (const { atMs, customer, isFraud } of payments) {
    if (isFraud && atMs >= since && !firstFraud.has(customer)) firstFraud.set(customer, atMs);
  }
  return payments.filter(({ atMs, customer }) => {
    if (atMs < weekMs || atMs >= weekMs + delayMs) return false;
    const dayBegan = Math.floor(atMs / dayMs) * dayMs;
    return (firstFraud.get(customer) ?? Infinity) >= dayBegan - delayMs;
  });
}

// `logOdds` is the score of the stored decision. `chance` is the same as a probability, if the score is one.
export type Rated = { payment: Payment; logOdds: number; chance: number | null };

export type AlertPoint = { alertsPerDay: number; precision: number; recall: number };
export type WeekFigures = {
  payments: number;
  frauds: number;
  auc: number;
  averagePrecision: number;
  cardPrecision: number;
  calibrationError: number | null;
  alerts: AlertPoint[];
};

export const budgets = [10, 25, 50, 100, 200];

export function measureWeek(rated: readonly Rated[], cardsPerDay: number): WeekFigures {
  const scored = (scoreOf: (each: Rated) => number) =>
    rated.map((each) => ({ score: scoreOf(each), isFraud: each.payment.isFraud, weight: 1 }));
  const byScore = scored(({ logOdds }) => logOdds);
  const days = new Set(rated.map(({ payment }) => Math.floor(payment.atMs / dayMs))).size;
  const hasChance = rated.every(({ chance }) => chance !== null);
  return {
    payments: rated.length,
    frauds: byScore.filter(({ isFraud }) => isFraud).length,
    auc: rocAuc(byScore) ?? NaN,
    averagePrecision: averagePrecision(byScore) ?? NaN,
    cardPrecision: cardPrecision(rated, cardsPerDay),
    calibrationError: hasChance ? calibrationError(scored(({ chance }) => chance ?? NaN)) : null,
    alerts: precisionAtBudgets(byScore, Math.max(days, 1), budgets),
  };
}

// Each day, the customers with the highest scores are checked. A customer who is found is not checked again. Returns the share of
// checked customers with a fraud on that day, as the mean over the days.
function cardPrecision(rated: readonly Rated[], cardsPerDay: number): number {
  const found = new Set<string>();
  const shares = [...Map.groupBy(rated, ({ payment }) => Math.floor(payment.atMs / dayMs))].map(([, ofDay]) => {
    const customers = new Map<string, { score: number; isFraud: boolean }>();
    for (const { payment, logOdds } of ofDay) {
      if (found.has(payment.customer)) continue;
      const before = customers.get(payment.customer) ?? { score: -Infinity, isFraud: false };
      const now = { score: Math.max(before.score, logOdds), isFraud: before.isFraud || payment.isFraud };
      customers.set(payment.customer, now);
    }
    const top = [...customers].toSorted(([, one], [, other]) => other.score - one.score).slice(0, cardsPerDay);
    const hits = top.filter(([, { isFraud }]) => isFraud);
    for (const [customer] of hits) found.add(customer);
    return hits.length / cardsPerDay;
  });
  return meanOf(shares);
}

// The mean over the weeks, as in the published tables.
export function meanOfWeeks(weeks: readonly WeekFigures[]): WeekFigures {
  const mean = (valueOf: (week: WeekFigures) => number) => meanOf(weeks.map(valueOf));
  return {
    payments: weeks.reduce((sum, week) => sum + week.payments, 0),
    frauds: weeks.reduce((sum, week) => sum + week.frauds, 0),
    auc: mean((week) => week.auc),
    averagePrecision: mean((week) => week.averagePrecision),
    cardPrecision: mean((week) => week.cardPrecision),
    calibrationError: weeks.some((week) => week.calibrationError === null) ? null : mean((week) => week.calibrationError ?? NaN),
    alerts: budgets.map((_, index) => ({
      alertsPerDay: mean((week) => week.alerts[index]?.alertsPerDay ?? 0),
      precision: mean((week) => week.alerts[index]?.precision ?? 0),
      recall: mean((week) => week.alerts[index]?.recall ?? 0),
    })),
  };
}

// A model's log-odds are moved by an offset, which puts them on the scale of the rules.
export function chanceOf(logOdds: number, offset: number): number {
  return probabilityOf(logOdds - offset);
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}
