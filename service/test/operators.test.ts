import { randomUUID } from "node:crypto";
import { beforeAll, expect, test, vi } from "vitest";
import { operations } from "../src/api/operations.ts";
import { problems } from "../src/api/http/problem.ts";
import { newDatabase, send, sendRaw } from "./harness.ts";
import { freePort, listenersOf, type ServiceProcess } from "./launch.ts";
import { Caller, cleanExit, eventually, useProcesses } from "./process.ts";
import { credentials, startWatched } from "./watched.ts";

vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let service: ServiceProcess;
let metricsPort: number;
let databaseUrl: string;
let caller: Caller;

beforeAll(async () => {
  databaseUrl = await newDatabase();
  metricsPort = await freePort();
  service = await startWatched(processes.start, databaseUrl, { METRICS_PORT: String(metricsPort) });
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
  const quiet = await startWatched(processes.start, databaseUrl, { METRICS_PORT: "off" });
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
