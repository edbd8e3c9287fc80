import type { Comparison, Measured } from "../../domain/model.ts";
import { averagePrecision, calibrationError, precisionAtBudgets, rocAuc, type Scored } from "./metrics.ts";

// An activity with the log-odds that the model gives (`model`) and those that decided (`before`).
export type Compared = {
  day: string;
  account: string;
  isFraud: boolean;
  weight: number;
  // The probability of fraud according to the model; null if not known.
  chance: number | null;
  model: number;
  before: number;
};

type Side = "model" | "before";
export type ComparisonSpan = { from: string; until: string; threshold: number };

// Both sides get the same number of alerts a day: as many as there were before, but at least one.
export function compare(rows: readonly Compared[], { from, until, threshold }: ComparisonSpan): Comparison {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const days = Math.max(byDay.size, 1);
  const alertsPerDay = (side: Side) => rows.reduce((sum, row) => sum + (row[side] >= threshold ? row.weight : 0), 0) / days;
  const budget = Math.max(1, alertsPerDay("before"));
  const points = { model: pointOf(rows, "model", { days, budget }), before: pointOf(rows, "before", { days, budget }) };
  const measure = (side: Side): Measured => ({
    auc: short(rocAuc(scored(rows, side))),
    average_precision: short(averagePrecision(scored(rows, side))),
    recall: short(points[side].recall),
    precision: short(points[side].precision),
    cases_per_day: Number((casesOf(rows, side, threshold) / days).toPrecision(4)),
  });
  const found = (of: readonly Compared[], side: Side) =>
    of.filter((row) => row.isFraud && row[side] >= points[side].threshold).length;
  const known = rows.flatMap(({ chance, isFraud, weight }): Scored[] =>
    chance === null ? [] : [{ score: chance, isFraud, weight }],
  );
  return {
    from,
    until,
    rows: Math.round(rows.reduce((sum, { weight }) => sum + weight, 0)),
    frauds: rows.filter(({ isFraud }) => isFraud).length,
    calibration_error: short(calibrationError(known)),
    model: measure("model"),
    before: measure("before"),
    days: [...byDay]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([day, of]) => ({
        day,
        rows: Math.round(of.reduce((sum, { weight }) => sum + weight, 0)),
        frauds: of.filter(({ isFraud }) => isFraud).length,
        average_precision: short(averagePrecision(scored(of, "model"))),
        average_precision_before: short(averagePrecision(scored(of, "before"))),
        found: found(of, "model"),
        found_before: found(of, "before"),
      })),
  };
}

function scored(rows: readonly Compared[], side: Side): Scored[] {
  return rows.map((row) => ({ score: row[side], isFraud: row.isFraud, weight: row.weight }));
}

function pointOf(rows: readonly Compared[], side: Side, { days, budget }: { days: number; budget: number }) {
  const [point] = precisionAtBudgets(scored(rows, side), days, [budget]);
  return point ?? { alertsPerDay: 0, threshold: Infinity, precision: 0, recall: 0 };
}

// One account has at most one case a day.
function casesOf(rows: readonly Compared[], side: Side, threshold: number): number {
  const cases = new Map<string, number>();
  for (const row of rows) if (row[side] >= threshold) cases.set(`${row.day} ${row.account}`, row.weight);
  return [...cases.values()].reduce((sum, weight) => sum + weight, 0);
}

function short(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(4));
}

export type Unplaced = { day: string; account: string; weight: number; score: number; isHeld: boolean; rules: number };

// Returns what to add to a model's log-odds so that the threshold gives about the wanted number of cases a day. The log-odds of a
// model are those of a calibrated probability, which hardly ever reach thresholds that were made for the weights of rules.
export function offsetFor(
  rows: readonly Unplaced[],
  { wantedPerDay, threshold }: { wantedPerDay: number; threshold: number },
): number {
  const highest = new Map<string, { score: number; weight: number }>();
  // Subjects that get an alert whatever the model says.
  const certain = new Map<string, number>();
  const days = new Set<string>();
  for (const { day, account, weight, score, isHeld, rules } of rows) {
    days.add(day);
    const subject = `${day} ${account}`;
    if (isHeld && rules >= threshold) certain.set(subject, weight);
    const known = highest.get(subject);
    if (!known || score > known.score) highest.set(subject, { score, weight });
  }
  const found = [...certain.values()].reduce((sum, weight) => sum + weight, 0);
  let left = Math.max(wantedPerDay * days.size - found, days.size);
  const others = [...highest].filter(([subject]) => !certain.has(subject)).map(([, each]) => each);
  const ranked = others.toSorted((one, other) => other.score - one.score);
  for (const { score, weight } of ranked) {
    left -= weight;
    if (left <= 0) return bounded(threshold - score);
  }
  return bounded(threshold - (ranked.at(-1)?.score ?? threshold));
}

const offsetMax = 15;
function bounded(offset: number): number {
  // Rounded up, so that the lowest of the wanted cases reaches the threshold.
  return Math.ceil(Math.min(Math.max(offset, -offsetMax), offsetMax) * 1000) / 1000;
}
