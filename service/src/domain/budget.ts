import type { Thresholds } from "./rule.ts";

// How many subjects had these log-odds as their highest of a day. A subject is named if it was suspicious enough for a case.
export type DayCount = { log_odds: number; subjects: number; subject: string | null; case_id: string | null };
export type CaseCount = Pick<DayCount, "log_odds" | "subjects">;

export const budgetDays = 28;
// The share of the cases that get at least this score.
const shares = { score_4: 0.4, score_5: 0.1 };
const score3Min = 0.5;
const gapMin = 0.1;
const thresholdMax = 100;

// Turns the suspicious subjects of each day into cases. A case counts once, with its highest log-odds, even if activity joined it
// on several days. Activity that only repeats a case's evidence does not name the case, so it is counted with the last case of
// its subject.
export function casesIn(days: readonly (readonly DayCount[])[]): CaseCount[] {
  const lastCase = new Map<string, string>();
  const highest = new Map<string, number>();
  const others: CaseCount[] = [];
  days.forEach((counts, day) => {
    for (const { subject, case_id, log_odds, subjects } of counts) {
      if (subject === null) {
        others.push({ log_odds, subjects });
        continue;
      }
      if (case_id !== null) lastCase.set(subject, case_id);
      const key = lastCase.get(subject) ?? `${day} ${subject}`;
      highest.set(key, Math.max(log_odds, highest.get(key) ?? 0));
    }
  });
  return [...others, ...[...highest.values()].map((log_odds) => ({ log_odds, subjects: 1 }))];
}

export type Budgeted = { thresholds: Thresholds; expected: number };

// Returns the lowest thresholds that give at most this many cases a day. Below the lowest allowed threshold, activity is not
// suspicious at all, so a larger budget changes nothing. Equal log-odds stay together. If the highest log-odds alone give more
// cases than wanted, they still become cases, because no case at all would be worse.
export function thresholdsFor(
  counts: readonly CaseCount[],
  { days, casesPerDay }: { days: number; casesPerDay: number },
): Budgeted {
  const ranked = rankedOf(counts);
  const within = (value: number, least: number) => rounded(Math.min(Math.max(value, least), thresholdMax - 3 * gapMin));
  const score_3 = within(lowest(ranked, casesPerDay * days), score3Min);
  const cases = countFrom(ranked, score_3);
  const score_4 = rounded(Math.max(within(lowest(ranked, cases * shares.score_4), 0), score_3 + gapMin));
  const score_5 = rounded(Math.max(within(lowest(ranked, cases * shares.score_5), 0), score_4 + gapMin));
  const thresholds = { score_2: rounded(score_3 * 0.4), score_3, score_4, score_5 };
  return { thresholds, expected: Number((cases / days).toPrecision(3)) };
}

// Highest first, each value once.
export function rankedOf(counts: readonly CaseCount[]): CaseCount[] {
  const sums = new Map<number, number>();
  for (const { log_odds, subjects } of counts) sums.set(log_odds, (sums.get(log_odds) ?? 0) + subjects);
  return [...sums]
    .map(([log_odds, subjects]) => ({ log_odds, subjects }))
    .toSorted((one, other) => other.log_odds - one.log_odds);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function countFrom(counts: readonly CaseCount[], threshold: number): number {
  return counts.reduce((sum, { log_odds, subjects }) => sum + (log_odds >= threshold ? subjects : 0), 0);
}

function lowest(ranked: readonly CaseCount[], wanted: number): number {
  let found = ranked[0]?.log_odds ?? 0;
  let count = 0;
  for (const { log_odds, subjects } of ranked) {
    count += subjects;
    if (count > wanted) break;
    found = log_odds;
  }
  return found;
}
