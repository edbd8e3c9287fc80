import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { CasehoundClient } from "../src/index.ts";
import { startFaultyProxy, type Fault, type FaultyProxy } from "./faulty-proxy.ts";

const service = useService();
const proxies: FaultyProxy[] = [];
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.stop();
});

const isAssessment = ({ path }: { path: string }) => path.endsWith("/assessments");

// The fault applies to assessments only, so that the client gets a token.
async function clientBehind(fault: (count: number) => Fault | null): Promise<{ client: CasehoundClient; proxy: FaultyProxy }> {
  const tenant = await TestTenant.create(service.current);
  let count = 0;
  const proxy = await startFaultyProxy(service.current.url, (seen) => (isAssessment(seen) ? fault(++count) : null));
  proxies.push(proxy);
  const credentials = { clientId: tenant.clientId, clientSecret: tenant.clientSecret };
  const client = new CasehoundClient({ baseUrl: proxy.baseUrl, tenant: tenant.slug, credentials });
  // Fetch the token first, because that takes a while.
  await client.listCases();
  return { client, proxy };
}

function loginOf() {
  const occurred_at = new Date().toISOString();
  return { activity_id: randomUUID(), type: "login_succeeded", occurred_at, website_account_id: "user-1" };
}

test("assess: returns the service's verdict and says that the service answered", async () => {
  const { client } = await clientBehind(() => null);
  const login = loginOf();
  const first = await client.assess(login, { deadlineMs: 2_000 });
  expect(first).toMatchObject({
    activity_id: login.activity_id,
    action: "ALLOW",
    answered_by: "service",
    verdict_from: "engine",
  });
  expect(await client.assess(login, { deadlineMs: 2_000 })).toEqual(first);
});

test("assess: does not throw if the service does not answer in time, but returns `otherwise`", async () => {
  const { client } = await clientBehind(() => "hang");
  const verdict = await client.assess(loginOf(), { deadlineMs: 100, otherwise: "CHALLENGE" });
  expect(verdict).toMatchObject({ action: "CHALLENGE", answered_by: "timeout", verdict_from: "otherwise", is_stored: false });
  expect(verdict.prediction_id).toBe(null);
});

test.each<[string, Fault]>([
  ["is unreachable", "lose-request"],
  ["fails", { status: 502, body: '{"type":"bad-gateway","title":"x","status":502,"detail":"x","errors":null}' }],
  ["is overloaded", { status: 429, body: '{"type":"rate-limited","title":"x","status":429,"detail":"x","errors":null}' }],
])("assess: does not throw if the service %s, but returns `otherwise`", async (_what, fault) => {
  const { client } = await clientBehind(() => fault);
  const verdict = await client.assess(loginOf(), { deadlineMs: 2_000, otherwise: "BLOCK" });
  expect(verdict).toMatchObject({ action: "BLOCK", answered_by: "unreachable", is_final: false });
});

test("assess: retries once after a lost response, and gets the same verdict", async () => {
  const { client, proxy } = await clientBehind((count) => (count === 1 ? "lose-answer" : null));
  const verdict = await client.assess(loginOf(), { deadlineMs: 2_000 });
  expect(verdict).toMatchObject({ answered_by: "service", is_final: true });
  expect(proxy.seen.filter(isAssessment)).toHaveLength(2);
});

test("assess: throws if the service rejects the request, because that is a mistake in the program", async () => {
  const { client } = await clientBehind(() => null);
  const login = loginOf();
  await client.assess(login, { deadlineMs: 2_000 });
  const other = client.assess({ ...login, type: "logout" }, { deadlineMs: 2_000 });
  await expect(other).rejects.toMatchObject({ type: "operation-idempotency-conflict" });
  await expect(client.assess({ ...login, type: "nothing" })).rejects.toMatchObject({ type: "validation-error" });
});

test.each([0, 24, 2_001, Number.NaN])("assess: throws a RangeError for a deadline of %d ms", async (deadlineMs) => {
  const { client } = await clientBehind(() => null);
  await expect(client.assess(loginOf(), { deadlineMs })).rejects.toThrow(RangeError);
});

test("assess: throws if the caller's own signal is aborted", async () => {
  const { client } = await clientBehind(() => "hang");
  const leaving = new AbortController();
  const pending = client.assess(loginOf(), { deadlineMs: 2_000, signal: leaving.signal });
  leaving.abort();
  await expect(pending).rejects.toMatchObject({ name: "Aborted" });
});
