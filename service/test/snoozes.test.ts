import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { Decision } from "../src/domain/decision.ts";
import { snoozesMax, type Snooze } from "../src/domain/snooze.ts";
import { expectProblem, useOwnDatabase, useService, type TestTenant } from "./harness.ts";
import { scoreAll, sendScored } from "./labels-lab.ts";
import { close, listed, openCaseOf, openCases, snoozed, strictTenant, visitOf } from "./snoozes-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("snoozes"), roles: new Set(["api"]) });

async function eventsOf(tenant: TestTenant, type: string) {
  const answer = await tenant.call("GET", "/events");
  const { events } = answer.json.data as { events: { type: string; actor: string; data?: object; resource: { id: string } }[] };
  return events.filter((each) => each.type === type);
}

async function stored(tenant: TestTenant, activityId: string) {
  const text = "select score, decision, prediction_id from activities where tenant_id = $1 and activity_id = $2";
  const [row] = await service.current.database.query<{ score: number; decision: string }>(
    statement(text, [tenant.tenantId, activityId]),
  );
  return { score: row?.score, decision: JSON.parse(row?.decision ?? "{}") as { l: number; c?: unknown[]; r?: object } };
}

test("snooze: closing as a false positive makes the case's rules quiet about its account, and the snooze counts what that kept from the queue", async () => {
  const tenant = await strictTenant(service.current);
  const { case_id } = await snoozed(tenant, "account");
  const kept = visitOf();
  await sendScored(tenant, [kept, visitOf()]);
  await sendScored(tenant, [visitOf()]);
  expect(await openCases(tenant)).toEqual([]);
  const [snooze, ...others] = await listed(tenant, "is_active=true");
  expect(others).toEqual([]);
  expect(snooze).toMatchObject({ case_id, subject: "account:anna", scope: "account", rules: ["visits"], is_active: true });
  expect(snooze).toMatchObject({ hits: 3, kept: 3, created_by: tenant.clientId, last_kept_at: expect.any(String) });
  expect(Date.parse(snooze?.until ?? "") - Date.parse(snooze?.created_at ?? "")).toBe(14 * 86_400_000);
  expect(await stored(tenant, kept.activity_id)).toMatchObject({
    score: 1,
    decision: { l: 0, r: { visits: 1 }, c: [["quiet.visits", -3, 0]] },
  });
  const [closed] = await eventsOf(tenant, "case.closed");
  expect(closed).toMatchObject({ data: { disposition: "FALSE_POSITIVE", snooze: { days: 14, scope: "account" } } });
});

test("snooze: hits of a quiet rule are recorded as shadow hits", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  await sendScored(tenant, [visitOf(), visitOf({ website_account_id: "berta" })]);
  const report = await tenant.call("GET", "/rules/visits/report?days=2");
  const { hits_per_day: days } = report.json.data as { hits_per_day: { hits: number; shadow_hits: number }[] };
  const sum = (of: "hits" | "shadow_hits") => days.reduce((total, day) => total + day[of], 0);
  expect([sum("hits"), sum("shadow_hits")]).toEqual([2, 1]);
});

test("snooze: the stored decision explains the quiet rule, and its parts sum to the log-odds", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  const kept = visitOf();
  await sendScored(tenant, [kept]);
  const prediction_id = randomUUID();
  const text = "update activities set prediction_id = $3 where tenant_id = $1 and activity_id = $2";
  await service.current.database.query(statement(text, [tenant.tenantId, kept.activity_id, prediction_id]));
  const decision: Decision = (await tenant.call("GET", `/decisions/${prediction_id}`)).json.data;
  expect(decision.contributions).toEqual([
    { name: "quiet.visits", plain_name: "Visit: quiet after a false positive", log_odds: -3 },
  ]);
  expect(decision.recomputed).toEqual({ log_odds: decision.log_odds, score: decision.score });
});

test.each<[string, object, string[]]>([
  ["a different disposition", { disposition: "CONFIRMED_FRAUD" }, ["snooze"]],
  ["no disposition", { disposition: undefined }, ["snooze"]],
  ["a reopening", { status: "OPEN", disposition: undefined }, ["snooze"]],
  ["0 days", { snooze: { days: 0, scope: "account" } }, ["snooze.days"]],
  ["91 days", { snooze: { days: 91, scope: "account" } }, ["snooze.days"]],
  ["a fraction of a day", { snooze: { days: 1.5, scope: "account" } }, ["snooze.days"]],
  ["an unknown scope", { snooze: { days: 1, scope: "network" } }, ["snooze.scope"]],
  ["no scope", { snooze: { days: 1 } }, ["snooze.scope"]],
  ["null", { snooze: null }, ["snooze"]],
  ["an unknown member", { snooze: { days: 1, scope: "account", rules: [] } }, ["snooze.rules"]],
  ["a payee that the evidence does not name", { snooze: { days: 1, scope: "payee" } }, ["snooze.scope"]],
])("snooze: %s is a 422 that names the field, and the case stays open", async (_what, change, fields) => {
  const tenant = await strictTenant(service.current);
  const found = await openCaseOf(tenant, visitOf());
  const answer = await close(tenant, found, { days: 1, scope: "account" }, change);
  const problem = expectProblem(answer, 422, "validation-error");
  expect(problem.errors?.map(({ field }) => field)).toEqual(fields);
  expect(await tenant.read(found.case_id)).toEqual(found);
  expect(await listed(tenant)).toEqual([]);
});

test("snooze: a case with only a report cannot be snoozed, and a case without an account only with its own subject as the scope", async () => {
  const tenant = await strictTenant(service.current);
  await sendScored(tenant, [visitOf({ type: "fraud_report", website_account_id: "reported" })]);
  const [reported] = await openCases(tenant);
  const report = await tenant.read(reported?.case_id ?? "");
  expect(expectProblem(await close(tenant, report, { days: 1, scope: "account" }), 422, "validation-error").errors).toMatchObject(
    [{ field: "snooze" }],
  );
  const { website_account_id: _account, ...anonymous } = visitOf({ device_id: "kiosk" });
  await sendScored(tenant, [anonymous]);
  const [unknown] = await tenant.list("status=OPEN&website_account_id=UNKNOWN");
  const found = await tenant.read(unknown?.case_id ?? "");
  for (const scope of ["account", "address", "payee"]) {
    const problem = expectProblem(await close(tenant, found, { days: 1, scope }), 422, "validation-error");
    expect(problem.errors?.map(({ field }) => field)).toEqual(["snooze.scope"]);
  }
  expect((await close(tenant, found, { days: 1, scope: "device" })).status).toBe(200);
  expect(await listed(tenant)).toMatchObject([{ subject: "device:kiosk", scope: "device" }]);
});

test("snooze: neither a repeat with the same key nor closing a closed case creates a second snooze", async () => {
  const tenant = await strictTenant(service.current);
  const found = await openCaseOf(tenant, visitOf());
  const body = { status: "CLOSED", disposition: "FALSE_POSITIVE", case_version: 1, snooze: { days: 3, scope: "account" } };
  const key = randomUUID();
  const [first, again] = [await tenant.put(found.case_id, body, key), await tenant.put(found.case_id, body, key)];
  expect(again.text).toBe(first.text);
  expect((await tenant.put(found.case_id, { ...body, case_version: 2 })).status).toBe(200);
  expect(await listed(tenant)).toHaveLength(1);
});

test("snooze: after a person ends it early, the rules count again", async () => {
  const tenant = await strictTenant(service.current);
  const { case_id } = await snoozed(tenant, "account");
  const [snooze] = await listed(tenant);
  const path = `/snoozes/${snooze?.snooze_id ?? ""}`;
  expect((await tenant.call("DELETE", path)).status).toBe(204);
  expect((await tenant.call("DELETE", path)).status).toBe(204);
  await sendScored(tenant, [visitOf()]);
  expect(await openCases(tenant)).toHaveLength(1);
  expect(await listed(tenant, "is_active=true")).toEqual([]);
  expect(await listed(tenant, "is_active=false")).toMatchObject([
    { is_active: false, ended_by: tenant.clientId, ended_because: "by_hand", kept: 0 },
  ]);
  expect(await eventsOf(tenant, "case.snooze_ended")).toMatchObject([
    { actor: tenant.clientId, resource: { id: case_id }, data: { because: "by_hand", snooze_id: snooze?.snooze_id } },
  ]);
  expectProblem(await tenant.call("DELETE", `/snoozes/${randomUUID()}`), 404, "item-not-found");
  expectProblem(await tenant.call("DELETE", "/snoozes/x"), 404, "item-not-found");
});

test("snooze: it expires at its date, and reopening its case ends it", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  const text = "update snoozes set until = now() - interval '1 second' where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
  expect(await listed(tenant)).toMatchObject([{ is_active: false, ended_because: "expired" }]);
  const { case_id, case_version } = await snoozed(tenant, "account");
  expect((await tenant.put(case_id, { status: "OPEN", case_version })).status).toBe(200);
  expect(await listed(tenant, "is_active=true")).toEqual([]);
  expect((await listed(tenant))[0]).toMatchObject({ ended_because: "reopened", ended_by: tenant.clientId });
});

test("snooze: pages of the list neither skip nor repeat a snooze, and another tenant can neither see nor end one", async () => {
  const [tenant, other] = [await strictTenant(service.current), await strictTenant(service.current)];
  for (const account of ["a", "b", "c"]) await snoozed(tenant, "account", visitOf({ website_account_id: account }));
  const seen: string[] = [];
  for (let path = "/snoozes?limit=1"; path !== "";) {
    const { snoozes, next_cursor } = (await tenant.call("GET", path)).json.data as {
      snoozes: Snooze[];
      next_cursor: string | null;
    };
    seen.push(...snoozes.map(({ subject }) => subject));
    path = next_cursor === null ? "" : `/snoozes?limit=1&cursor=${encodeURIComponent(next_cursor)}`;
  }
  expect(seen).toEqual(["account:c", "account:b", "account:a"]);
  expect(await listed(other)).toEqual([]);
  const [snooze] = await listed(tenant);
  expectProblem(await other.call("DELETE", `/snoozes/${snooze?.snooze_id ?? ""}`), 404, "item-not-found");
  expect(await listed(tenant, "is_active=true")).toHaveLength(3);
});

test("snooze: the number of active snoozes per tenant is limited", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  const text = `
    insert into snoozes (tenant_id, snooze_id, case_id, subject, scope, rules, score, size, created_at, created_by, until)
    select $1, gen_random_uuid(), case_id, 'account:other', scope, rules, score, size, created_at, created_by, until
    from snoozes, generate_series(2, $2)
    where tenant_id = $1`;
  await service.current.database.query(statement(text, [tenant.tenantId, snoozesMax]));
  const found = await openCaseOf(tenant, visitOf({ website_account_id: "berta" }));
  const problem = expectProblem(await close(tenant, found, { days: 1, scope: "account" }), 422, "validation-error");
  expect(problem.errors).toMatchObject([{ field: "snooze" }]);
});

test("snooze: erasing the account leaves no trace of it", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account", visitOf({ website_account_id: "erased-soon" }));
  await snoozed(tenant, "device", visitOf({ website_account_id: "other", device_id: "phone-of-erased-soon" }));
  expect((await tenant.call("DELETE", "/enduseraccounts/erased-soon")).status).toBe(204);
  expect(await listed(tenant)).toEqual([]);
});

test("snooze: visits that are scored while the case is closed are either quiet or in a case", async () => {
  const tenant = await strictTenant(service.current);
  const found = await openCaseOf(tenant, visitOf());
  const visits = Array.from({ length: 20 }, () => visitOf());
  await tenant.call("POST", "/activities", { body: { activities: visits } });
  const [answer] = await Promise.all([close(tenant, found, { days: 1, scope: "account" }), scoreAll(tenant)]);
  expect(answer.status, answer.text).toBe(200);
  const [snooze] = await listed(tenant);
  const scores = await Promise.all(visits.map(({ activity_id }) => stored(tenant, activity_id)));
  const quiet = scores.filter(({ score }) => score === 1).length;
  expect(snooze).toMatchObject({ hits: quiet, kept: quiet });
  expect([0, 20]).toContain(quiet);
});
