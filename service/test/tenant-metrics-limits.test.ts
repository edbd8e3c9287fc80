import { beforeAll, expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { mergeAdditions, tallyBatch } from "../src/engine/tally.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { ask, between, count, dayMs, hourMs, iso, minuteMs, now, read, today, type Event } from "./tallies.ts";

const service = useService({ roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);

let empty: TestTenant;
beforeAll(async () => {
  empty = await newTenant();
});

test.each([
  ["minute", 7 * dayMs, 7 * 24 * 60],
  ["hour", 90 * dayMs, 90 * 24],
  ["day", 1830 * dayMs, 1830],
] as const)(
  "GET metrics by %s: every bucket is returned up to the longest range, and a longer one is rejected with 400",
  async (aggregation, length, points) => {
    const from = today - length;
    const found = await read(empty, { ...between(from, from + length), aggregation });
    const zeros = {
      guest_sessions: 0,
      non_guest_sessions: 0,
      session_starts: 0,
      total_events: 0,
      unique_ids: 0,
      unique_sessions: 0,
    };
    expect(found).toEqual(
      Array.from({ length: points }, (_, index) => ({ timestamp: iso(from + (index * length) / points), ...zeros })),
    );
    const problem = expectProblem(await ask(empty, { ...between(from, from + length + 1), aggregation }), 400, "bad-request");
    expect(problem.detail).toMatch(/^The range is too long\. The maximum is (7 days|90 days|5 years)/);
  },
);

test.each(["week", "month", "year", undefined])("GET metrics by %s 400: more than 5 years are rejected", async (aggregation) => {
  const more = aggregation === undefined ? {} : { aggregation };
  expect((await ask(empty, { start_date: "2020-01-01", end_date: "2025-01-01", ...more })).status).toBe(200);
  const answer = await ask(empty, { start_date: "2020-01-01", end_date: "2025-01-06", ...more });
  expect(expectProblem(answer, 400, "bad-request").detail).toBe("The range is too long. The maximum is 5 years.");
});

test.each([
  ["2026-01-02", "2026-01-01"],
  ["2026-01-01", "2026-01-01"],
  ["2026-01-01T00:00:00.001Z", "2026-01-01"],
])("GET metrics 400: %s to %s is not a valid range", async (start, end) => {
  const answer = await ask(empty, { start_date: start, end_date: end, aggregation: "day" });
  expect(expectProblem(answer, 400, "bad-request").detail).toBe("The parameter start_date must be before end_date.");
});

test("GET metrics 400: a start in the future without an end is rejected", async () => {
  const answer = await ask(empty, { start_date: iso(Date.now() + dayMs) });
  expect(expectProblem(answer, 400, "bad-request").detail).toBe("The parameter start_date must be before end_date.");
});

const wrongDates = [
  "",
  "x",
  "2026",
  "2026-1-1",
  "2026-02-30",
  "2026-13-01",
  "20260101",
  "2026-01-01T00:00",
  "2026-01-01T24:00:00Z",
];
const wrongTimes = ["2026-01-01T00:00:00+01:00", "1767225600000", "1999-12-31", "2101-01-02", "0001-01-01", " 2026-01-01"];

test.each([...wrongDates, ...wrongTimes].flatMap((text) => [["start_date", text] as const, ["end_date", text] as const]))(
  "GET metrics 400: rejects %s=%s",
  async (name, text) => {
    const good = name === "start_date" ? { end_date: "2026-01-05" } : { start_date: "2026-01-01" };
    expect((await ask(empty, { ...good, [name]: "2026-01-04" })).status).toBe(200);
    const problem = expectProblem(await ask(empty, { ...good, [name]: text }), 400, "bad-request");
    expect(problem.detail).toContain(`The parameter ${name} must`);
  },
);

test.each([
  "aggregation=second",
  "aggregation=DAY",
  "aggregation=",
  "metric=sessions",
  "metric=",
  "metric=timestamp",
  "metric=ids&metric=ids",
])("GET metrics 400: rejects %s", async (query) => {
  const answer = await empty.call("GET", `/metrics?${query}`);
  expect(expectProblem(answer, 400, "bad-request").detail).toMatch(/^The parameter (aggregation|metric) /);
});

test("GET metrics 200: accepts the earliest and the latest time", async () => {
  const years = await read(empty, { start_date: "2000-01-01", end_date: "2001-01-01", aggregation: "week" });
  expect(years[0]?.timestamp).toBe("1999-12-27T00:00:00.000Z");
  const last = await read(empty, { start_date: "2100-12-31T23:59:59.999Z", end_date: "2101-01-01", aggregation: "year" });
  expect(last.map((point) => point.timestamp)).toEqual(["2100-01-01T00:00:00.000Z"]);
});

async function totalsOf(tenant: TestTenant, at: number): Promise<number[]> {
  const lengths = { minute: minuteMs, hour: hourMs, day: dayMs };
  const found = Object.entries(lengths).map(async ([aggregation, length]) => {
    const from = at - (at % length);
    return (await read(tenant, { ...between(from, from + length), aggregation }))[0]?.total_events ?? NaN;
  });
  return Promise.all(found);
}

test.each([
  ["7 days old", -7 * dayMs, [1, 1, 1]],
  ["older than 7 days", -7 * dayMs - 1, [0, 1, 1]],
  ["90 days old", -90 * dayMs, [0, 1, 1]],
  ["10 minutes ahead", 10 * minuteMs, [1, 1, 1]],
  ["8 days ahead", 8 * dayMs, [0, 1, 1]],
  ["91 days ahead", 91 * dayMs, [0, 0, 1]],
])("GET metrics 200: an event that is %s on receipt counts at the right levels", async (_age, offset, totals) => {
  const tenant = await newTenant();
  await count(tenant, [{ at: now + offset }]);
  const isKept = offset >= -8 * dayMs;
  const found = isKept ? await totalsOf(tenant, now + offset) : await storedTotals(tenant);
  expect(found).toEqual(totals);
});

// The stored totals by minute, hour and day.
async function storedTotals(tenant: TestTenant): Promise<number[]> {
  await service.current.database.transaction((tx) => mergeAdditions(tx, tenant.tenantId));
  const text = "select level, sum(total_events)::int as total from metric_buckets where tenant_id = $1 group by level";
  const rows = await service.current.database.query<{ level: string; total: number }>(statement(text, [tenant.tenantId]));
  return ["minute", "hour", "day"].map((level) => rows.find((row) => row.level === level)?.total ?? 0);
}

test("tally: events older than 90 days count only by day, and events outside the years 2000 to 2100 not at all", async () => {
  const tenant = await newTenant();
  const outside = [Date.UTC(1999, 11, 31, 23, 59, 59, 999), Date.UTC(2101, 0, 1), -1, Date.UTC(9999, 11, 31)];
  await count(
    tenant,
    outside.map((at) => ({ at })),
  );
  expect(await storedTotals(tenant)).toEqual([0, 0, 0]);
  const inside = [now - 90 * dayMs - 1, Date.UTC(2000, 0, 1), Date.UTC(2100, 11, 31, 23, 59, 59, 999)];
  await count(
    tenant,
    inside.map((at) => ({ at })),
  );
  expect(await storedTotals(tenant)).toEqual([0, 0, 3]);
  // Each is judged by its own time of receipt, not by the current clock.
  const then = today - 8 * dayMs;
  await count(tenant, [{ at: then, received_at: iso(then + hourMs) }]);
  expect(await storedTotals(tenant)).toEqual([1, 1, 4]);
});

test.each([
  ["minute", 9 * dayMs, hourMs],
  ["hour", 92 * dayMs, dayMs],
] as const)(
  "GET metrics by %s 400: rejected if there were events whose counts are deleted; 200 if there were none",
  async (aggregation, age, length) => {
    const tenant = await newTenant();
    const from = today - age;
    await count(tenant, [{ at: from, received_at: iso(from) }]);
    const query = { ...between(from, from + length), aggregation };
    const problem = expectProblem(await ask(tenant, query), 400, "bad-request");
    expect(problem.detail).toMatch(new RegExp(`^Counts by ${aggregation} are kept only since .* longer aggregation.$`));
    expect(await read(tenant, { ...between(from - dayMs, from), aggregation })).toHaveLength(aggregation === "hour" ? 24 : 1440);
    expect(await read(empty, query)).toHaveLength(aggregation === "hour" ? 24 : 60);
  },
);

// 3,000 sessions on one day, two thirds of them with one of 2,000 accounts.
function manySessions(day: number): Event[] {
  return Array.from({ length: 3000 }, (_, index) => ({
    at: today - day * dayMs,
    session_id: `s${day}-${index}`,
    ...(index % 3 > 0 && { website_account_id: `a${index}` }),
  }));
}

const isAbout = (wanted: number) => (found: number | undefined) => Math.abs((found ?? NaN) / wanted - 1) < 0.05;

test("GET metrics 200: counts above 1,024 are within 5 %, in one bucket and over several, and the parts add up", async () => {
  const tenant = await newTenant();
  await count(tenant, manySessions(1));
  await count(tenant, manySessions(2));
  const range = between(today - 2 * dayMs, today);
  const [whole] = await read(tenant, range);
  for (const point of [whole, ...(await read(tenant, { ...range, aggregation: "day" }))]) {
    const days = point === whole ? 2 : 1;
    expect(point?.total_events).toBe(3000 * days);
    expect(point?.unique_sessions).toSatisfy(isAbout(3000 * days));
    expect(point?.non_guest_sessions).toSatisfy(isAbout(2000 * days));
    expect((point?.guest_sessions ?? NaN) + (point?.non_guest_sessions ?? NaN)).toBe(point?.unique_sessions);
    // The same 2,000 accounts on both days, and 1,000 other sessions on each.
    expect(point?.unique_ids).toSatisfy(isAbout(2000 + 1000 * days));
  }
});

test("tally: a transaction that is rolled back counts nothing", async () => {
  const tenant = await newTenant();
  await count(tenant, [{ at: now, session_id: "s1" }]);
  const before = await read(tenant, {});
  const activity = {
    activity_id: "1",
    type: "page_view",
    origin: "server" as const,
    occurred_at: iso(now),
    received_at: iso(now),
  };
  const failing = service.current.database.transaction(async (tx) => {
    const activities = [{ ...activity, session_id: "s2" }];
    const startedSessions = new Map([["s2", iso(now)]]);
    await tallyBatch(tx, tenant.tenantId, { activities, startedSessions });
    throw new Error("rolled back");
  });
  await expect(failing).rejects.toThrow("rolled back");
  expect(await read(tenant, {})).toEqual(before);
});

test("tally: batches leave their counts outside the buckets for a limited time, and the metrics include them", async () => {
  const tenant = await newTenant();
  const left = () =>
    service.current.database.query<{ rows: number }>(
      statement("select count(*)::int as rows from metric_additions where tenant_id = $1", [tenant.tenantId]),
    );
  let most = 0;
  for (let batch = 0; batch < 100; batch++) {
    await count(tenant, [{ at: now, session_id: `s${batch}` }]);
    most = Math.max(most, (await left())[0]?.rows ?? 0);
  }
  expect(most).toBeGreaterThan(10);
  expect(most).toBeLessThan(200);
  const range = { ...between(today, today + dayMs), aggregation: "day" };
  expect(await read(tenant, range)).toMatchObject([{ total_events: 100, unique_sessions: 100 }]);
  // A batch with more members than a sketch lists goes to the buckets, whatever is left outside them.
  await count(
    tenant,
    Array.from({ length: 1_100 }, (_, member) => ({ at: now, session_id: `s${member}` })),
  );
  const [point] = await read(tenant, range);
  expect(point?.total_events).toBe(1_200);
  expect(point?.unique_sessions).toSatisfy(isAbout(1_100));
  await service.current.database.transaction((tx) => mergeAdditions(tx, tenant.tenantId));
  expect(await left()).toEqual([{ rows: 0 }]);
  expect(await read(tenant, range)).toEqual([point]);
});

test("GET metrics 200: another tenant's events do not count", async () => {
  const [one, two] = [await newTenant(), await newTenant()];
  await count(one, [{ at: now, session_id: "s1" }]);
  expect(await read(one, {})).toMatchObject([{ total_events: 1 }]);
  expect(await read(two, {})).toMatchObject([{ total_events: 0, unique_sessions: 0 }]);
});
