import * as fc from "fast-check";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { entityKey } from "../src/db/states.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { startService } from "../src/service.ts";
import {
  activityOf,
  iso,
  labDetector,
  labNowMs,
  newTenant,
  snapshot,
  startEngine,
  store,
  useLab,
  waiting,
} from "./engine-lab.ts";
import { TestTenant, testConfig } from "./harness.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const others: Database[] = [];
afterAll(() => Promise.all(others.map((each) => each.end())));

function newEngine() {
  const database = new Database({ connectionString: lab.current.url });
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
