import { array, assert, asyncProperty, boolean, integer, nat, option, record } from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { metricNames } from "../src/domain/metric.ts";
import { mergeAdditions } from "../src/engine/tally.ts";
import { TestTenant, useService } from "./harness.ts";
import { between, count, dayMs, hourMs, iso, minuteMs, now, read, today, type Event, type Point } from "./tallies.ts";

const service = useService({ roles: new Set(["api"]) });
const whole = useService();
const newTenant = () => TestTenant.create(service.current);

test("GET metrics 200: every measure counts what its definition says", async () => {
  const own = await newTenant();
  const at = today - dayMs;
  await count(own, [
    { at, session_id: "s1", device_id: "d1" },
    { at, session_id: "s1", device_id: "d1", website_account_id: "a1" },
    { at, session_id: "s2", device_id: "d1" },
    { at, session_id: "s3" },
    { at, device_id: "s3" },
    { at, website_account_id: "d1" },
    { at },
  ]);
  const query = { ...between(at, at + dayMs), aggregation: "day" };
  const sessions = { unique_sessions: 3, non_guest_sessions: 1, guest_sessions: 2 };
  // Ids: the device d1, the account a1, the session s3, the device s3, the account d1.
  expect(await read(own, query)).toEqual([
    { timestamp: iso(at), total_events: 7, ...sessions, unique_ids: 5, session_starts: 0 },
  ]);
});

test("GET metrics 200: a session starts once, at its start event or else at its first event", async () => {
  const own = await newTenant();
  const at = today - dayMs;
  const start = "custom:_session_start";
  const started = new Map(["said", "silent", "twice"].map((session) => [session, iso(at)]));
  const batch: Event[] = [
    { at: at + hourMs, session_id: "said", type: start },
    { at, session_id: "said" },
    { at, session_id: "silent" },
    { at: at + 3 * hourMs, session_id: "twice", type: start },
    { at: at + 2 * hourMs, session_id: "twice", type: start },
    { at: at + 4 * hourMs, type: start },
    { at: at + 5 * hourMs, session_id: "known", type: start },
  ];
  await count(own, batch, started);
  await count(own, [{ at: at + 5 * hourMs, session_id: "silent", type: start }]);
  const points = await read(own, { ...between(at, at + 6 * hourMs), aggregation: "hour", metric: "session_starts" });
  expect(points.map((point) => point.session_starts)).toEqual([1, 1, 1, 0, 1, 0]);
});

// The oracle truncates the text of the time and counts with sets.
const cuts = { minute: 16, hour: 13, day: 10, month: 7, year: 4 };
const tails = {
  minute: ":00.000Z",
  hour: ":00:00.000Z",
  day: "T00:00:00.000Z",
  month: "-01T00:00:00.000Z",
  year: "-01-01T00:00:00.000Z",
};
type Unit = keyof typeof cuts | "week" | "quarter";

function keyOf(unit: Unit, at: number): string {
  if (unit === "quarter")
    return `${iso(at).slice(0, 5)}${["01", "04", "07", "10"][Math.floor(new Date(at).getUTCMonth() / 3)]}${tails.month}`;
  if (unit !== "week") return `${iso(at).slice(0, cuts[unit])}${tails[unit]}`;
  let day = at;
  while (new Date(day).getUTCDay() !== 1) day -= dayMs;
  return keyOf("day", day);
}

function bruteForce(unit: Unit, from: number, to: number, events: Event[]): Point[] {
  const step = unit === "minute" ? minuteMs : unit === "hour" ? hourMs : dayMs;
  const keys = new Set<string>();
  for (let at = from; at < to; at += step) keys.add(keyOf(unit, at));
  keys.add(keyOf(unit, to - 1));
  const kept = unit === "minute" ? 7 : unit === "hour" ? 90 : Infinity;
  const counted = events.filter(({ at }) => now - at <= kept * dayMs);
  return [...keys].map((key) =>
    pointOf(
      key,
      counted.filter(({ at }) => keyOf(unit, at) === key),
    ),
  );
}

function pointOf(timestamp: string, events: Event[]): Point {
  const sessions = new Set(events.flatMap((each) => each.session_id ?? []));
  const known = new Set(events.flatMap((each) => (each.website_account_id === undefined ? [] : (each.session_id ?? []))));
  const ids = new Set(
    events.flatMap(({ website_account_id: account, device_id: device, session_id: session }) =>
      account !== undefined ? `a${account}` : device !== undefined ? `d${device}` : session !== undefined ? `s${session}` : [],
    ),
  );
  return {
    timestamp,
    total_events: events.length,
    guest_sessions: sessions.size - known.size,
    non_guest_sessions: known.size,
    unique_sessions: sessions.size,
    unique_ids: ids.size,
    session_starts: 0,
  };
}

const named = option(nat(5).map(String), { nil: undefined });
const events = (spanMs: number) =>
  array(record({ ago: nat(spanMs), session_id: named, device_id: named, website_account_id: named }), {
    minLength: 1,
    maxLength: 60,
  }).map((all) =>
    all.map(({ ago, session_id: session, device_id: device, website_account_id: account }): Event => ({
      at: now - ago,
      ...(session !== undefined && { session_id: session }),
      ...(device !== undefined && { device_id: device }),
      ...(account !== undefined && { website_account_id: account }),
    })),
  );

// The ranges reach back only as far as each level is kept.
test.each([
  ["minute", 2 * hourMs],
  ["minute", 7 * dayMs],
  ["hour", 90 * dayMs],
  ["day", 400 * dayMs],
  ["week", 400 * dayMs],
  ["month", 800 * dayMs],
  ["quarter", 1000 * dayMs],
  ["year", 1800 * dayMs],
] as const)(
  "GET metrics 200 by %s over %i ms: equals a brute-force count, whatever the batches and the range",
  async (unit, span) => {
    const property = asyncProperty(
      events(span),
      nat(span),
      integer({ min: 1, max: span }),
      nat(60),
      array(boolean(), { minLength: 3, maxLength: 3 }),
      async (all, back, length, split, areMerged) => {
        const own = await newTenant();
        const parts = [all.slice(0, split), all.slice(split, split + 20), all.slice(split + 20)];
        for (const [index, part] of parts.entries()) {
          await count(own, part);
          if (areMerged[index] === true) await service.current.database.transaction((tx) => mergeAdditions(tx, own.tenantId));
        }
        const from = now - back;
        const points = await read(own, { ...between(from, from + length), aggregation: unit });
        expect(points).toEqual(bruteForce(unit, from, from + length, all));
      },
    );
    await assert(property, { numRuns: 8 });
  },
);

test.each([
  ["minutes", 7 * dayMs, minuteMs],
  ["hours", 80 * dayMs, hourMs],
  ["days", 1000 * dayMs, dayMs],
])("GET metrics 200 without aggregation: returns one point for the range, in whole %s", async (_unit, span, step) => {
  const property = asyncProperty(events(span), integer({ min: 1, max: span }), async (all, length) => {
    const own = await newTenant();
    await count(own, all);
    const from = now - span;
    const [floor, ceiling] = [from - (from % step), Math.ceil((from + length) / step) * step];
    const inside = all.filter(({ at }) => at >= floor && at < ceiling);
    expect(await read(own, between(from, from + length))).toEqual([pointOf(iso(floor), inside)]);
  });
  await assert(property, { numRuns: 8 });
});

test("GET metrics 200: the range is half-open and is widened to whole buckets", async () => {
  const own = await newTenant();
  const noon = today - dayMs + 12 * hourMs;
  await count(
    own,
    [noon - 1, noon, noon + hourMs - 1, noon + hourMs].map((at) => ({ at })),
  );
  const totals = async (from: string, to: string) => {
    const query = { start_date: from, end_date: to, aggregation: "hour", metric: "total_events" };
    return (await read(own, query)).map(({ timestamp, total_events: total }) => [Date.parse(timestamp), total]);
  };
  expect(await totals(iso(noon), iso(noon + hourMs))).toEqual([[noon, 2]]);
  expect(await totals(iso(noon + 1), iso(noon + 2))).toEqual([[noon, 2]]);
  const justAfter = iso(noon + hourMs).replace(".000Z", ".0001Z");
  expect(await totals(iso(noon), justAfter)).toHaveLength(2);
  const day = iso(noon).slice(0, 10);
  expect(await totals(day, iso(today).slice(0, 10))).toHaveLength(24);
});

test("GET metrics 200 without parameters: returns the last 7 days as one point", async () => {
  const own = await newTenant();
  const times = [now, now - 7 * dayMs + hourMs, now - 7 * dayMs - hourMs];
  await count(
    own,
    times.map((at) => ({ at })),
  );
  expect(await read(own, {})).toMatchObject([{ total_events: 2 }]);
  expect(await read(own, { start_date: iso(now - 8 * dayMs) })).toMatchObject([{ total_events: 3 }]);
  expect(await read(own, { end_date: iso(now - dayMs) })).toMatchObject([{ total_events: 2 }]);
  const daily = await read(own, { aggregation: "day" });
  // By whole days, including the first.
  const days = times.map((time) => iso(time).slice(0, 10)).filter((day) => day >= iso(now - 7 * dayMs).slice(0, 10));
  const counted = daily
    .filter((point) => point.total_events > 0)
    .map((point) => [point.timestamp.slice(0, 10), point.total_events]);
  const wanted = [...Map.groupBy(days, (day) => day)].map(([day, alike]) => [day, alike.length]);
  expect(counted).toEqual(wanted.toReversed());
});

test.each(metricNames)(
  "GET metrics 200 with metric=%s: returns the timestamp and that metric, with the same values as among all",
  async (metric) => {
    const own = await newTenant();
    const sessions = Array.from({ length: 9 }, (_, index) => ({ at: now - index * dayMs, session_id: `${index % 4}` }));
    await count(own, [...sessions, { at: now, session_id: "a", website_account_id: "a" }], new Map([["a", iso(now)]]));
    for (const aggregation of ["hour", "month"]) {
      const range = { ...between(now - 6 * dayMs, now + 1), aggregation };
      const all = await read(own, range);
      expect(all.some((point) => point[metric] > 0)).toBe(true);
      expect(await read(own, { ...range, metric })).toEqual(
        all.map((point) => ({ timestamp: point.timestamp, [metric]: point[metric] })),
      );
    }
  },
);

test("GET metrics 200: days and hours are in UTC, even across a clock change", async () => {
  vi.stubEnv("TZ", "Europe/Berlin");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(new Date("2026-03-29T00:30:00Z").getTimezoneOffset()).not.toBe(new Date("2026-03-29T01:30:00Z").getTimezoneOffset());
  const own = await newTenant();
  const times = ["2026-03-28T23:59:59.999Z", "2026-03-29T00:00:00.000Z", "2026-03-29T23:59:59.999Z", "2026-10-25T23:30:00.000Z"];
  await count(
    own,
    times.map((time) => ({ at: Date.parse(time) })),
  );
  const daily = await read(own, { start_date: "2026-03-28", end_date: "2026-03-31", aggregation: "day" });
  expect(daily.map((point) => [point.timestamp, point.total_events])).toEqual([
    ["2026-03-28T00:00:00.000Z", 1],
    ["2026-03-29T00:00:00.000Z", 2],
    ["2026-03-30T00:00:00.000Z", 0],
  ]);
  const weekly = await read(own, { start_date: "2026-10-25", end_date: "2026-10-27", aggregation: "week" });
  expect(weekly.map((point) => [point.timestamp, point.total_events])).toEqual([
    ["2026-10-19T00:00:00.000Z", 1],
    ["2026-10-26T00:00:00.000Z", 0],
  ]);
  const hours = await read(await newTenant(), { start_date: "2026-10-25", end_date: "2026-10-26", aggregation: "hour" });
  expect(hours.map((point) => new Date(point.timestamp).getUTCHours())).toEqual(Array.from({ length: 24 }, (_, hour) => hour));
});

test("GET metrics 200: a late event changes its old bucket, at every level", async () => {
  const own = await newTenant();
  const at = today - 2 * dayMs;
  await count(own, [{ at, session_id: "s1" }]);
  await count(own, [{ at: now, session_id: "s1" }]);
  await count(own, [{ at: at + 1, session_id: "s2" }]);
  for (const [aggregation, length] of [
    ["minute", minuteMs],
    ["hour", hourMs],
    ["day", dayMs],
  ] as const) {
    const [point] = await read(own, { ...between(at, at + length), aggregation });
    expect(point).toMatchObject({ timestamp: iso(at), total_events: 2, unique_sessions: 2 });
  }
});

test("POST activities, then GET metrics: scored activity is counted, and a resend is not", async () => {
  const own = await TestTenant.create(whole.current);
  const from = Date.now();
  const activities = ["s1", "s1", "s2"].map((session_id, index) => ({
    activity_id: `activity-${index}`,
    type: "page_view",
    occurred_at: iso(from + index),
    session_id,
    ...(index === 0 && { website_account_id: "user-1" }),
  }));
  const send = async (batch: unknown[]) => {
    const answer = await own.call("POST", "/activities", { body: { activities: batch } });
    expect(answer.status, answer.text).toBe(202);
  };
  await send(activities);
  await send(activities);
  // This one is scored last: once it is counted, all before it are.
  await send([{ activity_id: "last", type: "page_view", occurred_at: iso(from + 3), session_id: "s3" }]);
  const range = between(from - dayMs, from + dayMs);
  const counted = { total_events: 4, unique_sessions: 3, non_guest_sessions: 1, session_starts: 3, unique_ids: 4 };
  await vi.waitFor(async () => expect(await read(own, range)).toMatchObject([counted]), { timeout: 20_000, interval: 50 });
  const daily = await read(own, { ...range, aggregation: "day" });
  expect(daily.reduce((total, point) => total + point.total_events, 0)).toBe(4);
});
