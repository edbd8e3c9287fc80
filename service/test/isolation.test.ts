import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { operations } from "../src/api/operations.ts";
import { absentParams, useWorld } from "./fault-world.ts";
import { draftOf, sendDraft, snapshot } from "./faults.ts";
import { TestTenant, expectProblem, sendRaw, useService, type Answer, type RawAnswer } from "./harness.ts";

const service = useService();
const shared = useWorld(service);
const strict = useService({ isStrictHost: true });

const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

// Returns a response without the headers that differ every time.
function bytesOf(answer: Answer): string {
  const headers = [...answer.headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  return JSON.stringify([answer.status, headers, answer.text]);
}

test.each(table)(
  "%s 403: a foreign slug and an unknown one get the same response, and nothing changes",
  async (_at, operation) => {
    const world = shared.current;
    const before = await snapshot(world);
    const ask = (slug: string) => sendDraft(service.current, { ...draftOf(operation, world), slug, token: world.other.token });
    const foreign = await ask(world.tenant.slug);
    expectProblem(foreign, 403, "access-denied");
    expect(foreign.headers.get("www-authenticate")).toBeNull();
    const unknown = await ask(`t-${randomUUID()}`);
    expect(bytesOf(unknown)).toBe(bytesOf(foreign));
    // It also makes no difference whether the other tenant has the requested resource.
    const params = absentParams();
    const absent = await sendDraft(service.current, { ...draftOf(operation, world), params, token: world.other.token });
    expect(bytesOf(absent)).toBe(bytesOf(foreign));
    expect(await snapshot(world)).toBe(before);
  },
);

const onIds = table.filter(([, operation]) => operation.path.includes("{"));

test.each(onIds)(
  "%s 404: a foreign id and an absent one get the same response except for the id, and nothing changes",
  async (_at, operation) => {
    const world = shared.current;
    const before = await snapshot(world);
    const { slug, token } = world.other;
    const foreign = { ...draftOf(operation, world), slug, token };
    const absent = { ...draftOf(operation, world), slug, token, params: absentParams() };
    const answers = [await sendDraft(service.current, foreign), await sendDraft(service.current, absent)];
    const name = /\{(\w+)\}/.exec(operation.path)?.[1] ?? "";
    const ids = [foreign, absent].map((draft) => draft.params[name] ?? "");
    const texts = answers.map((answer, index) => {
      expectProblem(answer, 404, "item-not-found");
      expect(answer.text).toContain(ids[index]);
      return bytesOf(answer).replaceAll(ids[index] ?? "", "<id>");
    });
    expect(texts[0]).toBe(texts[1]);
    expect(await snapshot(world)).toBe(before);
  },
);

test("POST close cases 200: a foreign case is reported as not found and stays unchanged", async () => {
  const world = shared.current;
  const before = await snapshot(world);
  const absent = randomUUID();
  const cases = [world.caseId, absent].map((case_id) => ({ case_id, case_version: 1 }));
  const answer = await world.other.call("POST", "/cases/close", { body: { cases }, key: randomUUID() });
  const results = [world.caseId, absent].map((case_id) => ({ case_id, status: 404, type: "item-not-found" }));
  expect(answer.json.data).toEqual({ results });
  expect(await snapshot(world)).toBe(before);
});

// Two tenants whose accounts have the same ids, each with its own case.
async function createTwins() {
  const tenants = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  const [one, two] = await Promise.all(tenants.map(async (tenant) => ({ tenant, opened: await tenant.openCase("user-1") })));
  if (!one || !two) throw new Error("there are two");
  return { one, two };
}

test("same account ids: changes to one tenant's account and case never show in the other", async () => {
  const { one, two } = await createTwins();
  const read = async () => {
    const paths = ["/enduseraccounts/user-1", "/enduseraccounts", "/cases", `/cases/${two.opened.case_id}`];
    return (await Promise.all(paths.map((path) => two.tenant.call("GET", path)))).map((answer) => answer.text);
  };
  const before = await read();
  const flags = { is_blocked: true, is_fraudulent: true, is_quarantined: true, crm_account_id: "one" };
  expect((await one.tenant.call("PUT", "/enduseraccounts/user-1", { body: flags })).status).toBe(200);
  expect(await one.tenant.list("user_is_blocked=true")).toMatchObject([{ case_id: one.opened.case_id }]);
  expect((await one.tenant.put(one.opened.case_id, { status: "CLOSED", case_version: 1 })).status).toBe(200);
  expect((await one.tenant.call("DELETE", "/enduseraccounts/user-1")).status).toBe(204);
  expect(await read()).toEqual(before);
  expect(before.join()).not.toContain(one.tenant.tenantId);
  expect(before.join()).not.toContain(one.opened.case_id);
});

test("same activity ids: one tenant's activity is not a duplicate of the other's", async () => {
  const { one, two } = await createTwins();
  const activities = [{ activity_id: "same", type: "page_view", occurred_at: new Date().toISOString() }];
  for (const { tenant } of [one, two]) {
    const answer = await tenant.call("POST", "/activities", { body: { activities } });
    expect(answer.json.data).toEqual({ accepted: 1, duplicates: 0 });
  }
});

test("same Idempotency-Key: a key of one tenant is free in the other", async () => {
  const { one, two } = await createTwins();
  const key = randomUUID();
  for (const { tenant, opened } of [one, two]) {
    const answer = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, key);
    expect(answer.json.data).toMatchObject({ case_id: opened.case_id, case_version: 2 });
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  }
});

test("lists 400: a cursor of one tenant is rejected in the other", async () => {
  const { one, two } = await createTwins();
  await one.tenant.openCase("user-2");
  for (const list of ["/cases", "/enduseraccounts"]) {
    const page = await one.tenant.call("GET", `${list}?limit=1`);
    const { next_cursor: cursor } = page.json.data as { next_cursor: string };
    expect(cursor).toEqual(expect.any(String));
    expectProblem(await two.tenant.call("GET", `${list}?limit=1&cursor=${cursor}`), 400, "bad-request");
    expect((await one.tenant.call("GET", `${list}?limit=1&cursor=${cursor}`)).status).toBe(200);
  }
});

test("token: a token that names a foreign tenant for its client is rejected, even if we signed it", async () => {
  const { one, two } = await createTwins();
  const grant = { clientId: one.tenant.clientId, tenantId: two.tenant.tenantId, slug: two.tenant.slug, scope: "read:cases" };
  const token = await service.current.issuer.mint({ ...grant, expiresInSeconds: 60 });
  const problem = expectProblem(await two.tenant.call("GET", "/cases", { token }), 401, "unauthorized");
  expect(problem.detail).not.toContain(two.tenant.slug);
});

// Null sends no Host at all, as HTTP/1.0 allows.
function askHost(tenant: TestTenant, host: string | null, slug = tenant.slug): Promise<RawAnswer> {
  const [line, hostLine] = host === null ? ["1.0", ""] : ["1.1", `Host: ${host}\r\n`];
  const head = `GET /v2/${slug}/cases HTTP/${line}\r\n${hostLine}Authorization: Bearer ${tenant.token}\r\n\r\n`;
  return sendRaw(tenant.service.port, head);
}

test("strict host: the slug in the host must also be the token's; otherwise the response is the same as for a foreign slug", async () => {
  const tenant = await TestTenant.create(strict.current);
  const { slug } = tenant;
  for (const host of [`${slug}.example.com`, `${slug}.example.com:8443`, `${slug}.localhost`]) {
    expect((await askHost(tenant, host)).status, host).toBe(200);
  }
  const foreign = await askHost(tenant, `${slug}.example.com`, "other");
  const others = [`example.${slug}.com`, `${slug}x.example.com`, `x${slug}.example.com`, `${slug}@other.example.com`];
  for (const host of ["localhost", "other.example.com", "127.0.0.1", ".example.com", "", ...others]) {
    const answer = await askHost(tenant, host);
    expectProblem(answer, 403, "access-denied");
    expect(answer.text).toBe(foreign.text);
  }
});

test("strict host 403: a request without a Host is for no tenant", async () => {
  const tenant = await TestTenant.create(strict.current);
  const problem = expectProblem(await askHost(tenant, null), 403, "access-denied");
  expect(problem.detail).toBe("The token is not for this tenant.");
});

test("without strict host: any host is accepted, and so is a request without one", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const host of ["localhost", "other.example.com", "", null]) expect((await askHost(tenant, host)).status).toBe(200);
});
