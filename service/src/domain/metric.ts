import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { isFinerThanMs, parseTime } from "./text.ts";

// Stored by minute, hour and day. Longer buckets are combined from days.
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
    timestamp: Type.String({ ...Time, description: "The start of the bucket, in UTC." }),
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

// In milliseconds. `from` is inclusive and `to` is exclusive.
export type TimeRange = { from: number; to: number };

const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;
const fixedMs = { minute: minuteMs, hour: 60 * minuteMs, day: dayMs, week: 7 * dayMs };
// 1970 began on a Thursday, and weeks begin on Monday.
const mondayMs = 4 * dayMs;

// Events outside these years are not counted, because such a time is a sender's error.
export const countedRange: TimeRange = { from: Date.UTC(2000, 0, 1), to: Date.UTC(2101, 0, 1) };
// How many days an event's time may differ from its receipt to be counted by minute and by hour.
const finerDays = { minute: 7, hour: 90 };
// The longest range in days. Buckets longer than a day have the same limit as days, 5 years.
export const rangeDaysMax = { ...finerDays, day: 5 * 366 };
// Whole days that are kept before today. One more than a range may have, so that every range up to now is complete.
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

// Returns the start of the bucket after the one that begins at `start`.
function bucketEnd(aggregation: Aggregation, start: number): number {
  if (isCalendar(aggregation))
    return Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + calendarMonths[aggregation], 1);
  return start + fixedMs[aggregation];
}

// Widens a range to whole buckets.
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

// Returns the fewest stored buckets that cover a range of whole buckets of a level: minutes to the full hour, hours to midnight,
// then days.
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

// Returns the time before which buckets are deleted.
export function keptSince(level: "minute" | "hour", now: number): number {
  return bucketStart("day", now) - keptDays[level] * dayMs;
}

// Returns the finest level that still has everything since `from`.
export function finestLevel(from: number, now: number): MetricLevel {
  if (from >= keptSince("minute", now)) return "minute";
  return from >= keptSince("hour", now) ? "hour" : "day";
}

// Returns the levels at which an event with these times is counted.
export function levelsOf(occurredAt: number, receivedAt: number): MetricLevel[] {
  if (!(occurredAt >= countedRange.from && occurredAt < countedRange.to)) return [];
  const days = Math.abs(receivedAt - occurredAt) / dayMs;
  return metricLevels.filter((level) => level === "day" || days <= finerDays[level]);
}

// Parses a day or a time, or returns null. An end that is finer than milliseconds is rounded up, because it is exclusive.
export function parseBound(text: string, isEnd: boolean): number | null {
  const at = parseTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at === null || at < countedRange.from || at > countedRange.to) return null;
  return isEnd && isFinerThanMs(text) ? at + 1 : at;
}
