import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { scopes } from "../src/domain/scope.ts";
import { expectProblem, useService, TestTenant } from "./harness.ts";
import { addEntries, entriesOf, eventsOf, makeList } from "./lists-lab.ts";

const service = useService();

const phones = { name: "phones", type: "device", kind: "block" } as const;
const office = { name: "office", type: "ip", kind: "allow" } as const;
const later = "2099-01-01T00:00:00.000Z";
const fraud = { status: "CLOSED", disposition: "CONFIRMED_FRAUD" } as const;

async function setUp() {
  const tenant = await TestTenant.create(service.current);
  await makeList(tenant, phones);
  await makeList(tenant, office);
  const { case_id, case_version, website_account_id } = await tenant.openCase();
  return { tenant, case_id, case_version, account: website_account_id };
}

const changesOf = async (tenant: TestTenant) =>
  (await eventsOf(tenant)).flatMap(({ type, data, resource, actor }) =>
    ["case.closed", "account.updated", "list.entries_changed"].includes(type) ? [{ type, id: resource.id, data, actor }] : [],
  );

test("PUT case 200: a close adds entries to lists and sets flags in one transaction, with the events of each", async () => {
  const { tenant, case_id, case_version, account } = await setUp();
  const list_entries = [
    { list: "phones", value: "phone-1", expires_at: later, reason: "Stolen" },
    { list: "office", value: "203.0.113.7" },
    { list: "phones", value: "phone-2" },
  ];
  const body = { ...fraud, case_version, list_entries, account: { is_blocked: true } };
  expect((await tenant.put(case_id, body)).json.data).toMatchObject({ status: "CLOSED", end_user_is_blocked: true });
  const by = { from_case_id: case_id, added_by: tenant.clientId, added_at: expect.any(String), is_expired: false };
  expect(await entriesOf(tenant, "phones")).toEqual([
    { value: "phone-1", expires_at: later, reason: "Stolen", ...by },
    { value: "phone-2", ...by },
  ]);
  expect(await entriesOf(tenant, "office")).toEqual([{ value: "203.0.113.7", ...by }]);
  const actor = tenant.clientId;
  expect(await changesOf(tenant)).toEqual([
    { type: "case.closed", id: case_id, data: { disposition: "CONFIRMED_FRAUD" }, actor },
    { type: "account.updated", id: account, data: { is_blocked: true }, actor },
    { type: "list.entries_changed", id: "phones", data: { added: 2, updated: 0 }, actor },
    { type: "list.entries_changed", id: "office", data: { added: 1, updated: 0 }, actor },
  ]);
});

test("PUT case: a stale version, a repeat and an already closed case add nothing; a repeat works after the list is gone", async () => {
  const { tenant, case_id, case_version } = await setUp();
  const list_entries = [{ list: "phones", value: "phone-1" }];
  const body = { ...fraud, case_version, list_entries };
  expectProblem(await tenant.put(case_id, { ...body, case_version: case_version + 1 }), 409, "item-version-conflict");
  expect(await entriesOf(tenant, "phones")).toEqual([]);
  const key = randomUUID();
  const first = await tenant.put(case_id, body, key);
  await tenant.call("POST", "/lists/phones/entries/remove", { body: { values: ["phone-1"] } });
  const again = await tenant.put(case_id, body, key);
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  expect((await tenant.put(case_id, { ...body, case_version: case_version + 1 })).status).toBe(200);
  expect(await entriesOf(tenant, "phones")).toEqual([]);
  await tenant.call("DELETE", "/lists/phones");
  expect((await tenant.put(case_id, body, key)).text).toBe(first.text);
  expectProblem(await tenant.put(case_id, { ...body, list_entries: [] }, key), 422, "validation-error");
});

test("PUT case 403: entries need the scopes of lists, allow lists the stronger one, also for a replay", async () => {
  const { tenant, case_id, case_version } = await setUp();
  const weak = await tenant.mint(["update:case"]);
  const some = await tenant.mint(["update:case", "update:lists"]);
  const key = randomUUID();
  const close = (token: string, list: string, value: string) =>
    tenant.put(case_id, { ...fraud, case_version, list_entries: [{ list, value }] }, key, { token });
  expectProblem(await close(weak, "phones", "phone-1"), 403, "access-denied");
  expectProblem(await close(weak, "absent", "phone-1"), 403, "access-denied");
  expectProblem(await close(some, "office", "203.0.113.7"), 403, "access-denied");
  const { policy_version } = (await tenant.call("GET", "/policy")).json.data;
  const rows = [{ min_score: 1, max_score: 5, lists: ["phones"], action: "ALLOW" }];
  const policy = await tenant.call("PUT", "/policy", { body: { mode: "on", policy_version, rows } });
  expect(policy.status, policy.text).toBe(200);
  expectProblem(await close(some, "phones", "phone-1"), 403, "access-denied");
  expect((await tenant.read(case_id)).status).toBe("OPEN");
  expect([...(await entriesOf(tenant, "phones")), ...(await entriesOf(tenant, "office"))]).toEqual([]);
  expect((await close(await tenant.mint([...scopes]), "office", "203.0.113.7")).status).toBe(200);
  expectProblem(await close(some, "office", "203.0.113.7"), 403, "access-denied");
});

const bad: [string, Record<string, unknown> | null, string][] = [
  ["a list that does not exist", { list: "absent", value: "x" }, "list_entries[1].list"],
  ["a name that no list can have", { list: "../phones", value: "x" }, "list_entries[1].list"],
  ["no list", { value: "x" }, "list_entries[1].list"],
  ["no value", { list: "phones" }, "list_entries[1].value"],
  ["a value that the list does not take", { list: "office", value: "0.0.0.0/0" }, "list_entries[1].value"],
  ["a past time", { list: "phones", value: "x", expires_at: "2026-01-01T00:00:00.000Z" }, "list_entries[1].expires_at"],
  ["an empty reason", { list: "phones", value: "x", reason: "" }, "list_entries[1].reason"],
  ["another case", { list: "phones", value: "x", from_case_id: randomUUID() }, "list_entries[1].from_case_id"],
  ["null", null, "list_entries[1]"],
];

test("PUT case 422: bad entries are refused with their field, nothing is applied, and the key stays free", async () => {
  const { tenant, case_id, case_version } = await setUp();
  const key = randomUUID();
  const good = { list: "phones", value: "phone-1" };
  const fieldsOf = async (body: object) =>
    expectProblem(await tenant.put(case_id, body, key), 422, "validation-error").errors?.map(({ field }) => field);
  for (const [name, entry, field] of bad)
    expect(await fieldsOf({ ...fraud, case_version, list_entries: [good, entry] }), name).toEqual([field]);
  const many = Array.from({ length: 21 }, (_, index) => ({ list: "phones", value: `phone-${index}` }));
  for (const list_entries of [[], many, good])
    expect(await fieldsOf({ ...fraud, case_version, list_entries })).toEqual(["list_entries"]);
  expect(await fieldsOf({ status: "OPEN", case_version, list_entries: [good] })).toEqual(["list_entries"]);
  // An entry is fine, but a flag or the snooze is not.
  const snooze = { days: 7, scope: "payee" };
  expect(
    await fieldsOf({ status: "CLOSED", disposition: "FALSE_POSITIVE", case_version, list_entries: [good], snooze }),
  ).toHaveLength(1);
  expect((await tenant.read(case_id)).status).toBe("OPEN");
  expect(await entriesOf(tenant, "phones")).toEqual([]);
  const bulk = { cases: [{ case_id, case_version }], list_entries: [good] };
  expectProblem(await tenant.call("POST", "/cases/close", { body: bulk, key }), 422, "validation-error");
  expect((await tenant.put(case_id, { ...fraud, case_version, list_entries: [good] }, key)).status).toBe(200);
});

test("PUT case: closes and list changes at the same time all succeed; a full list refuses the close", async () => {
  const { tenant, case_id, case_version } = await setUp();
  await makeList(tenant, { name: "agents", type: "user_agent", kind: "block" });
  const cases = await Promise.all(Array.from({ length: 5 }, () => tenant.openCase()));
  const answers = await Promise.all(
    cases.flatMap((each, index) => [
      tenant.put(each.case_id, {
        ...fraud,
        case_version: each.case_version,
        account: { is_blocked: true },
        list_entries: [
          { list: "phones", value: `phone-${index}` },
          { list: "agents", value: `robot-${index}` },
        ],
      }),
      tenant.call("PUT", `/enduseraccounts/${each.website_account_id}`, { body: { is_quarantined: true } }),
      addEntries(tenant, "agents", [`other-${index}`]).then(() => ({ status: 200 })),
    ]),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await entriesOf(tenant, "phones")).toHaveLength(5);
  await addEntries(
    tenant,
    "agents",
    Array.from({ length: 990 }, (_, index) => `agent-${index}`),
  );
  const full = { ...fraud, case_version, list_entries: [{ list: "agents", value: "one too many" }] };
  const refusal = expectProblem(await tenant.put(case_id, full), 422, "validation-error");
  expect(refusal.errors?.map(({ field }) => field)).toEqual(["list_entries"]);
  expect((await tenant.read(case_id)).status).toBe("OPEN");
  expect(await entriesOf(tenant, "agents", "?prefix=one")).toEqual([]);
});

test("PUT case: another tenant's list is not found, and an erasure deletes an account's entry that a close added", async () => {
  const { tenant, case_id, case_version, account } = await setUp();
  const other = await TestTenant.create(service.current);
  const own = await other.openCase();
  const theirs = { ...fraud, case_version: own.case_version, list_entries: [{ list: "phones", value: "phone-1" }] };
  const { errors } = expectProblem(await other.put(own.case_id, theirs), 422, "validation-error");
  expect(errors?.map(({ field }) => field)).toEqual(["list_entries[0].list"]);
  await makeList(tenant, { name: "people", type: "account", kind: "watch" });
  const key = randomUUID();
  const body = { ...fraud, case_version, list_entries: [{ list: "people", value: account, reason: `It was ${account}` }] };
  expect((await tenant.put(case_id, body, key)).status).toBe(200);
  expect(await entriesOf(tenant, "people")).toHaveLength(1);
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  expect(await entriesOf(tenant, "people")).toEqual([]);
  const again = await tenant.put(case_id, body, key);
  expect(again.status).toBe(200);
  expect(again.text).not.toContain(account);
});
