import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Decision } from "../src/domain/decision.ts";
import { defaultThresholds } from "../src/domain/rule.ts";
import { insertDecided, makeRule, noonBefore, type Decided, type NamedDecision } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
const newTenant = () => TestTenant.create(service.current);

async function explained(tenant: TestTenant, decided: Decided): Promise<Decision> {
  const prediction_id = randomUUID();
  await insertDecided(tenant, [{ ...decided, prediction_id }]);
  return read(tenant, prediction_id);
}

async function read(tenant: TestTenant, id: string): Promise<Decision> {
  const answer = await tenant.call("GET", `/decisions/${id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

const features = { "event.type": "login_succeeded", "device.accounts_1h": 12, "account.device_is_new": true };

test("GET decision 200: returns the activity, its features in words, and each rule that fired with its sentence and values", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "crowded", { weight: 3 });
  await makeRule(tenant, "fresh", {
    expression: `account.device_is_new && event.attributes.plan == "x"`,
    sentence: "A device that is new: {account.device_is_new}.",
    weight: 4.5,
    label: "Account Takeover",
  });
  await makeRule(tenant, "quiet", { state: "shadow", weight: 9 });
  const case_id = randomUUID();
  const activity = {
    activity_id: "a-1",
    type: "login_succeeded",
    occurred_at: noonBefore(2),
    received_at: noonBefore(1),
    website_account_id: "user-1",
    session_id: "s-1",
    device_id: "d-1",
    ip: "192.0.2.1",
  };
  const decision: NamedDecision = {
    v: 17,
    l: 7.2,
    r: { crowded: 1, fresh: 1 },
    s: { quiet: 1 },
    c: [
      ["login.country", 0.4],
      ["login.usual", -0.7],
    ],
    f: features,
  };
  const found = await explained(tenant, { ...activity, attributes: { plan: "x" }, case_id, score: 5, decision });
  const isNew = { name: "account.device_is_new", plain_name: "New device", value: true };
  const crowd = { name: "device.accounts_1h", plain_name: "Accounts on the device in 1 hour", value: 12 };
  expect(found).toMatchObject({
    case_id,
    activity: { ...activity, origin: "server" },
    score: 5,
    log_odds: 7.2,
    thresholds: defaultThresholds,
    revision: 17,
    features: [{ name: "event.type", plain_name: "Activity", value: "login_succeeded" }, isNew, crowd],
    contributions: [
      { name: "login.country", log_odds: 0.4 },
      { name: "login.usual", log_odds: -0.7 },
    ],
    recomputed: { log_odds: 7.2, score: 5 },
  });
  expect(found.rules).toEqual([
    {
      rule_id: "fresh",
      rule_version: 1,
      name: "Many accounts on one device",
      label: "Account Takeover",
      weight: 4.5,
      expression: `account.device_is_new && event.attributes.plan == "x"`,
      sentence: "A device that is new: yes.",
      values: [isNew, { name: "event.attributes", plain_name: "Attributes", value: '{"plan":"x"}' }],
    },
    expect.objectContaining({ rule_id: "crowded", sentence: "12 accounts on one device within an hour.", values: [crowd] }),
  ]);
  expect(found.shadow_rules).toMatchObject([{ rule_id: "quiet", weight: 9 }]);
});

test("GET decision 200: the explanation stays the same after the rules and thresholds change", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "crowded", { weight: 3 });
  const prediction_id = randomUUID();
  await insertDecided(tenant, [{ prediction_id, score: 3, decision: { v: 2, l: 3, r: { crowded: 1 }, f: features } }]);
  const before = await read(tenant, prediction_id);
  expect(before.recomputed).toEqual({ log_odds: 3, score: 3 });
  await makeRule(tenant, "crowded", {
    rule_version: 1,
    weight: 9,
    expression: "ip.accounts_1h > 1",
    sentence: "Other.",
    state: "off",
  });
  const body = { score_2: 0.1, score_3: 0.2, score_4: 0.3, score_5: 0.4, thresholds_version: 1 };
  expect((await tenant.call("PUT", "/thresholds", { body })).status).toBe(200);
  expect(await read(tenant, prediction_id)).toEqual(before);
});

test("GET decision 200: uses the stored thresholds if they were not the defaults", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "crowded", { weight: 3 });
  const t = { score_2: 1, score_3: 2, score_4: 2.5, score_5: 3 };
  const found = await explained(tenant, { score: 5, decision: { v: 2, l: 3, t, r: { crowded: 1 }, f: features } });
  expect(found).toMatchObject({ thresholds: t, recomputed: { log_odds: 3, score: 5 } });
});

test("GET decision 200: weights that are not binary fractions add up to the stored sum", async () => {
  const tenant = await newTenant();
  const weights = [0.1, 0.2, 0.3, 0.7];
  for (const [index, weight] of weights.entries()) await makeRule(tenant, `rule_${index}`, { weight });
  const r = Object.fromEntries(weights.map((_, index) => [`rule_${index}`, 1]));
  const found = await explained(tenant, { decision: { v: 1, l: 1.3, r, f: features } });
  expect(found.recomputed.log_odds).toBe(found.log_odds);
});

test("GET decision 200: a fraud report scores 5 without a rule, and an old empty decision is explained the same way", async () => {
  const tenant = await newTenant();
  expect(await explained(tenant, { type: "fraud_report", score: 5 })).toMatchObject({
    score: 5,
    log_odds: 0,
    features: [],
    rules: [],
    recomputed: { log_odds: 0, score: 5 },
  });
});

test("GET decision 200: an occurrence of a case leads to its decision", async () => {
  const tenant = await newTenant();
  const opened = await tenant.openCase("user-1");
  const [occurrence] = Object.values(opened.fraud_occurrences);
  const found = await read(tenant, occurrence?.prediction_id ?? "");
  expect(found).toMatchObject({
    case_id: opened.case_id,
    activity: { type: "fraud_report", website_account_id: "user-1", origin: "server" },
    score: 5,
    recomputed: { log_odds: found.log_odds, score: 5 },
  });
});

test("GET decision 404: a decision that does not exist or belongs to another tenant", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  const foreign = (await explained(other, {})).prediction_id;
  for (const id of [randomUUID(), foreign, "x", "x".repeat(600)]) {
    const problem = expectProblem(await tenant.call("GET", `/decisions/${id}`), 404, "item-not-found");
    expect(problem.detail).toBe(`Decision not found: ${id.slice(0, 100)}`);
  }
});
