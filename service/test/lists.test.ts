import { expect, test, vi } from "vitest";
import { roleScopes } from "../src/domain/role.ts";
import { scopes } from "../src/domain/scope.ts";
import { draftRule, makeRule, putRule } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { entriesOf, eventsOf, makeList, readList, storeList } from "./lists-lab.ts";

const service = useService();
const newTenant = () => TestTenant.create(service.current);
const office = { name: "office", type: "ip", kind: "allow", description: "Our own addresses" } as const;
const waitOptions = { timeout: 15_000, interval: 30 };

test("lists: a list is created, read, changed and deleted, and each change is in the log", async () => {
  const tenant = await newTenant();
  const made = await tenant.call("POST", "/lists", { body: office });
  expect(made.status).toBe(201);
  const expected = {
    ...office,
    label: "Organic",
    entries: 0,
    hits_7d: 0,
    used_by: [],
    is_in_policy: false,
    created_by: tenant.clientId,
  };
  expect(made.json.data).toMatchObject(expected);
  expect((await tenant.call("GET", "/lists/office")).json.data).toEqual(made.json.data);
  expect((await tenant.call("GET", "/lists")).json.data).toEqual({ lists: [made.json.data] });
  const changed = await tenant.call("PUT", "/lists/office", { body: { kind: "watch" } });
  expect(changed.json.data).toMatchObject({ ...expected, kind: "watch" });
  expect((await tenant.call("PUT", "/lists/office", { body: {} })).json.data).toEqual(changed.json.data);
  expect((await tenant.call("DELETE", "/lists/office")).status).toBe(204);
  expectProblem(await tenant.call("GET", "/lists/office"), 404, "item-not-found");
  expect((await eventsOf(tenant)).map(({ type }) => type)).toEqual(["list.created", "list.updated", "list.deleted"]);
});

test("lists: a name that is taken is 409, and an unknown or impossible one is 404", async () => {
  const tenant = await newTenant();
  await makeList(tenant, office);
  expectProblem(await tenant.call("POST", "/lists", { body: office }), 409, "item-already-exists");
  for (const name of ["other", "Office", "a".repeat(65), "%25", "..%2Foffice"]) {
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PUT", "", {}],
      ["DELETE", "", undefined],
      ["GET", "/entries", undefined],
      ["POST", "/entries", { entries: [{ value: "203.0.113.7" }] }],
      ["POST", "/entries/remove", { values: ["203.0.113.7"] }],
      ["POST", "/csv", { csv: "203.0.113.7" }],
      ["GET", "/csv", undefined],
      ["POST", "/preview", { values: ["203.0.113.7"] }],
    ] as const) {
      const answer = await tenant.call(method, `/lists/${name}${path}`, body && { body });
      expect(answer.status, `${method} ${path} ${name}`).toBe(404);
      expectProblem(answer, 404, "item-not-found");
    }
  }
});

const badLists: [Record<string, unknown>, string][] = [
  [{ ...office, name: "Office" }, "name"],
  [{ ...office, name: "in" }, "name"],
  [{ ...office, name: "" }, "name"],
  [{ ...office, type: "phone" }, "type"],
  [{ ...office, kind: "deny" }, "kind"],
  [{ ...office, type: "user_agent" }, "kind"],
  [{ ...office, type: "text" }, "kind"],
  [{ ...office, label: "Thief" }, "label"],
  [{ ...office, description: "x".repeat(501) }, "description"],
  [{ ...office, entries: 3 }, "entries"],
  [{ name: "office", type: "ip" }, "kind"],
];

test.each(badLists)("lists: %j is refused with its field", async (body, field) => {
  const tenant = await newTenant();
  const answer = await tenant.call("POST", "/lists", { body });
  expectProblem(answer, 422, "validation-error");
  expect(answer.json.errors).toMatchObject([{ field }]);
});

test("lists: a kind that the type does not allow is refused for an existing list too", async () => {
  const tenant = await newTenant();
  await makeList(tenant, { name: "bots", type: "user_agent", kind: "block" });
  const answer = await tenant.call("PUT", "/lists/bots", { body: { kind: "allow" } });
  expect(answer.json.errors).toMatchObject([{ field: "kind" }]);
});

test("lists: a tenant has at most 100", async () => {
  const tenant = await newTenant();
  const { database } = service.current;
  for (let index = 0; index < 100; index++) {
    await storeList({ database, tenantId: tenant.tenantId }, { ...office, name: `list_${index}` }, []);
  }
  const answer = await tenant.call("POST", "/lists", { body: { ...office, name: "one_more" } });
  expect(answer.json.errors).toMatchObject([{ field: "name" }]);
});

test("rules: a rule can look values up in lists that exist and can contain them, and is refused otherwise", async () => {
  const tenant = await newTenant();
  await makeList(tenant, office);
  await makeList(tenant, { name: "mails", type: "email_domain", kind: "custom" });
  await makeList(tenant, { name: "words", type: "text", kind: "custom" });
  for (const expression of [
    "lists.office.has(event.ip)",
    "!lists.office.has(event.ip) && account.logins > 3",
    "lists.mails.has(event.email)",
    "lists.office.has(event.attributes.proxy)",
    "lists.words.has(event.browser) || lists.words.has(event.attributes.plan) || lists.words.has(event.device_id)",
  ]) {
    const answer = await putRule(tenant, "r", { expression, rule_version: (await versionOf(tenant, "r")) ?? 0 });
    expect(answer.status, answer.text).toBe(200);
  }
  for (const [expression, message] of [
    ["lists.unknown.has(event.ip)", "There is no list `unknown` (line 1, column"],
    ["lists.office.has(event.country)", "is a list of type ip (address)"],
    ["lists.office.has(event.email)", "is a list of type ip (address)"],
    ["lists.office.has(event.browser)", "is a list of type ip (address)"],
    ["lists.office.has(3)", "needs a value of the event"],
    ["lists.office.has()", ""],
    ["lists.office == true", "There is no field `lists.office`"],
    ["lists.office.contains(event.ip)", ""],
    ['event.ip == "203.0.113.7"', "can only be looked up in a list"],
    ["has(event.ip)", "can only be looked up in a list"],
    ["lists[event.type].has(event.ip)", ""],
  ] as const) {
    const answer = await putRule(tenant, "other", { expression });
    expectProblem(answer, 422, "validation-error");
    expect(answer.json.errors, expression).toMatchObject([{ field: "expression", message: expect.stringContaining(message) }]);
    const tried = await tenant.call("POST", "/backtests", { body: { expression } });
    expect(tried.json.errors, expression).toMatchObject([{ field: "expression" }]);
  }
});

async function versionOf(tenant: TestTenant, id: string): Promise<number | undefined> {
  const answer = await tenant.call("GET", `/rules/${id}`);
  const rule: { rule_version?: number } = answer.json.data ?? {};
  return rule.rule_version;
}

test("rules: a list that a rule uses cannot be deleted, also if the rule is off", async () => {
  const tenant = await newTenant();
  await makeList(tenant, office);
  const rule = { ...draftRule, expression: "!lists.office.has(event.ip) && account.logins > 3", state: "off" as const };
  const { rule_version } = await makeRule(tenant, "away", rule);
  expect((await readList(tenant, "office")).used_by).toEqual(["away"]);
  const refused = await tenant.call("DELETE", "/lists/office");
  expectProblem(refused, 422, "validation-error");
  expect(refused.json.errors).toEqual([{ field: "list_name", message: "is used by the rule away" }]);
  await makeRule(tenant, "away", { ...rule, expression: "account.logins > 3", rule_version });
  expect((await tenant.call("DELETE", "/lists/office")).status).toBe(204);
});

test("rules: deleting a list and saving a rule that uses it at the same time never leaves a rule without its list", async () => {
  const tenant = await newTenant();
  for (let round = 0; round < 10; round++) {
    await makeList(tenant, office);
    const [saved, deleted] = await Promise.all([
      putRule(tenant, `r${round}`, { expression: "lists.office.has(event.ip)" }),
      tenant.call("DELETE", "/lists/office"),
    ]);
    expect([saved.status, deleted.status]).toEqual(saved.status === 200 ? [200, 422] : [422, 204]);
    if (saved.status !== 200) continue;
    await makeRule(tenant, `r${round}`, { expression: "account.logins > 3", rule_version: 1 });
    expect((await tenant.call("DELETE", "/lists/office")).status).toBe(204);
  }
});

test("scopes: reading, changing entries and managing lists take scopes of their own, and allow lists take the strongest", async () => {
  const tenant = await newTenant();
  await makeList(tenant, office, ["203.0.113.7"]);
  await makeList(tenant, { name: "bad", type: "ip", kind: "block" });
  const as = async (granted: readonly string[], method: string, path: string, body?: unknown) =>
    (await tenant.call(method, path, { token: await tenant.mint(granted), ...(body !== undefined && { body }) })).status;
  const entry = { entries: [{ value: "203.0.113.8" }] };
  expect(await as(["read:lists"], "GET", "/lists")).toBe(200);
  expect(await as(["read:lists"], "POST", "/lists/bad/entries", entry)).toBe(403);
  expect(await as(["update:lists"], "POST", "/lists/bad/entries", entry)).toBe(200);
  expect(await as(["update:lists"], "POST", "/lists/office/entries", entry)).toBe(403);
  expect(await as(["update:lists"], "POST", "/lists/office/csv", { csv: "203.0.113.8" })).toBe(403);
  expect(await as(["update:lists", "manage:lists"], "POST", "/lists/office/entries", entry)).toBe(200);
  expect(await as(["update:lists"], "PUT", "/lists/bad", { kind: "allow" })).toBe(403);
  expect(await as(roleScopes.investigator, "POST", "/lists/office/entries", entry)).toBe(403);
  expect(await as(roleScopes.lead, "POST", "/lists/office/entries", entry)).toBe(200);
  const others = scopes.filter((scope) => !scope.endsWith(":lists"));
  for (const path of ["/lists", "/lists/bad", "/lists/bad/entries", "/lists/bad/csv"])
    expect(await as(others, "GET", path)).toBe(403);
});

test("timeline: activity that an allow list lowered has score 1 and names the list", async () => {
  const tenant = await newTenant();
  await makeList(tenant, { name: "vip", type: "device", kind: "allow" }, ["phone"]);
  await makeList(tenant, { name: "bad", type: "device", kind: "block" }, ["burner"]);
  const at = new Date().toISOString();
  const login = { type: "login_succeeded", occurred_at: at, website_account_id: "ann" };
  const activities = [
    { ...login, activity_id: "1", device_id: "phone" },
    { ...login, activity_id: "2", device_id: "burner" },
    { ...login, activity_id: "3", device_id: "other" },
  ];
  expect((await tenant.call("POST", "/activities", { body: { activities } })).status).toBe(202);
  await vi.waitFor(async () => {
    const { data } = (await tenant.call("GET", "/enduseraccounts/ann/activities")).json;
    const page: { activities: { activity_id: string; score: number; lists?: string[] }[] } = data ?? { activities: [] };
    const shown = page.activities.map(({ activity_id, score, lists }) => [activity_id, score, lists]);
    expect(shown.toReversed()).toEqual([
      ["1", 1, ["vip"]],
      ["2", 5, ["bad"]],
      ["3", 1, undefined],
    ]);
  }, waitOptions);
});

test("case values: a case offers what its evidence names, says who named it, and an entry keeps the case as its reason", async () => {
  const tenant = await newTenant();
  const device = { device_id: "burner", ip: "203.0.113.9" };
  await tenant.report("victim", {
    ...device,
    attributes: { email: "Eve@Example.com" },
    payee_id: "mule",
    instrument: { fingerprint: "fp_1" },
  });
  const found = await vi.waitFor(async () => {
    const [listed] = await tenant.list("website_account_id=victim");
    expect(listed).toBeDefined();
    return listed?.case_id ?? "";
  }, waitOptions);
  await makeList(tenant, { name: "burners", type: "device", kind: "block" });
  const body = { entries: [{ value: "burner", from_case_id: found, reason: "Seen in the case" }] };
  expect((await tenant.call("POST", "/lists/burners/entries", { body })).status).toBe(200);
  const { values } = (await tenant.call("GET", `/cases/${found}/values`)).json.data;
  const of = { source: "server", activities: 1 };
  expect(values).toEqual([
    { type: "device", value: "burner", ...of, lists: ["burners"] },
    { type: "ip", value: "203.0.113.9", ...of, lists: [] },
    { type: "email", value: "Eve@Example.com", ...of, lists: [] },
    { type: "payee", value: "mule", ...of, lists: [] },
    { type: "instrument", value: "fp_1", ...of, lists: [] },
    { type: "account", value: "victim", ...of, lists: [] },
  ]);
  const entries = await entriesOf(tenant, "burners");
  expect(entries).toMatchObject([{ from_case_id: found, reason: "Seen in the case" }]);
});
