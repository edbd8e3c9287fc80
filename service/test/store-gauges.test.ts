import { randomUUID } from "node:crypto";
import { expect, inject, test, vi } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, testConfig, useOwnDatabase, useService } from "./harness.ts";

// Uses its own database, because these metrics cover a whole database.
const databaseUrl = useOwnDatabase("store_gauges");
const service = useService({ databaseUrl, roles: new Set(["api"]) });

async function gaugesOf({ metrics }: Service): Promise<Record<string, number>> {
  const text = await metrics.text();
  const lines = [...text.matchAll(/^(casehound_(?:database|unscored|webhook|rules)\S*) (\S+)$/gm)];
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
  const name = `gone_${randomUUID().replaceAll("-", "")}`;
  const shared = new Database({ connectionString: inject("databaseUrl") });
  const connection = await shared.connect();
  await connection.query(`create database ${name}`);
  const lonely = await startService(
    testConfig({ databaseUrl: inject("databaseUrl").replace(/\/[^/?]*\?/, `/${name}?`), roles: new Set(["api"]) }),
  );
  try {
    expect(await gaugesOf(lonely)).toEqual(quiet);
    await connection.query(`drop database ${name} with (force)`);
    const unknown = Object.fromEntries(Object.keys(quiet).map((each) => [each, Number.NaN]));
    expect(await gaugesOf(lonely)).toEqual({ ...unknown, casehound_database_up: 0 });
  } finally {
    await lonely.stop();
    await connection.end();
    await shared.end();
  }
});
