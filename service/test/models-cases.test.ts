import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { Activity } from "../src/domain/activity.ts";
import type { Case } from "../src/domain/case.ts";
import type { Decision } from "../src/domain/decision.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { decisionsOf, insertTestModel, paymentOf, sendScored } from "./models-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("models_cases"), roles: new Set(["api"]) });

// The model finds every payment above 100 suspicious, and no rule does.
async function newTenant(): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  await insertTestModel(tenant);
  return tenant;
}

const largeOf = (account: string, more: Partial<Activity> = {}) =>
  paymentOf(500, { website_account_id: account, device_id: `device of ${account}`, ...more });

async function openCases(tenant: TestTenant): Promise<Case[]> {
  return Promise.all((await tenant.list("status=OPEN")).map(({ case_id }) => tenant.read(case_id)));
}

async function decide(tenant: TestTenant, { case_id, case_version }: Case, disposition?: string): Promise<Case> {
  const closing = disposition === undefined ? { status: "OPEN" } : { status: "CLOSED", disposition };
  const answer = await tenant.put(case_id, { case_version, ...closing });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function only(tenant: TestTenant): Promise<Case> {
  const [found, ...more] = await openCases(tenant);
  if (!found || more.length > 0) throw new Error(`there are ${more.length + (found ? 1 : 0)} open cases`);
  return found;
}

test("models: if a model raises a score, the case is about the account and says why", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [largeOf("a")]);
  const found = await only(tenant);
  expect(found).toMatchObject({ website_account_id: "a", details: { overall_risk_score: 4 } });
  expect(found.details.summary).toBe("It resembles earlier frauds (Amount: 500).");
});

test("models: a case closed as a false positive damps the model for the same account on the same device and for nobody else, and the effect is shown as a part", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [largeOf("a")]);
  await decide(tenant, await only(tenant), "FALSE_POSITIVE");
  const again = largeOf("a");
  await sendScored(tenant, [again]);
  expect(await openCases(tenant)).toEqual([]);
  const stored = (await decisionsOf(tenant)).get(again.activity_id);
  expect(stored).toMatchObject({ score: 1, decision: { l: 0, c: [["damped.model.value", -5, 1]], m: [expect.any(String), 5] } });
  await sendScored(tenant, [largeOf("b"), largeOf("a", { device_id: "another" })]);
  const accounts = (await openCases(tenant)).map(({ website_account_id }) => website_account_id);
  expect(accounts.toSorted()).toEqual(["a", "b"]);
});

test("models: damping is explained in the decision, and the parts sum to the log-odds", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [largeOf("a")]);
  const closed = await decide(tenant, await only(tenant), "FALSE_POSITIVE");
  // A fifth of the effect is left after 24 of 30 days.
  const text = "update outcomes set decided_at = decided_at - interval '24 days' where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
  await sendScored(tenant, [largeOf("a")]);
  const found = await only(tenant);
  expect(found.case_id).not.toBe(closed.case_id);
  const [occurrence] = Object.values(found.fraud_occurrences);
  const answer = await tenant.call("GET", `/decisions/${occurrence?.prediction_id ?? ""}`);
  const decision: Decision = answer.json.data;
  expect(decision.contributions).toMatchObject([{ plain_name: "Model: closed as a false positive once" }]);
  const shown = [...decision.contributions, ...(decision.model?.contributions ?? [])];
  const sum = shown.reduce((total, { log_odds }) => total + log_odds, 0);
  expect(sum).toBeCloseTo(decision.log_odds, 9);
  const contributors = (occurrence?.explanation.model_behaviour ?? []).flatMap((each) => each.top_contributors);
  const inCase = contributors.reduce((total, { shap_value }) => total + shap_value, 0);
  expect(inCase).toBeCloseTo(decision.log_odds, 2);
});

test("models: reopening the case, or a confirmed fraud, ends the damping at once", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [largeOf("a")]);
  const closed = await decide(tenant, await only(tenant), "FALSE_POSITIVE");
  const reopened = await decide(tenant, closed);
  await sendScored(tenant, [largeOf("a")]);
  await decide(tenant, await tenant.read(reopened.case_id), "FALSE_POSITIVE");
  await sendScored(tenant, [largeOf("a", { device_id: "another" })]);
  await decide(tenant, await only(tenant), "CONFIRMED_FRAUD");
  await sendScored(tenant, [largeOf("a", { device_id: "another" })]);
  expect((await only(tenant)).website_account_id).toBe("a");
});
