import * as fc from "fast-check";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Database } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { entityKey } from "../src/db/states.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { startService } from "../src/service.ts";
import {
  activityOf,
  drain,
  iso,
  labDetector,
  labNow,
  labNowMs,
  newTenant,
  snapshot,
  startEngine,
  store,
  useLab,
  waiting,
} from "./engine-lab.ts";
import { openDatabase, testConfig, TestTenant } from "./harness.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const others: Database[] = [];
afterAll(() => Promise.all(others.map((each) => each.end())));

function newEngine() {
  const database = openDatabase(lab.current.url);
  others.push(database);
  return labDetector(database);
}

async function sessionTimes(tenantId: string): Promise<Record<string, string | null>> {
  const rows = await lab.current.database.query<{ id: string; at: string | null }>(sql`
    select website_account_id as id, last_session_updated_on as at
    from accounts
    where tenant_id = ${tenantId}`);
  return Object.fromEntries(rows.map(({ id, at }) => [id, at]));
}

const visit = fc.record({
  account: fc.constantFrom("u-1", "u-2", "u-3"),
  minutesAgo: fc.integer({ min: 0, max: 600 }),
  hasSession: fc.boolean(),
});

test("accounts: with two engines, the last session time is the latest one scored after every batch, and each account is created once", async () => {
  const engines = [newEngine(), newEngine()];
  const property = fc.asyncProperty(
    fc.array(fc.array(visit, { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 8 }),
    async (batches) => {
      const tenantId = await newTenant(lab.current);
      const wanted: Record<string, string | null> = {};
      for (const batch of batches) {
        for (const { account, minutesAgo, hasSession } of batch) {
          const at = hasSession ? iso(labNowMs - minutesAgo * 60_000) : null;
          const known = wanted[account] ?? null;
          wanted[account] = known === null || (at !== null && at > known) ? at : known;
        }
        await store(
          lab.current,
          tenantId,
          batch.map(({ account, minutesAgo, hasSession }) =>
            activityOf({
              type: "page_view",
              occurred_at: iso(labNowMs - minutesAgo * 60_000),
              website_account_id: account,
              ...(hasSession && { session_id: "s" }),
            }),
          ),
        );
        // Only one engine gets the turn, so both try until the inbox is empty.
        while ((await waiting(lab.current, tenantId)) > 0)
          await Promise.all(engines.map((engine) => detectBatch(engine, tenantId)));
        expect(await sessionTimes(tenantId)).toEqual(wanted);
      }
      const created = await lab.current.database.query<{ resource_id: string }>(sql`
      select resource_id
      from events
      where tenant_id = ${tenantId} and type = 'account.created'`);
      expect(created.map((row) => row.resource_id).toSorted()).toEqual(Object.keys(wanted).toSorted());
    },
  );
  await fc.assert(property, { numRuns: 6 });
});

async function firstActivities(tenantId: string): Promise<Record<string, string | null>> {
  const rows = await lab.current.database.query<{ id: string; at: string | null }>(sql`
    select website_account_id as id, first_activity_at as at
    from accounts
    where tenant_id = ${tenantId}`);
  return Object.fromEntries(rows.map(({ id, at }) => [id, at]));
}

const daysAgo = (days: number) => iso(labNowMs - days * 86_400_000);

test("accounts: the first activity is the earliest one that a server sent, in whatever order they arrive", async () => {
  const { database } = lab.current;
  const tenantId = await newTenant(lab.current);
  const sendAt = async (...days: number[]) => {
    const sent = days.map((each) => activityOf({ type: "page_view", website_account_id: "ann", occurred_at: daysAgo(each) }));
    await store(lab.current, tenantId, sent);
    await drain(labDetector(database), tenantId);
  };
  for (const [days, first] of [
    [[3, 2], 3],
    [[1], 3],
    [[2, 9, 4], 9],
  ] as const) {
    await sendAt(...days);
    expect(await firstActivities(tenantId)).toEqual({ ann: daysAgo(first) });
  }
  // An account from before the column was active when it was created, at the latest.
  await database.query(
    sql`update accounts set first_activity_at = null, created_at = ${daysAgo(40)} where tenant_id = ${tenantId}`,
  );
  await sendAt(1);
  expect(await firstActivities(tenantId)).toEqual({ ann: daysAgo(40) });
});

test("accounts: a page cannot make an account look old, and what it claimed does not count once a server names the account", async () => {
  const { database } = lab.current;
  const tenantId = await newTenant(lab.current);
  const named = {
    type: "login_succeeded",
    website_account_id: "ann",
    occurred_at: daysAgo(300),
    session_id: "s",
    device_id: "d",
  };
  await store(lab.current, tenantId, [activityOf({ ...named, origin: "browser" })]);
  await drain(labDetector(database), tenantId);
  expect(await firstActivities(tenantId)).toEqual({ ann: labNow });
  await store(lab.current, tenantId, [activityOf({ ...named, occurred_at: daysAgo(2) })]);
  await drain(labDetector(database), tenantId);
  expect(await firstActivities(tenantId)).toEqual({ ann: daysAgo(2) });
});

test("accounts: an account erased repeatedly while two engines score it is created and erased completely, and leaves nothing", async () => {
  const { database, url } = lab.current;
  const service = await startService(testConfig({ databaseUrl: url, roles: new Set(["api"]) }));
  onTestFinished(() => service.stop());
  const tenant = await TestTenant.create(service);
  const engines = [startEngine(lab.current), startEngine(lab.current)];
  for (const engine of engines) onTestFinished(engine.stop);
  const { tenantId } = tenant;
  const named = { website_account_id: "erased-name", session_id: "s", device_id: "d", ip: "192.0.2.1" };
  const statuses = new Set<number>();
  for (let round = 0; round < 15; round++) {
    const types = ["fraud_report", "login_succeeded", "login_failed", "page_view"];
    const sending = types.map((type) => store(lab.current, tenantId, [activityOf({ type, ...named }), activityOf({ type })]));
    const [erased] = await Promise.all([tenant.call("DELETE", "/enduseraccounts/erased-name"), ...sending]);
    statuses.add(erased.status);
  }
  expect([...statuses].filter((status) => status !== 204 && status !== 404)).toEqual([]);
  await eventually(async () => expect(await waiting(lab.current, tenantId)).toBe(0));
  await tenant.call("DELETE", "/enduseraccounts/erased-name");
  const counts = await database.query<{ type: string; count: number }>(sql`
    select type, count(*) as count
    from events
    where tenant_id = ${tenantId} and type in ('account.created', 'account.erased')
    group by type`);
  const countOf = (type: string) => counts.find((row) => row.type === type)?.count ?? 0;
  expect(countOf("account.created")).toBe(countOf("account.erased"));
  expect(countOf("account.erased")).toBeGreaterThan(0);
  const left = JSON.stringify(await snapshot(lab.current, tenantId));
  expect(left.includes("erased-name")).toBe(false);
  expect(left.includes(entityKey("account", "erased-name"))).toBe(false);
  expect(engines.flatMap(({ failures }) => failures)).toEqual([]);
});
