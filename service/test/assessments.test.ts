import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Assessment } from "../src/domain/assessment.ts";
import { TestTenant, expectProblem, useService, type Answer } from "./harness.ts";
import { eventually } from "./process.ts";

const service = useService();
const patient = { deadline_ms: 2_000 };

function loginOf(more: Record<string, unknown> = {}) {
  return {
    activity_id: `login-${randomUUID()}`,
    type: "login_succeeded",
    occurred_at: new Date().toISOString(),
    website_account_id: `user-${randomUUID()}`,
    ...patient,
    ...more,
  };
}

async function assess(tenant: TestTenant, body: Record<string, unknown>): Promise<Assessment> {
  const answer = await tenant.call("POST", "/assessments", { body });
  expect(answer.status, answer.text).toBe(200);
  return verdictIn(answer);
}

function verdictIn(answer: Answer): Assessment {
  return answer.json.data;
}

test("POST assessments 200: the verdict is the decision that GET decisions shows", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  const verdict = await assess(tenant, body);
  expect(verdict).toEqual({
    activity_id: body.activity_id,
    prediction_id: expect.any(String),
    action: "ALLOW",
    score: 1,
    log_odds: expect.any(Number),
    is_final: true,
    verdict_from: "engine",
    reasons: [],
    case_id: null,
    lists: [],
    took_ms: expect.any(Number),
    is_stored: true,
  });
  const decision = await tenant.call("GET", `/decisions/${verdict.prediction_id}`);
  expect(decision.status, decision.text).toBe(200);
  expect(decision.json.data).toMatchObject({
    prediction_id: verdict.prediction_id,
    score: verdict.score,
    log_odds: verdict.log_odds,
    activity: { activity_id: body.activity_id, origin: "server", website_account_id: body.website_account_id },
  });
});

test("POST assessments 200: a suspicious activity opens a case with the same score, reasons and prediction", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `user-${randomUUID()}`;
  const verdict = await assess(tenant, loginOf({ type: "fraud_report", website_account_id: account }));
  expect(verdict).toMatchObject({ action: "BLOCK", score: 5, is_final: true });
  expect(verdict.reasons).toMatchObject([{ fraud_reason: "Reported fraud", description: expect.stringContaining("reported") }]);
  const found = await tenant.read(verdict.case_id ?? "");
  const [occurrence] = Object.values(found.fraud_occurrences);
  expect([found.website_account_id, found.details.overall_risk_score]).toEqual([account, 5]);
  expect(occurrence?.prediction_id).toBe(verdict.prediction_id);
  // Another report joins the case.
  const second = await assess(tenant, loginOf({ type: "fraud_report", website_account_id: account }));
  expect(second.case_id).toBe(verdict.case_id);
});

test("POST assessments 200: a repeated request gets the same bytes, and the activity is scored once", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  const first = await tenant.call("POST", "/assessments", { body });
  const { type, ...rest } = body;
  for (const same of [body, { ...rest, otherwise: "ALLOW", type }]) {
    const again = await tenant.call("POST", "/assessments", { body: same });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  }
  expect(first.headers.get("idempotent-replayed")).toBe(null);
  const { deadline_ms: _deadline, ...activity } = body;
  const sent = await tenant.call("POST", "/activities", { body: { activities: [activity] } });
  expect(sent.json.data).toEqual({ accepted: 0, duplicates: 1 });
  const timeline = await tenant.call("GET", "/activities");
  const { activities }: { activities: unknown[] } = timeline.json.data;
  expect(activities).toHaveLength(1);
});

test.each([
  ["a different type", { type: "logout" }],
  ["a different address", { ip: "192.0.2.1" }],
  ["a different deadline", { deadline_ms: 1_999 }],
  ["a different fallback", { otherwise: "BLOCK" }],
])("POST assessments 409: %s with a known activity_id is a different request", async (_what, change) => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  const first = await tenant.call("POST", "/assessments", { body });
  const other = await tenant.call("POST", "/assessments", { body: { ...body, ...change } });
  expectProblem(other, 409, "operation-idempotency-conflict");
  expect((await tenant.call("POST", "/assessments", { body })).text).toBe(first.text);
});

test("POST assessments 409: an activity_id that was sent as an ordinary activity has no verdict to repeat", async () => {
  const tenant = await TestTenant.create(service.current);
  const { deadline_ms: _deadline, ...activity } = loginOf();
  const sent = await tenant.call("POST", "/activities", { body: { activities: [activity] } });
  expect(sent.status).toBe(202);
  const answer = await tenant.call("POST", "/assessments", { body: { ...activity, ...patient } });
  expectProblem(answer, 409, "operation-idempotency-conflict");
});

test("POST assessments 200: simultaneous identical requests get one verdict", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.call("POST", "/assessments", { body })));
  expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
});

test("POST assessments 200: a blocked account gets BLOCK, whatever its score", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  expect(await assess(tenant, body)).toMatchObject({ action: "ALLOW" });
  const path = `/enduseraccounts/${body.website_account_id}`;
  expect((await tenant.call("PUT", path, { body: { is_blocked: true } })).status).toBe(200);
  const again = await assess(tenant, loginOf({ website_account_id: body.website_account_id }));
  expect(again).toMatchObject({ action: "BLOCK", is_final: true });
  // The earlier answer does not change.
  expect(await assess(tenant, body)).toMatchObject({ action: "ALLOW" });
});

test("POST assessments 200: activity that was accepted earlier counts in the verdict", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `user-${randomUUID()}`;
  await tenant.report(account);
  const verdict = await assess(tenant, loginOf({ website_account_id: account }));
  const decision = await tenant.call("GET", `/decisions/${verdict.prediction_id}`);
  const { features }: { features: { name: string; value: unknown }[] } = decision.json.data;
  expect(features.find(({ name }) => name === "account.reports")?.value).toBe(1);
});

test.each([
  ["deadline_ms", 19],
  ["deadline_ms", 2_001],
  ["deadline_ms", "150"],
  ["deadline_ms", 150.5],
  ["deadline_ms", null],
  ["otherwise", "allow"],
  ["otherwise", "MONITOR"],
  ["otherwise", true],
  ["activity_id", ""],
  ["type", "login"],
  ["prediction_id", randomUUID()],
  ["activities", []],
])("POST assessments 422: %s may not be %j, and nothing is stored", async (field, value) => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  const answer = await tenant.call("POST", "/assessments", { body: { ...body, [field]: value } });
  expect(expectProblem(answer, 422, "validation-error").errors?.map((each) => each.field)).toEqual([field]);
  expect((await assess(tenant, body)).is_final).toBe(true);
});

test.each([20, 2_000])("POST assessments 200: a deadline of %i ms is accepted", async (deadline_ms) => {
  const tenant = await TestTenant.create(service.current);
  const verdict = await assess(tenant, loginOf({ deadline_ms }));
  expect(verdict.action).toBe("ALLOW");
});

test("erasure: the answers about an account are erased with the account", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = loginOf();
  await assess(tenant, body);
  expect((await tenant.call("DELETE", `/enduseraccounts/${body.website_account_id}`)).status).toBe(204);
  expectProblem(await tenant.call("POST", "/assessments", { body }), 409, "operation-idempotency-conflict");
});

test("POST assessments: 300 simultaneous assessments of one account open one case", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `user-${randomUUID()}`;
  const bodies = Array.from({ length: 300 }, () => loginOf({ type: "fraud_report", website_account_id: account }));
  const verdicts = await Promise.all(bodies.map((body) => assess(tenant, body)));
  const open = await eventually(async () => {
    const cases = await tenant.list("status=OPEN");
    expect(cases).toHaveLength(1);
    return cases;
  });
  const named = new Set(verdicts.flatMap(({ case_id }) => case_id ?? []));
  expect([...named]).toEqual(open.map(({ case_id }) => case_id));
});
