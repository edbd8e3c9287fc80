import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { saveLinks, type Link } from "../src/db/links.ts";
import { statement, unprepared } from "../src/db/postgres/sql.ts";
import { withinTime } from "../src/db/search.ts";
import { scopes } from "../src/domain/scope.ts";
import type { SearchResult } from "../src/domain/search.ts";
import { insertDecided } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { eventually } from "./process.ts";

const service = useService();
const hostile = `<b>"'\u202e%_\\`;
const nothing = { accounts: [], cases: [], devices: [], addresses: [], payees: [], orders: [], more: [], is_complete: true };

async function find(tenant: TestTenant, text: string, more = ""): Promise<SearchResult> {
  const answer = await tenant.call("GET", `/search?q=${encodeURIComponent(text)}${more}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function withAccounts(...ids: string[]): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  for (const id of ids) await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
  return tenant;
}

async function link(tenant: TestTenant, kind: Link["kind"], value: string, accounts: string[]): Promise<void> {
  const at = new Date().toISOString();
  const links = accounts.map((a) => ({ kind, a, b: value, first_seen: at, last_seen: at }));
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
}

const idsOf = ({ accounts }: SearchResult) => accounts.map((each) => each.website_account_id).toSorted();
const valuesOf = (found: SearchResult["devices"]) => found.map((each) => each.value).toSorted();

test("GET search 200: finds an account by its beginning, its middle and its end, in any letter case", async () => {
  const tenant = await withAccounts("anna.Smith@example.com", "ben.jones@example.org", "user-123456", hostile);
  expect(idsOf(await find(tenant, "anna"))).toEqual(["anna.Smith@example.com"]);
  expect(idsOf(await find(tenant, "SMITH@ex"))).toEqual(["anna.Smith@example.com"]);
  expect(idsOf(await find(tenant, "3456"))).toEqual(["user-123456"]);
  expect(idsOf(await find(tenant, "example."))).toEqual(["anna.Smith@example.com", "ben.jones@example.org"]);
  expect(idsOf(await find(tenant, "  user-123456  "))).toEqual(["user-123456"]);
  expect(idsOf(await find(tenant, hostile))).toEqual([hostile]);
});

test("GET search 200: nothing is offered that does not exist", async () => {
  const tenant = await withAccounts("user-1");
  for (const text of ["user-2", "%", "_ser-1", "\\", "*", "'", "user-1'--", randomUUID(), "10.0.0.0/8", "no such reason"]) {
    expect(await find(tenant, text), text).toEqual(nothing);
  }
  const answer = await tenant.call("GET", "/search");
  expect(answer.json.data).toEqual(nothing);
});

test("GET search 200: beyond the sampled ids, a part is found by its index", async () => {
  const tenant = await withAccounts();
  const { database } = service.current;
  const text = `insert into accounts (tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
    select $1::uuid, 'a-' || n, false, false, false, now(), now() from generate_series(1, 3000) as n
    union all select $1::uuid, 'z-Needle-z', true, false, false, now(), now()`;
  await database.transaction((tx) => tx.query(unprepared(text, [tenant.tenantId])));
  await link(tenant, "account-email", "the.thread@example.com", ["z-Needle-z"]);
  const found = await find(tenant, "needle");
  expect(found).toEqual({
    ...nothing,
    accounts: [
      {
        website_account_id: "z-Needle-z",
        matched: "website_account_id",
        value: "z-Needle-z",
        is_blocked: true,
        is_quarantined: false,
        is_fraudulent: false,
      },
    ],
  });
  const byEmail = await find(tenant, "THREAD@example");
  expect(byEmail.accounts).toMatchObject([
    { website_account_id: "z-Needle-z", matched: "email", value: "the.thread@example.com" },
  ]);
  const many = await find(tenant, "a-1", "&limit=7");
  expect(many.accounts).toHaveLength(7);
  expect(many.more).toEqual(["accounts"]);
});

test("GET search 200: finds an account by its CRM id, with its flags and its open case", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  await tenant.call("PUT", "/enduseraccounts/user-1", { body: { crm_account_id: "CRM 77", is_quarantined: true } });
  const { accounts } = await find(tenant, "CRM 77");
  expect(accounts).toMatchObject([
    {
      website_account_id: "user-1",
      matched: "crm_account_id",
      value: "CRM 77",
      is_quarantined: true,
      open_case: { case_id: opened.case_id },
    },
  ]);
});

test("GET search 200: finds what servers send: e-mail address, payee, order, device and address", async () => {
  const tenant = await TestTenant.create(service.current);
  const base = { occurred_at: new Date().toISOString(), website_account_id: "user-1", device_id: "dev-77", ip: "203.0.113.7" };
  const activities = [
    { ...base, activity_id: randomUUID(), type: "signup", attributes: { email: "Anna@Example.com" } },
    {
      ...base,
      activity_id: randomUUID(),
      type: "payment",
      amount: 5,
      currency: "EUR",
      payee_id: "payee-9",
      order_id: "order-42",
    },
  ];
  await tenant.call("POST", "/activities", { body: { activities } });
  await eventually(async () => expect((await find(tenant, "order-4")).orders).toHaveLength(1));
  expect((await find(tenant, "anna@")).accounts).toMatchObject([
    { website_account_id: "user-1", matched: "email", value: "anna@example.com" },
  ]);
  const shared = { accounts: 1, website_account_ids: ["user-1"] };
  expect((await find(tenant, "payee")).payees).toMatchObject([{ value: "payee-9", ...shared }]);
  expect((await find(tenant, "dev-7")).devices).toMatchObject([{ value: "dev-77", ...shared }]);
  expect((await find(tenant, "203.0.113.")).addresses).toMatchObject([{ value: "203.0.113.7", ...shared }]);
  expect((await find(tenant, "order-42")).orders).toMatchObject([{ order_id: "order-42", website_account_id: "user-1" }]);
});

test("GET search 200: an e-mail address that only a page names finds no account", async () => {
  const tenant = await withAccounts("user-1");
  const page = { origin: "browser" as const, type: "signup", attributes: { email: "victim@example.com" } };
  await insertDecided(tenant, [{ ...page, website_account_id: "user-1" }]);
  expect(await find(tenant, "victim@example.com")).toEqual(nothing);
});

test("GET search 200: finds addresses by a block, in both families, and those of a strict policy by the whole address", async () => {
  const tenant = await withAccounts();
  const stored = ["10.1.2.3", "10.1.20.3", "10.2.0.1", "100.1.2.3", "2001:db8:1::5", "2001:db8:2::5", "2001:db8::9"];
  for (const address of stored) await link(tenant, "account-ip", address, ["user-1", "user-2"]);
  const inBlock = async (block: string) => valuesOf((await find(tenant, block, "&limit=20")).addresses);
  expect(await inBlock("10.1.0.0/16")).toEqual(["10.1.2.3", "10.1.20.3"]);
  expect(await inBlock("10.0.0.0/12")).toEqual(["10.1.2.3", "10.1.20.3", "10.2.0.1"]);
  expect(await inBlock("10.1.2.0/28")).toEqual(["10.1.2.3"]);
  expect(await inBlock("10.1.2.3/32")).toEqual(["10.1.2.3"]);
  expect(await inBlock("96.0.0.0/5")).toEqual(["100.1.2.3"]);
  expect(await inBlock("2001:db8:1::/48")).toEqual(["2001:db8:1::5"]);
  expect(await inBlock("2001:db8::/32")).toEqual(["2001:db8:1::5", "2001:db8:2::5", "2001:db8::9"]);
  expect(await inBlock("2001:db8::/48")).toEqual(["2001:db8::9"]);
  expect(await inBlock("10.1.2.3/8")).toEqual([]);
  await tenant.call("PUT", "/tenants", { body: { ip_policy: "truncate" } });
  await link(tenant, "account-ip", "192.0.2.0/24", ["user-3"]);
  expect(await inBlock("192.0.2.99")).toEqual(["192.0.2.0/24"]);
});

test("GET search 200: finds a case by the beginning of its id, and cases about a source", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  await tenant.report(undefined, { device_id: "bad-device" });
  const { case_id } = opened;
  for (const start of [8, 9, 13, 20, 36]) {
    const { cases } = await find(tenant, case_id.slice(0, start).toUpperCase(), "&limit=20");
    expect(cases.map((each) => each.case_id)).toContain(case_id);
  }
  expect((await find(tenant, case_id.slice(0, 7))).cases).toEqual([]);
  await eventually(async () => {
    const { cases } = await find(tenant, "bad-dev");
    expect(cases).toMatchObject([{ matched: "subject", value: "bad-device", website_account_id: "UNKNOWN", status: "OPEN" }]);
    expect(cases[0]?.subject).toEqual({ kind: "device", id: "bad-device" });
  });
  expect((await find(tenant, case_id)).cases[0]).not.toHaveProperty("subject");
});

test("GET search 200: finds a case by a phrase of a reason, also after it was reopened, but only with read:case", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  const reason = "The customer's bank called, and confirmed the Chargeback.";
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: opened.case_version, reason });
  const hit = { case_id: opened.case_id, matched: "reason", value: reason, status: "CLOSED" };
  for (const text of ["bank called", "BANK called, and conf", "chargeb"]) {
    expect((await find(tenant, text)).cases, text).toMatchObject([hit]);
  }
  for (const text of ["called bank", "hargeback", "The case was closed"])
    expect((await find(tenant, text)).cases, text).toEqual([]);
  await tenant.put(opened.case_id, { status: "OPEN", case_version: opened.case_version + 1 });
  expect((await find(tenant, "chargeback")).cases).toMatchObject([{ ...hit, status: "OPEN" }]);
  const token = await tenant.mint(scopes.filter((scope) => scope !== "read:case"));
  const answer = await tenant.call("GET", "/search?q=chargeback", { token });
  expect(answer.json.data).toEqual(nothing);
});

test("GET search 200: finds a case by a phrase of a note, of an old one too, but only with read:case", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  const path = `/cases/${opened.case_id}/notes`;
  const text = "Spoke to the customer's Grandmother.\nShe did not order it.";
  await tenant.call("POST", path, { body: { text }, key: randomUUID() });
  const hit = { case_id: opened.case_id, matched: "note", value: text.replace("\n", " "), status: "OPEN" };
  for (const phrase of ["grandmother", "GRANDMOTHER. She did no", "not order it"])
    expect((await find(tenant, phrase)).cases, phrase).toMatchObject([hit]);
  for (const phrase of ["grandmother did", "randmother"]) expect((await find(tenant, phrase)).cases, phrase).toEqual([]);
  const token = await tenant.mint(scopes.filter((scope) => scope !== "read:case"));
  expect((await tenant.call("GET", "/search?q=grandmother", { token })).json.data).toEqual(nothing);
  // Beyond the sampled notes, it is found by its index.
  const others = `
    insert into case_notes (tenant_id, case_id, note_id, text, mentions, created_at, created_by, case_version)
    select $1, $2, ('ffffffff-ffff-7fff-8fff-' || lpad(n::text, 12, '0'))::uuid, 'Nothing new ' || n, '{}', now(), 'x', 2
    from generate_series(1, 400) as n`;
  await service.current.database.query(statement(others, [tenant.tenantId, opened.case_id]));
  expect(await find(tenant, "grandmother")).toMatchObject({ cases: [hit], is_complete: true });
});

test("GET search 200: a long reason is shown as an excerpt around the phrase", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  const reason = `${"before ".repeat(60)}needle${" after".repeat(60)}`;
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: opened.case_version, reason });
  const [hit] = (await find(tenant, "needle")).cases;
  expect(hit?.value).toMatch(/^…before .*needle after.*…$/);
  expect(hit?.value.length).toBeLessThan(170);
});

test("GET search 200: another tenant's accounts, cases, links and orders are not found", async () => {
  const [own, other] = await Promise.all([withAccounts("shared-name"), TestTenant.create(service.current)]);
  const opened = await own.openCase("shared-name");
  await own.put(opened.case_id, { status: "CLOSED", case_version: opened.case_version, reason: "shared-name gave it back" });
  await own.call("POST", `/cases/${opened.case_id}/notes`, { body: { text: "A hared-nam of ours" }, key: randomUUID() });
  for (const kind of ["account-device", "account-ip", "account-email", "account-payee"] as const)
    await link(own, kind, "shared-name@x", ["shared-name"]);
  await insertDecided(own, [{ type: "payment", order_id: "shared-name", website_account_id: "shared-name" }]);
  const found = await find(own, "shared-name");
  expect(found).toMatchObject({ accounts: [{}], cases: [{}], devices: [{}], addresses: [{}], payees: [{}], orders: [{}] });
  for (const text of ["shared-name", "hared-nam", opened.case_id]) expect(await find(other, text)).toEqual(nothing);
});

test("GET search 200: after an erasure, neither the id nor what led to it is found", async () => {
  const tenant = await TestTenant.create(service.current);
  const id = `erase-me-${randomUUID()}`;
  const opened = await tenant.openCase(id);
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: opened.case_version, reason: `Called ${id} twice.` });
  await tenant.call("POST", `/cases/${opened.case_id}/notes`, { body: { text: "Born in Springfield." }, key: randomUUID() });
  for (const kind of ["account-device", "account-ip", "account-email", "account-payee"] as const)
    await link(tenant, kind, `of-${kind}`, [id]);
  await link(tenant, "account-payee", id, ["friend"]);
  expect((await tenant.call("DELETE", `/enduseraccounts/${id}`)).status).toBe(204);
  for (const text of [id, id.slice(0, 14), "of-account", "springfield"]) expect(await find(tenant, text), text).toEqual(nothing);
  expect((await find(tenant, "Called")).cases).toMatchObject([{ value: expect.stringMatching(/^Called erased-\S+ twice\.$/) }]);
});

test("GET search 400: a text that is empty, too long or cannot be stored, and a wrong limit", async () => {
  const tenant = await TestTenant.create(service.current);
  const wrong = ["q=", `q=${"x".repeat(513)}`, "q=a%00", "q=%ff", "q=a&q=b", "q=a&limit=0", "q=a&limit=21", "limit=x"];
  for (const query of wrong) {
    const answer = await tenant.call("GET", `/search?${query}`);
    expectProblem(answer, 400, "bad-request");
    expect(answer.json.detail).toContain("parameter");
  }
});

test("GET search 403: both scopes are required", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const lacking of ["read:cases", "read:enduseraccounts"]) {
    const token = await tenant.mint(scopes.filter((scope) => scope !== lacking));
    const answer = await tenant.call("GET", "/search?q=a", { token });
    expectProblem(answer, 403, "access-denied");
    expect(answer.headers.get("www-authenticate")).toContain(lacking);
  }
});

test("the time limit of a part of a search ends with that part, whether it was reached or not", async () => {
  const shown = await service.current.database.transaction(async (tx) => {
    const limit = () => tx.query<{ statement_timeout: string }>(unprepared("show statement_timeout"));
    const before = await limit();
    const quick = await withinTime(tx, limit);
    const slow = await withinTime(tx, () => tx.query(unprepared("select pg_sleep(60)")));
    return { before, quick, slow, after: await limit() };
  });
  expect(shown.quick).not.toEqual(shown.before);
  expect(shown.slow).toBeNull();
  expect(shown.after).toEqual(shown.before);
});

test("another user of the database can neither call the functions of search nor put tables of its own in their place", async () => {
  const tenant = await withAccounts("secret-account");
  const client = await service.current.database.connect();
  const other = `other_${randomUUID().replaceAll("-", "")}`;
  const call = () => client.query("select search_account_parts($1, '%account%', 5) as id", [tenant.tenantId]);
  try {
    await client.query(`begin; create role ${other} nologin; set local role ${other}; savepoint calling`);
    await expect(call()).rejects.toThrow(/permission denied for function/);
    await client.query("rollback to savepoint calling");
    await client.query(
      `create temp view accounts as select '${tenant.tenantId}'::uuid as tenant_id, 'account of ' || current_user as website_account_id`,
    );
    await client.query("reset role");
    expect((await call()).rows).toEqual([{ id: "secret-account" }]);
  } finally {
    await client.end();
  }
});
