import { randomUUID } from "node:crypto";
import { defaultPolicy } from "../src/domain/policy.ts";
import { draftRule, insertDecided, makeRule } from "./decided.ts";
import type { TestTenant } from "./harness.ts";
import { insertTestModel } from "./models-lab.ts";
import { listTraffic } from "./witness-lists.ts";
import { storeSnooze } from "./stored-snooze.ts";
import type { Sample } from "./witness.ts";

const expression = "device.accounts_1h >= 8";

async function rulePath(tenant: TestTenant): Promise<string> {
  await makeRule(tenant, "own_rule");
  return "/rules/own_rule";
}

// Includes the rejections for paths below an id, which the common rejections leave out.
function below(path: string, valid: Sample): Sample[] {
  const [, folder, , last] = path.split("/");
  return [
    valid,
    { ...valid, path: `/${folder}/${randomUUID()}/${last}`, status: 404, type: "item-not-found" },
    { ...valid, path: `/${folder}/%00/${last}`, status: 400, type: "bad-request" },
  ];
}

async function ruleUpdates(tenant: TestTenant): Promise<Sample[]> {
  const path = await rulePath(tenant);
  const change = { ...draftRule, rule_version: 1, state: "shadow" };
  return [
    { path, options: { body: change }, status: 200 },
    { path: "/rules/another_rule", options: { body: { ...draftRule, about: "device" } }, status: 200 },
    { path, options: { body: change }, status: 409, type: "item-version-conflict" },
    { path, options: { body: { ...change, expression: "device.gone" } }, status: 422, type: "validation-error" },
    { path: "/rules/No-Rule", options: { body: draftRule }, status: 400, type: "bad-request" },
  ];
}

async function backtestPath(tenant: TestTenant): Promise<string> {
  const made = await tenant.call("POST", "/backtests", { body: { expression } });
  return `/backtests/${(made.json.data as { backtest_id: string }).backtest_id}`;
}

const past = {
  activity_id: "payment-1",
  type: "payment",
  occurred_at: new Date(Date.now() - 60_000).toISOString(),
  website_account_id: "user-1",
  amount: 12.5,
  currency: "EUR",
  fraudulent: true,
};

async function imported(tenant: TestTenant): Promise<void> {
  await tenant.call("POST", "/imports", { body: { activities: [past] } });
}

async function labelled(tenant: TestTenant): Promise<Sample> {
  await insertDecided(tenant, [{ type: "payment", order_id: "order-1" }]);
  const labels = [
    { order_id: "order-1", fraudulent: true },
    { activity_id: "absent", fraudulent: false, known_at: "2026-05-01T00:00:00Z" },
  ];
  return { path: "/labels", options: { body: { labels } }, status: 200 };
}

const login = { activity_id: "login-1", type: "login_succeeded", occurred_at: "2026-11-15T09:30:00.000Z" };

// The requests for rules, thresholds, backtests, decisions, labels and models.
export const detectionTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  ...listTraffic,
  listRules: async (tenant) => {
    await rulePath(tenant);
    return [{ path: "/rules", status: 200 }];
  },
  getRule: async (tenant) => [{ path: await rulePath(tenant), status: 200 }],
  updateRule: ruleUpdates,
  listRuleVersions: async (tenant) => {
    const path = `${await rulePath(tenant)}/history`;
    return below(path, { path, status: 200 });
  },
  getRuleReport: async (tenant) => {
    const path = `${await rulePath(tenant)}/report`;
    return below(path, { path: `${path}?days=30`, status: 200 });
  },
  createAssessment: async () => {
    const valid = {
      path: "/assessments",
      options: { body: { ...login, deadline_ms: 2_000, otherwise: "BLOCK" } },
      status: 200,
    };
    const other = { ...valid.options.body, deadline_ms: 1_000 };
    return [
      valid,
      valid,
      { ...valid, options: { body: other }, status: 409, type: "operation-idempotency-conflict" },
      { ...valid, options: { body: { ...other, deadline_ms: 19 } }, status: 422, type: "validation-error" },
    ];
  },
  createLabels: async (tenant) => {
    const valid = await labelled(tenant);
    const labels = [{ activity_id: "a", order_id: "b", fraudulent: true }];
    return [valid, { ...valid, options: { body: { labels } }, status: 422, type: "validation-error" }];
  },
  listLabels: async (tenant) => {
    const { path, options } = await labelled(tenant);
    await tenant.call("POST", path, options);
    return [{ path: "/labels?source=api&since=2026-05-01T00:00:00Z&limit=1", status: 200 }];
  },
  getImport: async (tenant) => {
    await imported(tenant);
    return [{ path: "/imports", status: 200 }];
  },
  importActivities: async () => {
    const valid = { path: "/imports", options: { body: { activities: [past] } }, status: 202 };
    const activities = [{ ...past, occurred_at: "2100-01-01T00:00:00Z" }];
    return [valid, valid, { ...valid, options: { body: { activities } }, status: 422, type: "validation-error" }];
  },
  startImport: async (tenant) => {
    await imported(tenant);
    return [{ path: "/imports/start", status: 202 }];
  },
  getImportReport: async () => [
    { path: "/imports/report?from=2026-11-01T00:00:00Z&until=2026-11-15T00:00:00Z", status: 200 },
    { path: "/imports/report?from=2026-01-01T00:00:00Z&until=2026-11-15T00:00:00Z", status: 400, type: "bad-request" },
  ],
  listModels: async (tenant) => {
    await insertTestModel(tenant, { state: "CHALLENGER" });
    await tenant.call("POST", "/models", { body: { moment: "signup" } });
    return [{ path: "/models", status: 200 }];
  },
  trainModels: async () => [{ path: "/models", options: { body: { moment: "value" } }, status: 202 }],
  compareModels: async (tenant) => {
    const id = await insertTestModel(tenant);
    return [
      { path: `/models/compare?a=${id}&b=${id.slice(0, 12)}`, status: 200 },
      { path: `/models/compare?a=${id}&b=${"0".repeat(64)}`, status: 404, type: "item-not-found" },
    ];
  },
  updateModelSettings: async () => [
    { path: "/models/settings", options: { body: { released_rules: ["new_device"] } }, status: 200 },
  ],
  listSnoozes: async (tenant) => {
    await storeSnooze(tenant.service.database, tenant.tenantId, "user-1");
    return [{ path: "/snoozes?is_active=true&limit=1", status: 200 }];
  },
  endSnooze: async (tenant) => {
    const path = `/snoozes/${await storeSnooze(tenant.service.database, tenant.tenantId, "user-1")}`;
    return [
      { path, status: 204 },
      { path: `/snoozes/${randomUUID()}`, status: 404, type: "item-not-found" },
      { path: "/snoozes/%00", status: 400, type: "bad-request" },
    ];
  },
  getPolicy: async () => [{ path: "/policy", status: 200 }],
  listPolicyVersions: async () => [{ path: "/policy/versions", status: 200 }],
  updatePolicy: async () => {
    const path = "/policy";
    const body = { ...defaultPolicy, mode: "shadow" as const, policy_version: 1 };
    return [
      { path, options: { body }, status: 200 },
      { path, options: { body }, status: 409, type: "item-version-conflict" },
      { path, options: { body: { ...body, rows: [{}] } }, status: 422, type: "validation-error" },
    ];
  },
  tryPolicy: async () => [{ path: "/policy/try-out", options: { body: defaultPolicy }, status: 200 }],
  getRandomChecks: async () => [{ path: "/random-checks", status: 200 }],
  updateRandomChecks: async () => [{ path: "/random-checks", options: { body: { per_day: 3 } }, status: 200 }],
  getModel: async (tenant) => [{ path: `/models/${await insertTestModel(tenant)}`, status: 200 }],
  downloadModel: async (tenant) => {
    const path = `/models/${await insertTestModel(tenant)}/download`;
    return below(path, { path, status: 200 });
  },
  promoteModel: async (tenant) => {
    const path = `/models/${await insertTestModel(tenant, { state: "CHALLENGER" })}/promote`;
    return below(path, { path, status: 200 });
  },
  retireModel: async (tenant) => {
    const path = `/models/${await insertTestModel(tenant)}/retire`;
    return below(path, { path, status: 200 });
  },
  listFeatures: async () => [{ path: "/features", status: 200 }],
  getThresholds: async (tenant) => {
    await insertDecided(tenant, [{}]);
    return [{ path: "/thresholds?cases_per_day=40", status: 200 }];
  },
  updateThresholds: async () => {
    const body = { score_2: 1, score_3: 2, score_4: 3, score_5: 4, thresholds_version: 1 };
    return [
      { path: "/thresholds", options: { body }, status: 200 },
      { path: "/thresholds", options: { body }, status: 409, type: "item-version-conflict" },
      { path: "/thresholds", options: { body: { ...body, score_3: 1 } }, status: 422, type: "validation-error" },
    ];
  },
  createBacktest: async () => [
    { path: "/backtests", options: { body: { expression, days: 7, from: "2026-11-01", about: "network" } }, status: 202 },
  ],
  listBacktests: async (tenant) => {
    await backtestPath(tenant);
    return [{ path: "/backtests", status: 200 }];
  },
  getBacktest: async (tenant) => [{ path: await backtestPath(tenant), status: 200 }],
  cancelBacktest: async (tenant) => {
    const path = `${await backtestPath(tenant)}/cancel`;
    return below(path, { path, status: 200 });
  },
  getDecision: async (tenant) => {
    await makeRule(tenant, "own_rule");
    const prediction_id = randomUUID();
    const decision = { v: 1, l: 3, r: { own_rule: 1 }, f: { "device.accounts_1h": 9 } };
    await insertDecided(tenant, [{ prediction_id, website_account_id: "user-1", score: 3, decision }]);
    return [{ path: `/decisions/${prediction_id}`, status: 200 }];
  },
};
