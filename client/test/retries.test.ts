import { randomUUID } from "node:crypto";
import { afterAll, expect, test as base } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import {
  Aborted,
  CasehoundClient,
  ProblemError,
  TimedOut,
  WrongBaseAddress,
  isPassing,
  type ClientOptions,
} from "../src/index.ts";
import { startFaultyProxy, type Fault, type FaultyProxy, type Seen } from "./faulty-proxy.ts";

// Most of each test is a pause of the client, so they run at the same time.
const test = base.concurrent;
const service = useService();
const proxies: FaultyProxy[] = [];

afterAll(() => {
  for (const proxy of proxies) proxy.stop();
});

const problem = (status: number, type: string, more: object = {}) =>
  JSON.stringify({ type, title: type, status, detail: `a ${type}`, errors: null, ...more });

const faults: Record<string, Fault> = {
  "a request that never arrives": "lose-request",
  "a response that never arrives": "lose-answer",
  "no response in time": "hang",
  "500 internal-error": { status: 500, body: problem(500, "internal-error") },
  "502 bad-gateway": { status: 502, body: problem(502, "bad-gateway") },
  "503 service-unavailable": { status: 503, body: problem(503, "service-unavailable") },
  "a proxy's own 502": { status: 502, body: "<html>Bad gateway</html>", type: "text/html" },
  "429 rate-limited": { status: 429, body: problem(429, "rate-limited"), headers: { "retry-after": "0" } },
  "409 transaction-contended": { status: 409, body: problem(409, "transaction-contended") },
};

type Made = { tenant: TestTenant; proxy: FaultyProxy; client: CasehoundClient };

// The function decides the fault of every API request, but not of token requests.
async function make(faultOf: (seen: Seen, count: number) => Fault | null, more: Partial<ClientOptions> = {}): Promise<Made> {
  const tenant = await TestTenant.create(service.current);
  let count = 0;
  const proxy = await startFaultyProxy(service.current.url, (seen) =>
    seen.path.startsWith("/v2/oauth") ? null : faultOf(seen, ++count),
  );
  proxies.push(proxy);
  const credentials = { clientId: tenant.clientId, clientSecret: tenant.clientSecret };
  const client = new CasehoundClient({ baseUrl: proxy.baseUrl, tenant: tenant.slug, credentials, timeoutMs: 10_000, ...more });
  return { tenant, proxy, client };
}

// Only a test whose proxy hangs waits for the timeout. Elsewhere, a slow machine must not cause a retry.
const patienceFor = (name: string) => (faults[name] === "hang" ? { timeoutMs: 1_000 } : {});

const onFirst = (name: string) => (_seen: Seen, count: number) => (count === 1 ? (faults[name] ?? null) : null);

const changesOf = ({ seen }: FaultyProxy, method = "PUT") => seen.filter((each) => each.method === method);

test.each(Object.keys(faults))("client: after %s a close is resent under the same key and applied once", async (name) => {
  let left = 2;
  const faultOf = ({ method }: Seen) => (method === "PUT" && left-- > 0 ? (faults[name] ?? null) : null);
  const { tenant, proxy, client } = await make(faultOf, patienceFor(name));
  const opened = await tenant.openCase();
  const closed = await client.updateCase(opened.case_id, { status: "CLOSED", case_version: 1 });
  expect(closed).toMatchObject({ status: "CLOSED", case_version: 2 });
  expect(await tenant.read(opened.case_id)).toEqual(closed);
  const keys = changesOf(proxy).map(({ key }) => key);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test.each(Object.keys(faults))("client: after %s a read is resent", async (name) => {
  const { tenant, proxy, client } = await make(onFirst(name), patienceFor(name));
  const opened = await tenant.openCase();
  expect(await client.getCase(opened.case_id)).toEqual(opened);
  expect(changesOf(proxy, "GET")).toHaveLength(2);
});

const creationsOf = (proxy: FaultyProxy) => changesOf(proxy, "POST").filter(({ path }) => path.endsWith("/enduseraccounts"));
const refusals = Object.keys(faults).filter((name) => /429|contended/.test(name));
const doubts = Object.keys(faults).filter((name) => !refusals.includes(name));

test.each(refusals)("client: after %s a non-repeatable call is resent, because it was not applied", async (name) => {
  const { proxy, client } = await make(onFirst(name), patienceFor(name));
  expect(await client.createEndUserAccount({ website_account_id: "once" })).toMatchObject({ website_account_id: "once" });
  expect(creationsOf(proxy)).toHaveLength(2);
});

test.each(doubts)("client: after %s a non-repeatable call is not resent, because it may have been applied", async (name) => {
  const { proxy, client } = await make(onFirst(name), patienceFor(name));
  await expect(client.createEndUserAccount({ website_account_id: "once" })).rejects.toSatisfy(isPassing);
  expect(creationsOf(proxy)).toHaveLength(1);
});

test.each([
  [400, "bad-request"],
  [403, "access-denied"],
  [404, "item-not-found"],
  [409, "item-version-conflict"],
  [409, "operation-idempotency-conflict"],
  [422, "validation-error"],
])("client: %i %s is thrown at once", async (status, type) => {
  const { proxy, client } = await make(() => ({ status, body: problem(status, type, { current_version: 7 }) }));
  const refused = client.updateCase(randomUUID(), { status: "CLOSED", case_version: 1 });
  await expect(refused).rejects.toMatchObject({ name: "ProblemError", type, status, current_version: 7 });
  expect(changesOf(proxy)).toHaveLength(1);
});

test("client: throws the last failure after its attempts", async () => {
  const { proxy, client } = await make(() => faults["500 internal-error"] ?? null, { attemptsMax: 3 });
  await expect(client.getTenant()).rejects.toMatchObject({ type: "internal-error" });
  expect(changesOf(proxy, "GET")).toHaveLength(3);
});

test("client: after 429 it waits as long as the response says", async () => {
  const limited: Fault = { status: 429, body: problem(429, "rate-limited"), headers: { "retry-after": "1" } };
  const pauses: number[] = [];
  const hooks = { onRetry: ({ pauseMs }: { pauseMs: number }) => void pauses.push(pauseMs) };
  const { client } = await make((_seen, count) => (count === 1 ? limited : null), { hooks });
  const startMs = performance.now();
  await client.getTenant();
  expect(pauses).toHaveLength(1);
  expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(1_000);
});

test("client: a contended change is not resent if the case has changed", async () => {
  const { tenant, proxy, client } = await make(({ method }) =>
    method === "PUT" ? (faults["409 transaction-contended"] ?? null) : null,
  );
  const opened = await tenant.openCase();
  const key = randomUUID();
  await tenant.call("PUT", `/cases/${opened.case_id}`, {
    body: { status: "CLOSED", case_version: 1 },
    headers: { "idempotency-key": key },
  });
  const refused = client.updateCase(opened.case_id, { status: "CLOSED", case_version: 1 });
  await expect(refused).rejects.toMatchObject({ type: "transaction-contended", current_version: 2, hasMoved: true });
  expect(changesOf(proxy)).toHaveLength(1);
});

test("client: an expired token is replaced, and the close is resent under its key", async () => {
  let left = 1;
  const gone: Fault = { status: 401, body: problem(401, "unauthorized") };
  const { tenant, proxy, client } = await make(({ method }) => (method === "PUT" && left-- > 0 ? gone : null), {
    attemptsMax: 1,
  });
  const opened = await tenant.openCase();
  expect(await client.updateCase(opened.case_id, { status: "CLOSED", case_version: 1 })).toMatchObject({ case_version: 2 });
  expect(proxy.seen.filter(({ path }) => path === "/v2/oauth/token")).toHaveLength(2);
  expect(new Set(changesOf(proxy).map(({ key }) => key)).size).toBe(1);
});

test("client: a caller's token function is called once, and again after a rejection", async () => {
  const { tenant, proxy } = await make(() => null);
  let asked = 0;
  const token = async () => (++asked === 1 ? "a.b.c" : tenant.token);
  const client = new CasehoundClient({ baseUrl: proxy.baseUrl, tenant: tenant.slug, credentials: { token } });
  await Promise.all([client.getTenant(), client.getTenant()]);
  await client.getTenant();
  expect(asked).toBe(2);
});

test("client: concurrent calls fetch one token", async () => {
  const { proxy, client } = await make(() => null);
  await Promise.all(Array.from({ length: 10 }, () => client.getTenant()));
  expect(proxy.seen.filter(({ path }) => path === "/v2/oauth/token")).toHaveLength(1);
});

test("client: a wrong secret is thrown as a problem with its reason", async () => {
  const { tenant, proxy } = await make(() => null);
  const credentials = { clientId: tenant.clientId, clientSecret: "wrong" };
  const client = new CasehoundClient({ baseUrl: proxy.baseUrl, tenant: tenant.slug, credentials });
  const refused = client.getTenant();
  await expect(refused).rejects.toBeInstanceOf(ProblemError);
  await expect(refused).rejects.toMatchObject({ status: 401, type: "unauthorized" });
});

test("client: a wrong address is reported whether it answers with a page or with other JSON", async () => {
  for (const body of ["<html>Welcome</html>", '{"hello":"world"}']) {
    const { client } = await make(() => ({ status: 404, body, type: "text/html" }));
    await expect(client.getTenant()).rejects.toBeInstanceOf(WrongBaseAddress);
    await expect(client.getTenant()).rejects.toThrow(/check the base address/);
  }
  const credentials = { token: "t" };
  expect(() => new CasehoundClient({ baseUrl: "localhost:8080", tenant: "demo", credentials })).toThrow(/http:\/\//);
});

test("client: a signal ends a pending call, and a pause between two attempts", async () => {
  const waiting = await make(() => "hang", { timeoutMs: 60_000 });
  const first = new AbortController();
  setTimeout(() => first.abort("enough"), 50);
  const ended = waiting.client.getTenant({ signal: first.signal });
  await expect(ended).rejects.toBeInstanceOf(Aborted);
  await expect(ended).rejects.toMatchObject({ cause: "enough" });
  const limited: Fault = { status: 429, body: problem(429, "rate-limited"), headers: { "retry-after": "60" } };
  const pausing = await make(() => limited);
  await expect(pausing.client.getTenant({ signal: AbortSignal.timeout(200) })).rejects.toBeInstanceOf(Aborted);
});

test("client: a timeout is reported as such, and the same key can be used again", async () => {
  const { tenant, client } = await make(({ method }) => (method === "PUT" ? "hang" : null), { attemptsMax: 1, timeoutMs: 300 });
  const opened = await tenant.openCase();
  const idempotencyKey = randomUUID();
  const change = { status: "CLOSED" as const, case_version: 1 };
  await expect(client.updateCase(opened.case_id, change, { idempotencyKey })).rejects.toBeInstanceOf(TimedOut);
  const credentials = { token: tenant.token };
  const direct = new CasehoundClient({ baseUrl: service.current.url, tenant: tenant.slug, credentials });
  expect(await direct.updateCase(opened.case_id, change, { idempotencyKey })).toMatchObject({ case_version: 2 });
});

test("client: hooks receive every request, response and retry, and cannot break a call", async () => {
  const heard: string[] = [];
  const note = (name: string) => (told: { id: string; attempt: number }) => {
    heard.push(`${name} ${told.id} ${told.attempt}`);
    throw new Error("a hook that fails");
  };
  const hooks = { onRequest: note("request"), onAnswer: note("answer"), onRetry: note("retry") };
  const { client } = await make((_seen, count) => (count === 1 ? (faults["502 bad-gateway"] ?? null) : null), { hooks });
  await client.getTenant();
  expect(heard).toEqual([
    "request getTenant 1",
    "answer getTenant 1",
    "retry getTenant 1",
    "request getTenant 2",
    "answer getTenant 2",
  ]);
});

test("client: an empty id is rejected and not sent as another path", async () => {
  const { proxy, client } = await make(() => null);
  const refused = client.getCase("");
  await expect(refused).rejects.toThrow(/case_id is missing/);
  // It is not a temporary failure.
  await expect(refused).rejects.not.toSatisfy(isPassing);
  expect(proxy.seen).toEqual([]);
});
