import { spawn, type ChildProcess } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, type ClientConfig } from "pg";
import { afterAll, beforeAll, expect, inject, vi } from "vitest";
import type { Config } from "../src/config.ts";
import { EmbeddedPostgres } from "../src/db/embedded.ts";
import type { CaseListItem } from "../src/domain/case.ts";
import { startService, type Service } from "../src/service.ts";
import { send, testConfig, type Answer, type Options } from "./harness.ts";

export type Environment = Record<string, string>;
type Exit = { code: number | null; signal: string | null };
export type Credentials = { tenant: string; client_id: string; client_secret: string };

const repository = fileURLToPath(new URL("../../", import.meta.url));
export const cleanExit: Exit = { code: 0, signal: null };
// Halves what a start costs, of which there are many here.
const compileCache = join(repository, "node_modules", ".cache", "casehound-test");
const serviceCommand = [process.execPath, join(repository, "service", "src", "main.ts")];

// For what another process does in its own time.
export function eventually<T>(check: () => T | Promise<T>, timeout = 60_000): Promise<T> {
  return vi.waitFor(check, { timeout, interval: 20 });
}

// The real thing: a process of its own, told by its environment alone what to do.
export class ServiceProcess {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #greeted: Promise<void>;
  readonly #wantedPort: number;
  stdout = "";
  stderr = "";

  constructor(env: Environment, command = serviceCommand) {
    const { PATH = "", HOME = "" } = process.env;
    const [file = "", ...args] = command;
    this.#wantedPort = Number(env["PORT"] ?? 0);
    const all = { PATH, HOME, NODE_COMPILE_CACHE: compileCache, PORT: "0", METRICS_PORT: "off", DEMO: "off", ...env };
    this.#child = spawn(file, args, { cwd: repository, env: all, stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#greeted = new Promise((resolve) => {
      this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        this.stdout += text;
        if (/ is up .*\n/.test(this.stdout)) resolve();
      });
    });
    this.exited = new Promise((resolve) => this.#child.on("close", (code, signal) => resolve({ code, signal })));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get port(): number {
    return this.#wantedPort || Number(new URL(/is up at (\S+)/.exec(this.stdout)?.[1] ?? "").port);
  }

  // What was logged until now: one JSON object a line, or this throws. Complete once the process has exited.
  get log(): Record<string, unknown>[] {
    const lines = this.stderr.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async up(): Promise<this> {
    const exit = await Promise.race([this.#greeted, this.exited]);
    if (exit) throw new Error(`exited with ${exit.code ?? exit.signal} before it was up: ${this.stderr}`);
    return this;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    this.signal(signal);
    return this.exited;
  }

  // For what the operator can mend: one line, exit code 2, and nothing on standard output.
  async refusal(): Promise<string> {
    const { code } = await this.exited;
    expect(this.stderr).toMatch(/^casehound: [^\n]+\n$/);
    expect({ code, stdout: this.stdout }).toEqual({ code: 2, stdout: "" });
    return this.stderr.trimEnd();
  }
}

// Folders and processes of a test file. Nothing of them outlives it, whatever fails.
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

// Every process that works in the folder, or was told to by its environment. PostgreSQL's processes all work in theirs.
export function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isIn = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
        return isIn || readFileSync(`/proc/${pid}/environ`, "utf8").includes(`DATA_DIR=${folder}`);
      } catch {
        // Gone meanwhile, or not ours to look at.
        return false;
      }
    });
}

export function killHard(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already, which is all that was wanted.
  }
}

// What PostgreSQL writes down of itself: its pid, where its socket is, and the first TCP address that it listens on.
export function readPostmaster(dataDir: string): { file: string; pid: number; socketFolder: string; tcpAddress: string } {
  const file = join(dataDir, "postgres", "postmaster.pid");
  const lines = readFileSync(file, "utf8").split("\n");
  return { file, pid: Number(lines[0]), socketFolder: lines[4] ?? "", tcpAddress: lines[5] ?? "" };
}

// The addresses that a process takes TCP connections on, as 0100007F:1F90.
export function listenersOf(pid: number): string[] {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readDescriptor(`/proc/${pid}/fd/${fd}`)));
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/net/${table}`, "utf8").trim().split("\n").slice(1));
  const isListening = "0A";
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((row) => row[3] === isListening && sockets.has(`socket:[${row[9]}]`))
    .map((row) => row[1] ?? "");
}

function readDescriptor(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

export async function connectTo(address: ClientConfig): Promise<Client> {
  const client = new Client(address);
  client.on("error", () => {});
  await client.connect();
  return client;
}

// Straight to the embedded PostgreSQL, past the service.
export function connectToFolder(dataDir: string): Promise<Client> {
  return connectTo({ host: join(dataDir, "run"), user: "casehound", database: "postgres" });
}

// A PostgreSQL of the file's own, for what must not disturb other files.
export function useServer(folder: () => string): { newDatabase: (options?: string) => Promise<string> } {
  let server: EmbeddedPostgres | null = null;
  beforeAll(async () => {
    server = await EmbeddedPostgres.forService(folder());
  });
  afterAll(() => server?.stop());
  const url = () => `postgresql://casehound@/postgres?host=${encodeURIComponent(server?.address.host ?? "")}`;
  return { newDatabase: (options) => createDatabase(url(), options) };
}

// An empty database on a server; returns its address.
// A running service for the tests of a file, on a database of its own: no engine of another file scores what lies there.
export function useOwnService(overrides: Partial<Config>): { current: Service } {
  const holder: { current: Service } = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await startService(testConfig({ databaseUrl: await createDatabase(inject("databaseUrl")), ...overrides }));
  });
  afterAll(() => holder.current.stop());
  return holder;
}

export async function createDatabase(serverUrl: string, options = "encoding 'UTF8'"): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const client = await connectTo({ connectionString: serverUrl });
  await client.query(`create database ${name} template template0 ${options}`);
  await client.end();
  return changeUrl(serverUrl, { database: name });
}

// By hand, for addresses of unix sockets have no host, which URL does not take.
export function changeUrl(url: string, changed: { user?: string; database?: string }): string {
  const [, scheme = "", user = "", host = "", database = "", rest = ""] =
    /^(\w+:\/\/)(?:([^@/]*)@)?([^/?]*)\/?([^?]*)(.*)$/.exec(url) ?? [];
  return `${scheme}${changed.user ?? user}@${host}/${changed.database ?? database}${rest}`;
}

// One that nobody has, below those that systems hand out by themselves.
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

export async function connectPlain(port: number, bytes = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  if (bytes !== "") socket.write(bytes);
  return socket;
}

export function readDemo(dataDir: string): Credentials {
  return JSON.parse(readFileSync(join(dataDir, "demo-credentials.json"), "utf8")) as Credentials;
}

// A client of a running service, with a token that it got as customers do.
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
