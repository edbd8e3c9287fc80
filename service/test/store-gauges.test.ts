import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { insertCase } from "../src/db/cases.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { openCase } from "../src/domain/case.ts";
import { checkFinding } from "../src/domain/random-check.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, newDatabase, testConfig } from "./harness.ts";
import { connectTo, databaseOf } from "./launch.ts";

// These metrics cover a whole database, so each test has its own.
const service: { current: Service } = { current: undefined as never };
let databaseUrl: string;
beforeEach(async () => {
  databaseUrl = await newDatabase();
  service.current = await startService(testConfig({ databaseUrl, roles: new Set(["api"]) }));
});
afterEach(() => service.current.stop());

const iso = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const newIds = () => {
  const id = uuidV7(Date.now(), randomBytes(10));
  return { case_id: id, state_id: id, occurrence_id: id, prediction_id: id };
};

async function gaugesOf({ metrics }: Service): Promise<Record<string, number>> {
  const text = await metrics.text();
  const lines = [...text.matchAll(/^(casehound_(?:database|unscored|webhook|rules|models|cases|notification)\S*) (\S+)$/gm)];
  // Prometheus accepts any letter case of NaN, JavaScript does not.
  return Object.fromEntries(lines.map(([, name = "", value = ""]) => [name, value === "Nan" ? Number.NaN : Number(value)]));
}

const quiet = {
  casehound_database_up: 1,
  casehound_unscored_activities: 0,
  casehound_unscored_oldest_seconds: 0,
  casehound_unscored_server_oldest_seconds: 0,
  'casehound_webhook_deliveries{state="waiting"}': 0,
  'casehound_webhook_deliveries{state="dead"}': 0,
  casehound_webhooks_disabled: 0,
  casehound_rules_limited: 0,
  casehound_cases_overdue: 0,
  casehound_models_drifted: 0,
  'casehound_notification_mails{state="waiting"}': 0,
  'casehound_notification_mails{state="dead"}': 0,
};

test("metrics: activity waiting to be scored is counted with its age, and reaches zero after an engine has run", async () => {
  const tenant = await TestTenant.create(service.current);
  expect(await gaugesOf(service.current)).toEqual(quiet);
  await tenant.report("someone");
  await tenant.report("another");
  await vi.waitFor(async () => {
    const gauges = await gaugesOf(service.current);
    expect(gauges).toMatchObject({ casehound_unscored_activities: 2, casehound_database_up: 1 });
    expect(gauges["casehound_unscored_oldest_seconds"]).toBeGreaterThan(0.2);
    expect(gauges["casehound_unscored_server_oldest_seconds"]).toBeGreaterThan(0.2);
  });
  const engine = await startService(testConfig({ databaseUrl, roles: new Set(["engine"]) }));
  try {
    await vi.waitFor(async () => expect(await gaugesOf(engine)).toEqual(quiet), { timeout: 30_000 });
  } finally {
    await engine.stop();
  }
});

test("metrics: open cases whose due time has passed are counted, over all tenants", async () => {
  for (const hours of [-1, -2, 1]) {
    const { tenantId } = await TestTenant.create(service.current);
    const { document } = openCase(
      { tenant_id: tenantId, website_account_id: "ann" },
      checkFinding({ moment: "entry", score: 2 }),
      newIds(),
      iso(0),
    );
    const due = { ...document, due_at: iso(hours) };
    await service.current.database.transaction((tx) =>
      insertCase(tx, { document: due, subject: "a", end_user_is_blocked: false }),
    );
  }
  expect(await gaugesOf(service.current)).toMatchObject({ casehound_cases_overdue: 2 });
});

test("metrics: webhook messages are counted by state, and those of a disabled webhook do not count as waiting", async () => {
  const { database } = service.current;
  const tenant = await TestTenant.create(service.current);
  const made = await tenant.call("POST", "/webhooks", { body: { url: "https://crm.example/hook", types: [] } });
  const { webhook_id } = (made.json.data as { webhook: { webhook_id: string } }).webhook;
  const insert = (eventId: number, state: string) =>
    database.query(sql`
      insert into webhook_deliveries (tenant_id, webhook_id, event_id, resource, state, attempts, next_at, created_at)
      values (${tenant.tenantId}, ${webhook_id}::uuid, ${eventId}::bigint, 1, ${state}, 1, now(), now())`);
  for (const [index, state] of ["WAITING", "WAITING", "WAITING", "DEAD", "DEAD", "DELIVERED"].entries())
    await insert(index + 1, state);
  expect(await gaugesOf(service.current)).toMatchObject({
    'casehound_webhook_deliveries{state="waiting"}': 3,
    'casehound_webhook_deliveries{state="dead"}': 2,
    casehound_webhooks_disabled: 0,
  });
  await database.query(sql`
    update webhooks
    set is_enabled = false, disabled_reason = 'The receiver is gone.'
    where tenant_id = ${tenant.tenantId}`);
  expect(await gaugesOf(service.current)).toMatchObject({
    'casehound_webhook_deliveries{state="waiting"}': 0,
    'casehound_webhook_deliveries{state="dead"}': 2,
    casehound_webhooks_disabled: 1,
  });
});

test("metrics: without its database a process says so and reports no counts", async () => {
  expect(await gaugesOf(service.current)).toEqual(quiet);
  const client = await connectTo({ connectionString: inject("databaseUrl") });
  await client.query(`drop database ${databaseOf(databaseUrl)} with (force)`);
  await client.end();
  const unknown = Object.fromEntries(Object.keys(quiet).map((each) => [each, Number.NaN]));
  expect(await gaugesOf(service.current)).toEqual({ ...unknown, casehound_database_up: 0 });
});
