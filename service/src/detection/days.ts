import { countedRange } from "../domain/metric.ts";

// What an entity did on each of its last days. An activity counts on the UTC day on which it occurred. The days are stored as
// JSON in the entity's facts. To keep that short, each column is a list that begins with the newest day and ends with the last
// value that is not 0. An empty column is left out.
export const daysKept = 30;
const dayMs = 24 * 60 * 60 * 1000;

// `n`: payments that were not declined. `sum`: their amounts, in one currency. `declined`: declined payments. `frauds`:
// activities that are known frauds. `fresh`: accounts that were new to the entity. `high`, `higher`: amounts that are 2 and 3
// standard deviations above the account's mean. `z`: the largest number of deviations. `strange`: accounts that were new to the
// entity and paid after an unusual log-in. `novel`: instruments that were never seen before. `tested`: those of them that were
// declined. `guessed`: failed log-ins of strangers.
type Column =
  | "n"
  | "sum"
  | "declined"
  | "frauds"
  | "fresh"
  | "high"
  | "higher"
  | "z"
  | "strange"
  | "novel"
  | "tested"
  | "guessed";
type Added = Partial<Record<Column, number>>;
export type Days = { day: number } & Partial<Record<Column, number[]>>;

const columns: readonly Column[] = [
  "n",
  "sum",
  "declined",
  "frauds",
  "fresh",
  "high",
  "higher",
  "z",
  "strange",
  "novel",
  "tested",
  "guessed",
];

export function newDays(): Days {
  return { day: 0 };
}

// Adds to the day of `at`. An activity from before the oldest day, or with an impossible time, changes nothing.
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

// Adds or subtracts one known fraud on the day of `at`. Both cancel out exactly, in either order. In between, a day's count may
// be negative, and is then read as 0.
export function bumpFraud(days: Days, at: number, by: 1 | -1): void {
  addToDays(days, at, { frauds: by });
}

// The sum over the given number of calendar days up to and including the day of `at`. With `isRolling`, the window begins at the
// same time of day. Its part of the first day is estimated as if that day's activity were spread evenly.
export function sumOfDays(days: Days | undefined, column: Column, { at, span, isRolling = false }: Span): number {
  if (!days || !isCounted(at)) return 0;
  const first = days.day - dayOf(at);
  let sum = 0;
  for (let index = first; index < first + span; index++) sum += valueAt(days, column, index);
  if (!isRolling) return sum;
  return sum + valueAt(days, column, first + span) * (1 - (at / dayMs - dayOf(at)));
}
export type Span = { at: number; span: number; isRolling?: boolean };

// The usual share of `part` in `whole` over the days before the last `except` ones: the share on the median day, by `whole`. A few
// extraordinary days do not change it.
export function medianShare(
  days: Days | undefined,
  { part, whole }: { part: Column; whole: Column },
  { at, span, except }: Omit<Span, "isRolling"> & { except: number },
): { share: number; whole: number } {
  if (!days || !isCounted(at)) return { share: 0, whole: 0 };
  const first = days.day - dayOf(at);
  const shares: { share: number; whole: number }[] = [];
  let all = 0;
  for (let index = first + except; index < first + span; index++) {
    const [own, of] = [valueAt(days, part, index), valueAt(days, whole, index)];
    if (of > 0) shares.push({ share: own / of, whole: of });
    all += of;
  }
  shares.sort((one, other) => one.share - other.share);
  let seen = 0;
  const middle = shares.find((each) => (seen += each.whole) >= all / 2);
  return { share: middle?.share ?? 0, whole: all };
}

export function largestOfDays(days: Days | undefined, column: Column, { at, span }: Span): number {
  if (!days || !isCounted(at)) return 0;
  const first = days.day - dayOf(at);
  let most = 0;
  for (let index = first; index < first + span; index++) most = Math.max(most, valueAt(days, column, index));
  return most;
}

// How many days before `at` the last and the first known fraud were, or null if there is none among the days kept.
export function daysSinceFrauds(days: Days | undefined, at: number): { last: number; first: number } | null {
  if (!days?.frauds || !isCounted(at)) return null;
  const today = days.day - dayOf(at);
  const isFraud = (_: number, index: number) => index >= today && valueAt(days, "frauds", index) > 0;
  const last = days.frauds.findIndex(isFraud);
  return last === -1 ? null : { last: last - today, first: days.frauds.findLastIndex(isFraud) - today };
}

// Payments and known frauds by day, from the day of `at` backwards.
export type Daily = { n: number[]; frauds: number[] };

// Returns two lists, which take a third of the time of a list of objects. This runs twice for each payment.
export function dailyFrauds(days: Days, at: number): Daily {
  const daily: Daily = { n: [], frauds: [] };
  if (!isCounted(at)) return daily;
  const today = days.day - dayOf(at);
  for (let ago = 0; ago < daysKept; ago++) {
    daily.n.push(valueAt(days, "n", today + ago));
    daily.frauds.push(valueAt(days, "frauds", today + ago));
  }
  return daily;
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
