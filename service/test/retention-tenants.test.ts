import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { appendScored, listPartitions, makePartition } from "../src/db/activities.ts";
import type { Database, Row } from "../src/db/postgres/database.ts";
import { listDayTables } from "../src/db/retention.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { Expiry } from "../src/engine/expire.ts";
import { createTenant } from "../src/tenancy.ts";
import { newDatabase, openDatabase } from "./harness.ts";
import { sweptRows } from "./swept-rows.ts";

// Each test uses its own database, so that nothing of another test expires. A day's partition is kept for the longest retention
// of any tenant.
let database: Database;
beforeEach(async () => {
  database = openDatabase(await newDatabase());
});
afterEach(() => database.end());

const today = "2026-06-15";
const dayMs = 24 * 60 * 60 * 1000;
const dayOf = (ago: number) => new Date(Date.parse(today) - ago * dayMs).toISOString().slice(0, 10);
const retentionDays = 90;

function run<R extends Row>(text: string, values: unknown[] = []): Promise<R[]> {
  return database.transaction((tx) => tx.query<R>(statement(text, values)));
}

async function expire(): Promise<Record<string, number>> {
  const log = pino({ level: "silent" });
  const expired = await new Expiry({ database, clock: { now: () => `${today}T10:00:00.000Z` }, log, retentionDays }).pass();
  expect(expired?.isWhole).toBe(true);
  return expired?.removed ?? {};
}

async function openTenant(days: number | null): Promise<string> {
  const { tenant_id } = await createTenant(database, { slug: `t-${randomUUID()}` }, clock);
  await run("update tenants set retention_days = $2 where tenant_id = $1", [tenant_id, days]);
  return tenant_id;
}

async function fillDays(tenantId: string, days: number[], userAgent?: string): Promise<void> {
  for (const day of days) {
    const at = `${dayOf(day)}T12:00:00.000Z`;
    const agent = userAgent === undefined ? {} : { user_agent: userAgent };
    const activity = {
      activity_id: "x",
      type: "page_view",
      origin: "server" as const,
      occurred_at: at,
      received_at: at,
      ...agent,
    };
    const scored = { id_key: randomUUID(), activity, ip: null, score: 1, prediction_id: null, case_id: null, decision: "{}" };
    await database.transaction((tx) => makePartition(tx, dayOf(day)));
    await database.transaction((tx) => appendScored(tx, tenantId, [scored]));
  }
}

async function daysOf(tenantId: string): Promise<string[]> {
  const text = "select to_char(received_at, 'YYYY-MM-DD') as day from activities where tenant_id = $1 order by 1 desc";
  return (await run<{ day: string }>(text, [tenantId])).map(({ day }) => day);
}

test("expiry: each tenant's activity is kept for its own retention, and a day's partition until no tenant needs it", async () => {
  const [short, plain, long] = [await openTenant(7), await openTenant(null), await openTenant(200)];
  const days = [1, 7, 8, 90, 91, 200, 201];
  for (const tenantId of [short, plain, long]) await fillDays(tenantId, days);
  expect(await expire()).toMatchObject({ activities: 1, "activities of tenants": 4 + 2 });
  expect(await daysOf(short)).toEqual([1, 7].map(dayOf));
  expect(await daysOf(plain)).toEqual([1, 7, 8, 90].map(dayOf));
  expect(await daysOf(long)).toEqual([1, 7, 8, 90, 91, 200].map(dayOf));
  expect(await listPartitions(database)).not.toContain(dayOf(201));
  expect(await expire()).toEqual({});
  await run("update tenants set retention_days = 90 where tenant_id = $1", [long]);
  expect(await expire()).toEqual({ activities: 2 });
  expect(await daysOf(long)).toEqual([1, 7, 8, 90].map(dayOf));
  expect((await listDayTables(database)).filter(({ day }) => day < dayOf(90))).toEqual([]);
});

test.each(["activity_ids", "unscorable", "history", "sessions", "links", "rule_subjects", "user_agents"])(
  "expiry of %s: each tenant's own retention applies",
  async (table) => {
    const tenants = [await openTenant(7), await openTenant(null), await openTenant(200)];
    const { column, into, values } = sweptRows[table] ?? { column: "", into: "", values: "" };
    for (const tenantId of tenants)
      for (const day of [7, 8, 90, 91, 200, 201])
        await run(`insert into ${table} (tenant_id, ${into}, ${column}) values ($1, ${values}, $3)`, [
          tenantId,
          randomUUID(),
          dayOf(day),
        ]);
    expect(await expire()).toMatchObject({ [table]: 5 + 3 + 1 });
    const left = await Promise.all(
      tenants.map((tenantId) =>
        run<{ day: string }>(
          `select to_char(${column}, 'YYYY-MM-DD') as day from ${table} where tenant_id = $1 order by 1 desc`,
          [tenantId],
        ),
      ),
    );
    expect(left.map((rows) => rows.map(({ day }) => day))).toEqual(
      [[7], [7, 8, 90], [7, 8, 90, 91, 200]].map((days) => days.map(dayOf)),
    );
  },
);

test("expiry: habits of accounts are kept for the tenant's own retention if that is more than 400 days", async () => {
  const [plain, long] = [await openTenant(null), await openTenant(1000)];
  const { column, into, values } = sweptRows["account"] ?? { column: "", into: "", values: "" };
  for (const tenantId of [plain, long])
    for (const day of [400, 401, 1000, 1001])
      await run(`insert into entity_states (tenant_id, ${into}, ${column}) values ($1, ${values}, $3)`, [
        tenantId,
        randomUUID(),
        dayOf(day),
      ]);
  expect(await expire()).toMatchObject({ entity_states: 3 + 1 });
  const rows = await Promise.all(
    [plain, long].map((tenantId) => run("select 1 as found from entity_states where tenant_id = $1", [tenantId])),
  );
  expect(rows.map(({ length }) => length)).toEqual([1, 3]);
});

test("expiry: a user agent is kept as long as activity refers to it, and its row is written once a day", async () => {
  const tenantId = await openTenant(30);
  await fillDays(tenantId, [40], "gone");
  await fillDays(tenantId, [40, 20], "seen again");
  const agents = async () =>
    run<{ user_agent: string; last_seen: string; written: string }>(
      "select user_agent, to_char(last_seen, 'YYYY-MM-DD') as last_seen, xmin::text || ' ' || xmax::text as written from user_agents where tenant_id = $1 order by 1",
      [tenantId],
    );
  const before = (await agents()).find(({ user_agent }) => user_agent === "seen again");
  expect(before).toMatchObject({ last_seen: dayOf(20) });
  await fillDays(tenantId, [20, 25], "seen again");
  expect((await agents()).find(({ user_agent }) => user_agent === "seen again")).toEqual(before);
  expect(await expire()).toMatchObject({ user_agents: 1 });
  expect(await agents()).toEqual([before]);
  const orphans = await run(
    "select 1 as found from activities as a where tenant_id = $1 and not exists (select 1 from user_agents as u where u.tenant_id = a.tenant_id and u.agent_key = a.agent_key)",
    [tenantId],
  );
  expect(orphans).toEqual([]);
});
