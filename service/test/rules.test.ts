import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { fields } from "../src/detection/catalogue.ts";
import { findDetection, insertDefaults, listRules } from "../src/db/rules.ts";
import { defaultThresholds, rulesMax, type MeasuredRule, type RuleVersion, type StoredThresholds } from "../src/domain/rule.ts";
import { draftRule, makeRule, putRule, selectAll } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
const newTenant = () => TestTenant.create(service.current);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const { rule_version: _version, ...definition } = draftRule;

// Everything that a change of a rule writes.
async function written(tenant: TestTenant): Promise<string> {
  const { database } = service.current;
  const tables = await Promise.all([
    selectAll(database, "select * from rules where tenant_id = $1 order by rule_id, rule_version", [tenant.tenantId]),
    selectAll(database, "select * from detection_settings where tenant_id = $1", [tenant.tenantId]),
    selectAll(database, "select * from events where tenant_id = $1 order by event_id", [tenant.tenantId]),
  ]);
  return JSON.stringify(tables);
}

async function events(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  const text =
    "select type, actor, resource_type, resource_id, resource_version, data from events where tenant_id = $1 order by event_id";
  return selectAll(service.current.database, text, [tenant.tenantId]);
}

async function revision(tenant: TestTenant): Promise<number> {
  return (await findDetection(service.current.database, tenant.tenantId)).revision;
}

test("PUT rule 200: version 0 creates a rule, which reads back with its measures, and raises the revision", async () => {
  const tenant = await newTenant();
  const before = await revision(tenant);
  const made = await makeRule(tenant, "own_rule");
  const version = { rule_id: "own_rule", ...definition, rule_version: 1, updated_at: time, updated_by: tenant.clientId };
  expect(made).toEqual(version);
  const none = { confirmed: 0, false_positives: 0, inconclusive: 0, precision: null };
  const measured = { ...version, is_limited: false, hits_7d: 0, shadow_hits_7d: 0, outcomes_7d: none, precision: none };
  const read = await tenant.call("GET", "/rules/own_rule");
  expect(read.json.data).toEqual(measured);
  const { rules } = (await tenant.call("GET", "/rules")).json.data as { rules: MeasuredRule[] };
  expect(rules.find((rule) => rule.rule_id === "own_rule")).toEqual(measured);
  expect(await revision(tenant)).toBe(before + 1);
  expect(await events(tenant)).toEqual([
    {
      type: "rule.changed",
      actor: tenant.clientId,
      resource_type: "rule",
      resource_id: "own_rule",
      resource_version: 1,
      data: { state: "on" },
    },
  ]);
});

test("PUT rule 200: a change creates the next version, and the history keeps all, newest first", async () => {
  const tenant = await newTenant();
  const first = await makeRule(tenant, "own_rule");
  const second = await makeRule(tenant, "own_rule", { rule_version: 1, state: "shadow", weight: 4.5 });
  expect(second).toEqual({ ...first, rule_version: 2, state: "shadow", weight: 4.5, updated_at: time });
  const history = await tenant.call("GET", "/rules/own_rule/history");
  expect(history.json.data).toEqual({ versions: [second, first] });
  expect((await events(tenant)).at(-1)).toMatchObject({
    resource_version: 2,
    data: { state: "shadow", changed: ["weight", "state"] },
  });
  const current = await listRules(service.current.database, tenant.tenantId);
  expect(current.filter((rule) => rule.rule_id === "own_rule")).toEqual([second]);
});

test("PUT rule 200: an unchanged definition creates no version, no event and no revision", async () => {
  const tenant = await newTenant();
  const made = await makeRule(tenant, "own_rule");
  const before = await written(tenant);
  expect(await makeRule(tenant, "own_rule", { rule_version: 1 })).toEqual(made);
  expect(await written(tenant)).toBe(before);
});

test("PUT rule 409: any version but the current one applies nothing and returns the current one", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "own_rule");
  await makeRule(tenant, "own_rule", { rule_version: 1, weight: 5 });
  const before = await written(tenant);
  for (const rule_version of [0, 1, 3, Number.MAX_SAFE_INTEGER]) {
    const answer = await putRule(tenant, "own_rule", { rule_version, weight: 6 });
    const problem = expectProblem(answer, 409, "item-version-conflict");
    expect(problem.current_version).toBe(2);
  }
  expect(await written(tenant)).toBe(before);
});

test("PUT rule 404: a version of a rule that does not exist creates nothing", async () => {
  const tenant = await newTenant();
  const before = await written(tenant);
  for (const id of ["absent", randomUUID(), "x".repeat(600)]) {
    const problem = expectProblem(await putRule(tenant, id, { rule_version: 1 }), 404, "item-not-found");
    expect(problem.detail).toBe(`Rule not found: ${id.slice(0, 100)}`);
  }
  expect(await written(tenant)).toBe(before);
});

test("PUT rule race: of ten changes to one version one wins, and nine get the new version", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "own_rule");
  const before = await revision(tenant);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => putRule(tenant, "own_rule", { rule_version: 1, weight: index / 10 + 1 })),
  );
  const [won, ...more] = answers.filter((answer) => answer.status === 200);
  expect(more).toEqual([]);
  for (const answer of answers.filter((each) => each !== won)) {
    expect(expectProblem(answer, 409, "item-version-conflict").current_version).toBe(2);
  }
  const { versions } = (await tenant.call("GET", "/rules/own_rule/history")).json.data as { versions: RuleVersion[] };
  expect(versions.map((each) => each.rule_version)).toEqual([2, 1]);
  expect(versions[0]).toEqual(won?.json.data);
  expect(await revision(tenant)).toBe(before + 1);
  expect(await events(tenant)).toHaveLength(2);
});

test("PUT rule race: of ten concurrent requests that create one rule, one succeeds", async () => {
  const tenant = await newTenant();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => putRule(tenant, "own_rule", { weight: index + 0.5 })),
  );
  const refused = answers.filter((answer) => answer.status !== 200);
  expect(refused).toHaveLength(9);
  for (const answer of refused) expect(expectProblem(answer, 409, "item-version-conflict").current_version).toBe(1);
});

const faults: [name: string, change: Record<string, unknown>, field: string, message: string][] = [
  [
    "a misspelled field",
    { expression: "device.acounts_1h >= 8" },
    "expression",
    "There is no field `device.acounts_1h` (line 1, column 8). Did you mean `device.accounts_1h`?",
  ],
  [
    "a misspelled field on the second line",
    { expression: "device.accounts_1h >= 8 &&\n  event.tipe == 'signup'" },
    "expression",
    "There is no field `event.tipe` (line 2, column 9). Did you mean `event.type`?",
  ],
  [
    "a sentence with an unknown field",
    { sentence: "It is {device.accounts}." },
    "sentence",
    "There is no field `device.accounts` (line 1, column 8).",
  ],
  ["an expression that is not a boolean", { expression: "device.accounts_1h + 1" }, "expression", "A rule must be true or false"],
];

test.each(faults)(
  "PUT rule 422: %s is reported with its position and a hint, and nothing is applied",
  async (_name, change, field, message) => {
    const tenant = await newTenant();
    await makeRule(tenant, "own_rule");
    const before = await written(tenant);
    const answer = await putRule(tenant, "own_rule", { rule_version: 1, ...change });
    const { errors } = expectProblem(answer, 422, "validation-error");
    expect(errors).toEqual([{ field, message: expect.stringContaining(message) }]);
    expect(await written(tenant)).toBe(before);
  },
);

test("PUT rule 422: expression, sentence and plain members are reported together, in body order", async () => {
  const tenant = await newTenant();
  const answer = await putRule(tenant, "own_rule", { name: "", expression: "x.y", sentence: "{", weight: 11 });
  const { errors } = expectProblem(answer, 422, "validation-error");
  expect(errors?.map((each) => each.field)).toEqual(["name", "expression", "sentence", "weight"]);
});

test("PUT rule 400: an id of another form creates no rule", async () => {
  const tenant = await newTenant();
  const before = await written(tenant);
  for (const id of ["Own", "1rule", "_rule", "own-rule", "r\u00e9gle", "x".repeat(65), "own rule", "own_rule%0A"]) {
    const path = id.includes("%") ? id : encodeURIComponent(id);
    expectProblem(await putRule(tenant, path), 400, "bad-request");
    expectProblem(await tenant.call("GET", `/rules/${path}`), 404, "item-not-found");
  }
  expect(await written(tenant)).toBe(before);
  for (const id of ["a", "x".repeat(64), "a_1"]) await makeRule(tenant, id);
});

test(`PUT rule 422: a tenant has at most ${rulesMax} rules, and existing ones can still be changed`, async () => {
  const tenant = await newTenant();
  const rules = Array.from({ length: rulesMax }, (_, index) => ({ rule_id: `filler_${index}`, ...definition }));
  const { database } = service.current;
  const has = (await listRules(database, tenant.tenantId)).length;
  const filling = rules.slice(has + 1);
  await database.transaction((tx) => insertDefaults(tx, tenant.tenantId, filling, new Date().toISOString()));
  const answers = await Promise.all(["one", "two", "three", "four", "five"].map((id) => putRule(tenant, id)));
  const [last, ...more] = answers.filter((answer) => answer.status === 200);
  expect(more).toEqual([]);
  for (const answer of answers.filter((each) => each !== last)) {
    const { errors } = expectProblem(answer, 422, "validation-error");
    expect(errors).toEqual([{ field: "rule_version", message: expect.stringContaining(String(rulesMax)) }]);
  }
  expect(await listRules(database, tenant.tenantId)).toHaveLength(rulesMax);
  const made = last?.json.data as RuleVersion | undefined;
  await makeRule(tenant, made?.rule_id ?? "", { rule_version: 1, state: "off" });
});

test("defaults: seeded once, by system, and a rule changed since then is left unchanged", async () => {
  const tenant = await newTenant();
  const { database } = service.current;
  const seed = [{ rule_id: "seeded", ...definition }];
  const now = new Date().toISOString();
  await database.transaction((tx) => insertDefaults(tx, tenant.tenantId, seed, now));
  expect((await tenant.call("GET", "/rules/seeded")).json.data).toMatchObject({ rule_version: 1, updated_by: "system" });
  const changed = await makeRule(tenant, "seeded", { rule_version: 1, weight: 7 });
  const before = await written(tenant);
  await database.transaction((tx) => insertDefaults(tx, tenant.tenantId, seed, now));
  expect(await written(tenant)).toBe(before);
  expect((await tenant.call("GET", "/rules/seeded")).json.data).toMatchObject(changed);
});

test("GET features 200: lists every field of the catalogue, with the maximum of those counted in a ring", async () => {
  const tenant = await newTenant();
  const { features } = (await tenant.call("GET", "/features")).json.data as { features: Record<string, unknown>[] };
  expect(features.map((each) => each["name"])).toEqual(fields.map((field) => field.name));
  expect(features.find((each) => each["name"] === "device.accounts_1h")).toEqual({
    name: "device.accounts_1h",
    type: "number",
    plain_name: "Accounts on the device in 1 hour",
    description: "Distinct accounts.",
    maximum: 64,
  });
  expect(features.find((each) => each["name"] === "account.logins")).not.toHaveProperty("maximum");
});

test("PUT thresholds 200: creates the next version, which the engine sees at its next check", async () => {
  const tenant = await newTenant();
  const { database } = service.current;
  expect((await tenant.call("GET", "/thresholds")).json.data).toMatchObject({ ...defaultThresholds, thresholds_version: 1 });
  const before = await revision(tenant);
  const wanted = { score_2: 1, score_3: 2, score_4: 3, score_5: 4 };
  const put = () => tenant.call("PUT", "/thresholds", { body: { ...wanted, thresholds_version: 1 } });
  const answer = await put();
  expect(answer.json.data).toEqual({ ...wanted, thresholds_version: 2, updated_at: time, updated_by: tenant.clientId });
  const stored: StoredThresholds = answer.json.data;
  expect((await tenant.call("GET", "/thresholds")).json.data).toEqual({ ...stored, labels_by_score: {} });
  expect(await findDetection(database, tenant.tenantId)).toEqual({
    models_revision: 0,
    lists_revision: 0,
    policy_version: 1,
    due_times: null,
    due_times_version: 1,
    snoozed_until: null,
    revision: before + 1,
    thresholds: wanted,
  });
  expect(expectProblem(await put(), 409, "item-version-conflict").current_version).toBe(2);
  const again = await tenant.call("PUT", "/thresholds", { body: { ...wanted, thresholds_version: 2 } });
  expect(again.text).toBe(answer.text);
  expect(await events(tenant)).toMatchObject([{ type: "thresholds.updated", resource_version: 2, data: wanted }]);
  expect(await revision(tenant)).toBe(before + 1);
});

test("PUT thresholds 422: thresholds that do not rise are reported, and nothing is applied", async () => {
  const tenant = await newTenant();
  const before = await written(tenant);
  for (const [change, ...named] of [
    [{ score_3: 1 }, "score_3"],
    [{ score_2: 4 }, "score_3"],
    [{ score_2: 9, score_3: 8, score_4: 7, score_5: 6 }, "score_3", "score_4", "score_5"],
    [{ score_5: 100.5 }, "score_5"],
    [{ score_2: -1 }, "score_2"],
  ] as const) {
    const body = { ...defaultThresholds, thresholds_version: 1, ...change };
    const { errors } = expectProblem(await tenant.call("PUT", "/thresholds", { body }), 422, "validation-error");
    expect(errors?.map((each) => each.field)).toEqual(named);
  }
  expect(await written(tenant)).toBe(before);
});
