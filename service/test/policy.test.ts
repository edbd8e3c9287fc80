import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { PolicyChange, PolicyDefinition, PolicyTrial } from "../src/domain/policy.ts";
import { defaultPolicy, policyRowsMax } from "../src/domain/policy.ts";
import { insertDecided, makeRule, noonBefore, type Decided } from "./decided.ts";
import { TestTenant, expectProblem, useOwnDatabase, useService, type Answer } from "./harness.ts";
import { paymentOf, sendScored } from "./labels-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("policy"), roles: new Set(["api"]) });

function put(tenant: TestTenant, change: Partial<PolicyChange> = {}, token = tenant.token): Promise<Answer> {
  return tenant.call("PUT", "/policy", { body: { ...defaultPolicy, policy_version: 1, ...change }, token });
}

async function attempt(tenant: TestTenant, policy: PolicyDefinition): Promise<PolicyTrial> {
  const answer = await tenant.call("POST", "/policy/try-out", { body: policy });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

type LoggedEvent = { type: string; actor: string; resource: { id: string; version?: number }; data?: object };

async function eventsOf(tenant: TestTenant, type: string): Promise<LoggedEvent[]> {
  const answer = await tenant.call("GET", "/events");
  return (answer.json.data as { events: LoggedEvent[] }).events.filter((each) => each.type === type);
}

async function flagsOf(tenant: TestTenant, account: string) {
  return (await tenant.call("GET", `/enduseraccounts/${account}`)).json.data as { is_quarantined: boolean; updated_at: string };
}

test("policy: a new tenant has the default policy as version 1, and every change is a version and an event", async () => {
  const tenant = await TestTenant.create(service.current);
  const first = await tenant.call("GET", "/policy");
  expect(first.json.data).toMatchObject({ ...defaultPolicy, policy_version: 1, updated_by: "system" });
  const rows = [{ action: "BLOCK" as const, min_score: 4, name: "Strong" }];
  const second = await put(tenant, { mode: "shadow", rows });
  expect(second.json.data).toMatchObject({ mode: "shadow", rows, policy_version: 2, updated_by: tenant.clientId });
  expect((await tenant.call("GET", "/policy")).text).toBe(second.text);
  const { versions } = (await tenant.call("GET", "/policy/versions")).json.data as { versions: { policy_version: number }[] };
  expect(versions.map(({ policy_version }) => policy_version)).toEqual([2, 1]);
  expect(await eventsOf(tenant, "policy.updated")).toMatchObject([
    { actor: tenant.clientId, resource: { id: tenant.tenantId, version: 2 }, data: { mode: "shadow", rows: 1 } },
  ]);
});

test("policy: saving the same policy again creates no version, and an outdated version is refused with the current one", async () => {
  const tenant = await TestTenant.create(service.current);
  const same = await put(tenant);
  expect(same.json.data).toMatchObject({ policy_version: 1, updated_by: "system" });
  expect((await put(tenant, { mode: "shadow" })).status).toBe(200);
  const stale = expectProblem(await put(tenant, { rows: [] }), 409, "item-version-conflict");
  expect(stale.current_version).toBe(2);
  expect(await eventsOf(tenant, "policy.updated")).toHaveLength(1);
});

test("policy: of several simultaneous changes, one is stored and the others are refused", async () => {
  const tenant = await TestTenant.create(service.current);
  const change = (score: number) => put(tenant, { rows: [{ min_score: score, action: "BLOCK" }] });
  const answers = await Promise.all([1, 2, 3, 4, 5].map(change));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
  expect((await tenant.call("GET", "/policy")).json.data).toMatchObject({ policy_version: 2 });
});

test.each<[string, unknown, string[]]>([
  ["an unknown member", { rows: [{ action: "BLOCK", score: 3 }] }, ["rows[0].score"]],
  ["an unknown action", { rows: [{ action: "MONITOR" }] }, ["rows[0].action"]],
  ["a row without an action", { rows: [{}] }, ["rows[0].action"]],
  [
    "scores out of range",
    { rows: [{ action: "BLOCK", min_score: 0, max_score: 6 }] },
    ["rows[0].min_score", "rows[0].max_score"],
  ],
  ["an empty condition", { rows: [{ action: "BLOCK", labels: [] }] }, ["rows[0].labels"]],
  ["a null row", { rows: [null] }, ["rows[0]"]],
  ["rows that are not an array", { rows: "x" }, ["rows"]],
  ["a name that is too long", { rows: [{ action: "BLOCK", name: "n".repeat(101) }] }, ["rows[0].name"]],
  ["too many rows", { rows: Array.from({ length: policyRowsMax + 1 }, () => ({ action: "BLOCK" })) }, ["rows"]],
  ["too many lists", { rows: [{ action: "BLOCK", lists: Array.from({ length: 11 }, (_, i) => `l${i}`) }] }, ["rows[0].lists"]],
  ["a row that never matches", { rows: [{ action: "ALLOW" }, { action: "BLOCK", min_score: 5 }] }, ["rows[1]"]],
  ["scores in the wrong order", { rows: [{ action: "BLOCK", min_score: 5, max_score: 4 }] }, ["rows[0].max_score"]],
])("policy: %s is a 422 that names the field, and nothing is stored", async (_what, change, fields) => {
  const tenant = await TestTenant.create(service.current);
  const body = { ...defaultPolicy, ...(change as object) };
  for (const answer of [await put(tenant, body), await tenant.call("POST", "/policy/try-out", { body })]) {
    const problem = expectProblem(answer, 422, "validation-error");
    expect(problem.errors?.map(({ field }) => field)).toEqual(fields);
  }
  expect((await tenant.call("GET", "/policy")).json.data).toMatchObject({ policy_version: 1 });
});

test("policy: a caller who cannot change accounts cannot save a policy that quarantines them", async () => {
  const tenant = await TestTenant.create(service.current);
  const token = await tenant.mint(["read:rules", "manage:rules"]);
  const rows = [{ min_score: 5, action: "BLOCK" as const, set_quarantined: true }];
  expectProblem(await put(tenant, { rows }, token), 403, "access-denied");
  expect((await put(tenant, { rows })).status).toBe(200);
  expectProblem(await put(tenant, { rows: [...rows, { action: "CHALLENGE" }], policy_version: 2 }, token), 403, "access-denied");
  expect((await put(tenant, { rows: [], policy_version: 2 }, token)).status).toBe(200);
});

const oddLogin = { name: "Odd log-in", label: "Account Takeover", expression: "event.type == 'login_succeeded'" } as const;

function times(count: number, decided: Decided): Decided[] {
  return Array.from({ length: count }, () => ({ ...decided }));
}

const insertLabels = `
  insert into labels (
    tenant_id, id_key, source, case_id, received_at, y, weight, event_at, labelled_at, known_at, actor
  )
  select tenant_id, id_key, 'api', '00000000-0000-0000-0000-000000000000', received_at, 1, 1, occurred_at, now(), now(), 'test'
  from activities
  where tenant_id = $1 and activity_id = any($2::text[])`;

test("try-out: reports what a policy would have answered in the last 30 days, and how many of the activities were known frauds", async () => {
  const tenant = await TestTenant.create(service.current);
  const { rule_version } = await makeRule(tenant, "odd_login", { ...oddLogin, weight: 3 });
  const login: Decided = { type: "login_succeeded", website_account_id: "a", score: 1, decision: { v: 1, l: -1.5, f: {} } };
  const odd: Decided = { ...login, score: 3, decision: { v: 1, l: 3, r: { odd_login: rule_version }, f: {} } };
  const unusual: Decided = { ...login, score: 3, decision: { v: 1, l: 2.6, c: [["login.device", 2.6]], f: {} } };
  const frauds = Array.from({ length: 3 }, () => ({ ...odd, activity_id: randomUUID(), received_at: noonBefore(2) }));
  await insertDecided(tenant, [
    ...times(20, { ...login, received_at: noonBefore(3) }),
    ...times(5, { ...odd, received_at: noonBefore(29) }),
    ...times(2, { ...unusual, received_at: noonBefore(1) }),
    ...frauds,
    { ...odd, received_at: noonBefore(31) },
    { ...odd, origin: "browser", received_at: noonBefore(1) },
    { ...odd, type: "page_view", received_at: noonBefore(1) },
    { type: "payment", score: 5, decision: { v: 1, l: 7, f: {} }, received_at: noonBefore(1) },
  ]);
  const known = frauds.slice(1).map(({ activity_id }) => activity_id);
  await service.current.database.query(statement(insertLabels, [tenant.tenantId, known]));
  const rows: PolicyDefinition["rows"] = [
    { moments: ["login"], labels: ["Account Takeover"], action: "CHALLENGE" },
    { min_score: 5, action: "BLOCK" },
  ];
  const { tried, current, from, until } = await attempt(tenant, { mode: "shadow", rows });
  expect(Date.parse(until) - Date.parse(from)).toBeGreaterThan(29 * 24 * 3_600_000);
  const [logins, , , payments] = tried.moments;
  expect(logins).toEqual({
    moment: "login",
    all: { activities: 30, frauds: 2 },
    allowed: { activities: 20, frauds: 0 },
    challenged: { activities: 10, frauds: 2 },
    blocked: { activities: 0, frauds: 0 },
  });
  expect(payments).toMatchObject({ moment: "payment", blocked: { activities: 1, frauds: 0 } });
  expect(tried.rows).toEqual([
    { activities: 10, frauds: 2 },
    { activities: 1, frauds: 0 },
  ]);
  expect(current.moments).toEqual(tried.moments);
  expect(await eventsOf(tenant, "policy.updated")).toEqual([]);
});

test("try-out: a tenant without activity gets zeros, and other tenants' activity is not counted", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  await insertDecided(other, [{ type: "signup", score: 5, received_at: noonBefore(1) }]);
  const { tried } = await attempt(tenant, { mode: "on", rows: [] });
  expect(tried.moments.map(({ all }) => all.activities)).toEqual([0, 0, 0, 0, 0]);
});

test("try-out: understands the decisions that the engine stores", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeRule(tenant, "any_payment", { expression: "event.type == 'payment'", label: "Organic", weight: 4.5 });
  await sendScored(tenant, [paymentOf(), paymentOf(), paymentOf({ type: "login_succeeded" })]);
  const rows: PolicyDefinition["rows"] = [{ min_score: 4, labels: ["Organic"], action: "BLOCK" }];
  const { tried } = await attempt(tenant, { mode: "on", rows });
  expect(tried.rows).toEqual([{ activities: 2, frauds: 0 }]);
  expect(tried.moments.find(({ moment }) => moment === "login")?.allowed.activities).toBe(1);
});

// A tenant whose payments and failed log-ins all get score 4.
async function strictTenant(rows: PolicyDefinition["rows"], mode: PolicyDefinition["mode"] = "on"): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  await makeRule(tenant, "any_payment", { expression: "event.type == 'payment'", label: "Organic", weight: 4.5 });
  await makeRule(tenant, "any_failure", { expression: "event.type == 'login_failed'", label: "Bot", weight: 4.5 });
  const answer = await put(tenant, { mode, rows });
  expect(answer.status, answer.text).toBe(200);
  return tenant;
}

const quarantine = [{ min_score: 4, action: "BLOCK" as const, set_quarantined: true }];

test("set_quarantined: the engine quarantines the account once, as `system`, and the feed contains the change", async () => {
  const tenant = await strictTenant(quarantine);
  await sendScored(tenant, [paymentOf({ website_account_id: "bad" }), paymentOf({ website_account_id: "bad" })]);
  await sendScored(tenant, [paymentOf({ website_account_id: "bad" })]);
  await sendScored(tenant, [paymentOf({ website_account_id: "good", type: "login_succeeded" })]);
  expect(await flagsOf(tenant, "bad")).toMatchObject({ is_quarantined: true, is_blocked: false, is_fraudulent: false });
  expect(await flagsOf(tenant, "good")).toMatchObject({ is_quarantined: false });
  expect(await eventsOf(tenant, "account.updated")).toMatchObject([
    { actor: "system", resource: { id: "bad" }, data: { is_quarantined: true } },
  ]);
  const release = await tenant.call("PUT", "/enduseraccounts/bad", { body: { is_quarantined: false } });
  expect(release.status).toBe(200);
  await sendScored(tenant, [paymentOf({ website_account_id: "bad" })]);
  expect(await flagsOf(tenant, "bad")).toMatchObject({ is_quarantined: true });
});

test("set_quarantined: a policy change counts from the next batch on, even in an engine that has cached the old policy", async () => {
  const tenant = await strictTenant(quarantine, "shadow");
  await sendScored(tenant, [paymentOf({ website_account_id: "one" })]);
  expect(await flagsOf(tenant, "one")).toMatchObject({ is_quarantined: false });
  expect((await put(tenant, { rows: quarantine, policy_version: 2 })).status).toBe(200);
  await sendScored(tenant, [paymentOf({ website_account_id: "one" })]);
  expect(await flagsOf(tenant, "one")).toMatchObject({ is_quarantined: true });
});

test("set_quarantined: failed log-ins never quarantine an account, and the default policy quarantines nobody", async () => {
  const tenant = await strictTenant(quarantine);
  const failed = { type: "login_failed", ip: "192.0.2.7", device_id: "thief" };
  await sendScored(
    tenant,
    Array.from({ length: 30 }, () => paymentOf({ ...failed, website_account_id: "victim" })),
  );
  expect(await flagsOf(tenant, "victim")).toMatchObject({ is_quarantined: false });
  const plain = await TestTenant.create(service.current);
  await sendScored(plain, [paymentOf({ type: "fraud_report", website_account_id: "reported" })]);
  expect(await flagsOf(plain, "reported")).toMatchObject({ is_quarantined: false });
});

test("set_quarantined: an account whose payment is suspicious only because of the payee is not quarantined", async () => {
  const tenant = await strictTenant(quarantine);
  const expression = "event.type == 'transfer'";
  await makeRule(tenant, "bad_payee", { expression, about: "payee", label: "Organic", weight: 4.5 });
  await sendScored(tenant, [paymentOf({ type: "transfer", website_account_id: "payer", payee_id: "mule", amount: 10 })]);
  expect(await flagsOf(tenant, "payer")).toMatchObject({ is_quarantined: false });
});

function reportOf(account: string, label: string) {
  return paymentOf({ type: "fraud_report", website_account_id: account, attributes: { label } });
}

test("set_quarantined: a fraud report from the tenant's server can quarantine an account, depending on its label", async () => {
  const tenant = await strictTenant([{ moments: ["other"], labels: ["Bot"], action: "BLOCK", set_quarantined: true }]);
  await sendScored(tenant, [reportOf("robot", "Bot"), reportOf("disputed", "Organic")]);
  expect(await flagsOf(tenant, "robot")).toMatchObject({ is_quarantined: true });
  expect(await flagsOf(tenant, "disputed")).toMatchObject({ is_quarantined: false });
});
