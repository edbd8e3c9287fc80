import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import { appendScored, listPartitions, makePartition, partitionOf } from "../src/db/activities.ts";
import { Database, type Row } from "../src/db/postgres/database.ts";
import { holdExpiry, listDayTables, sweeps } from "../src/db/retention.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { insertUser } from "../src/db/users.ts";
import { insertWebhook } from "../src/db/webhooks.ts";
import { Expiry } from "../src/engine/expire.ts";
import { createTenant } from "../src/tenancy.ts";
import { newDatabase, openDatabase } from "./harness.ts";
import { sweptRows as rows } from "./swept-rows.ts";

// Uses its own database, so that nothing of another test expires.
let database: Database;
let [url, tenantId] = ["", ""];
beforeAll(async () => {
  url = await newDatabase();
  database = openDatabase(url);
});
afterAll(() => database.end());
beforeEach(async () => {
  tenantId = (await createTenant(database, { slug: `t-${randomUUID()}` }, clock)).tenant_id;
  await insertUser(database, tenantId, { ...ada, user_id: randomUUID() });
  const hook = {
    webhook_id: randomUUID(),
    url: "https://crm.example/",
    types: [],
    format: "standard" as const,
    details: "none" as const,
    view_id: null,
    secret: "x",
    now: today,
  };
  await insertWebhook(database, tenantId, hook);
});

const today = "2026-06-15";
const ada = { email: "ada@shop.example", name: "Ada", role: "lead" as const, created_at: today };
const dayMs = 24 * 60 * 60 * 1000;
const dayOf = (ago: number) => new Date(Date.parse(today) - ago * dayMs).toISOString().slice(0, 10);
const lines: { level: string; msg: string; place?: string; removed?: Record<string, number> }[] = [];
const log = pino(
  { level: "info", formatters: { level: (level) => ({ level }) } },
  { write: (line: string) => lines.push(JSON.parse(line)) },
);

function expiryOf(now = `${today}T10:00:00.000Z`): Expiry {
  return new Expiry({ database, clock: { now: () => now }, log, retentionDays: 90 });
}

function run<R extends Row>(text: string, values: unknown[] = []): Promise<R[]> {
  return database.transaction((tx) => tx.query<R>(statement(text, values)));
}

const tableOf = (name: string) => ({ minute: "metric_buckets", hour: "metric_buckets", account: "entity_states" })[name] ?? name;

async function insertRow(name: string, at: string): Promise<void> {
  const { column, into, values } = rows[name] ?? { column: "", into: "", values: "" };
  await run(`insert into ${tableOf(name)} (tenant_id, ${into}, ${column}) values ($1, ${values}, $3)`, [
    tenantId,
    randomUUID(),
    at,
  ]);
}

async function timesOf(name: string): Promise<string[]> {
  const column = rows[name]?.column ?? "";
  const text = `select to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS') as at from ${tableOf(name)} where tenant_id = $1 order by 1`;
  return (await run<{ at: string }>(text, [tenantId])).map(({ at }) => at);
}

test.each([
  ["activity_ids", 90],
  ["unscorable", 90],
  ["history", 90],
  ["user_agents", 90],
  ["sessions", 90],
  ["links", 90],
  ["rule_subjects", 90],
  ["rule_hits", 400],
  ["entity_states", 30],
  ["account", 400],
  ["minute", 8],
  ["hour", 91],
  ["quarantine", 14],
  ["quarantine_counts", 14],
  ["identity_counts", 90],
  ["identity_secrets", 1],
  ["backtests", 90],
  ["idempotency_keys", 30],
  ["user_links", 30],
  ["web_sessions", 1],
  ["webhook_deliveries", 30],
])("expiry of %s: rows from %i days ago are kept, and older ones are deleted", async (name, days) => {
  const kept = `${dayOf(days)}T00:00:00.000`;
  await insertRow(name, `${kept}Z`);
  await insertRow(name, `${dayOf(days + 1)}T23:59:00.000Z`);
  await insertRow(name, "2020-01-01T00:00:00.000Z");
  expect(await timesOf(name)).toHaveLength(3);
  const expired = await expiryOf().pass();
  expect(expired).toEqual({ removed: expect.objectContaining({ [tableOf(name)]: 2 }), isWhole: true });
  expect(await timesOf(name)).toEqual([kept]);
});

test("expiry of sign-in attempts, which have no tenant: those from before yesterday are deleted", async () => {
  const ids = [randomUUID(), randomUUID()];
  const text = "insert into sign_in_attempts select id::bytea, '{}', at from unnest($1::text[], $2::timestamptz[]) as _ (id, at)";
  await run(text, [ids, [dayOf(1), dayOf(2)]]);
  await expiryOf().pass();
  const left = await run("select subject_hash from sign_in_attempts where subject_hash = any($1::text[]::bytea[])", [ids]);
  expect(left).toEqual([{ subject_hash: Buffer.from(ids[0] ?? "") }]);
});

test("expiry: every table that expires is tested above", () => {
  const tested = ["sign_in_attempts", ...Object.keys(rows).map(tableOf)];
  expect(tested.toSorted()).toEqual(sweeps.map((sweep) => sweep.table).toSorted());
});

test("expiry: counts by day, keys of cases and rows without a limit are kept", async () => {
  await insertRow("hour", "2001-01-01T00:00:00.000Z");
  await run("update metric_buckets set level = 'day' where tenant_id = $1", [tenantId]);
  await insertRow("idempotency_keys", "2001-01-01T00:00:00.000Z");
  await run("update idempotency_keys set case_id = $2 where tenant_id = $1", [tenantId, randomUUID()]);
  await run("insert into inbox (tenant_id, received_at, parcel_id, events, parcel) values ($1, '2001-01-01', $2, 1, '[{}]')", [
    tenantId,
    randomUUID(),
  ]);
  expect((await expiryOf().pass())?.isWhole).toBe(true);
  for (const table of ["metric_buckets", "idempotency_keys", "inbox"]) {
    expect(await run(`select 1 as found from ${table} where tenant_id = $1`, [tenantId]), table).toHaveLength(1);
  }
});

// Three or four rows fit on a page, so the table has more pages than are processed at once.
async function fillSessions(count: number, at: string): Promise<void> {
  const values = "select $1, gen_random_uuid(), $2, $2, repeat('x', 1800) from generate_series(1, $3)";
  await run(`insert into sessions (tenant_id, session_id, started_at, last_at, facts) ${values}`, [tenantId, at, count]);
}

test("expiry: every page of a large table is processed, and no row is missed", async () => {
  await fillSessions(3000, dayOf(91));
  await fillSessions(10, dayOf(90));
  await fillSessions(3000, dayOf(200));
  expect(await run("select pg_relation_size('sessions') / 8192 > 1500 as is_large")).toEqual([{ is_large: true }]);
  expect(await expiryOf().pass()).toMatchObject({ removed: { sessions: 6000 }, isWhole: true });
  expect(await timesOf("sessions")).toHaveLength(10);
});

test("expiry: what a stop leaves undone is done by the next run and logged in one line", async () => {
  await fillSessions(100, dayOf(200));
  const stopped = expiryOf();
  stopped.start();
  await stopped.stop();
  expect(await timesOf("sessions")).toHaveLength(100);
  const next = expiryOf();
  const before = lines.length;
  next.start();
  await vi.waitFor(async () => expect(lines.length).toBeGreaterThan(before), { timeout: 10_000 });
  await next.stop();
  expect(await timesOf("sessions")).toHaveLength(0);
  expect(lines.slice(before)).toMatchObject([{ level: "info", removed: { sessions: 100 } }]);
});

test("expiry: an unreachable database is only logged as a warning", async () => {
  const away = new Database({ connectionString: "postgresql://nobody@127.0.0.1:1/nowhere" });
  const before = lines.length;
  const expiry = new Expiry({ database: away, clock, log, retentionDays: 90 });
  expiry.start();
  await vi.waitFor(() => expect(lines.length).toBeGreaterThan(before + 1), { timeout: 10_000 });
  await expiry.stop();
  await away.end();
  expect(lines.slice(before)).toMatchObject([
    { level: "warn", place: "upcoming partitions" },
    { level: "warn", place: "the database" },
  ]);
});

test("expiry: a locked row is skipped and deleted the next time", async () => {
  await insertRow("sessions", "2020-01-01T00:00:00.000Z");
  await insertRow("sessions", "2020-01-02T00:00:00.000Z");
  await database.transaction(async (tx) => {
    const text = "select 1 as locked from sessions where tenant_id = $1 and last_at = '2020-01-01' for update";
    expect(await tx.query(statement(text, [tenantId]))).toHaveLength(1);
    expect(await expiryOf().pass()).toMatchObject({ removed: { sessions: 1 }, isWhole: true });
  });
  expect(await timesOf("sessions")).toEqual(["2020-01-01T00:00:00.000"]);
  expect(await expiryOf().pass()).toMatchObject({ removed: { sessions: 1 } });
});

test("expiry: the tables are processed once a day", async () => {
  let now = `${today}T10:00:00.000Z`;
  const expiry = new Expiry({ database, clock: { now: () => now }, log, retentionDays: 90 });
  await expiry.pass();
  await insertRow("links", "2020-01-01T00:00:00.000Z");
  now = `${today}T23:00:00.000Z`;
  expect(await expiry.pass()).toEqual({ removed: {}, isWhole: true });
  expect(await timesOf("links")).toHaveLength(1);
  now = `${dayOf(-1)}T00:00:00.000Z`;
  expect((await expiry.pass())?.isWhole).toBe(true);
  expect(await timesOf("links")).toEqual([]);
});

async function appendActivity(at: string, lockTimeoutMs = 2_000): Promise<void> {
  const activity = { activity_id: "x", type: "page_view", origin: "server" as const, occurred_at: at, received_at: at };
  const scored = { id_key: randomUUID(), activity, ip: null, score: 1, prediction_id: null, case_id: null, decision: "{}" };
  await database.transaction(async (tx) => {
    await tx.query(statement("select set_config('lock_timeout', $1, true)", [String(lockTimeoutMs)]));
    await appendScored(tx, tenantId, [scored]);
  });
}

async function fillDays(...days: number[]): Promise<void> {
  for (const day of days) {
    await database.transaction((tx) => makePartition(tx, dayOf(day)));
    await appendActivity(`${dayOf(day)}T12:00:00.000Z`);
  }
}

async function activityDays(): Promise<string[]> {
  const text = "select to_char(received_at, 'YYYY-MM-DD') as day from activities where tenant_id = $1 order by 1";
  return (await run<{ day: string }>(text, [tenantId])).map(({ day }) => day);
}

// Reads activity in a transaction that stays open until `end` is called.
async function startReader(): Promise<{ end: () => Promise<void> }> {
  const client = await database.connect();
  await client.query("begin");
  await client.query("select count(*) from activities");
  const end = () => client.end();
  onTestFinished(end);
  return { end };
}

describe("partitions", () => {
  test("expiry: partitions of today and the next two days exist, and those past the retention are dropped with their tables", async () => {
    await fillDays(120, 91, 90, 89, 1);
    expect(await expiryOf().pass()).toMatchObject({ removed: { activities: 2 }, isWhole: true });
    const days = await listPartitions(database);
    expect(days).toEqual(expect.arrayContaining([90, 89, 1, 0, -1, -2].map(dayOf)));
    expect(days.filter((day) => day < dayOf(90))).toEqual([]);
    expect(await activityDays()).toEqual([90, 89, 1].map(dayOf));
    expect(await run("select to_regclass($1)::text as name", [partitionOf(dayOf(91))])).toEqual([{ name: null }]);
    await appendActivity(`${dayOf(-2)}T23:59:59.999Z`);
    expect(await expiryOf().pass()).toEqual({ removed: {}, isWhole: true });
  });

  test("expiry: a day is removed while activity is being read, without blocking inserts, and finished later", async () => {
    await fillDays(92, 91, 0);
    const reader = await startReader();
    const first = expiryOf().pass();
    const half = { day: dayOf(92), state: "detaching" };
    await vi.waitFor(async () => expect((await listDayTables(database))[0]).toMatchObject(half), { timeout: 10_000 });
    for (let count = 0; count < 10; count++) await appendActivity(`${today}T00:00:00.000Z`, 20);
    expect(await first).toMatchObject({ isWhole: false });
    expect(lines.at(-1)).toMatchObject({ level: "warn", place: "activities" });
    expect((await listDayTables(database))[0]).toMatchObject(half);
    await reader.end();
    expect(await expiryOf().pass()).toMatchObject({ removed: { activities: 2 }, isWhole: true });
    expect(await activityDays()).toEqual(Array.from({ length: 11 }, () => today));
  });

  test("expiry: a day's table that was detached but not dropped is dropped", async () => {
    await fillDays(95);
    await run(`alter table activities detach partition ${partitionOf(dayOf(95))}`);
    expect(await expiryOf().pass()).toEqual({ removed: { activities: 1 }, isWhole: true });
    expect(await listDayTables(database)).not.toContainEqual(expect.objectContaining({ day: dayOf(95) }));
  });

  test("expiry: of two concurrent runs one works and the other does nothing", async () => {
    await fillDays(93);
    await insertRow("sessions", "2020-01-01T00:00:00.000Z");
    await holdExpiry(database, async () => expect(await expiryOf().pass()).toBeNull());
    expect(await timesOf("sessions")).toHaveLength(1);
    const done = await Promise.all([expiryOf().pass(), expiryOf().pass()]);
    const sum = (name: string) => done.reduce((total, each) => total + (each?.removed[name] ?? 0), 0);
    expect({ activities: sum("activities"), sessions: sum("sessions") }).toEqual({ activities: 1, sessions: 1 });
    expect(done.filter((each) => each?.isWhole === false)).toEqual([]);
  });
});
