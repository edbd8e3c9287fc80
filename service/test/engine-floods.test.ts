import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, newDatabase, send, testConfig } from "./harness.ts";
import { eventually } from "./process.ts";

// Two complete services with one public URL and their own database, each with an engine.
const services: Service[] = [];
beforeAll(async () => {
  const databaseUrl = await newDatabase();
  const first = await startService(testConfig({ databaseUrl }));
  services.push(first, await startService(testConfig({ databaseUrl, publicUrl: first.url })));
});
afterAll(async () => {
  for (const service of services) await service.stop();
});

const events = 1_000;

// Sends an activity until it is accepted, as a client has to: the service may reject part of a flood.
async function sendUntilTaken(tenant: TestTenant, n: number): Promise<number> {
  const common = { occurred_at: new Date(Date.now() - n).toISOString(), website_account_id: "u-1", session_id: `s-${n % 7}` };
  const activity =
    n % 2 === 0
      ? { activity_id: `flood-${n}`, type: "fraud_report", ...common, attributes: { note: `Call ${n}` } }
      : { activity_id: `flood-${n}`, type: "login_succeeded", ...common, user_agent: "curl/8.5.0" };
  const { port = 0 } = services[n % services.length] ?? {};
  const options = { token: tenant.token, body: { activities: [activity] } };
  for (let attempt = 1; ; attempt++) {
    const { status } = await send(port, "POST", `/v2/${tenant.slug}/activities`, options);
    if (status === 202) return attempt;
    expect([409, 429, 503]).toContain(status);
  }
}

test(`flood: ${events} concurrent suspicious events on one account through two services make one OPEN case, and none is lost or doubled`, async () => {
  const [service] = services;
  if (!service) throw new Error("there is no service");
  const tenant = await TestTenant.create(service);
  await Promise.all(Array.from({ length: events }, (_, n) => sendUntilTaken(tenant, n)));
  // Send some again, because a client may not have received the response.
  await Promise.all(Array.from({ length: 100 }, (_, n) => sendUntilTaken(tenant, n)));
  const { database } = service;
  const logged = await eventually(async () => {
    const rows = await database.query<{ activity_id: string; score: number }>(sql`
      select activity_id, score
      from activities
      where tenant_id = ${tenant.tenantId}`);
    expect(rows.length).toBeGreaterThanOrEqual(events);
    return rows;
  });
  const ids = logged.map((row) => row.activity_id).toSorted();
  expect(ids).toEqual(Array.from({ length: events }, (_, n) => `flood-${n}`).toSorted());
  expect(logged.filter((row) => row.score < 3)).toEqual([]);
  expect(await database.query(sql`select 1 as waiting from inbox where tenant_id = ${tenant.tenantId}`)).toEqual([]);
  const [only, ...others] = await tenant.list();
  expect(others).toEqual([]);
  // Every report is new evidence. A robot's repeated log-ins are only counted.
  expect(only).toMatchObject({ status: "OPEN", website_account_id: "u-1", overall_risk_score: 5 });
  expect(only?.case_version).toBeGreaterThanOrEqual(events / 2);
  expect(only?.case_version).toBeLessThanOrEqual(events);
  const created = await database.query(sql`
    select event_id
    from events
    where tenant_id = ${tenant.tenantId} and type in ('account.created', 'case.opened')`);
  expect(created).toHaveLength(2);
}, 60_000);
