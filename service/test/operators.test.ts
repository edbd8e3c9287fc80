import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, expect, inject, test, vi } from "vitest";
import { operations } from "../src/api/operations.ts";
import { problems } from "../src/api/http/problem.ts";
import { send, sendRaw, type Options } from "./harness.ts";
import { connectTo, createDatabase, freePort, listenersOf, type ServiceProcess } from "./launch.ts";
import { Caller, cleanExit, eventually, useProcesses } from "./process.ts";

vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const credentials = { tenant: "watched", client_id: "watched-client", client_secret: `secret-${randomUUID()}` };

let service: ServiceProcess;
let metricsPort: number;
let databaseUrl: string;
let caller: Caller;

async function startWatched(more: Record<string, string>): Promise<ServiceProcess> {
  return processes.start({
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: "debug",
    BOOTSTRAP_TENANT: credentials.tenant,
    BOOTSTRAP_CLIENT_ID: credentials.client_id,
    BOOTSTRAP_CLIENT_SECRET: credentials.client_secret,
    ...more,
  });
}

beforeAll(async () => {
  databaseUrl = await createDatabase(inject("databaseUrl"));
  metricsPort = await freePort();
  service = await startWatched({ METRICS_PORT: String(metricsPort) });
  caller = await Caller.signIn(service.port, credentials);
});

function readMetrics(): Promise<string> {
  return fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((response) => response.text());
}

function onLoopback(...ports: number[]): string[] {
  return ports.map((port) => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`).toSorted();
}

test.each([
  ["/livez", { status: "ok" }],
  ["/readyz", { status: "ready", database: "ok", address_data: [] }],
])("GET %s 200: returns JSON without a token", async (path, body) => {
  const answer = await send(service.port, "GET", path);
  expect({ status: answer.status, type: answer.headers.get("content-type"), body: answer.json }).toEqual({
    status: 200,
    type: "application/json",
    body,
  });
});

test("GET metrics 200: Prometheus text with a request histogram and case counters, on loopback only", async () => {
  const opened = await caller.openCase(`metered-${randomUUID()}`);
  await caller.report(opened.website_account_id);
  expect((await caller.call("GET", `/cases/${opened.case_id}`)).status).toBe(200);
  expect((await caller.call("GET", "/cases/none")).status).toBe(404);
  const text = await eventually(async () => {
    const now = await readMetrics();
    expect(now).toMatch(/^casehound_case_changes_total\{change="joined"\} [1-9]/m);
    return now;
  });
  expect(text).toMatch(/^casehound_case_changes_total\{change="opened"\} [1-9]/m);
  expect(text).toMatch(/^casehound_activities_scored_total [1-9]/m);
  expect(text).toMatch(/^# TYPE casehound_http_request_seconds histogram$/m);
  expect(text).toMatch(
    /^casehound_http_request_seconds_bucket\{le="0.25",operation="getCase",method="GET",status="200"\} [1-9]/m,
  );
  expect(text).toMatch(/^casehound_http_request_seconds_count\{operation="getCase",method="GET",status="404"\} [1-9]/m);
  expect(text).not.toContain(opened.website_account_id);
  expect(listenersOf(service.pid).toSorted()).toEqual(onLoopback(service.port, metricsPort));
  const elsewhere = await fetch(`http://127.0.0.1:${metricsPort}/`);
  expect(await elsewhere.json()).toMatchObject({ type: "item-not-found", status: 404 });
});

test("METRICS_PORT=off: there is no metrics port", async () => {
  const quiet = await startWatched({ METRICS_PORT: "off" });
  expect(listenersOf(quiet.pid)).toEqual(onLoopback(quiet.port));
  expect(await quiet.stop()).toEqual(cleanExit);
});

type Document = {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
};

async function readDocument(): Promise<{ document: Document; text: string }> {
  const answer = await send(service.port, "GET", "/openapi.json");
  expect(answer.headers.get("content-type")).toBe("application/json");
  return { document: JSON.parse(answer.text) as Document, text: answer.text };
}

test("GET openapi.json 200: OpenAPI 3.1 with unique operation ids and references that all resolve", async () => {
  const { document, text } = await readDocument();
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((each) => each.operationId));
  expect(ids).toEqual([...new Set(ids)]);
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(references.length).toBeGreaterThan(0);
  const find = (pointer: string) => pointer.split("/").reduce<unknown>((at, name) => Reflect.get(Object(at), name), document);
  expect(references.filter((reference) => find(reference) === undefined)).toEqual([]);
});

test.each(operations)("GET openapi.json 200: lists $id with every status that it can return", async (operation) => {
  const { document } = await readDocument();
  const described = document.paths[`/v2/{tenant_slug}${operation.path}`]?.[operation.method.toLowerCase()];
  expect(described?.operationId).toBe(operation.id);
  const body = operation.body ? [413, 415, 422] : [];
  const own = operation.problems.map((code) => problems[code].status);
  const wanted = [operation.success.status, 400, 401, 403, 431, 500, 502, 503, ...body, ...own].map(String);
  expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining(wanted));
});

test("GET docs/api 200: a page with every operation, no inline script, and no URLs but our own", async () => {
  const base = `http://127.0.0.1:${service.port}`;
  const response = await fetch(`${base}/docs/api`);
  const page = await response.text();
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  expect(page).toMatch(/^<!doctype html>/);
  expect(operations.filter((operation) => !page.includes(`/v2/{tenant_slug}${operation.path}<`))).toEqual([]);
  expect(page.match(/<script[^>]*>|<link[^>]*>/g)).toEqual([
    '<link rel="stylesheet" href="style.css">',
    '<script defer src="search.js">',
  ]);
  expect(page).not.toMatch(/<iframe|<img|<object|\son\w+\s*=|javascript:|@import|url\(/i);
  // Hosts below .example are only shown.
  const addresses = [...page.matchAll(/(?:https?:|["'=])\/\/[^\s"'<>&)]+/g)].map(([address]) => address);
  expect(addresses.filter((address) => !address.startsWith(base) && !/^https?:\/\/[\w.-]+\.example\b/.test(address))).toEqual([]);
});

test.each(["a", "0b1c.2d-3_E", "x".repeat(64)])("X-Request-Id %s: returned and logged", async (id) => {
  const answer = await send(service.port, "GET", "/livez", { headers: { "x-request-id": id } });
  expect(answer.headers.get("x-request-id")).toBe(id);
  await eventually(() => expect(service.log).toContainEqual(expect.objectContaining({ request_id: id, status: 200 })));
});

test.each(["", "x".repeat(65), "a b", "a/b", "é", '"a"', "a,b", "${jndi}"])(
  "X-Request-Id '%s': replaced, also in the log",
  async (id) => {
    const answer = await send(service.port, "GET", "/v2/nowhere", { headers: { "x-request-id": id } });
    const given = answer.headers.get("x-request-id");
    expect(given).toMatch(uuid);
    await eventually(() => expect(service.log).toContainEqual(expect.objectContaining({ request_id: given, status: 404 })));
  },
);

test("X-Request-Id twice: replaced", async () => {
  const answer = await sendRaw(
    service.port,
    "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n",
  );
  expect(answer.headers["x-request-id"]).toMatch(uuid);
});

// Distinctive, and valid as an id, a key, a note or a word of a body.
const mark = `mark${randomBytes(8).toString("hex")}`;

// Calls every operation correctly, with the mark in every input.
async function callAll(): Promise<string[]> {
  const account = `${mark}-account`;
  const open = await caller.openCase(account);
  const key = `${mark}-key`;
  await caller.report(`${mark}-other`, { note: `${mark} note`, label: mark });
  const created = { website_account_id: `${mark}-new`, crm_account_id: `${mark}-crm`, is_blocked: true };
  const close = { status: "CLOSED", case_version: 1, reason: `${mark} reason` };
  const calls: [string, string, Options, number][] = [
    ["GET", `/cases?website_account_id=${account}&cursor=${mark}`, {}, 400],
    ["GET", `/cases?website_account_id=${account}`, {}, 200],
    ["GET", `/cases/${open.case_id}`, {}, 200],
    ["PUT", `/cases/${open.case_id}`, { body: close, key }, 200],
    ["PUT", `/cases/${open.case_id}`, { body: { ...close, case_version: 9 }, key }, 409],
    ["POST", "/cases/close", { body: { cases: [{ case_id: mark, case_version: 1 }], reason: mark }, key: `${key}-2` }, 200],
    ["POST", "/enduseraccounts", { body: created }, 201],
    ["POST", "/enduseraccounts", { body: created }, 409],
    ["GET", `/enduseraccounts?crm_account_id=${mark}-crm`, {}, 200],
    ["GET", `/enduseraccounts/${mark}-new`, {}, 200],
    ["PUT", `/enduseraccounts/${mark}-new`, { body: { crm_account_id: `${mark}-crm-2` } }, 200],
    ["PUT", `/enduseraccounts/${mark}-new`, { rawBody: `{"crm_account_id": ${mark}` }, 400],
    ["DELETE", `/enduseraccounts/${mark}-new`, {}, 204],
    ["GET", "/tenants", {}, 200],
    ["POST", "/tenants/rotate-auth-secret", {}, 200],
  ];
  const secrets: string[] = [];
  for (const [method, path, options, status] of calls) {
    const answer = await caller.call(method, path, options);
    expect({ path, status: answer.status }).toEqual({ path, status });
    const { client_secret } = (answer.status === 204 ? {} : (answer.json.data ?? {})) as { client_secret?: string };
    if (client_secret !== undefined) secrets.push(client_secret);
  }
  return secrets;
}

// Calls every operation in the table, including future ones, with the mark where it does not belong, and also requests paths that
// match no operation.
async function misuseAll(): Promise<void> {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  for (const { method, path } of operations) {
    const marked = path.replaceAll(/\{\w+\}/g, mark);
    const body = method === "GET" || method === "DELETE" ? {} : { body: { [mark]: mark } };
    await caller.call(method, `${marked}?limit=${mark}&${mark}=1`, { ...body, key: mark });
    await caller.call(method, marked, { ...body, token: `${mark}.${mark}.${mark}` });
  }
  await send(service.port, "POST", "/v2/oauth/token", {
    headers: form,
    rawBody: `grant_type=client_credentials&client_id=${mark}&client_secret=${mark}`,
  });
  await send(service.port, "POST", "/v2/oauth/token", {
    headers: { ...form, authorization: `Basic ${btoa(`${credentials.client_id}:${mark}`)}` },
    rawBody: `grant_type=${mark}`,
  });
  await send(service.port, "GET", `/v2/${mark}/cases?token=${mark}`, {
    headers: { "x-request-id": `${mark}!`, "user-agent": mark, referer: mark },
  });
  await send(service.port, mark.slice(0, 4).toUpperCase(), `/${mark}`);
  await sendRaw(service.port, `GET /livez HTTP/1.1\r\n${mark}\r\n\r\n`);
}

// PostgreSQL includes a row's values in the error when it rejects the row.
async function breakDatabase(): Promise<void> {
  const client = await connectTo({ connectionString: databaseUrl });
  await client.query(`alter table accounts add constraint broken check (crm_account_id not like '${mark}%') not valid`);
  await client.query(`alter table cases add constraint broken check (website_account_id not like '${mark}-late%') not valid`);
  const body = { website_account_id: `${mark}-500`, crm_account_id: `${mark}-500` };
  expect((await caller.call("POST", "/enduseraccounts", { body })).status).toBe(500);
  await caller.report(`${mark}-late`);
  await eventually(() =>
    expect(service.log).toContainEqual(expect.objectContaining({ level: "error", msg: expect.stringContaining("engine") })),
  );
  await client.query("alter table cases drop constraint broken");
  await eventually(async () => expect(await caller.findCase(`${mark}-late`)).toBeDefined());
  await client.end();
}

test("log: each line is one JSON object with the caller and the outcome, and nothing of what was sent", async () => {
  const secrets = await callAll();
  await misuseAll();
  await breakDatabase();
  expect(await service.stop()).toEqual(cleanExit);
  const requests = service.log.filter((line) => line["request_id"] !== undefined);
  for (const line of requests)
    expect(line).toMatchObject({ operation: expect.any(String), method: expect.any(String), status: expect.any(Number) });
  const closed = requests.filter((line) => line["operation"] === "updateCase" && line["status"] === 200);
  expect(closed).toEqual([
    expect.objectContaining({ level: "info", tenant: credentials.tenant, actor: credentials.client_id, method: "PUT" }),
  ]);
  expect(requests).toContainEqual(expect.objectContaining({ level: "error", operation: "createEndUserAccount", status: 500 }));
  const seen = operations.filter(
    ({ id }) => !requests.some((line) => line["operation"] === id && line["tenant"] === credentials.tenant),
  );
  expect(seen.map(({ id }) => id)).toEqual([]);
  const signature = caller.token.split(".")[2] ?? "";
  for (const hidden of [mark, signature, credentials.client_secret, ...secrets]) {
    expect(service.stderr.split("\n").filter((line) => line.includes(hidden))).toEqual([]);
    expect(service.stdout).not.toContain(hidden);
  }
});
