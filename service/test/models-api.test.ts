import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { Comparison, Model } from "../src/domain/model.ts";
import { countLabels } from "../src/db/budget.ts";
import { promotionObstacles } from "../src/domain/model.ts";
import { ThreadMeasurer, type ShadowJob } from "../src/engine/measuring.ts";
import { compareShadow, measureChallenger } from "../src/engine/promotion.ts";
import { insertDecided } from "./decided.ts";
import { TestTenant, expectProblem, useOwnDatabase, useService } from "./harness.ts";
import { amountModel, insertTestModel, noFigures } from "./models-lab.ts";
import { dayMs, insertPaid, labelPaid, paymentsOf } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("models_api"), roles: new Set(["api"]) });

async function data<T>(tenant: TestTenant, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await tenant.call(method, path, body === undefined ? {} : { body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json.data;
}

const typesOf = async (tenant: TestTenant) => {
  const { events } = await data<{ events: { type: string; actor: string }[] }>(tenant, "GET", "/events");
  return events.filter(({ type }) => type.startsWith("model.")).map(({ type, actor }) => [type, actor]);
};

test("POST promote 200: the previous champion is retired, going back is one call, and each change is an event", async () => {
  const tenant = await TestTenant.create(service.current);
  const old = await insertTestModel(tenant, { model: amountModel({ limit: 1 }) });
  const next = await insertTestModel(tenant, { model: amountModel({ limit: 2 }), state: "CHALLENGER" });
  expect(await data(tenant, "POST", `/models/${next}/promote`)).toMatchObject({ model_id: next, state: "CHAMPION" });
  expect(await data(tenant, "GET", `/models/${old}`)).toMatchObject({ state: "RETIRED" });
  expect(await data(tenant, "POST", `/models/${old}/promote`)).toMatchObject({ state: "CHAMPION" });
  expect(await data(tenant, "POST", `/models/${old}/promote`)).toMatchObject({ state: "CHAMPION" });
  expect(await data(tenant, "POST", `/models/${old}/retire`)).toMatchObject({ state: "RETIRED" });
  const types = await typesOf(tenant);
  expect(types.map(([type]) => type)).toEqual([
    "model.retired",
    "model.promoted",
    "model.retired",
    "model.promoted",
    "model.retired",
  ]);
  expect(types.every(([, actor]) => actor === tenant.clientId)).toBe(true);
});

test("POST promote 200: two promotions at the same time leave one champion", async () => {
  const tenant = await TestTenant.create(service.current);
  const ids = await Promise.all(
    [1, 2].map((limit) => insertTestModel(tenant, { model: amountModel({ limit }), state: "RETIRED" })),
  );
  await Promise.all(ids.map((id) => data(tenant, "POST", `/models/${id}/promote`)));
  const { models } = await data<{ models: Model[] }>(tenant, "GET", "/models");
  expect(models.map(({ state }) => state).toSorted()).toEqual(["CHAMPION", "RETIRED"]);
});

test("POST models 202: without a moment a run for each is queued, and a second request returns the same runs", async () => {
  const tenant = await TestTenant.create(service.current);
  const first = await data<{ runs: { moment: string }[] }>(tenant, "POST", "/models", {});
  expect(first.runs.map(({ moment }) => moment)).toEqual(["entry", "signup", "value"]);
  expect(await data(tenant, "POST", "/models", {})).toEqual(first);
  const { runs } = await data<{ runs: unknown[] }>(tenant, "GET", "/models");
  expect(runs).toHaveLength(3);
});

test("GET download 200: the SHA-256 of the text is the id", async () => {
  const tenant = await TestTenant.create(service.current);
  const id = await insertTestModel(tenant);
  const { text } = await data<{ text: string }>(tenant, "GET", `/models/${id.slice(0, 12)}/download`);
  expect(hash("sha256", text)).toBe(id);
});

test("GET compare: returns both models, or all champions and challengers; 404 for another tenant's model", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const id = await insertTestModel(tenant);
  const foreign = await insertTestModel(other, { model: amountModel({ limit: 3 }) });
  expect(await data(tenant, "GET", "/models/compare")).toMatchObject({ models: [{ model_id: id }] });
  expect(await data(tenant, "GET", `/models/compare?a=${id}&b=${id}`)).toMatchObject({
    models: [{ model_id: id }, { model_id: id }],
  });
  expectProblem(await tenant.call("GET", `/models/compare?a=${foreign}`), 404, "item-not-found");
  for (const path of ["", "/download"])
    expectProblem(await tenant.call("GET", `/models/${foreign}${path}`), 404, "item-not-found");
  for (const path of ["promote", "retire"])
    expectProblem(await tenant.call("POST", `/models/${foreign}/${path}`), 404, "item-not-found");
});

test("PUT model settings 200: stores the released rules once, with an event", async () => {
  const tenant = await TestTenant.create(service.current);
  expect(await data(tenant, "GET", "/models")).toMatchObject({
    settings: { released_rules: ["instrument_known_fraud", "payee_known_fraud"] },
  });
  for (let times = 0; times < 2; times++) await data(tenant, "PUT", "/models/settings", { released_rules: ["b", "a", "b"] });
  expect(await data(tenant, "GET", "/models")).toMatchObject({ settings: { released_rules: ["a", "b"] } });
  expect(await typesOf(tenant)).toEqual([["model.settings_updated", tenant.clientId]]);
  await data(tenant, "PUT", "/models/settings", { released_rules: [] });
  expect(await data(tenant, "GET", "/models")).toMatchObject({ settings: { released_rules: [] } });
});

// A challenger's ratings and the ratings that decided, for payments whose frauds are known.
async function shadowed(rate: (isFraud: boolean, amount: number) => { served: number; said: number }) {
  const tenant = await TestTenant.create(service.current);
  const at = new Date(Date.now() - 16 * dayMs).toISOString();
  const model = amountModel({ limit: 9 });
  const id = await insertTestModel(tenant, { model, state: "CHALLENGER", figures: noFigures, at });
  const paid = paymentsOf({ count: 1500, days: 15, fraudShare: 0.08 });
  const rated = paid.map((each) => {
    const { served, said } = rate(each.isFraud, Number(each.features["event.value"]));
    return { ...each, decision: { v: 1, l: served, n: [id.slice(0, 12), said] as [string, number], f: each.features } };
  });
  await insertDecided(
    tenant,
    rated.map(({ key, account, at: ms, decision }) => {
      const received_at = new Date(ms).toISOString();
      return { activity_id: key, type: "payment", received_at, decision, website_account_id: account ?? key };
    }),
  );
  await labelPaid(tenant, paid);
  const { database } = service.current;
  const measurer = new ThreadMeasurer(database, new AbortController().signal);
  await measureChallenger({ database, measurer, now: new Date().toISOString() }, tenant.tenantId, id);
  return { tenant, model: await data<Model>(tenant, "GET", `/models/${id}`) };
}

test("challenger: if it is calibrated, better on every day and causes as many cases, it is promoted automatically, with an event", async () => {
  const { tenant, model } = await shadowed((isFraud, amount) => ({
    served: amount > 290 ? 3 : 0,
    said: isFraud && amount > 280 ? 6 : -6,
  }));
  expect(model.figures.shadow?.frauds).toBeGreaterThan(30);
  expect({ state: model.state, obstacles: model.obstacles }).toEqual({ state: "CHAMPION", obstacles: undefined });
  expect(await typesOf(tenant)).toEqual([["model.promoted", "system"]]);
});

test("challenger: if it is worse, it waits for a person, and shows its figures and the obstacles", async () => {
  const { tenant, model } = await shadowed((isFraud) => ({ served: isFraud ? 3 : 0, said: isFraud ? -3 : 3 }));
  expect(model.state).toBe("CHALLENGER");
  expect(model.obstacles).toEqual([
    "Its average precision is lower, compared day by day.",
    "It finds fewer frauds with the same number of alerts.",
    "Its calibration error is above 0.02.",
    "The number of cases a day would change by more than 25 %.",
  ]);
  expect(await typesOf(tenant)).toEqual([]);
  expect(await data(tenant, "POST", `/models/${model.model_id}/promote`)).toMatchObject({ state: "CHAMPION" });
});

test("challenger: it is compared at most once a day, because each comparison reads everything that it rated", async () => {
  const { tenant, model } = await shadowed((isFraud) => ({ served: isFraud ? 3 : 0, said: isFraud ? -3 : 3 }));
  const { database } = service.current;
  const compared: ShadowJob[] = [];
  const measurer = {
    compare: (job: ShadowJob) => {
      compared.push(job);
      return compareShadow(database, job);
    },
  };
  const measureAfter = (days: number) => {
    const now = new Date(Date.parse(model.figures.shadow?.until ?? "") + days * dayMs).toISOString();
    return measureChallenger({ database, measurer, now }, tenant.tenantId, model.model_id);
  };
  // Frauds are known after two days, so that is the maturity time.
  await measureAfter(2.9);
  expect(compared).toEqual([]);
  await measureAfter(3.1);
  expect(compared).toHaveLength(1);
});

test("challenger: without figures, or with fewer than 30 known frauds, it is never promoted automatically", () => {
  expect(promotionObstacles(undefined)).toHaveLength(1);
  const same = { auc: 1, average_precision: 1, recall: 1, precision: 1, cases_per_day: 1 };
  const shadow: Comparison = {
    from: "",
    until: "",
    rows: 9,
    frauds: 29,
    calibration_error: 0,
    model: same,
    before: same,
    days: [],
  };
  expect(promotionObstacles(shadow)).toHaveLength(1);
  expect(promotionObstacles({ ...shadow, frauds: 30 })).toEqual([]);
});

test("GET models 200: says how many of the latest labels each moment has and how many frauds it needs, and leaves the profiles out", async () => {
  const tenant = await TestTenant.create(service.current);
  const profile = { "02": { limits: [10], shares: [1, 0] } };
  const id = await insertTestModel(tenant, { figures: { ...noFigures, profile } });
  const paid = paymentsOf({ count: 40, days: 3, fraudShare: 0.5 });
  await insertPaid(tenant, paid);
  const { models, labels } = await data<{ models: Model[]; labels: unknown[] }>(tenant, "GET", "/models");
  const frauds = paid.filter(({ isFraud }) => isFraud).length;
  expect(labels).toEqual([
    { moment: "entry", labels: 0, frauds: 0, frauds_needed: 50 },
    { moment: "signup", labels: 0, frauds: 0, frauds_needed: 50 },
    { moment: "value", labels: frauds, frauds, frauds_needed: 50 },
  ]);
  const since = new Date(Date.now() - 90 * dayMs).toISOString();
  const counted = await countLabels(service.current.database, tenant.tenantId, { since, max: 3 });
  expect(counted).toEqual([{ type: "payment", score: 1, labels: 3, frauds: 3 }]);
  expect(models.map(({ figures }) => figures)).toEqual([noFigures]);
  expect(await data(tenant, "GET", `/models/${id}`)).toMatchObject({ figures: { profile } });
});
