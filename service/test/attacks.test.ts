import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test, vi } from "vitest";
import type { Account } from "../src/domain/account.ts";
import { rawRequest, talk } from "./raw.ts";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";

// Attacks by clients that must not succeed.
const service = useService();

async function account(tenant: TestTenant, id: string): Promise<Account> {
  return (await tenant.call("GET", `/enduseraccounts/${id}`)).json.data;
}

function crmChange(tenant: TestTenant, value: string): Buffer {
  return rawRequest(tenant, { path: "/enduseraccounts/p1", body: JSON.stringify({ crm_account_id: value }) });
}

async function tenantWithAccount(): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "p1" } });
  return tenant;
}

test("pipelining: changes are applied in the order sent, so the last one wins", async () => {
  const tenant = await tenantWithAccount();
  for (let round = 0; round < 5; round++) {
    const values = Array.from({ length: 10 }, (_, index) => `${round}-${index}`);
    const { answers } = await talk(
      service.current.port,
      Buffer.concat(values.map((value) => crmChange(tenant, value))),
      values.length,
    );
    expect(answers.map((answer) => (JSON.parse(answer.text) as { data: Account }).data.crm_account_id)).toEqual(values);
    expect((await account(tenant, "p1")).crm_account_id).toBe(values.at(-1));
  }
});

test("pipelining: a client that pipelines thousands of requests behind a stream is disconnected and delays nobody", async () => {
  const tenant = await TestTenant.create(service.current);
  const { port } = service.current;
  const head = `Host: a\r\nAuthorization: Bearer ${tenant.token}\r\n\r\n`;
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {}).resume();
  socket.write(
    `GET /v2/${tenant.slug}/events/stream HTTP/1.1\r\n${head}${"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n".repeat(30_000)}`,
  );
  await closed;
  expect((await send(port, "GET", "/livez")).status).toBe(200);
  const { answers } = await talk(port, Buffer.from("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n".repeat(90)), 90);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 90 }, () => 200));
});

test("headers: every response carries X-Content-Type-Options: nosniff", async () => {
  const { port } = service.current;
  for (const path of ["/v2/x/cases", "/auth/session", "/nothing", "/livez", "/docs", "/openapi.json"]) {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test("pipelining: a change followed by CONNECT in the same write is answered first", async () => {
  const tenant = await tenantWithAccount();
  const connect = Buffer.from("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n");
  const { answers } = await talk(service.current.port, Buffer.concat([crmChange(tenant, "kept"), connect]), 2);
  expect(answers.map((answer) => answer.status)).toEqual([200, 404]);
  expect((await account(tenant, "p1")).crm_account_id).toBe("kept");
});

test("half-close: a client that ends its side after the request still gets the response", async () => {
  const tenant = await tenantWithAccount();
  for (let round = 0; round < 5; round++) {
    const { answers } = await talk(service.current.port, crmChange(tenant, `half-${round}`), 1, "half-close");
    expect(answers.map((answer) => answer.status)).toEqual([200]);
  }
});

function tokenRequest(clientId: string, clientSecret: string) {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return send(service.current.port, "POST", "/v2/oauth/token", { rawBody: form.toString(), headers });
}

test("token 429: a flood of wrong secrets is rejected, and a client with the right secret does not wait behind it", async () => {
  const tenant = await TestTenant.create(service.current);
  expect((await tokenRequest(tenant.clientId, tenant.clientSecret)).status).toBe(200);
  const flood = Promise.all(Array.from({ length: 120 }, () => tokenRequest(tenant.clientId, "wrong")));
  let isOver = false;
  void flood.then(() => (isOver = true));
  expect((await tokenRequest(tenant.clientId, tenant.clientSecret)).status).toBe(200);
  expect(isOver).toBe(false);
  const answers = await flood;
  const turnedAway = answers.filter((answer) => answer.status === 429);
  expect(answers.filter((answer) => answer.status === 401).length + turnedAway.length).toBe(answers.length);
  expect(turnedAway.length).toBeGreaterThan(0);
  for (const { headers, json } of turnedAway) {
    expect(headers.get("retry-after")).toMatch(/^[1-6]$/);
    expect(json).toMatchObject({ type: "rate-limited", status: 429, error: "temporarily_unavailable", errors: null });
  }
});

test("activities 429: large bodies beyond what the process can hold are rejected until there is room", async () => {
  const tenant = await TestTenant.create(service.current);
  const { port } = service.current;
  const attributes = { text: "x".repeat(1000) };
  const activities = Array.from({ length: 100 }, () => ({
    activity_id: randomUUID(),
    type: "page_view",
    occurred_at: new Date().toISOString(),
    attributes,
  }));
  const sendLarge = () => tenant.call("POST", "/activities", { body: { activities } });
  // One more than fits: each announces 2 MiB and sends none of it.
  const head = rawRequest(tenant, { method: "POST", path: "/activities", headers: ["Content-Length: 2097152"] });
  const announced = head.toString().replace("Content-Length: 0\r\n", "");
  const sockets = Array.from({ length: 17 }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) socket.write(announced);
  await Promise.race(sockets.map((socket) => once(socket, "data")));
  const refused = await sendLarge();
  expectProblem(refused, 429, "rate-limited");
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await tenant.call("PUT", "/enduseraccounts/nobody", { body: {} })).status).toBe(404);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () => expect((await sendLarge()).status).toBe(202));
});

test("detection: many reports of one account in a row make one case with one version, state and occurrence per report", async () => {
  const tenant = await TestTenant.create(service.current);
  const activities = Array.from({ length: 150 }, (_, index) => ({
    activity_id: `hot-${index}`,
    type: "fraud_report",
    occurred_at: new Date().toISOString(),
    website_account_id: "hot",
  }));
  await tenant.call("POST", "/activities", { body: { activities } });
  const found = await vi.waitFor(
    async () => {
      const [listed] = await tenant.list("website_account_id=hot");
      expect(listed?.case_version).toBe(activities.length);
      return tenant.read(listed?.case_id ?? "");
    },
    { timeout: 30_000 },
  );
  expect(found.state_history).toHaveLength(activities.length - 1);
  expect(Object.keys(found.fraud_occurrences)).toHaveLength(activities.length);
});

test("erasure: an account whose case was closed and reopened often is erased, and its stored replies show the pseudonym", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id } = await tenant.openCase("toggled");
  const reason = "😀".repeat(1000);
  for (let version = 1; version <= 60; version++) {
    const answer = await tenant.put(
      id,
      { status: version % 2 === 1 ? "CLOSED" : "OPEN", case_version: version, reason },
      `toggle-${version}`,
    );
    expect(answer.status).toBe(200);
  }
  expect((await tenant.call("DELETE", "/enduseraccounts/toggled")).status).toBe(204);
  const { website_account_id: pseudonym } = await tenant.read(id);
  const replay = await tenant.put(id, { status: "CLOSED", case_version: 1, reason }, "toggle-1");
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  expect(replay.json.data).toMatchObject({ website_account_id: pseudonym, case_version: 2 });
});
