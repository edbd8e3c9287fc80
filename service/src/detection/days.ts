import { countedRange } from "../domain/metric.ts";

// What an entity did on each of its last days (UTC, by the activity's own day). It is stored as JSON in the entity's facts, so
// each column is a list that begins with the newest day, ends with the last value that is not 0, and is absent if it is empty.
export const daysKept = 30;
const dayMs = 24 * 60 * 60 * 1000;

// `n`: payments. `sum`: their amounts, of one currency. `frauds`: activities that are known as fraud. `fresh`: accounts that were
// new there. `high`, `higher`: amounts with z above 2 and above 3. `z`: the largest z.
type Column = "n" | "sum" | "frauds" | "fresh" | "high" | "higher" | "z";
type Added = Partial<Record<Column, number>>;
export type Days = { day: number } & Partial<Record<Column, number[]>>;

const columns: readonly Column[] = ["n", "sum", "frauds", "fresh", "high", "higher", "z"];

export function newDays(): Days {
  return { day: 0 };
}

// Adds to the day of `at`. An activity that is too late for the oldest day, or whose time is an error, changes nothing.
export function addToDays(days: Days, at: number, added: Added): void {
  if (!isCounted(at)) return;
  moveTo(days, dayOf(at));
  const index = days.day - dayOf(at);
  if (index >= daysKept) return;
  for (const column of columns) {
    const value = added[column];
    if (value === undefined || value === 0) continue;
    const before = days[column]?.[index] ?? 0;
    put(days, column, index, column === "z" ? Math.max(before, value) : before + value);
  }
}

// Counts one known fraud more or less on the day of `at`. One undoes the other exactly, in whatever order they come: a day may
// be below 0 meanwhile, and is then read as 0.
export function bumpFraud(days: Days, at: number, by: 1 | -1): void {
  addToDays(days, at, { frauds: by });
}

// The sum over the given number of whole days up to and including the day of `at`. With `isRolling`, the rest of the window up to
// the same time of day is estimated from the day before them, as if its activity were spread evenly.
export function sumOfDays(days: Days | undefined, column: Column, { at, span, isRolling = false }: Span): number {
  if (!days || !isCounted(at)) return 0;
  const first = days.day - dayOf(at);
  let sum = 0;
  for (let index = first; index < first + span; index++) sum += valueAt(days, column, index);
  if (!isRolling) return sum;
  return sum + valueAt(days, column, first + span) * (1 - (at / dayMs - dayOf(at)));
}
export type Span = { at: number; span: number; isRolling?: boolean };

export function largestOfDays(days: Days | undefined, column: Column, { at, span }: Span): number {
  if (!days || !isCounted(at)) return 0;
  const first = days.day - dayOf(at);
  let most = 0;
  for (let index = first; index < first + span; index++) most = Math.max(most, valueAt(days, column, index));
  return most;
}

// How many days before `at` the last known fraud was, or null if there is none among the days kept.
export function daysSinceFraud(days: Days | undefined, at: number): number | null {
  if (!days || !isCounted(at)) return null;
  const first = days.day - dayOf(at);
  for (let index = Math.max(first, 0); index < daysKept; index++) if (valueAt(days, "frauds", index) > 0) return index - first;
  return null;
}

// Payments and known frauds by day, the newest first, from the day that is `from` days before `at`.
export function dailyFrauds(days: Days, at: number, from: number): { n: number; frauds: number }[] {
  const first = days.day - dayOf(at) + from;
  return Array.from({ length: Math.max(daysKept - Math.max(first, 0), 0) }, (_, each) => {
    const index = Math.max(first, 0) + each;
    return { n: valueAt(days, "n", index), frauds: valueAt(days, "frauds", index) };
  });
}

function isCounted(at: number): boolean {
  return at >= countedRange.from && at < countedRange.to;
}

function dayOf(at: number): number {
  return Math.floor(at / dayMs);
}

function valueAt(days: Days, column: Column, index: number): number {
  return Math.max(days[column]?.[index] ?? 0, 0);
}

// Makes room for a newer day.
function moveTo(days: Days, day: number): void {
  const by = day - days.day;
  if (by <= 0) return;
  days.day = day;
  for (const column of columns) {
    const kept = days[column]?.slice(0, Math.max(daysKept - by, 0));
    if (kept === undefined) continue;
    if (kept.some((value) => value !== 0)) days[column] = [...Array.from({ length: by }, () => 0), ...kept];
    else delete days[column];
  }
}

function put(days: Days, column: Column, index: number, value: number): void {
  const values = (days[column] ??= []);
  while (values.length <= index) values.push(0);
  values[index] = Math.round(value * 100) / 100;
  while (values.at(-1) === 0) values.pop();
  if (values.length === 0) delete days[column];
}
