import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Assessment } from "../src/domain/assessment.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { putParcel } from "./inbox.ts";
import { whileHeld } from "./launch.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { eventually } from "./process.ts";

// The tests lock tables, so other files must not use this database.
const url = useOwnDatabase("assessments_deadline");
const service = useService({ databaseUrl: url });

const lockTurn = (tenant: TestTenant) => `select 1 from engine_turns where tenant_id = '${tenant.tenantId}' for update`;
const lockTable = (name: string) => `lock table ${name} in access exclusive mode`;

function loginOf(more: Record<string, unknown> = {}) {
  return {
    activity_id: `login-${randomUUID()}`,
    type: "login_succeeded",
    occurred_at: new Date().toISOString(),
    website_account_id: `user-${randomUUID()}`,
    device_id: "device-1",
    ip: "192.0.2.9",
    deadline_ms: 2_000,
    ...more,
  };
}

async function assess(tenant: TestTenant, body: Record<string, unknown>): Promise<{ text: string; verdict: Assessment }> {
  const answer = await tenant.call("POST", "/assessments", { body });
  expect(answer.status, answer.text).toBe(200);
  return { text: answer.text, verdict: answer.json.data };
}

async function decidedEvents(tenant: TestTenant): Promise<LoggedEvent[]> {
  const { json } = await tenant.call("GET", "/events");
  const { events }: { events: LoggedEvent[] } = json.data;
  return events.filter(({ type }) => type === "activity.decided");
}

async function decisionOf(tenant: TestTenant, { prediction_id }: Assessment): Promise<{ score: number; log_odds: number }> {
  return eventually(async () => {
    const answer = await tenant.call("GET", `/decisions/${prediction_id}`);
    expect(answer.status).toBe(200);
    return answer.json.data;
  });
}

test("POST assessments 200: while the engine is busy, the answer is a snapshot, and it does not change later", async () => {
  const tenant = await TestTenant.create(service.current);
  // Afterwards, the service has compiled the tenant's rules.
  await assess(tenant, loginOf({ type: "logout" }));
  const body = loginOf();
  const first = await whileHeld(url, lockTurn(tenant), () => assess(tenant, body));
  expect(first.verdict).toMatchObject({
    action: "ALLOW",
    is_final: false,
    verdict_from: "snapshot",
    is_stored: true,
    case_id: null,
  });
  expect(first.verdict.score).toBe(1);
  const decision = await decisionOf(tenant, first.verdict);
  expect(decision).toMatchObject({ score: first.verdict.score, log_odds: first.verdict.log_odds });
  expect((await assess(tenant, body)).text).toBe(first.text);
  // The decision equals the answer, so there is no event.
  expect(await decidedEvents(tenant)).toEqual([]);
});

test("activity.decided: follows if waiting activity makes the decision differ from the snapshot", async () => {
  const tenant = await TestTenant.create(service.current);
  await assess(tenant, loginOf({ type: "logout" }));
  const body = loginOf();
  const first = await whileHeld(url, lockTurn(tenant), async () => {
    const guesses = Array.from({ length: 30 }, (_, n) => loginOf({ type: "login_failed", website_account_id: `victim-${n}` }));
    const activities = guesses.map(({ deadline_ms: _deadline, ...activity }) => activity);
    expect((await tenant.call("POST", "/activities", { body: { activities } })).status).toBe(202);
    return assess(tenant, { ...body, occurred_at: new Date().toISOString() });
  });
  expect(first.verdict).toMatchObject({ score: 1, verdict_from: "snapshot" });
  const decision = await decisionOf(tenant, first.verdict);
  expect(decision.score).toBeGreaterThan(1);
  const [event] = await decidedEvents(tenant);
  expect(event).toMatchObject({
    actor: "system",
    resource: { type: "activity", id: first.verdict.activity_id },
    data: {
      prediction_id: first.verdict.prediction_id,
      score: decision.score,
      log_odds: decision.log_odds,
      answered: { action: "ALLOW", score: 1, verdict_from: "snapshot" },
    },
  });
});

test("POST assessments 200: if nothing can be judged in time, the answer is `otherwise`, and it does not change later", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf({ otherwise: "CHALLENGE" });
  const first = await whileHeld(url, lockTable("entity_states"), () => assess(tenant, body));
  expect(first.verdict).toMatchObject({ action: "CHALLENGE", score: null, verdict_from: "otherwise", is_stored: true });
  const decision = await decisionOf(tenant, first.verdict);
  expect((await assess(tenant, body)).text).toBe(first.text);
  const events = await decidedEvents(tenant);
  expect(events.map(({ data }) => data)).toMatchObject([{ action: "ALLOW", score: decision.score }]);
});

test("POST assessments 200: without a verdict, a blocked account gets BLOCK whatever `otherwise` says", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `user-${randomUUID()}`;
  const blocked = { website_account_id: account, is_blocked: true };
  expect((await tenant.call("POST", "/enduseraccounts", { body: blocked })).status).toBe(201);
  const { verdict } = await whileHeld(url, lockTable("entity_states"), () =>
    assess(tenant, loginOf({ website_account_id: account, otherwise: "ALLOW" })),
  );
  expect(verdict).toMatchObject({ action: "BLOCK", verdict_from: "otherwise" });
});

test("POST assessments 200: while the database is stuck, the answer is `otherwise`, and `is_stored` is false", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf({ otherwise: "BLOCK" });
  const first = await whileHeld(url, lockTable("assessments"), () => assess(tenant, body));
  expect(first.verdict).toMatchObject({ action: "BLOCK", score: null, verdict_from: "otherwise", is_stored: false });
  // Once the database responds, the repeated request is stored and answered.
  const again = await eventually(async () => {
    const { verdict } = await assess(tenant, body);
    expect(verdict.is_stored).toBe(true);
    return verdict;
  });
  expect(again).toMatchObject({ is_final: true, action: "ALLOW" });
  const listed = await tenant.call("GET", "/activities");
  const { activities }: { activities: unknown[] } = listed.json.data;
  expect(activities).toHaveLength(1);
});

test("erasure: an event about an activity whose id contains the account's id does not keep it", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `user-${randomUUID()}`;
  const body = loginOf({ activity_id: `in:${account}`, website_account_id: account, otherwise: "CHALLENGE" });
  const { verdict } = await whileHeld(url, lockTable("entity_states"), () => assess(tenant, body));
  await decisionOf(tenant, verdict);
  expect(await decidedEvents(tenant)).toHaveLength(1);
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  expect(await decidedEvents(tenant)).toHaveLength(1);
  expect((await tenant.call("GET", "/events")).text).not.toContain(account);
});

test("an activity that cannot be scored is set aside, also while assessments never stop", async () => {
  const tenant = await TestTenant.create(service.current);
  await putParcel(service.current.database, tenant.tenantId, { received_at: new Date().toISOString(), text: "[null]" });
  const stopping = new AbortController();
  const ask = async () => {
    while (!stopping.signal.aborted) await assess(tenant, loginOf({ deadline_ms: 20 }));
  };
  const callers = Promise.all(Array.from({ length: 8 }, ask));
  try {
    await eventually(async () => {
      const aside = await service.current.database.query(sql`select 1 from unscorable where tenant_id = ${tenant.tenantId}`);
      expect(aside).toHaveLength(1);
    });
  } finally {
    stopping.abort();
    await callers;
  }
});
