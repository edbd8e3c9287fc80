import { expect, test } from "vitest";
import { readDecision } from "../src/detection/model/dataset.ts";
import type { Activity } from "../src/domain/activity.ts";
import type { Decision } from "../src/domain/decision.ts";
import type { ScoredActivity } from "../src/domain/session.ts";
import { draftRule, makeRule } from "./decided.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { amountModel, decisionsOf, insertTestModel, paymentOf, sendScored } from "./models-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("decisions_split"), roles: new Set(["api"]) });

async function decisionOf(tenant: TestTenant, caseId: string): Promise<Decision> {
  const [occurrence] = Object.values((await tenant.read(caseId)).fraud_occurrences);
  const answer = await tenant.call("GET", `/decisions/${occurrence?.prediction_id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function activitiesOf(tenant: TestTenant, path: string): Promise<ScoredActivity[]> {
  const answer = await tenant.call("GET", `${path}/activities`);
  const data: { activities: ScoredActivity[] } = answer.json.data;
  return data.activities;
}

const failed: Activity = paymentOf(1, { type: "login_failed", website_account_id: "ann", ip: "192.0.2.7" });
const idsIn = (rules: Decision["rules"]) => rules.map(({ rule_id }) => rule_id);

test.for([
  { ofAccount: 4.5, ofAddress: 3, strongest: "ann", log_odds: 4.5, score: 4 },
  { ofAccount: 3, ofAddress: 7, strongest: "UNKNOWN", log_odds: 7, score: 5 },
])(
  "GET decision 200: if one activity is in two cases, score, sum and case are those of the stronger one ($strongest)",
  async ({ ofAccount, ofAddress, strongest, log_odds, score }) => {
    const tenant = await TestTenant.create(service.current);
    const onFailure = { ...draftRule, expression: 'event.type == "login_failed"' };
    await makeRule(tenant, "of_address", { ...onFailure, about: "address", weight: ofAddress });
    await makeRule(tenant, "of_account", { ...onFailure, about: "account", weight: ofAccount });
    await sendScored(tenant, [failed]);
    const cases = await tenant.list("status=OPEN");
    expect(cases).toHaveLength(2);
    const { case_id } = cases.find(({ website_account_id }) => website_account_id === strongest) ?? {};
    const [own, other] = strongest === "ann" ? ["of_account", "of_address"] : ["of_address", "of_account"];
    for (const each of cases) {
      const decision = await decisionOf(tenant, each.case_id);
      expect(decision).toMatchObject({ case_id, score, log_odds, recomputed: { log_odds, score } });
      expect(idsIn(decision.rules)).toEqual([own]);
      expect(idsIn(decision.other_rules)).toEqual([other]);
    }
  },
);

test("GET activities 200: each case that an activity counts in is named with its score there, also if it only repeats evidence", async () => {
  const tenant = await TestTenant.create(service.current);
  const onFailure = { ...draftRule, expression: 'event.type == "login_failed"' };
  await makeRule(tenant, "of_address", { ...onFailure, about: "address", weight: 7 });
  await makeRule(tenant, "of_account", { ...onFailure, about: "account", weight: 3 });
  await sendScored(tenant, [failed]);
  await sendScored(tenant, [{ ...failed, activity_id: "again" }]);
  const [account] = await tenant.list("website_account_id=ann");
  const [source] = await tenant.list("website_account_id=UNKNOWN");
  const cases = [
    { case_id: source?.case_id, score: 5 },
    { case_id: account?.case_id, score: 3 },
  ];
  const activities = await activitiesOf(tenant, `/cases/${account?.case_id ?? ""}`);
  expect(activities.map(({ activity_id }) => activity_id)).toEqual(["again", failed.activity_id]);
  expect(activities).toMatchObject([{ cases }, { case_id: source?.case_id, cases }]);
  expect(activities[0]).not.toHaveProperty("case_id");
  expect((await decisionOf(tenant, account?.case_id ?? "")).cases).toEqual(cases);
});

test("GET activities 200: an activity without evidence names no case, and one with evidence in one case names that one", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeRule(tenant, "large", { ...draftRule, expression: "event.value > 9", about: "account", weight: 5 });
  await sendScored(tenant, [paymentOf(1, { website_account_id: "ann" }), paymentOf(50, { website_account_id: "ann" })]);
  const [found] = await tenant.list("status=OPEN");
  const activities = await activitiesOf(tenant, "/enduseraccounts/ann");
  expect(activities).toMatchObject([{ cases: [{ case_id: found?.case_id, score: 4 }] }, { score: 1 }]);
  expect(activities[1]).not.toHaveProperty("cases");
});

test("GET decision 200: what a model says about a new account does not count in the stronger case about its address", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertTestModel(tenant, { model: amountModel({ low: 5 }), moment: "signup" });
  await makeRule(tenant, "of_address", { ...draftRule, expression: 'event.type == "signup"', about: "address", weight: 7 });
  await sendScored(tenant, [paymentOf(1, { type: "signup", website_account_id: "new", ip: "192.0.2.8" })]);
  const cases = await tenant.list("status=OPEN");
  expect(cases.map(({ website_account_id }) => website_account_id).toSorted()).toEqual(["UNKNOWN", "new"]);
  const about = cases.find(({ website_account_id }) => website_account_id === "UNKNOWN");
  const [stored] = (await decisionsOf(tenant)).values();
  expect(stored?.decision.m?.[1]).toBe(5);
  expect(readDecision(JSON.stringify(stored?.decision)).rules).toBe(7);
  for (const { case_id } of cases) {
    const decision = await decisionOf(tenant, case_id);
    expect(decision).toMatchObject({ case_id: about?.case_id, score: 5, log_odds: 7, recomputed: { log_odds: 7, score: 5 } });
    expect(decision.model).toBeUndefined();
  }
});

test("GET decision 200: a rule about a payee counts for the account if the payment names no payee", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeRule(tenant, "of_payee", { ...draftRule, expression: 'event.type == "payment"', about: "payee", weight: 4.5 });
  await sendScored(tenant, [paymentOf(500, { website_account_id: "ann", instrument: { type: "card", fingerprint: "card-1" } })]);
  const [found, ...more] = await tenant.list("status=OPEN");
  expect(more).toEqual([]);
  expect(found?.website_account_id).toBe("ann");
  expect(await decisionOf(tenant, found?.case_id ?? "")).toMatchObject({ log_odds: 4.5, score: 4, other_rules: [] });
});
