import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { Account } from "../src/domain/account.ts";
import { scopes } from "../src/domain/scope.ts";
import { TestTenant, expectProblem, useService, type Answer } from "./harness.ts";

const service = useService();
const flags = ["is_blocked", "is_quarantined", "is_fraudulent"] as const;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const pathOf = (id: string) => `/enduseraccounts/${encodeURIComponent(id)}`;
const newTenant = () => TestTenant.create(service.current);

async function create(tenant: TestTenant, id = `account-${randomUUID()}`, more: Record<string, unknown> = {}): Promise<Account> {
  const answer = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id, ...more } });
  expect(answer.status === 201 ? "" : answer.text).toBe("");
  return answer.json.data;
}

async function read(tenant: TestTenant, id: string): Promise<Account> {
  const answer = await tenant.call("GET", pathOf(id));
  expect(answer.status === 200 ? "" : answer.text).toBe("");
  return answer.json.data;
}

const change = (tenant: TestTenant, id: string, body: unknown): Promise<Answer> => tenant.call("PUT", pathOf(id), { body });

async function countRows(tenant: TestTenant, table: "events" | "accounts" | "activities"): Promise<number> {
  const text = `select count(*) as count from ${table} where tenant_id = $1`;
  const [row] = await tenant.service.database.query<{ count: number }>(statement(text, [tenant.tenantId]));
  return row?.count ?? -1;
}

const plainAccount = (tenant: TestTenant, id: string) => ({
  tenant_id: tenant.tenantId,
  website_account_id: id,
  is_blocked: false,
  is_quarantined: false,
  is_fraudulent: false,
  created_at: time,
  updated_at: time,
});

test("POST and GET account 201, 200: unset members are omitted, and the flags are false", async () => {
  const tenant = await newTenant();
  const made = await create(tenant, "user-1");
  expect(made).toEqual(plainAccount(tenant, "user-1"));
  expect(await read(tenant, "user-1")).toEqual(made);
});

test("POST account 201: accepts every flag and the CRM id, and null for no CRM id", async () => {
  const tenant = await newTenant();
  const given = { is_blocked: true, is_quarantined: true, is_fraudulent: true, crm_account_id: "CRM 1" };
  expect(await create(tenant, "all", given)).toEqual({ ...plainAccount(tenant, "all"), ...given });
  expect(await create(tenant, "none", { crm_account_id: null })).toEqual(plainAccount(tenant, "none"));
});

test("account 201, 200, 204: ids of up to 512 characters are kept byte for byte", async () => {
  const tenant = await newTenant();
  const plain = ["a/b", "a+b", "a b", "%", "%2F", "?#&=", "back\\slash", " x ", "unknown", "...", "\u0001"];
  for (const id of [...plain, "é", "e\u0301", "😀".repeat(512)]) {
    await create(tenant, id);
    expect((await read(tenant, id)).website_account_id).toBe(id);
    expect((await change(tenant, id, { is_blocked: true })).status).toBe(200);
    expect((await tenant.call("DELETE", pathOf(id))).status).toBe(204);
    expectProblem(await tenant.call("GET", pathOf(id)), 404, "item-not-found");
  }
});

test("POST account 422: a missing or invalid id creates nothing", async () => {
  const tenant = await newTenant();
  const ids = [undefined, null, 7, "", "x".repeat(513), "UNKNOWN", ".", "..", "a\0b", "a\ud800", `erased-${randomUUID()}`];
  for (const id of ids) {
    const answer = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
    expect(expectProblem(answer, 422, "validation-error").errors?.map((each) => each.field)).toEqual(["website_account_id"]);
  }
  expect(await countRows(tenant, "accounts")).toBe(0);
});

test("POST account 422: a reserved id and another invalid member are reported together", async () => {
  const tenant = await newTenant();
  const body = { website_account_id: "UNKNOWN", is_blocked: "true" };
  const problem = expectProblem(await tenant.call("POST", "/enduseraccounts", { body }), 422, "validation-error");
  expect(problem.errors?.map((each) => each.field)).toEqual(["website_account_id", "is_blocked"]);
});

test("POST account 409: an existing account is left unchanged, even with ten concurrent requests; another tenant may use the id", async () => {
  const tenant = await newTenant();
  const body = { website_account_id: "user-1", is_blocked: true };
  const answers = await Promise.all(Array.from({ length: 10 }, () => tenant.call("POST", "/enduseraccounts", { body })));
  expect(answers.filter((each) => each.status === 201)).toHaveLength(1);
  expect(answers.filter((each) => each.status === 409)).toHaveLength(9);
  const before = await read(tenant, "user-1");
  const again = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "user-1" } });
  expectProblem(again, 409, "item-already-exists");
  expect(await read(tenant, "user-1")).toEqual(before);
  expect((await create(await newTenant(), "user-1")).is_blocked).toBe(false);
});

test("PUT account 200: any sequence of changes leaves omitted members unchanged", async () => {
  const tenant = await newTenant();
  let wanted: Record<string, unknown> = await create(tenant, "user-1");
  const crm = fc.oneof(fc.constant(null), fc.string({ maxLength: 20 }));
  const changes = fc.record(
    { is_blocked: fc.boolean(), is_quarantined: fc.boolean(), is_fraudulent: fc.boolean(), crm_account_id: crm },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(changes, async (body) => {
    wanted = { ...wanted, ...body, updated_at: time };
    if (wanted["crm_account_id"] === null) delete wanted["crm_account_id"];
    expect((await change(tenant, "user-1", body)).json.data).toEqual(wanted);
    expect(await read(tenant, "user-1")).toEqual(wanted);
  });
  // Each run continues from the previous one, so shrinking would produce a different history.
  await fc.assert(property, { numRuns: 60, endOnFailure: true });
});

test.each([{}, { is_blocked: false }, { crm_account_id: null }])(
  "PUT account 200: %j on a plain account changes and logs nothing",
  async (body) => {
    const tenant = await newTenant();
    const made = await create(tenant, "user-1");
    const events = await countRows(tenant, "events");
    expect((await change(tenant, "user-1", body)).json.data).toEqual(made);
    expect(await countRows(tenant, "events")).toBe(events);
  },
);

test("PUT account 200: a crm_account_id of up to 1,024 characters is kept byte for byte, and null removes it", async () => {
  const tenant = await newTenant();
  await create(tenant, "user-1");
  for (const crm of ["", " x ", "e\u0301", "\u0001", "😀".repeat(1024)]) {
    expect((await change(tenant, "user-1", { crm_account_id: crm })).json.data).toMatchObject({ crm_account_id: crm });
    expect((await read(tenant, "user-1")).crm_account_id).toBe(crm);
    expect((await change(tenant, "user-1", { crm_account_id: null })).json.data).not.toHaveProperty("crm_account_id");
  }
});

test("PUT account 200: an Idempotency-Key is ignored, valid or not, and no version is required", async () => {
  const tenant = await newTenant();
  await create(tenant, "user-1");
  for (const [key, value] of [
    ["same", true],
    ["same", false],
    ["not valid!", true],
  ] as const) {
    const answer = await tenant.call("PUT", pathOf("user-1"), { body: { is_blocked: value }, key });
    expect(answer.json.data).toMatchObject({ is_blocked: value });
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  }
});

test("PUT account 200: concurrent changes of different members are all kept", async () => {
  const tenant = await newTenant();
  await create(tenant, "user-1");
  const bodies = [...flags.map((flag) => ({ [flag]: true })), { crm_account_id: "CRM" }];
  const answers = await Promise.all(bodies.map((body) => change(tenant, "user-1", body)));
  expect(answers.map((each) => each.status)).toEqual([200, 200, 200, 200]);
  expect(await read(tenant, "user-1")).toMatchObject(Object.assign({}, ...bodies));
});

test("PUT account 200: the block flag shows at once in open and closed cases and in lists, and nothing else in them changes", async () => {
  const tenant = await newTenant();
  const closed = await tenant.openCase("user-1");
  expect((await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 })).status).toBe(200);
  const open = await tenant.openCase("user-1");
  const before = [await tenant.read(closed.case_id), await tenant.read(open.case_id)];
  for (const value of [true, false]) {
    const body = { is_blocked: value, is_quarantined: value, is_fraudulent: value, crm_account_id: "CRM" };
    expect((await change(tenant, "user-1", body)).status).toBe(200);
    const after = [await tenant.read(closed.case_id), await tenant.read(open.case_id)];
    expect(after).toEqual(before.map((each) => ({ ...each, end_user_is_blocked: value })));
    expect(await tenant.list(`user_is_blocked=${value}`)).toHaveLength(2);
    expect(await tenant.list(`user_is_blocked=${!value}`)).toEqual([]);
  }
});

const notBooleans = ["true", "false", "", 1, 0, null, [true], {}];
const badBodies: [fields: string[], body: string][] = [
  ...flags.flatMap((flag) => notBooleans.map((value): [string[], string] => [[flag], JSON.stringify({ [flag]: value })])),
  ...["x".repeat(1025), 7, true, ["a"], "a\0", "a\udc00"].map((value): [string[], string] => [
    ["crm_account_id"],
    JSON.stringify({ crm_account_id: value }),
  ]),
  ...["website_account_id", "tenant_id", "last_session_updated_on", "created_at", "updated_at", "Is_blocked", "case_version"].map(
    (name): [string[], string] => [[name], JSON.stringify({ is_blocked: true, [name]: "x" })],
  ),
  [["__proto__"], '{"is_blocked":true,"__proto__":{"is_fraudulent":true}}'],
  [["constructor"], '{"is_blocked":true,"constructor":{}}'],
  [["is_fraudulent", "nonsense", "is_blocked"], '{"is_fraudulent":"true","nonsense":1,"is_quarantined":true,"is_blocked":1}'],
  ...["[]", '"x"', "7", "null", "true"].map((text): [string[], string] => [["body"], text]),
];

test("PUT account 422: every invalid member is reported in body order, and nothing is applied", async () => {
  const tenant = await newTenant();
  const made = await create(tenant, "user-1", { crm_account_id: "CRM" });
  for (const [fields, rawBody] of badBodies) {
    const problem = expectProblem(await tenant.call("PUT", pathOf("user-1"), { rawBody }), 422, "validation-error");
    expect({ rawBody, fields: problem.errors?.map((each) => each.field) }).toEqual({ rawBody, fields });
  }
  expect(await read(tenant, "user-1")).toEqual(made);
});

const operations = [
  { method: "GET", path: pathOf("user-1"), scope: "read:enduseraccount" },
  { method: "PUT", path: pathOf("user-1"), scope: "update:enduseraccount", body: { is_blocked: true } },
  { method: "DELETE", path: pathOf("user-1"), scope: "delete:enduseraccount" },
  { method: "GET", path: "/enduseraccounts", scope: "read:enduseraccounts" },
  { method: "POST", path: "/enduseraccounts", scope: "create:enduseraccount", body: { website_account_id: "user-2" } },
];

test.each(operations)("$method $path 401, 403: an expired token and a token without $scope change nothing", async (each) => {
  const tenant = await newTenant();
  const made = await create(tenant, "user-1");
  const expired = await tenant.mint(scopes, -60);
  const lacking = await tenant.mint(scopes.filter((scope) => scope !== each.scope));
  const body = each.body && { body: each.body };
  expectProblem(await tenant.call(each.method, each.path, { ...body, token: expired }), 401, "unauthorized");
  expectProblem(await tenant.call(each.method, each.path, { ...body, token: lacking }), 403, "access-denied");
  expect(await read(tenant, "user-1")).toEqual(made);
  expect(await countRows(tenant, "accounts")).toBe(1);
});

test.each(operations.slice(0, 3))(
  "$method account 404: absent, foreign, UNKNOWN and overlong ids are not found and not created",
  async (each) => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const theirs = await create(other, "user-1");
    const options = each.body ? { body: each.body } : {};
    for (const id of ["user-1", "user-0", "UNKNOWN", "x".repeat(513), `erased-${randomUUID()}`]) {
      const problem = expectProblem(await tenant.call(each.method, pathOf(id), options), 404, "item-not-found");
      expect(problem.detail).toBe(`End-user account not found: ${id.slice(0, 100)}`);
    }
    expect(await read(other, "user-1")).toEqual(theirs);
    expect(await countRows(tenant, "accounts")).toBe(0);
  },
);

type AccountPage = { end_user_accounts: Account[]; next_cursor: string | null };

async function walk(tenant: TestTenant, query: Record<string, string>): Promise<Account[]> {
  const found: Account[] = [];
  let asked = new URLSearchParams(query);
  for (;;) {
    const answer = await tenant.call("GET", `/enduseraccounts?${asked.toString()}`);
    const { end_user_accounts: accounts, next_cursor: cursor }: AccountPage = answer.json.data;
    found.push(...accounts);
    const link = URL.parse(/^<([^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1] ?? "");
    expect(link?.searchParams.get("cursor") ?? null).toBe(cursor);
    if (!link) return found;
    expect(accounts).toHaveLength(Number(query["limit"]));
    asked = link.searchParams;
  }
}

test("GET accounts 200: paging with any filters returns exactly the matching accounts, ordered by id", async () => {
  const tenant = await newTenant();
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      const given = { is_blocked: n % 2 === 0, is_quarantined: n % 3 === 0, is_fraudulent: n % 5 === 0 };
      return create(tenant, `${n % 4 === 0 ? "B" : "a"}/${n}`, { ...given, ...(n % 4 > 0 && { crm_account_id: `C&${n % 4}` }) });
    }),
  );
  const all = made.toSorted((a, b) => (a.website_account_id < b.website_account_id ? -1 : 1));
  const flag = fc.constantFrom("true", "false");
  const crm = fc.constantFrom("C&1", "C&2", "nothing");
  const filters = fc.record(
    { is_blocked: flag, is_quarantined: flag, is_fraudulent: flag, crm_account_id: crm },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(filters, fc.constantFrom("1", "3", "40", "1000"), async (filter, limit) => {
    const isWanted = (account: Record<string, unknown>) =>
      Object.entries(filter).every(([name, value]) => String(account[name]) === value);
    expect(await walk(tenant, { ...filter, limit })).toEqual(all.filter(isWanted));
  });
  await fc.assert(property, { numRuns: 60 });
});

test("GET accounts 400: invalid values, a tampered cursor and a cursor of another list are rejected", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  for (const id of ["a", "b", "c"]) await Promise.all([create(tenant, id), create(other, id)]);
  const answer = await tenant.call("GET", "/enduseraccounts?is_blocked=false&limit=1");
  const cursor = (answer.json.data as AccountPage).next_cursor ?? "";
  const values = flags.flatMap((flag) => [`${flag}=`, `${flag}=TRUE`, `${flag}=1`, `${flag}=true&${flag}=true`]);
  const limits = ["limit=0", "limit=1001", "limit=x", "limit=", "crm_account_id=", "crm_account_id=a&crm_account_id=a"];
  const cursors = [
    "cursor=",
    `cursor=${cursor}`,
    `is_blocked=true&cursor=${cursor}`,
    `is_blocked=false&cursor=${cursor.startsWith("A") ? "B" : "A"}${cursor.slice(1)}`,
  ];
  for (const query of [...values, ...limits, ...cursors]) {
    const problem = expectProblem(await tenant.call("GET", `/enduseraccounts?${query}`), 400, "bad-request");
    expect(problem.errors).toBeNull();
  }
  const good = `/enduseraccounts?is_blocked=false&cursor=${cursor}&unknown=1`;
  expectProblem(await other.call("GET", good), 400, "bad-request");
  expect((await tenant.call("GET", good)).json.data).toMatchObject({ next_cursor: null, end_user_accounts: [{}, {}] });
});
