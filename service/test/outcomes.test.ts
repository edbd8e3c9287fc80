import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { addRuleSubjects, type RuleSubject } from "../src/db/rules.ts";
import { countOutcomesOf, insertOutcomes } from "../src/db/outcomes.ts";
import { accountSubject } from "../src/domain/activity.ts";
import type { Case } from "../src/domain/case.ts";
import type { MeasuredRule, Precision } from "../src/domain/rule.ts";
import { makeRule, selectAll } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
const newTenant = () => TestTenant.create(service.current);

function stored(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  const text =
    "select case_id, case_version, subject, website_account_id, disposition, decided_at, decided_by from outcomes where tenant_id = $1 order by decided_at, case_version";
  return selectAll(service.current.database, text, [tenant.tenantId]);
}

function outcomeOf(closed: Case, disposition: string, tenant: TestTenant) {
  return {
    case_id: closed.case_id,
    case_version: closed.case_version,
    subject: accountSubject(closed.website_account_id),
    website_account_id: closed.website_account_id,
    disposition,
    decided_at: closed.current_state.changed_at,
    decided_by: tenant.clientId,
  };
}

test("PUT case: a close's disposition is an outcome of the case's subject; a reopen removes it, and the next close adds one", async () => {
  const tenant = await newTenant();
  const { case_id: id } = await tenant.openCase("user-1");
  const first = await tenant.put(id, { status: "CLOSED", case_version: 1, disposition: "FALSE_POSITIVE" });
  expect(await stored(tenant)).toEqual([outcomeOf(first.json.data, "FALSE_POSITIVE", tenant)]);
  expectProblem(await tenant.put(id, { status: "OPEN", case_version: 1 }), 409, "item-version-conflict");
  expect(await stored(tenant)).toHaveLength(1);
  expect((await tenant.put(id, { status: "OPEN", case_version: 2 })).status).toBe(200);
  expect(await stored(tenant)).toEqual([]);
  const { events } = (await tenant.call("GET", `/cases/${id}/events`)).json.data as { events: { data?: object }[] };
  const takenBack = { closed_at: (first.json.data as Case).current_state.changed_at, disposition: "FALSE_POSITIVE" };
  expect(events.map((each) => each.data)).toContainEqual(takenBack);
  const second = await tenant.put(id, { status: "CLOSED", case_version: 3, disposition: "CONFIRMED_FRAUD" });
  expect(await stored(tenant)).toEqual([outcomeOf(second.json.data, "CONFIRMED_FRAUD", tenant)]);
});

test("PUT case: a close without a disposition, a repeat, a rejection and an already closed case add no outcome", async () => {
  const tenant = await newTenant();
  const { case_id: id } = await tenant.openCase();
  const key = randomUUID();
  const close = { status: "CLOSED", case_version: 1 };
  expectProblem(await tenant.put(id, { ...close, case_version: 7, disposition: "INCONCLUSIVE" }), 409, "item-version-conflict");
  await tenant.put(id, close, key);
  await tenant.put(id, close, key);
  await tenant.put(id, { ...close, case_version: 2, disposition: "CONFIRMED_FRAUD" });
  expect(await stored(tenant)).toEqual([]);
});

const byId = (a: { case_id?: unknown }, b: { case_id?: unknown }) => (String(a.case_id) < String(b.case_id) ? -1 : 1);

test("POST cases/close: adds one outcome for each case that it closes, and none for the others", async () => {
  const tenant = await newTenant();
  const [one, two, stale, closed] = await Promise.all(Array.from({ length: 4 }, () => tenant.openCase()));
  if (!one || !two || !stale || !closed) throw new Error("there are four");
  await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 });
  const cases = [
    one,
    two,
    one,
    { ...stale, case_version: 9 },
    { ...closed, case_version: 2 },
    { case_id: randomUUID(), case_version: 1 },
  ];
  const body = { cases: cases.map(({ case_id, case_version }) => ({ case_id, case_version })), disposition: "CONFIRMED_FRAUD" };
  const key = randomUUID();
  for (const _time of [1, 2]) expect((await tenant.call("POST", "/cases/close", { body, key })).status).toBe(200);
  const after = await Promise.all([one, two].map((each) => tenant.read(each.case_id)));
  expect((await stored(tenant)).toSorted(byId)).toEqual(
    after.map((each) => outcomeOf(each, "CONFIRMED_FRAUD", tenant)).toSorted(byId),
  );
});

const hour = (n: number) => `2026-11-01T${String(n).padStart(2, "0")}:00:00.000Z`;

function hit(subject: string, at: string, more: Partial<RuleSubject> = {}): RuleSubject {
  const last_activity = { activity_id: randomUUID(), occurred_at: at, sentence: "It was." };
  return { rule_id: "own_rule", is_shadow: false, subject, hits: 1, at, last_activity, ...more };
}

type Said = [subject: string, disposition: string, decidedAt: string, caseId?: string, version?: number];

async function say(tenant: TestTenant, said: Said[]): Promise<void> {
  const outcomes = said.map(([subject, disposition, decided_at, case_id = randomUUID(), case_version = 2]) => ({
    case_id,
    case_version,
    subject,
    website_account_id: "x",
    disposition,
    decided_at,
    decided_by: "x",
  }));
  await service.current.database.transaction((tx) => insertOutcomes(tx, tenant.tenantId, outcomes));
}

async function precision(tenant: TestTenant, ruleId = "own_rule"): Promise<Precision> {
  return ((await tenant.call("GET", `/rules/${ruleId}`)).json.data as MeasuredRule).precision;
}

test("precision: each subject counts once, by its last outcome after the rule first hit it", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "own_rule");
  await makeRule(tenant, "other_rule");
  const { database } = service.current;
  const subjects = ["confirmed", "corrected", "false", "unclear", "before", "open", "at_once"];
  await database.transaction((tx) =>
    addRuleSubjects(
      tx,
      tenant.tenantId,
      subjects.map((each) => hit(each, hour(10))),
    ),
  );
  await database.transaction((tx) =>
    addRuleSubjects(tx, tenant.tenantId, [
      hit("false", hour(8), { rule_id: "other_rule" }),
      hit("shadowed", hour(8), { is_shadow: true }),
    ]),
  );
  const reopened = randomUUID();
  await say(tenant, [
    ["confirmed", "FALSE_POSITIVE", hour(11)],
    ["confirmed", "CONFIRMED_FRAUD", hour(12)],
    ["corrected", "CONFIRMED_FRAUD", hour(11), reopened, 2],
    ["corrected", "FALSE_POSITIVE", hour(12), reopened, 4],
    ["false", "FALSE_POSITIVE", hour(11)],
    ["unclear", "INCONCLUSIVE", hour(11)],
    ["before", "CONFIRMED_FRAUD", hour(9)],
    ["at_once", "CONFIRMED_FRAUD", hour(10)],
    ["shadowed", "CONFIRMED_FRAUD", hour(11)],
    ["never_hit", "CONFIRMED_FRAUD", hour(11)],
  ]);
  expect(await precision(tenant)).toEqual({ confirmed: 2, false_positives: 2, inconclusive: 1, precision: 0.5 });
  expect(await precision(tenant, "other_rule")).toEqual({ confirmed: 0, false_positives: 1, inconclusive: 0, precision: 0 });
  const other = await newTenant();
  await makeRule(other, "own_rule");
  expect((await precision(other)).precision).toBeNull();
});

test("precision of a draft: computed the same way for subjects that no rule has hit", async () => {
  const tenant = await newTenant();
  await say(tenant, [
    ["one", "CONFIRMED_FRAUD", hour(9)],
    ["one", "FALSE_POSITIVE", hour(11)],
    ["two", "CONFIRMED_FRAUD", hour(11)],
    ["three", "INCONCLUSIVE", hour(11)],
    ["four", "CONFIRMED_FRAUD", hour(9)],
    ["five", "CONFIRMED_FRAUD", hour(11)],
  ]);
  const subjects = new Map(["one", "two", "three", "four"].map((each) => [each, hour(10)]));
  const { database } = service.current;
  const wanted = { confirmed: 1, false_positives: 1, inconclusive: 1 };
  expect(await countOutcomesOf(database, tenant.tenantId, subjects)).toEqual(wanted);
  const none = { confirmed: 0, false_positives: 0, inconclusive: 0 };
  expect(await countOutcomesOf(database, tenant.tenantId, new Map())).toEqual(none);
});
