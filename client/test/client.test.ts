import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { CasehoundClient, ProblemError } from "../src/index.ts";
import { startFaultyProxy, type FaultyProxy, type Seen } from "./faulty-proxy.ts";

const service = useService();
const servers: Server[] = [];
const proxies: FaultyProxy[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const proxy of proxies.splice(0)) proxy.stop();
});

async function losingProxy(isLost: (seen: Seen, count: number) => boolean): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(service.current.url, (seen, count) => (isLost(seen, count) ? "lose-answer" : null));
  proxies.push(proxy);
  return proxy;
}

function clientOf(tenant: TestTenant, baseUrl = service.current.url): CasehoundClient {
  const credentials = { clientId: tenant.clientId, clientSecret: tenant.clientSecret };
  return new CasehoundClient({ baseUrl, tenant: tenant.slug, credentials });
}

test("client: fetches a token automatically, lists, reads and closes", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("a/b c+d?é");
  const client = clientOf(tenant);
  const { cases } = await client.call("listCases", { query: { website_account_id: "a/b c+d?é", status: "OPEN" } });
  expect(cases.map((each) => each.case_id)).toEqual([opened.case_id]);
  const closed = await client.call("updateCase", {
    params: { case_id: opened.case_id },
    body: { status: "CLOSED", case_version: 1 },
  });
  expect(closed).toMatchObject({ status: "CLOSED", case_version: 2 });
  expect(await client.call("getEndUserAccount", { params: { website_account_id: "a/b c+d?é" } })).toMatchObject({
    website_account_id: "a/b c+d?é",
  });
  expect(await client.call("deleteEndUserAccount", { params: { website_account_id: "a/b c+d?é" } })).toBeUndefined();
});

test("client: a rejection is thrown with its type and is not retried", async () => {
  const tenant = await TestTenant.create(service.current);
  const { baseUrl, seen } = await losingProxy(() => false);
  const refused = clientOf(tenant, baseUrl).call("getCase", { params: { case_id: randomUUID() } });
  await expect(refused).rejects.toMatchObject({ name: "ProblemError", type: "item-not-found", status: 404 });
  await expect(refused).rejects.toBeInstanceOf(ProblemError);
  expect(seen.filter((each) => each.path.includes("/cases/"))).toHaveLength(1);
});

test("client: after a lost response the call is retried under the same key, and the close is applied once", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  let losses = 0;
  const { baseUrl, seen } = await losingProxy((each) => each.method === "PUT" && losses++ < 2);
  const closed = await clientOf(tenant, baseUrl).call("updateCase", {
    params: { case_id: opened.case_id },
    body: { status: "CLOSED", case_version: 1 },
  });
  expect(closed.case_version).toBe(2);
  const keys = seen.filter((each) => each.method === "PUT").map((each) => each.key);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect((await tenant.read(opened.case_id)).case_version).toBe(2);
});

test("client: an operation that is not repeatable is sent once", async () => {
  const tenant = await TestTenant.create(service.current);
  const { baseUrl, seen } = await losingProxy((each) => each.path.endsWith("/enduseraccounts"));
  const lost = clientOf(tenant, baseUrl).call("createEndUserAccount", { body: { website_account_id: "once" } });
  await expect(lost).rejects.toBeInstanceOf(TypeError);
  expect(seen.filter((each) => each.path.endsWith("/enduseraccounts"))).toHaveLength(1);
});

test("client: an expired token is replaced once", async () => {
  const tenant = await TestTenant.create(service.current);
  const { baseUrl, seen } = await losingProxy(() => false);
  const client = clientOf(tenant, baseUrl);
  await client.call("getTenant", {});
  await service.current.issuer.rotate();
  await client.call("getTenant", {});
  expect(seen.filter((each) => each.path === "/v2/oauth/token")).toHaveLength(1);
  const stale = new CasehoundClient({ baseUrl, tenant: tenant.slug, credentials: { token: "a.b.c" } });
  await expect(stale.call("getTenant", {})).rejects.toMatchObject({ status: 401, type: "unauthorized" });
});

test("client: a response that is not JSON is reported as a wrong base address", async () => {
  const server = createServer(
    (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const client = new CasehoundClient({ baseUrl, tenant: "demo", credentials: { token: "t" } });
  await expect(client.call("getTenant", {})).rejects.toThrow(/did not return JSON: check the base address/);
});
