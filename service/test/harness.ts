import { randomUUID } from "node:crypto";
import type { Problem } from "@casehound/client";
import { afterAll, beforeAll, expect, inject, vi } from "vitest";
import { readConfig, type Config } from "../src/config.ts";
import type { Case } from "../src/domain/case.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { scopes } from "../src/domain/scope.ts";
import { clock } from "../src/clock.ts";
import { Database } from "../src/db/postgres/database.ts";
import type { Detector } from "../src/engine/detect.ts";
import { Enrichment } from "../src/engine/enrichment.ts";
import { RuleSets } from "../src/engine/rule-sets.ts";
import { startService, type Service } from "../src/service.ts";
import { createTenant } from "../src/tenancy.ts";
import { clusterDatabaseName, createDistributedDatabase } from "./citus.ts";
import { changeUrl, connectTo, createDatabase } from "./launch.ts";
import { send, sendRaw, type Answer, type Options, type RawAnswer } from "./send.ts";

export { send, sendRaw };
export type { Answer, Options, Problem, RawAnswer };

export function testConfig(overrides: Partial<Config> = {}): Config {
  return { ...readConfig({}), databaseUrl: inject("databaseUrl"), port: 0, metricsPort: null, logLevel: "silent", ...overrides };
}

// The services that files share. Files of one worker share its modules, so this map lives as long as the worker.
const shared = new Map<string, Promise<Service>>();

// Gives the tests of a file a service on the run's database. Files that need no settings of their own share one service per worker,
// or one without an engine. Another service starts for the file and stops after it.
export function useService(overrides: Partial<Config> = {}): { current: Service } {
  const holder: { current: Service } = { current: undefined as never };
  const key = sharedKey(overrides);
  beforeAll(async () => {
    holder.current = await (key === null ? startService(testConfig(overrides)) : sharedService(key, overrides));
  });
  afterAll(() => (key === null ? holder.current.stop() : undefined));
  return holder;
}

function sharedKey({ roles, ...others }: Partial<Config>): string | null {
  return Object.keys(others).length > 0 ? null : [...(roles ?? [])].join(" ");
}

function sharedService(key: string, overrides: Partial<Config>): Promise<Service> {
  const started = shared.get(key) ?? startService(testConfig(overrides));
  shared.set(key, started);
  return started;
}

// Creates a migrated database, for tests that would meet the rows or the engines of others in the run's database.
export function newDatabase(): Promise<string> {
  const citusUrl = inject("citusUrl");
  if (citusUrl !== null) return createDistributedDatabase(citusUrl);
  return createDatabase(inject("databaseUrl"), "", inject("template"));
}

export function openDatabase(connectionString: string): Database {
  const database = new Database({ connectionString });
  if (inject("citusUrl") !== null) database.useCluster();
  return database;
}

// Creates a migrated database for one file, under a name. Call it before the services that use the database.
export function useOwnDatabase(name: string): string {
  const citusUrl = inject("citusUrl");
  if (citusUrl !== null) {
    const own = clusterDatabaseName(name);
    beforeAll(() => createDistributedDatabase(citusUrl, { name: own }));
    return changeUrl(citusUrl, { database: own });
  }
  beforeAll(async () => {
    const client = await connectTo({ connectionString: inject("databaseUrl") });
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name} template ${inject("template")}`);
    await client.end();
  });
  return changeUrl(inject("databaseUrl"), { database: name });
}

// Lists the connections that wait for the one that asks, directly or indirectly.
export function waitingText(): string {
  if (inject("citusUrl") === null)
    return `
      with recursive waiting (pid) as (
        select pg_backend_pid()
        union
        select l.pid from waiting as w join pg_locks as l on not l.granted and w.pid = any(pg_blocking_pids(l.pid))
      )
      select pid from waiting where pid <> pg_backend_pid()`;
  return `
    with recursive waiting (gpid) as (
      select citus_backend_gpid()
      union
      select l.waiting_gpid from waiting as w join citus_lock_waits as l on l.blocking_gpid = w.gpid
    )
    select gpid from waiting where gpid <> citus_backend_gpid()`;
}

// An engine's parts, which the test runs itself.
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

  // Makes a call below /v2/{slug}. Any response must be JSON.
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

  // Reports fraud for a new account and waits for the engine.
  async openCase(account = `account-${randomUUID()}`): Promise<Case> {
    await this.report(account);
    return this.#opened(account);
  }

  // The same for a device without an account.
  async openDeviceCase(device_id: string): Promise<Case> {
    await this.report(undefined, { device_id });
    return this.#opened("UNKNOWN");
  }

  #opened(account: string): Promise<Case> {
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

// Expects a rejection, and returns its complete problem.
export function expectProblem(
  answer: { status: number; text: string; headers: Headers | Record<string, string> },
  status: number,
  type: string,
): Problem {
  expect(answer.text, `expected ${status} ${type}`).toContain(`"type":"${type}"`);
  expect(answer.status).toBe(status);
  const contentType = answer.headers instanceof Headers ? answer.headers.get("content-type") : answer.headers["content-type"];
  const problem = JSON.parse(answer.text) as Problem;
  // An error of SCIM writes its status as a text.
  const isScim = contentType === "application/scim+json" && answer.text.includes("urn:ietf:params:scim:api:messages:2.0:Error");
  if (isScim) Object.assign(problem, { status: Number.parseInt(`${problem.status}`, 10) });
  else expect(contentType).toBe("application/problem+json");
  expect(problem).toMatchObject({ status, type, title: expect.any(String), detail: expect.any(String) });
  expect(Array.isArray(problem.errors)).toBe(type === "validation-error");
  expect(problem.current_version !== undefined).toBe(type === "item-version-conflict");
  return problem;
}
