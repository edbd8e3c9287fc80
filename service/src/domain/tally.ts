import type { DomainEvent } from "./event.ts";
import { uuidV7Time } from "./uuid.ts";

export type Tally = { day: string; what: string; bucket: number; cases: number };

const perOctave = 8;

// The bucket for the time that a case was open, in eighths of an octave: each bucket is 9 % wider than the one before.
function openTimeBucket(seconds: number): number {
  return Math.floor(perOctave * Math.log2(1 + Math.max(0, seconds)));
}

// The middle of the bucket, in seconds.
function bucketSeconds(bucket: number): number {
  return 2 ** ((bucket + 0.5) / perOctave) - 1;
}

// Returns what these events add to the daily figures. Reopening a case subtracts its close from the day on which it was closed.
export function talliesOf(events: DomainEvent[]): Tally[] {
  const tallies = new Map<string, Tally>();
  const add = (day: string, what: string, bucket: number, cases: number) => {
    const key = `${day} ${what} ${bucket}`;
    tallies.set(key, { day, what, bucket, cases: (tallies.get(key)?.cases ?? 0) + cases });
  };
  const addClose = (caseId: string, closedAt: string, disposition: unknown, cases: number) => {
    const day = closedAt.slice(0, 10);
    // A case id contains the time at which the case was opened.
    add(day, "closed", openTimeBucket((Date.parse(closedAt) - uuidV7Time(caseId)) / 1000), cases);
    if (typeof disposition === "string") add(day, disposition, 0, cases);
  };
  for (const { type, occurred_at, resource, data = {} } of events) {
    const { disposition, closed_at } = data;
    if (type === "case.opened") add(occurred_at.slice(0, 10), "opened", 0, 1);
    if (type === "case.closed") addClose(resource.id, occurred_at, disposition, 1);
    if (type !== "case.reopened") continue;
    add(occurred_at.slice(0, 10), "reopened", 0, 1);
    if (typeof closed_at === "string") addClose(resource.id, closed_at, disposition, -1);
  }
  return [...tallies.values()];
}

// Returns null if nothing was closed. The result is within 5 %, because of the width of the buckets.
export function medianSeconds(closed: { bucket: number; cases: number }[]): number | null {
  const total = closed.reduce((sum, { cases }) => sum + cases, 0);
  let seen = 0;
  for (const { bucket, cases } of closed.toSorted((a, b) => a.bucket - b.bucket)) {
    seen += cases;
    if (2 * seen >= total && total > 0) return Math.round(bucketSeconds(bucket));
  }
  return null;
}
