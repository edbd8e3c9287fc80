import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import type { Problem } from "@casehound/client";
import { afterAll, beforeAll, expect, inject, vi } from "vitest";
import { readConfig, type Config } from "../src/config.ts";
import type { Case, CaseListItem } from "../src/domain/case.ts";
import { scopes } from "../src/domain/scope.ts";
import { clock } from "../src/clock.ts";
import type { Database } from "../src/db/database.ts";
import type { Detector } from "../src/engine/detect.ts";
import { Enrichment } from "../src/engine/enrichment.ts";
import { RuleSets } from "../src/engine/rule-sets.ts";
import { startService, type Service } from "../src/service.ts";
import { createTenant } from "../src/tenancy.ts";

export type Answer = { status: number; headers: Headers; text: string; json: Problem & { data: never } };
export type { Problem };
export type Options = {
  body?: unknown;
  rawBody?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  token?: string | null;
  key?: string;
};

export function testConfig(overrides: Partial<Config> = {}): Config {
  return { ...readConfig({}), databaseUrl: inject("databaseUrl"), port: 0, metricsPort: null, logLevel: "silent", ...overrides };
}

// A running service for the tests of a file, on a port of its own and on the run's database.
export function useService(overrides: Partial<Config> = {}): { current: Service } {
  const holder: { current: Service } = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await startService(testConfig(overrides));
  });
  afterAll(() => holder.current.stop());
  return holder;
}

// An engine's own parts, to be run by hand.
export function newDetector(database: Database, more: Partial<Detector> = {}): Detector {
  const ruleSets = new RuleSets((rule, fault) => {
    throw new Error(`the rule ${rule.rule_id} does not compile`, { cause: fault });
  });
  return { database, clock, enrichment: new Enrichment([]), ruleSets, ...more };
}

export class TestTenant {
  readonly service: Service;
  readonly slug: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  token = "";

  private constructor(service: Service, made: { tenant: string; tenant_id: string; client_id: string; client_secret: string }) {
    this.service = service;
    this.slug = made.tenant;
    this.tenantId = made.tenant_id;
    this.clientId = made.client_id;
    this.clientSecret = made.client_secret;
  }

  static async create(service: Service): Promise<TestTenant> {
    return TestTenant.of(service, await createTenant(service.database, { slug: `t-${randomUUID()}` }, clock));
  }

  static async of(service: Service, made: Awaited<ReturnType<typeof createTenant>>): Promise<TestTenant> {
    const tenant = new TestTenant(service, made);
    tenant.token = await tenant.mint();
    return tenant;
  }

  mint(granted: readonly string[] = scopes, expiresInSeconds = 3600): Promise<string> {
    return this.service.issuer.mint({
      clientId: this.clientId,
      tenantId: this.tenantId,
      slug: this.slug,
      scope: granted.join(" "),
      expiresInSeconds,
    });
  }

  // A call below /v2/{slug}. Whatever it answers, it must be JSON.
  async call(method: string, path: string, options: Options = {}): Promise<Answer> {
    return send(this.service.port, method, `/v2/${this.slug}${path}`, { token: this.token, ...options });
  }

  async report(account: string | undefined, more: Record<string, unknown> = {}): Promise<string> {
    const id = `report-${randomUUID()}`;
    const activity = {
      activity_id: id,
      type: "fraud_report",
      occurred_at: new Date().toISOString(),
      ...(account !== undefined && { website_account_id: account }),
      ...more,
    };
    const answer = await this.call("POST", "/activities", { body: { activities: [activity] } });
    expect(answer.status, answer.text).toBe(202);
    return id;
  }

  // Reports fraud for a fresh account and waits for the engine.
  async openCase(account = `account-${randomUUID()}`): Promise<Case> {
    await this.report(account);
    return vi.waitFor(
      async () => {
        const [listed] = await this.list(`website_account_id=${encodeURIComponent(account)}&status=OPEN`);
        expect(listed).toBeDefined();
        return this.read(listed?.case_id ?? "");
      },
      { timeout: 15_000, interval: 30 },
    );
  }

  async list(query = ""): Promise<CaseListItem[]> {
    const answer = await this.call("GET", `/cases?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return (answer.json.data as { cases: CaseListItem[] }).cases;
  }

  async read(caseId: string): Promise<Case> {
    const answer = await this.call("GET", `/cases/${caseId}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.json.data;
  }

  put(caseId: string, body: unknown, key: string = randomUUID(), more: Options = {}): Promise<Answer> {
    return this.call("PUT", `/cases/${caseId}`, { body, key, ...more });
  }
}

export async function send(port: number, method: string, path: string, options: Options = {}): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (typeof options.token === "string") headers["authorization"] = `Bearer ${options.token}`;
  if (options.body !== undefined || options.rawBody !== undefined) headers["content-type"] = "application/json";
  if (options.key !== undefined) headers["idempotency-key"] = options.key;
  const body = options.rawBody ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, ...options.headers },
    body,
    redirect: "manual",
  });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const text = isStream ? await firstText(response) : await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: response.status === 204 || isStream ? (undefined as never) : JSON.parse(text),
  };
}

// A stream goes on for ever: its beginning is all of an answer that a call can wait for.
async function firstText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

export type RawAnswer = { status: number; headers: Record<string, string>; text: string };

// The very bytes, for what no HTTP client would send. The connection is closed by us only when the answer is complete.
export function sendRaw(port: number, request: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.setTimeout(10_000, () => socket.destroy(new Error("no answer in 10 s")));
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const answer = parseRaw(Buffer.concat(chunks));
      if (answer) socket.end(() => resolve(answer));
    });
    socket.on("close", () => reject(new Error(`closed after: ${Buffer.concat(chunks).toString()}`)));
    socket.write(request);
  });
}

function parseRaw(bytes: Buffer): RawAnswer | null {
  const split = bytes.indexOf("\r\n\r\n");
  if (split === -1) return null;
  const [first = "", ...lines] = bytes.subarray(0, split).toString("latin1").split("\r\n");
  const status = Number(first.split(" ")[1]);
  if (status === 100) return parseRaw(bytes.subarray(split + 4));
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = bytes.subarray(split + 4);
  return body.length < Number(headers["content-length"] ?? 0) ? null : { status, headers, text: body.toString() };
}

// For a refusal: its problem, whole.
export function expectProblem(
  answer: { status: number; text: string; headers: Headers | Record<string, string> },
  status: number,
  type: string,
): Problem {
  expect(answer.text, `expected ${status} ${type}`).toContain(`"type":"${type}"`);
  expect(answer.status).toBe(status);
  const contentType = answer.headers instanceof Headers ? answer.headers.get("content-type") : answer.headers["content-type"];
  expect(contentType).toBe("application/problem+json");
  const problem = JSON.parse(answer.text) as Problem;
  expect(problem).toMatchObject({ status, type, title: expect.any(String), detail: expect.any(String) });
  expect(Array.isArray(problem.errors)).toBe(type === "validation-error");
  expect(problem.current_version !== undefined).toBe(type === "item-version-conflict");
  return problem;
}
