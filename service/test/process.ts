import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { clock } from "../src/clock.ts";
import type { Config } from "../src/config.ts";
import { Database } from "../src/db/postgres/database.ts";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { openLog } from "../src/log.ts";
import { startService, type Service, type World } from "../src/service.ts";
import { newDatabase, send, testConfig, type Answer, type Options } from "./harness.ts";
import {
  ServiceProcess,
  createDatabase,
  killHard,
  processesOf,
  type Credentials,
  type Environment,
  type Exit,
} from "./launch.ts";

export const cleanExit: Exit = { code: 0, signal: null };

// Waits for what another process does in its own time.
export function eventually<T>(check: () => T | Promise<T>, timeout = 60_000): Promise<T> {
  return vi.waitFor(check, { timeout, interval: 20 });
}

// Folders and processes of a test file. None of them outlives the file, whatever fails.
export function useProcesses() {
  const launched: ServiceProcess[] = [];
  const folders: string[] = [];
  afterAll(async () => {
    for (const each of launched) each.signal("SIGKILL");
    for (const pid of folders.flatMap(processesOf)) killHard(pid);
    await eventually(() => expect(folders.flatMap(processesOf)).toEqual([]));
    await Promise.all(launched.map((each) => each.exited));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  const launch = (env: Environment, command?: string[]): ServiceProcess => {
    const service = new ServiceProcess(env, command);
    launched.push(service);
    return service;
  };
  return {
    folder: (): string => {
      const made = mkdtempSync(join(tmpdir(), "casehound-process-"));
      folders.push(made);
      return made;
    },
    launch,
    start: (env: Environment, command?: string[]): Promise<ServiceProcess> => launch(env, command).up(),
  };
}

// A PostgreSQL of the file's own, for tests that must not disturb other files.
export function useServer(folder: () => string): { newDatabase: (options?: string) => Promise<string> } {
  let server: EmbeddedPostgres | null = null;
  beforeAll(async () => {
    server = await EmbeddedPostgres.forService(folder());
  });
  afterAll(() => server?.stop());
  const url = () => `postgresql://casehound@/postgres?host=${encodeURIComponent(server?.address.host ?? "")}`;
  return { newDatabase: (options) => createDatabase(url(), options) };
}

// Starts a service for the tests of a file on its own database, where no engine of another file scores.
export function useOwnService(overrides: Partial<Config>, world: Partial<World> = {}): { current: Service } {
  const holder: { current: Service } = { current: undefined as never };
  beforeAll(async () => {
    const config = testConfig({ databaseUrl: await newDatabase(), ...overrides });
    holder.current = await startService(config, openLog("silent"), { clock, ...world });
  });
  afterAll(() => holder.current.stop());
  return holder;
}

// Closes what the tests of a file open when the file ends.
export function useOpened() {
  const opened: { end: () => Promise<void> }[] = [];
  afterAll(() => Promise.all(opened.map((each) => each.end())));
  const keep = <T extends { end: () => Promise<void> }>(each: T): T => {
    opened.push(each);
    return each;
  };
  return { keep, database: (connectionString: string): Database => keep(new Database({ connectionString })) };
}

// A client of a running service, with a token obtained as customers do.
export class Caller {
  readonly #port: number;
  readonly #tenant: string;
  readonly token: string;

  private constructor(port: number, tenant: string, token: string) {
    this.#port = port;
    this.#tenant = tenant;
    this.token = token;
  }

  static async signIn(port: number, { tenant, client_id, client_secret }: Credentials): Promise<Caller> {
    const rawBody = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await send(port, "POST", "/v2/oauth/token", { rawBody, headers });
    expect(answer.status, answer.text).toBe(200);
    return new Caller(port, tenant, (JSON.parse(answer.text) as { access_token: string }).access_token);
  }

  call(method: string, path: string, options: Options = {}): Promise<Answer> {
    return send(this.#port, method, `/v2/${this.#tenant}${path}`, { token: this.token, ...options });
  }

  async report(account: string, attributes: Record<string, string> = {}): Promise<void> {
    const occurred_at = new Date().toISOString();
    const activity = { activity_id: randomUUID(), type: "fraud_report", occurred_at, website_account_id: account, attributes };
    const answer = await this.call("POST", "/activities", { body: { activities: [activity] } });
    expect(answer.status, answer.text).toBe(202);
  }

  async findCase(account: string): Promise<CaseListItem | undefined> {
    const answer = await this.call("GET", `/cases?website_account_id=${account}`);
    expect(answer.status, answer.text).toBe(200);
    return (answer.json.data as { cases: CaseListItem[] }).cases[0];
  }

  async openCase(account: string): Promise<CaseListItem> {
    await this.report(account);
    return eventually(async () => {
      const found = await this.findCase(account);
      if (!found) throw new Error(`no case of ${account} yet`);
      return found;
    });
  }
}
