import { Type, type Static } from "typebox";
import { Time, isFinerThanMs, parseTime } from "./field.ts";

// Kept by minute, hour and day; longer buckets are put together from days.
const metricLevels = ["minute", "hour", "day"] as const;
export type MetricLevel = (typeof metricLevels)[number];

export const aggregations = [...metricLevels, "week", "month", "quarter", "year"] as const;
export type Aggregation = (typeof aggregations)[number];

export const metricNames = [
  "total_events",
  "guest_sessions",
  "non_guest_sessions",
  "unique_sessions",
  "unique_ids",
  "session_starts",
] as const;
export type MetricName = (typeof metricNames)[number];

const count = Type.Optional(Type.Integer({ minimum: 0 }));

export const MetricPoint = Type.Object(
  {
    timestamp: Type.String({ ...Time, description: "Where the bucket begins, UTC." }),
    total_events: count,
    guest_sessions: count,
    non_guest_sessions: count,
    unique_sessions: count,
    unique_ids: count,
    session_starts: count,
  },
  { additionalProperties: false, $id: "MetricPoint" },
);
export type MetricPoint = Static<typeof MetricPoint>;

// From `from` to before `to`, in milliseconds.
export type TimeRange = { from: number; to: number };

const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;
const fixedMs = { minute: minuteMs, hour: 60 * minuteMs, day: dayMs, week: 7 * dayMs };
// 1970 began on a Thursday; weeks begin on Monday.
const mondayMs = 4 * dayMs;

// Years that events are counted in. Others are no times but a sender's fault.
export const countedRange: TimeRange = { from: Date.UTC(2000, 0, 1), to: Date.UTC(2101, 0, 1) };
// How far an event's time may lie from its receipt to be counted by minute and by hour.
const finerDays = { minute: 7, hour: 90 };
// How long a range may be; with longer buckets as by day, 5 years.
export const rangeDaysMax = { ...finerDays, day: 5 * 366 };
// Whole days before today's. One more than a range may have, so that every range up to now is there whole.
export const keptDays = { minute: finerDays.minute + 1, hour: finerDays.hour + 1 };

const calendarMonths = { month: 1, quarter: 3, year: 12 };

function isCalendar(aggregation: Aggregation): aggregation is keyof typeof calendarMonths {
  return aggregation in calendarMonths;
}

export function bucketStart(aggregation: Aggregation, at: number): number {
  if (isCalendar(aggregation)) {
    const month = new Date(at).getUTCMonth();
    return Date.UTC(new Date(at).getUTCFullYear(), month - (month % calendarMonths[aggregation]), 1);
  }
  const offset = aggregation === "week" ? mondayMs : 0;
  return Math.floor((at - offset) / fixedMs[aggregation]) * fixedMs[aggregation] + offset;
}

// Where the bucket after the one that begins at `start` begins.
function bucketEnd(aggregation: Aggregation, start: number): number {
  if (isCalendar(aggregation))
    return Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + calendarMonths[aggregation], 1);
  return start + fixedMs[aggregation];
}

// To whole buckets.
export function widen(aggregation: Aggregation, { from, to }: TimeRange): TimeRange {
  const last = bucketStart(aggregation, to - 1);
  return { from: bucketStart(aggregation, from), to: bucketEnd(aggregation, last) };
}

export function bucketStarts(aggregation: Aggregation, { from, to }: TimeRange): number[] {
  const starts: number[] = [];
  for (let start = from; start < to; start = bucketEnd(aggregation, start)) starts.push(start);
  return starts;
}

export type LevelRange = TimeRange & { level: MetricLevel };

// The fewest kept buckets that make up a range of whole ones of a level: minutes to the full hour, hours to midnight, days.
export function coverRange(level: MetricLevel, range: TimeRange): LevelRange[] {
  const coarser = metricLevels[metricLevels.indexOf(level) + 1];
  if (coarser === undefined) return [{ level, ...range }];
  const inner = { from: bucketStart(coarser, range.from + fixedMs[coarser] - 1), to: bucketStart(coarser, range.to) };
  if (inner.from >= inner.to) return [{ level, ...range }];
  const edges = [
    { level, from: range.from, to: inner.from },
    { level, from: inner.to, to: range.to },
  ];
  return [...edges.filter((edge) => edge.from < edge.to), ...coverRange(coarser, inner)];
}

// What lies before is deleted.
export function keptSince(level: "minute" | "hour", now: number): number {
  return bucketStart("day", now) - keptDays[level] * dayMs;
}

// The finest level that still has all of what began at `from`.
export function finestLevel(from: number, now: number): MetricLevel {
  if (from >= keptSince("minute", now)) return "minute";
  return from >= keptSince("hour", now) ? "hour" : "day";
}

// Where an event that occurred then, and was received then, is counted.
export function levelsOf(occurredAt: number, receivedAt: number): MetricLevel[] {
  if (!(occurredAt >= countedRange.from && occurredAt < countedRange.to)) return [];
  const days = Math.abs(receivedAt - occurredAt) / dayMs;
  return metricLevels.filter((level) => level === "day" || days <= finerDays[level]);
}

// A day or a time, or null. An end that is finer than milliseconds is rounded up, for it is no part of the range.
export function parseBound(text: string, isEnd: boolean): number | null {
  const at = parseTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at === null || at < countedRange.from || at > countedRange.to) return null;
  return isEnd && isFinerThanMs(text) ? at + 1 : at;
}
