import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { CasehoundClient, ProblemError } from "./index.ts";

const service = useService();
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

type Seen = { method: string; path: string; key: string | undefined };

// Stands between client and service, passes everything on, and loses the answers that it is told to lose.
async function losingProxy(isLost: (seen: Seen, count: number) => boolean): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void pass());
    async function pass(): Promise<void> {
      const key = request.headers["idempotency-key"];
      const each = { method: request.method ?? "", path: request.url ?? "", key: typeof key === "string" ? key : undefined };
      seen.push(each);
      const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
      const body = chunks.length === 0 ? null : Buffer.concat(chunks).toString();
      const answer = await fetch(`${service.current.url}${each.path}`, {
        method: each.method,
        headers: headers as Record<string, string>,
        body,
      });
      const text = await answer.text();
      if (isLost(each, seen.length)) return void request.socket.destroy();
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(text);
    }
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function clientOf(tenant: TestTenant, baseUrl = service.current.url): CasehoundClient {
  const credentials = { clientId: tenant.clientId, clientSecret: tenant.clientSecret };
  return new CasehoundClient({ baseUrl, tenant: tenant.slug, credentials });
}

test("client: gets a token by itself, lists, reads and closes", async () => {
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

test("client: a refusal is thrown with its type, and is not retried", async () => {
  const tenant = await TestTenant.create(service.current);
  const { baseUrl, seen } = await losingProxy(() => false);
  const refused = clientOf(tenant, baseUrl).call("getCase", { params: { case_id: randomUUID() } });
  await expect(refused).rejects.toMatchObject({ name: "ProblemError", type: "item-not-found", status: 404 });
  await expect(refused).rejects.toBeInstanceOf(ProblemError);
  expect(seen.filter((each) => each.path.includes("/cases/"))).toHaveLength(1);
});

test("client: a lost answer is asked for again under the same key, and the close is applied once", async () => {
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

test("client: what is not repeatable is sent once", async () => {
  const tenant = await TestTenant.create(service.current);
  const { baseUrl, seen } = await losingProxy((each) => each.path.endsWith("/enduseraccounts"));
  const lost = clientOf(tenant, baseUrl).call("createEndUserAccount", { body: { website_account_id: "once" } });
  await expect(lost).rejects.toBeInstanceOf(TypeError);
  expect(seen.filter((each) => each.path.endsWith("/enduseraccounts"))).toHaveLength(1);
});

test("client: a token that no longer counts is fetched anew, once", async () => {
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

test("client: an answer that is not JSON names the wrong base address", async () => {
  const server = createServer(
    (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const client = new CasehoundClient({ baseUrl, tenant: "demo", credentials: { token: "t" } });
  await expect(client.call("getTenant", {})).rejects.toThrow(/did not answer with JSON: is the base address right/);
});
