import { Type } from "typebox";
import { hasEvents, listBuckets, wholeSketch, type MetricBucket, type SketchName } from "../db/metric-buckets.ts";
import { countUnion, headBytes } from "../detection/sketch.ts";
import { Failure } from "../domain/failure.ts";
import {
  MetricPoint,
  aggregations,
  bucketStart,
  bucketStarts,
  coverRange,
  dayMs,
  finestLevel,
  keptSince,
  metricNames,
  parseBound,
  rangeDaysMax,
  widen,
  type Aggregation,
  type LevelRange,
  type MetricLevel,
  type MetricName,
  type TimeRange,
} from "../domain/metric.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const Bound = (description: string) =>
  Type.Optional(Type.String({ description, examples: ["2026-11-15", "2026-11-15T09:30:00.000Z"] }));

const MetricsQuery = Type.Object({
  start_date: Bound("A day, YYYY-MM-DD, or a UTC time. Default: 7 days before the end."),
  end_date: Bound("A day or a UTC time, exclusive. Default: now."),
  aggregation: Type.Optional(
    Type.Enum([...aggregations], { description: "The buckets' length. Without it there is one point, for the whole range." }),
  ),
  metric: Type.Optional(
    Type.Enum([...metricNames], { description: "If given, the points have only their timestamp and this metric." }),
  ),
});

const rangeDaysDefault = 7;
// Sessions that were seen with an account are a part of all sessions, so guests and non-guests both need both sketches.
const sketchesOf: Record<MetricName, SketchName[]> = {
  total_events: [],
  session_starts: [],
  unique_sessions: ["sessions"],
  guest_sessions: ["sessions", "identified"],
  non_guest_sessions: ["sessions", "identified"],
  unique_ids: ["ids"],
};

type Query = { start_date?: string; end_date?: string; aggregation?: Aggregation; metric?: MetricName };

async function read(services: Services, { caller, query }: Call): Promise<Reply> {
  // Checked against MetricsQuery.
  const { aggregation, metric, ...bounds } = query as Query;
  const now = Date.parse(services.now());
  const asked = readRange(bounds, now);
  const level = levelOf(aggregation, asked, now);
  requireLength(asked, aggregation === undefined ? "day" : level);
  const range = widen(aggregation ?? level, asked);
  if (aggregation !== undefined && level !== "day") await requireKept(services, caller.tenant_id, { level, ...range }, now);
  // A bucket that is stored at this level needs no union, so the count in front of each sketch is enough.
  const sketchBytes = aggregation === level ? headBytes : wholeSketch;
  const wanted = metric === undefined ? (["sessions", "identified", "ids"] as const) : sketchesOf[metric];
  const bytesOf = (name: SketchName) => (wanted.includes(name) ? sketchBytes : 0);
  const found = await listBuckets(services.database, caller.tenant_id, {
    ranges: aggregation === undefined ? coverRange(level, range) : [{ level, ...range }],
    bytes: { sessions: bytesOf("sessions"), identified: bytesOf("identified"), ids: bytesOf("ids") },
  });
  const byStart = Map.groupBy(found, ({ at }) => (aggregation === undefined ? range.from : bucketStart(aggregation, at)));
  const starts = aggregation === undefined ? [range.from] : bucketStarts(aggregation, range);
  const points = starts.map((start) => pointOf(start, byStart.get(start) ?? []));
  return dataReply({ metrics: metric === undefined ? points : points.map((point) => onlyOf(point, metric)) });
}

function readRange({ start_date: start, end_date: end }: Query, now: number): TimeRange {
  const to = end === undefined ? now : readBound("end_date", end);
  const from = start === undefined ? to - rangeDaysDefault * dayMs : readBound("start_date", start);
  if (from >= to) throw new Failure("bad-request", "The parameter start_date must be before end_date.");
  return { from, to };
}

function readBound(name: "start_date" | "end_date", text: string): number {
  const at = parseBound(text, name === "end_date");
  if (at !== null) return at;
  const forms = "a date in the form YYYY-MM-DD or a UTC time in the form YYYY-MM-DDTHH:mm:ss.sssZ";
  throw new Failure("bad-request", `The parameter ${name} must be ${forms}, in the years 2000 to 2100.`);
}

// The level of the stored buckets that answer the query.
function levelOf(aggregation: Aggregation | undefined, asked: TimeRange, now: number): MetricLevel {
  if (aggregation === undefined) return finestLevel(asked.from, now);
  return aggregation === "minute" || aggregation === "hour" ? aggregation : "day";
}

function requireLength({ from, to }: TimeRange, level: MetricLevel): void {
  if (to - from <= rangeDaysMax[level] * dayMs) return;
  const most = {
    minute: "7 days by minute; use hour or day for a longer range",
    hour: "90 days by hour; use day for a longer range",
    day: "5 years",
  };
  throw new Failure("bad-request", `The range is too long. The maximum is ${most[level]}.`);
}

// Zeros would be wrong if there were events whose minutes or hours are no longer kept.
async function requireKept(services: Services, tenantId: string, { level, from, to }: LevelRange, now: number): Promise<void> {
  if (level === "day") return;
  const since = keptSince(level, now);
  const gone = { from: bucketStart("day", from), to: Math.min(since, to) };
  if (gone.from >= gone.to || !(await hasEvents(services.database, tenantId, gone))) return;
  const kept = `Counts by ${level} are kept only since ${new Date(since).toISOString()}`;
  throw new Failure("bad-request", `${kept}. For earlier times, use a longer aggregation.`);
}

function pointOf(start: number, buckets: MetricBucket[]): Required<MetricPoint> {
  const sum = (name: "total_events" | "session_starts") => buckets.reduce((total, bucket) => total + bucket[name], 0);
  const countOf = (name: SketchName) => countUnion(buckets.map((bucket) => bucket[name]));
  const sessions = countOf("sessions");
  // Above the exact range, the estimate of the part may exceed the estimate of the whole.
  const identified = Math.min(sessions, countOf("identified"));
  return {
    timestamp: new Date(start).toISOString(),
    total_events: sum("total_events"),
    guest_sessions: sessions - identified,
    non_guest_sessions: identified,
    unique_sessions: sessions,
    unique_ids: countOf("ids"),
    session_starts: sum("session_starts"),
  };
}

function onlyOf(point: MetricPoint, metric: MetricName): MetricPoint {
  return { timestamp: point.timestamp, [metric]: point[metric] };
}

export const tenantMetricsOperations: Operation[] = [
  operation({
    id: "getTenantMetrics",
    method: "GET",
    path: "/metrics",
    scope: "read:metrics",
    tag: "Tenant",
    summary: "Read the tenant's metrics",
    description: [
      "Counts of your activity by the time at which it occurred, in UTC. An event counts once it has been scored, in the bucket of its own time, however late it arrived.",
      "`total_events`: all events. `unique_sessions`: distinct session ids. Of these, `non_guest_sessions` were seen with an account in that bucket, and `guest_sessions` were not. `unique_ids`: distinct accounts, or devices if there is no account, or sessions if there is no device either. `session_starts`: every session once, when its `custom:_session_start` says that it began, else at its first event.",
      "Sessions and ids are exact up to 1,024 per bucket, and within a few percent above that.",
      "The range is widened to whole buckets (weeks begin on Monday, quarters in January, April, July and October), and the response contains every bucket in it. Without an aggregation it is widened to whole minutes, or to whole hours or days if it begins so long ago that minutes or hours are no longer kept.",
      "A range may have up to 7 days by minute, 90 days by hour, and otherwise 5 years. Minutes are kept for 7 days and hours for 90. An earlier range is rejected, unless there was nothing in it. An event that arrives later than that counts only by day.",
    ].join("\n\n"),
    query: MetricsQuery,
    success: {
      status: 200,
      description: "A point for each bucket, in order of time",
      schema: Type.Object({ metrics: Type.Array(MetricPoint) }, { additionalProperties: false }),
    },
    problems: ["bad-request"],
    handle: read,
  }),
];
