import { expect, test } from "vitest";
import type { Activity } from "../src/domain/activity.ts";
import { makeRule } from "./decided.ts";
import { expectProblem, useOwnDatabase, useService, type TestTenant } from "./harness.ts";
import { apply, paymentOf, sendScored } from "./labels-lab.ts";
import { close, listed, openCaseOf, openCases, snoozed, strictTenant, visitOf } from "./snoozes-lab.ts";

// What an attacker gains who knows which rules are quiet, and can send any activity through the tenant's own pages and servers.
const service = useService({ databaseUrl: useOwnDatabase("snoozes_attacks"), roles: new Set(["api"]) });

const phone = { device_id: "annas-phone", ip: "198.51.100.7" };

async function endings(tenant: TestTenant): Promise<(string | undefined)[]> {
  return (await listed(tenant)).map(({ ended_because }) => ended_because);
}

test.each(["account", "device", "address"])(
  "attack: with the scope %s, the device and the address of a quiet account do not get a different account past the rules",
  async (scope) => {
    const tenant = await strictTenant(service.current);
    await snoozed(tenant, scope, visitOf(phone));
    await sendScored(tenant, [visitOf({ ...phone, website_account_id: "victim" })]);
    expect(await openCases(tenant)).toMatchObject([{ website_account_id: "victim", overall_risk_score: 3 }]);
    expect(await listed(tenant)).toMatchObject([{ is_active: true, hits: 0, kept: 0 }]);
  },
);

test.each([
  ["device", { ip: phone.ip, device_id: "thiefs-phone" }],
  ["address", { ip: "203.0.113.99", device_id: "thiefs-phone" }],
])(
  "attack: with the scope %s, a stranger in the quiet account is detected, because the device or address is different",
  async (scope, from) => {
    const tenant = await strictTenant(service.current);
    await snoozed(tenant, scope, visitOf(phone));
    // A look-alike of a false positive would be damped, so the thief comes from a different place.
    await sendScored(tenant, [visitOf({ ...from, ...(scope === "device" && { ip: "203.0.113.99" }) })]);
    expect(await openCases(tenant)).toHaveLength(1);
  },
);

test("attack: other evidence that is enough for a case ends the snooze, and the case contains all the evidence", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  // Made in the order of their times.
  await sendScored(tenant, [visitOf(), visitOf({ attributes: { odd: true } }), visitOf()]);
  const [open] = await openCases(tenant);
  expect(open).toMatchObject({ website_account_id: "anna", overall_risk_score: 4 });
  const found = await tenant.read(open?.case_id ?? "");
  const rules = Object.values(found.fraud_occurrences).flatMap(({ explanation }) =>
    (explanation.model_behaviour ?? []).map(({ model_name }) => model_name),
  );
  expect(new Set(rules)).toEqual(new Set(["visits", "odd_visits"]));
  expect(await listed(tenant)).toMatchObject([
    { is_active: false, ended_because: "stronger_evidence", ended_by: "system", kept: 1 },
  ]);
});

test("attack: other weak evidence does not end the snooze, unless the score rises above what was judged", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  await sendScored(tenant, [visitOf({ attributes: { slight: true } })]);
  expect(await openCases(tenant)).toEqual([]);
  await makeRule(tenant, "third", { expression: "has(event.attributes.third)", label: "Bot", weight: 1.2 });
  await sendScored(tenant, [visitOf({ attributes: { third: 1 } })]);
  expect(await openCases(tenant)).toMatchObject([{ overall_risk_score: 4 }]);
  expect(await endings(tenant)).toEqual(["stronger_evidence"]);
});

test("attack: if the weight of a quiet rule is raised, its evidence goes beyond what was judged", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  const { rule_version } = (await tenant.call("GET", "/rules/visits")).json.data as { rule_version: number };
  await makeRule(tenant, "visits", { expression: "event.type == 'custom:visit'", weight: 6, rule_version });
  await sendScored(tenant, [visitOf()]);
  expect(await openCases(tenant)).toHaveLength(1);
});

// A tenant where every transfer gets score 3.
async function payingTenant(): Promise<TestTenant> {
  const tenant = await strictTenant(service.current);
  await makeRule(tenant, "rent", { expression: "event.type == 'transfer'", label: "Organic", weight: 3 });
  return tenant;
}

function rentOf(more: Partial<Activity> = {}): Activity {
  const { device_id, ip } = visitOf();
  const payment = { amount: 800, currency: "EUR", payee_id: "landlord", website_account_id: "anna" };
  return paymentOf({
    type: "transfer",
    ...payment,
    ...(device_id !== undefined && { device_id }),
    ...(ip !== undefined && { ip }),
    ...more,
  });
}

test("attack: with the scope payee, the rules are quiet only about payments to this payee, and not about much larger amounts", async () => {
  const tenant = await payingTenant();
  await snoozed(tenant, "payee", rentOf());
  expect(await listed(tenant)).toMatchObject([{ subject: "account:anna", scope: "payee", value: "landlord" }]);
  await sendScored(tenant, [rentOf({ amount: 900 })]);
  expect(await openCases(tenant)).toEqual([]);
  await sendScored(tenant, [rentOf({ payee_id: "mule" })]);
  expect(await openCases(tenant)).toHaveLength(1);
  const other = await payingTenant();
  await snoozed(other, "payee", rentOf());
  await sendScored(other, [rentOf({ amount: 1_700 })]);
  expect(await openCases(other)).toHaveLength(1);
  expect(await endings(other)).toEqual(["stronger_evidence"]);
});

test("attack: a snooze of a case without a payment covers no payment", async () => {
  const tenant = await payingTenant();
  const rule = { expression: "event.type == 'transfer' || event.type == 'custom:visit'", label: "Bot", weight: 2.6 } as const;
  await makeRule(tenant, "anything", rule);
  for (const id of ["rent", "visits"]) {
    const { rule_version } = (await tenant.call("GET", `/rules/${id}`)).json.data as { rule_version: number };
    await makeRule(tenant, id, { state: "off", rule_version });
  }
  await snoozed(tenant, "account");
  await sendScored(tenant, [visitOf()]);
  expect(await openCases(tenant)).toEqual([]);
  await sendScored(tenant, [rentOf()]);
  expect(await openCases(tenant)).toHaveLength(1);
});

test("attack: what was judged without money covers no payment, even if another rule was judged with money", async () => {
  const tenant = await payingTenant();
  const { rule_version } = (await tenant.call("GET", "/rules/visits")).json.data as { rule_version: number };
  const either = "event.type == 'custom:visit' || has(event.attributes.mule)";
  await makeRule(tenant, "visits", { expression: either, weight: 3, rule_version });
  const rent = (await tenant.call("GET", "/rules/rent")).json.data as { rule_version: number };
  const usual = "event.type == 'transfer' && !has(event.attributes.mule)";
  await makeRule(tenant, "rent", { expression: usual, weight: 3, rule_version: rent.rule_version });
  await snoozed(tenant, "payee", rentOf());
  await snoozed(tenant, "account");
  await sendScored(tenant, [rentOf({ amount: 900 }), visitOf()]);
  expect(await openCases(tenant)).toEqual([]);
  await sendScored(tenant, [rentOf({ attributes: { mule: true } })]);
  expect(await openCases(tenant)).toHaveLength(1);
});

test("attack: a close that judges some of the evidence makes nothing else quiet", async () => {
  const tenant = await strictTenant(service.current);
  await makeRule(tenant, "calls", { expression: "event.type == 'custom:call'", label: "Bot", weight: 3 });
  await sendScored(tenant, [visitOf(), visitOf({ type: "custom:call" })]);
  const [open] = await openCases(tenant);
  const found = await tenant.read(open?.case_id ?? "");
  const judged = Object.entries(found.fraud_occurrences).filter(([, { explanation }]) =>
    (explanation.model_behaviour ?? []).some(({ model_name }) => model_name === "visits"),
  );
  expect(judged).toHaveLength(1);
  const answer = await close(tenant, found, { days: 14, scope: "account" }, { occurrence_ids: judged.map(([id]) => id) });
  expect(answer.status, answer.text).toBe(200);
  expect(await listed(tenant)).toMatchObject([{ rules: ["visits"] }]);
  await sendScored(tenant, [visitOf()]);
  expect(await openCases(tenant)).toEqual([]);
  await sendScored(tenant, [visitOf({ type: "custom:call" })]);
  expect(await openCases(tenant)).toHaveLength(1);
});

test("attack: a fraud report ends the snoozes of its account", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  await sendScored(tenant, [visitOf({ type: "fraud_report" })]);
  expect(await openCases(tenant)).toMatchObject([{ website_account_id: "anna", overall_risk_score: 5 }]);
  expect(await endings(tenant)).toEqual(["reported"]);
});

test("attack: a confirmed fraud ends all snoozes of its account", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "device", visitOf(phone));
  const { case_id, case_version } = await openCaseOf(tenant, visitOf());
  const confirmed = { status: "CLOSED", disposition: "CONFIRMED_FRAUD", case_version };
  expect((await tenant.put(case_id, confirmed)).status).toBe(200);
  await apply(tenant);
  expect(await endings(tenant)).toEqual(["confirmed_fraud"]);
});

test("attack: a snooze ends at its date, even for activity that claims to be older", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  const until = new Date(Date.now() - 1_000).toISOString();
  await service.current.database.query({
    name: "",
    text: "update snoozes set until = $2 where tenant_id = $1",
    values: [tenant.tenantId, until],
  });
  await sendScored(tenant, [visitOf({ occurred_at: new Date(Date.now() - 86_400_000).toISOString() })]);
  expect(await openCases(tenant)).toHaveLength(1);
});

function failed(account: string): Activity {
  return paymentOf({ type: "login_failed", website_account_id: account, device_id: "kiosk", ip: "192.0.2.50" });
}

test("attack: a quiet device does not hide an attack on far more accounts than were judged", async () => {
  const tenant = await strictTenant(service.current);
  await sendScored(
    tenant,
    Array.from({ length: 12 }, (_, index) => failed(`guest-${index}`)),
  );
  const [kiosk] = await openCases(tenant);
  const found = await tenant.read(kiosk?.case_id ?? "");
  expect(found.website_account_id).toBe("UNKNOWN");
  const scope = found.details.subject?.kind === "device" ? "device" : "address";
  expect((await close(tenant, found, { days: 30, scope })).status).toBe(200);
  await sendScored(
    tenant,
    Array.from({ length: 60 }, (_, index) => failed(`victim-${index}`)),
  );
  expect((await openCases(tenant)).length).toBeGreaterThan(0);
  expect(await endings(tenant)).toEqual(["stronger_evidence"]);
});

test("attack: a caller who may only read cases cannot end a snooze", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  const [snooze] = await listed(tenant);
  const token = await tenant.mint(["read:cases", "read:case"]);
  expectProblem(await tenant.call("DELETE", `/snoozes/${snooze?.snooze_id ?? ""}`, { token }), 403, "access-denied");
  expectProblem(await tenant.call("GET", "/snoozes", { token: await tenant.mint(["update:case"]) }), 403, "access-denied");
  expect(await listed(tenant, "is_active=true")).toHaveLength(1);
});
