import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Case } from "../src/domain/case.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, expectProblem, useService, type Answer, type Options } from "./harness.ts";

const service = useService();

const close = { status: "CLOSED", case_version: 1 };
const wallClock = { now: () => new Date().toISOString() };

function expectFirst(answer: Answer, status = 200): void {
  expect(answer).toMatchObject({ status });
  expect(answer.headers.get("idempotent-replayed")).toBeNull();
}

function expectReplay(again: Answer, first: Answer): void {
  expect(again.text).toBe(first.text);
  expect(again.status).toBe(first.status);
  expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
  expect(again.headers.get("idempotent-replayed")).toBe("true");
}

async function tenantWithCase(): Promise<{ tenant: TestTenant; opened: Case; id: string }> {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  return { tenant, opened, id: opened.case_id };
}

// A request, and a later change of its case after which running the request again would give another response.
type Bound = { id: string; body: unknown; after: () => Promise<Answer> };
const bound: [name: string, status: number, prepare: (tenant: TestTenant, opened: Case) => Promise<Bound>][] = [
  [
    "a close",
    200,
    async (tenant, { case_id: id }) => ({ id, body: close, after: () => tenant.put(id, { status: "OPEN", case_version: 2 }) }),
  ],
  [
    "a change without effect",
    200,
    async (tenant, { case_id: id }) => ({ id, body: { ...close, status: "OPEN" }, after: () => tenant.put(id, close) }),
  ],
  [
    "item-version-conflict",
    409,
    async (tenant, { case_id: id }) => ({ id, body: { ...close, case_version: 2 }, after: () => tenant.put(id, close) }),
  ],
  [
    "item-already-exists",
    409,
    async (tenant, { case_id: id, website_account_id: account }) => {
      await tenant.put(id, close);
      const other = await tenant.openCase(account);
      return { id, body: { status: "OPEN", case_version: 2 }, after: () => tenant.put(other.case_id, close) };
    },
  ],
];

test.concurrent.each(bound)("PUT case replay: %s (%i) is bound to its key, byte for byte", async (_name, status, prepare) => {
  const { tenant, opened } = await tenantWithCase();
  const { id, body, after } = await prepare(tenant, opened);
  const key = randomUUID();
  const first = await tenant.put(id, body, key);
  expectFirst(first, status);
  expectReplay(await tenant.put(id, body, key), first);
  expectFirst(await after());
  const before = await tenant.read(id);
  expectReplay(await tenant.put(id, body, key), first);
  expect(await tenant.read(id)).toStrictEqual(before);
});

test("PUT case replay: an account flag that changed since then does not show in the stored result", async () => {
  const { tenant, opened, id } = await tenantWithCase();
  const key = randomUUID();
  const first = await tenant.put(id, close, key);
  const account = `/enduseraccounts/${opened.website_account_id}`;
  expect((await tenant.call("PUT", account, { body: { is_blocked: true } })).status).toBe(200);
  expectReplay(await tenant.put(id, close, key), first);
});

test("PUT case replay: a key stays valid as long as its case exists, however old it is", async () => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  const first = await tenant.put(id, close, key);
  await service.current.database.query(
    sql`update idempotency_keys set created_at = (created_at at time zone 'UTC' - interval '3 years') at time zone 'UTC' where tenant_id = ${tenant.tenantId}`,
  );
  expectReplay(await tenant.put(id, close, key), first);
  expect((await tenant.read(id)).case_version).toBe(2);
});

// Requests that leave their key free. Each is sent with the key before a valid close.
type Refused = (tenant: TestTenant, id: string, key: string) => Promise<Answer>;
const put = (more: Options | ((tenant: TestTenant) => Promise<Options>)): Refused => {
  return async (tenant, id, key) => tenant.put(id, close, key, typeof more === "function" ? await more(tenant) : more);
};
const free: [status: number, type: string, send: Refused][] = [
  [400, "bad-request", put({ rawBody: '{"status":' })],
  [401, "unauthorized", put({ token: null })],
  [403, "access-denied", put(async (tenant) => ({ token: await tenant.mint(["read:case"]) }))],
  [403, "access-denied", put(async () => ({ token: (await TestTenant.create(service.current)).token }))],
  [404, "item-not-found", (tenant, _id, key) => tenant.put(randomUUID(), close, key)],
  [413, "payload-too-large", put({ rawBody: JSON.stringify({ ...close, reason: "x".repeat(65_536) }) })],
  [415, "unsupported-media-type", put({ headers: { "content-type": "text/plain" } })],
  [422, "validation-error", put({ body: { ...close, status: "PENDING" } })],
  [428, "precondition-required", put({ body: { status: "CLOSED" } })],
];

test.concurrent.each(free)("PUT case %i %s: the key stays free for a valid request", async (status, type, sendRefused) => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  for (let attempt = 1; attempt <= 2; attempt++) {
    const refused = await sendRefused(tenant, id, key);
    expectProblem(refused, status, type);
    expectFirst(refused, status);
  }
  const closed = await tenant.put(id, close, key);
  expectFirst(closed);
  expect(closed.json.data).toMatchObject({ status: "CLOSED", case_version: 2 });
});

const others: [name: string, send: (tenant: TestTenant, id: string, key: string, otherId: string) => Promise<Answer>][] = [
  ["another case", (tenant, _id, key, otherId) => tenant.put(otherId, { ...close, reason: "Seen." }, key)],
  ["an absent case", (tenant, _id, key) => tenant.put(randomUUID(), { ...close, reason: "Seen." }, key)],
  ["another version", (tenant, id, key) => tenant.put(id, { ...close, case_version: 2 }, key)],
  ["another status", (tenant, id, key) => tenant.put(id, { ...close, status: "OPEN" }, key)],
  ["another reason", (tenant, id, key) => tenant.put(id, { ...close, reason: "Seen. " }, key)],
  ["no reason", (tenant, id, key) => tenant.put(id, close, key)],
  [
    "an additional disposition",
    (tenant, id, key) => tenant.put(id, { ...close, reason: "Seen.", disposition: "INCONCLUSIVE" }, key),
  ],
  [
    "another operation",
    (tenant, id, key, otherId) => {
      const cases = [id, otherId].map((case_id) => ({ case_id, case_version: 1 }));
      return tenant.call("POST", "/cases/close", { key, body: { cases, reason: "Seen." } });
    },
  ],
];

test.concurrent.each(others)(
  "PUT case 409: a used key with %s applies nothing and keeps its first result",
  async (_name, sendOther) => {
    const { tenant, id } = await tenantWithCase();
    const other = await tenant.openCase();
    const key = randomUUID();
    const first = await tenant.put(id, { ...close, reason: "Seen." }, key);
    expectFirst(first);
    const before = await tenant.read(id);
    const refused = await sendOther(tenant, id, key, other.case_id);
    expectProblem(refused, 409, "operation-idempotency-conflict");
    expectFirst(refused, 409);
    expect([await tenant.read(id), await tenant.read(other.case_id)]).toStrictEqual([before, other]);
    expectReplay(await tenant.put(id, { ...close, reason: "Seen." }, key), first);
  },
);

test("PUT case 409: after a version conflict, the new version needs a new key", async () => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  expectProblem(await tenant.put(id, { ...close, case_version: 7 }, key), 409, "item-version-conflict");
  expectProblem(await tenant.put(id, close, key), 409, "operation-idempotency-conflict");
  expect((await tenant.read(id)).case_version).toBe(1);
  expectFirst(await tenant.put(id, close));
});

const reason = "a/é";
const spellings: [name: string, rawBody: string][] = [
  ["another order of members", `{"reason":"${reason}","case_version":1,"status":"CLOSED"}`],
  ["white space", `\r\n { "status"\t: "CLOSED" ,\n "case_version" : 1 , "reason" : "${reason}" }\n `],
  ["1.0", `{"status":"CLOSED","case_version":1.0,"reason":"${reason}"}`],
  ["1e0", `{"status":"CLOSED","case_version":1e0,"reason":"${reason}"}`],
  ["10E-1", `{"status":"CLOSED","case_version":10E-1,"reason":"${reason}"}`],
  ["escapes in values", String.raw`{"status":"\u0043LOSED","case_version":1,"reason":"\u0061\/\u00e9"}`],
  ["escapes in names", String.raw`{"st\u0061tus":"CLOSED","case\u005fversion":1,"reason":"${reason}"}`],
  ["a byte order mark", `\ufeff{"status":"CLOSED","case_version":1,"reason":"${reason}"}`],
];

test("PUT case replay: bodies are compared by value, not by their spelling", async () => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  const first = await tenant.put(id, { ...close, reason }, key);
  expectFirst(first);
  for (const [, rawBody] of spellings) expectReplay(await tenant.put(id, undefined, key, { rawBody }), first);
  expect((await tenant.read(id)).case_version).toBe(2);
  // The same letter in another normalization form is a different text.
  expectProblem(await tenant.put(id, { ...close, reason: "a/e\u0301" }, key), 409, "operation-idempotency-conflict");
});

test.concurrent.each(spellings)(
  "PUT case replay: a body with %s, repeated in plain spelling, is the same request",
  async (_name, rawBody) => {
    const { tenant, id } = await tenantWithCase();
    const key = randomUUID();
    const first = await tenant.put(id, undefined, key, { rawBody });
    expectFirst(first);
    expectReplay(await tenant.put(id, { ...close, reason }, key), first);
    expect((await tenant.read(id)).case_version).toBe(2);
  },
);

test("PUT case replay: the key belongs to the tenant, so another client's token gets the first client's result", async () => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  const first = await tenant.put(id, close, key);
  const wanted = { slug: tenant.slug, scopes: ["update:case"] };
  const { client_id: clientId } = await createClient(service.current.database, wanted, wallClock);
  const grant = { clientId, tenantId: tenant.tenantId, slug: tenant.slug, scope: "update:case", expiresInSeconds: 60 };
  const token = await service.current.issuer.mint(grant);
  const again = await tenant.put(id, close, key, { token });
  expectReplay(again, first);
  expect(again.json.data).toMatchObject({ current_state: { changed_by: tenant.clientId } });
  expectProblem(await tenant.put(id, { ...close, reason }, key, { token }), 409, "operation-idempotency-conflict");
});

test("PUT case 200: two tenants may use one key, each for its own request", async () => {
  const [first, second] = await Promise.all([tenantWithCase(), tenantWithCase()]);
  const key = randomUUID();
  const closed: Answer[] = [];
  for (const { tenant, id } of [first, second]) {
    const answer = await tenant.put(id, close, key);
    expectFirst(answer);
    expect(answer.json.data).toMatchObject({ case_id: id, tenant_id: tenant.tenantId, case_version: 2 });
    closed.push(answer);
  }
  for (const [index, { tenant, id }] of [first, second].entries())
    expectReplay(await tenant.put(id, close, key), closed[index] as Answer);
});

test("PUT case 200: keys are case-sensitive and compared exactly", async () => {
  const { tenant, id } = await tenantWithCase();
  expectFirst(await tenant.put(id, close, "key:A"));
  for (const key of ["key:a", "KEY:A", "key:A.", "key:A+"]) expectFirst(await tenant.put(id, { ...close, case_version: 2 }, key));
  expect((await tenant.read(id)).case_version).toBe(2);
});

test("PUT case 200: a UUID of any version is a valid key", async () => {
  const { tenant, opened, id } = await tenantWithCase();
  const versions = [1, 2, 3, 4, 5, 6, 7, 8].map((version) => `01890a5d-ac96-${version}74b-bcce-b302099a8057`);
  const ends = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];
  for (const key of [...versions, ...ends]) expectFirst(await tenant.put(id, { ...close, status: "OPEN" }, key));
  expect(await tenant.read(id)).toStrictEqual(opened);
});

// Everything that the contract checks before the key lookup is also checked for a known key.
const early: [status: number, type: string, more: (tenant: TestTenant) => Promise<Options>][] = [
  [401, "unauthorized", async () => ({ token: "nonsense" })],
  [403, "access-denied", async (tenant) => ({ token: await tenant.mint(["read:case"]) })],
  [403, "access-denied", async () => ({ token: (await TestTenant.create(service.current)).token })],
  [422, "validation-error", async () => ({ body: { ...close, reason: 7 } })],
  [428, "precondition-required", async () => ({ body: { status: "CLOSED" } })],
];

test.concurrent.each(early)("PUT case %i %s: takes precedence over the replay of a stored result", async (status, type, more) => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  const first = await tenant.put(id, close, key);
  const refused = await tenant.put(id, close, key, await more(tenant));
  expectProblem(refused, status, type);
  expectFirst(refused, status);
  expectReplay(await tenant.put(id, close, key), first);
  expect((await tenant.read(id)).case_version).toBe(2);
});

test("PUT case: If-Match is ignored, for the version and for the comparison of requests", async () => {
  const { tenant, id } = await tenantWithCase();
  const key = randomUUID();
  const bare = await tenant.put(id, { status: "CLOSED" }, key, { headers: { "if-match": '"1"' } });
  expectProblem(bare, 428, "precondition-required");
  const first = await tenant.put(id, close, key, { headers: { "if-match": '"7"' } });
  expectFirst(first);
  for (const match of ["*", '"1"', '"2"'])
    expectReplay(await tenant.put(id, close, key, { headers: { "if-match": match } }), first);
  expect((await tenant.read(id)).case_version).toBe(2);
});

test("GET and account writes: an Idempotency-Key is ignored, valid or not, used or new, and stays free", async () => {
  const { tenant, opened, id } = await tenantWithCase();
  const account = `/enduseraccounts/${opened.website_account_id}`;
  const [used, fresh] = [randomUUID(), randomUUID()];
  expectFirst(await tenant.put(id, close, used));
  for (const key of [used, fresh, "no key at all!", "x".repeat(256)]) {
    for (const path of ["/cases", `/cases/${id}`, account]) expectFirst(await tenant.call("GET", path, { key }));
    for (const isBlocked of [true, false]) {
      const changed = await tenant.call("PUT", account, { key, body: { is_blocked: isBlocked } });
      expectFirst(changed);
      expect(changed.json.data).toMatchObject({ is_blocked: isBlocked });
    }
    const made = { website_account_id: `made-${randomUUID()}` };
    expectFirst(await tenant.call("POST", "/enduseraccounts", { key, body: made }), 201);
    expectProblem(await tenant.call("POST", "/enduseraccounts", { key, body: made }), 409, "item-already-exists");
  }
  expectFirst(await tenant.put(id, { ...close, case_version: 2 }, fresh));
});
