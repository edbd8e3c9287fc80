import { expect, test } from "vitest";
import { findModel, saveModelStates, saveReleasedRules } from "../src/db/models.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { Decision } from "../src/domain/decision.ts";
import { draftRule, makeRule } from "./decided.ts";
import { newDetector, TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { amountModel, decisionsOf, insertTestModel, paymentOf, sendScored } from "./models-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("models_serving"), roles: new Set(["api"]) });

async function explained(tenant: TestTenant, id: string): Promise<Decision> {
  const answer = await tenant.call("GET", `/decisions/${id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

test("models: if the champion finds an activity fraudulent, a case is opened, and the decision's parts sum to its log-odds", async () => {
  const tenant = await TestTenant.create(service.current);
  const id = await insertTestModel(tenant);
  const [large, small] = [paymentOf(500), paymentOf(5)];
  await sendScored(tenant, [large, small]);
  const decisions = await decisionsOf(tenant);
  const found = decisions.get(large.activity_id);
  expect(found).toMatchObject({ score: 4, decision: { l: 5, m: [id.slice(0, 12), 5] } });
  expect(decisions.get(small.activity_id)).toMatchObject({ score: 1, decision: { l: -1, m: [id.slice(0, 12), -1] } });
  const decision = await explained(tenant, found?.prediction_id ?? "");
  expect(decision).toMatchObject({ log_odds: 5, recomputed: { log_odds: 5, score: 4 }, rules: [], contributions: [] });
  expect(decision.model).toEqual({
    model_id: id.slice(0, 12),
    log_odds: 5,
    contributions: [
      { name: "model.base", plain_name: "Usual risk of this kind of activity", log_odds: 2 },
      { name: "event.value", plain_name: "Amount", log_odds: 3 },
    ],
  });
  const [listed] = await tenant.list();
  const { fraud_occurrences } = await tenant.read(listed?.case_id ?? "");
  const [occurrence] = Object.values(fraud_occurrences);
  expect(occurrence?.explanation.model_behaviour).toMatchObject([
    {
      type: "gradient-boosted-trees",
      model_name: `value_${id.slice(0, 12)}`,
      top_contributors: [{ shap_value: 2 }, { feature: "event.value", feature_value: 500, shap_value: 3 }],
    },
  ]);
});

test("models: a running engine applies a new champion or a change of the released rules from its next batch on", async () => {
  const tenant = await TestTenant.create(service.current);
  const detector = newDetector(service.current.database);
  const logOdds = async () => {
    const payment = paymentOf(5);
    await sendScored(tenant, [payment], detector);
    return (await decisionsOf(tenant)).get(payment.activity_id)?.decision.l;
  };
  await makeRule(tenant, "small", { ...draftRule, expression: 'event.type == "payment" && event.value < 9', weight: 2 });
  expect(await logOdds()).toBe(2);
  const id = await insertTestModel(tenant);
  expect(await logOdds()).toBe(1.667);
  const { database } = service.current;
  await database.transaction((tx) => saveReleasedRules(tx, tenant.tenantId, ["small"]));
  expect(await logOdds()).toBe(1);
  const at = new Date().toISOString();
  await database.transaction((tx) => saveModelStates(tx, tenant.tenantId, [{ model_id: id, state: "RETIRED", by: "x", at }]));
  expect(await logOdds()).toBe(2);
});

test("models: a tenant without a model gets the same bytes as before, and another tenant's model is never used", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  await insertTestModel(other);
  const payment = paymentOf(500, { occurred_at: "2026-05-05T05:05:05.000Z", website_account_id: "a" });
  await sendScored(tenant, [payment]);
  const text = "select decision from activities where tenant_id = $1";
  const [row] = await service.current.database.query<{ decision: string }>(statement(text, [tenant.tenantId]));
  expect(row?.decision).toMatch(/^\{"v":\d+,"l":0,"f":"[^"]*"\}$/);
});

test("models: a challenger's rating is stored, but does not count", async () => {
  const tenant = await TestTenant.create(service.current);
  const id = await insertTestModel(tenant, { state: "CHALLENGER" });
  const payment = paymentOf(500);
  await sendScored(tenant, [payment]);
  expect((await decisionsOf(tenant)).get(payment.activity_id)).toMatchObject({
    score: 1,
    decision: { l: 0, n: [id.slice(0, 12), 5] },
  });
});

test("models: a stored model that cannot be read is skipped, and the rules alone decide", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertTestModel(tenant);
  const text = "update models set text = '{}' where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
  const payment = paymentOf(500);
  await sendScored(tenant, [payment]);
  expect((await decisionsOf(tenant)).get(payment.activity_id)?.decision).toMatchObject({ l: 0 });
});

test("GET decision 200: a model is read once; if a model cannot be read, its part is shown as one sum", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const read: Record<string, () => Promise<Decision>> = {};
  for (const each of [tenant, other]) {
    await insertTestModel(each);
    const payment = paymentOf(500);
    await sendScored(each, [payment]);
    const id = (await decisionsOf(each)).get(payment.activity_id)?.prediction_id ?? "";
    read[each.slug] = () => explained(each, id);
  }
  const first = await read[tenant.slug]?.();
  expect(first?.model?.contributions).toHaveLength(2);
  const text = "update models set text = '{}' where tenant_id = any($1::uuid[])";
  await service.current.database.query(statement(text, [[tenant.tenantId, other.tenantId]]));
  expect(await read[tenant.slug]?.()).toEqual(first);
  for (const _time of [1, 2])
    expect(await read[other.slug]?.()).toMatchObject({
      log_odds: 5,
      recomputed: { log_odds: 5 },
      model: { log_odds: 5, contributions: [{ name: "model.other", log_odds: 5 }] },
    });
});

test("models: a model is found by its id and by the short id in decisions, but only by its own tenant", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const id = await insertTestModel(tenant, { model: amountModel({ limit: 7 }) });
  const { database } = service.current;
  for (const name of [id, id.slice(0, 12)])
    expect(await findModel(database, tenant.tenantId, name)).toMatchObject({ model: { model_id: id } });
  expect(await findModel(database, other.tenantId, id)).toBeUndefined();
  for (const name of ["", "x", id.slice(0, 11), `${id}0`])
    expect(await findModel(database, tenant.tenantId, name)).toBeUndefined();
});
