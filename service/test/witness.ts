import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, vi } from "vitest";
import type { Operation } from "../src/api/operation.ts";
import { problems } from "../src/api/http/problem.ts";
import type { FailureCode } from "../src/domain/failure.ts";
import type { Service } from "../src/service.ts";
import type { Options, TestTenant } from "./harness.ts";

// Runs third-party tools against our service: they share none of our mistakes.

export const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(import.meta.url);
const redoclyBin = require.resolve("@redocly/cli/bin/cli.js");
const prismBin = require.resolve("@stoplight/prism-cli/dist/index.js");
const toolTimeoutMs = 60_000;
// A tool needs a second to start, and much longer while other tests keep the machine busy.
vi.setConfig({ testTimeout: toolTimeoutMs + 10_000 });

// The caller's environment is not passed on, because a proxy set there would redirect local requests. Nothing is reported to or
// looked up on the network.
const quiet = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" };

type Holder<T> = { current: T };
type Started = { port: number; stop: () => Promise<void> };

type Outcome = { code: number | null; stdout: string; stderr: string };

// Runs at the root, where redocly.yaml is.
export async function runRedocly(args: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [redoclyBin, ...args], {
    cwd: root,
    env: { ...quiet, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: toolTimeoutMs,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

// Creates a folder with the document that the running service returns.
export function useDocument(service: Holder<Service>): Holder<{ folder: string; file: string }> {
  const holder = { current: { folder: "", file: "" } };
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "casehound-witness-"));
    holder.current = { folder, file: join(folder, "openapi.json") };
    const response = await fetch(`http://127.0.0.1:${service.current.port}/openapi.json`);
    writeFileSync(holder.current.file, await response.text());
  });
  afterAll(() => rmSync(holder.current.folder, { recursive: true, force: true }));
  return holder;
}

type Document = { paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>> };
type Described = { id: string; method: string; answers: string[] };

// The document's operations by id, with every response that it lists, as in "200" or "409 item-version-conflict".
export function readOperations(file: string): Map<string, Described> {
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as Document;
  const all = Object.values(paths).flatMap((path) =>
    Object.entries(path).map(([method, { operationId: id, responses }]) => ({
      id,
      method: method.toUpperCase(),
      answers: Object.entries(responses).flatMap(([status, response]) => namedAnswers(Number(status), response)),
    })),
  );
  return new Map(all.map((each) => [each.id, each]));
}

function namedAnswers(status: number, response: unknown): string[] {
  if (status < 400) return [String(status)];
  const schema = JSON.stringify(response);
  const types = Object.entries(problems).filter(([type, problem]) => problem.status === status && schema.includes(`"${type}"`));
  return types.map(([type]) => `${status} ${type}`);
}

// Prism between a client and the upstream. Its flag --errors is off: with it, Prism would respond to invalid requests itself, but
// the upstream's rejections are what is tested here.
export function usePrism(document: Holder<{ file: string }>, upstream: () => number): Holder<Started> {
  const holder: Holder<Started> = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await startPrism(document.current.file, upstream());
  });
  afterAll(() => holder.current.stop());
  return holder;
}

async function startPrism(file: string, upstreamPort: number): Promise<Started> {
  const args = [prismBin, "proxy", file, `http://127.0.0.1:${upstreamPort}`, "--port", "0"];
  const child = spawn(process.execPath, args, { env: quiet, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async () => {
    process.off("exit", kill);
    kill();
    await ended;
  };
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (chunk: Buffer) => {
      // Only the beginning matters. The rest is read so that Prism never blocks on its output.
      if (said.length > 100_000) return;
      said += chunk.toString();
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve({ port: Number(port), stop });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("close", () => reject(new Error(`Prism ended: ${said}`)));
  });
}

export type Exchange = {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
};

// A proxy in front of the service that changes its responses: the planted bug that a tool must detect.
export async function startTampering(servicePort: number, tamper: (exchange: Exchange) => Partial<Exchange>): Promise<Started> {
  const server = createServer((incoming, outgoing) => {
    const { method = "", url: path = "", headers } = incoming;
    const upstream = httpRequest({ host: "127.0.0.1", port: servicePort, method, path, headers }, async (reply) => {
      const { "content-length": _length, connection: _connection, ...kept } = reply.headers;
      const given = { method, path, status: reply.statusCode ?? 0, headers: kept, body: await text(reply) };
      const told = { ...given, ...tamper(given) };
      outgoing.writeHead(told.status, told.headers).end(told.body);
    });
    upstream.on("error", () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  // A TCP server's address is never a string.
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port, stop };
}

export type Answer = { status: number; headers: Headers; text: string };
// One request and the response it must get. `type` is the problem's type and is absent on success.
export type Sample = {
  path: string;
  slug?: string;
  options?: Options;
  status: number;
  type?: FailureCode;
  around?: (ask: () => Promise<Answer>) => Promise<Answer>;
};

// The rejections that the contract has in common, made from the operation and one request that succeeds.
export async function refusals(operation: Operation, valid: Sample, tenant: TestTenant): Promise<Sample[]> {
  const { options = {} } = valid;
  const { key: _key, ...keyless } = options;
  const { headers: _headers, ...withoutCookie } = options;
  const body: Record<string, unknown> = { ...(options.body as object | undefined) };
  const refuse = (type: FailureCode, changed: Partial<Sample>) => ({ ...valid, ...changed, status: problems[type].status, type });
  const withBody = (type: FailureCode, changed: Options) => refuse(type, { options: { ...options, ...changed } });
  const lastSegment = /[^/]+$/;
  const made = [
    refuse("unauthorized", { options: { ...withoutCookie, token: null } }),
    refuse("unauthorized", { options: { ...options, token: "no.such.token" } }),
    refuse("access-denied", { options: { ...options, token: await tenant.mint([]) } }),
    refuse("access-denied", { slug: "another-tenant" }),
  ];
  if (operation.path.endsWith("}")) {
    made.push(refuse("item-not-found", { path: valid.path.replace(lastSegment, randomUUID()) }));
    made.push(refuse("bad-request", { path: valid.path.replace(lastSegment, "%00") }));
  }
  const [parameter] = Object.keys(operation.query?.properties ?? {});
  if (parameter !== undefined) made.push(refuse("bad-request", { path: `${operation.path}?${parameter}=` }));
  if (operation.wantsKey) made.push(refuse("invalid-operation-id", { options: keyless }));
  if (operation.precondition) {
    const { [operation.precondition]: _missing, ...rest } = body;
    made.push(withBody("precondition-required", { body: rest }));
  }
  // A change that needs no body rejects one that is too large.
  if (!operation.body && operation.method !== "GET")
    made.push(withBody("payload-too-large", { body: { padding: "x".repeat(64 * 1024) } }));
  if (!operation.body) return made;
  if (!operation.isBodyOptional) made.push(withBody("bad-request", { body: undefined, rawBody: "" }));
  const padding = "x".repeat(operation.bodyBytesMax ?? 64 * 1024);
  return [
    ...made,
    // SCIM ignores members that it does not know.
    operation.isScim === true
      ? withBody("validation-error", { body: undefined, rawBody: "[]" })
      : withBody("validation-error", { body: { ...body, planted: true } }),
    withBody("payload-too-large", { body: { ...body, padding } }),
    withBody("unsupported-media-type", { headers: { ...options.headers, "content-type": "text/plain" } }),
  ];
}

// Without parameters or a required body, a bad request can only be a framing fault. A tenant that is not found has no client that
// could ask.
export const alsoUnprovokable: Record<string, FailureCode[]> = {
  getTenant: ["bad-request", "item-not-found"],
  updateTenant: ["item-not-found"],
  getSnippet: ["bad-request", "item-not-found"],
  collectEvents: ["bad-request"],
  getTag: ["bad-request"],
  rotateAuthSecret: ["bad-request", "item-not-found"],
  getIdentity: ["bad-request", "item-not-found"],
  createIdentitySecret: ["bad-request", "item-not-found"],
  listRoles: ["bad-request"],
  listSignInIssuers: ["bad-request"],
  getProvisioning: ["bad-request"],
  listScimTokens: ["bad-request"],
  getScimConfig: ["bad-request"],
  listScimResourceTypes: ["bad-request"],
  listScimSchemas: ["bad-request"],
  listRules: ["bad-request"],
  listLists: ["bad-request"],
  getDispositions: ["bad-request"],
  getReasonTemplates: ["bad-request"],
  getApprovalSettings: ["bad-request"],
  getNotifications: ["bad-request"],
  testNotifications: ["bad-request"],
  listViews: ["bad-request"],
  getViewCounts: ["bad-request"],
  getPolicy: ["bad-request"],
  listPolicyVersions: ["bad-request"],
  listFeatures: ["bad-request"],
  getCaseCounts: ["bad-request"],
  listBacktests: ["bad-request"],
  listModels: ["bad-request"],
  getRandomChecks: ["bad-request"],
  getImport: ["bad-request"],
  startImport: ["bad-request"],
  listUsers: ["bad-request"],
  listColleagues: ["bad-request"],
  getUnreadCount: ["bad-request"],
  getDueTimes: ["bad-request"],
  listClients: ["bad-request"],
  listWebhooks: ["bad-request"],
  getKeys: ["bad-request"],
  getOpenapi: ["bad-request"],
  getDocs: ["bad-request"],
  getDocsPage: ["bad-request"],
  getLiveness: ["bad-request"],
  getReadiness: ["bad-request"],
};
