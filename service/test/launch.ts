import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, type ClientConfig } from "pg";

export type Environment = Record<string, string>;
export type Exit = { code: number | null; signal: string | null };
export type Credentials = { tenant: string; client_id: string; client_secret: string };

const repository = fileURLToPath(new URL("../../", import.meta.url));
// Halves the cost of a start. There are many starts here.
export const compileCache = join(repository, "node_modules", ".cache", "casehound-test");
const serviceCommand = [process.execPath, join(repository, "service", "src", "main.ts")];

// A real service process that is configured only by its environment.
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

  // Everything logged so far. Throws unless each line is one JSON object. Complete once the process has exited.
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

  // Expects an error that the operator can fix: one line, exit code 2, and an empty standard output.
  async refusal(): Promise<string> {
    const { code } = await this.exited;
    assert.match(this.stderr, /^casehound: [^\n]+\n$/);
    assert.deepEqual({ code, stdout: this.stdout }, { code: 2, stdout: "" });
    return this.stderr.trimEnd();
  }
}

// Returns every process that works in the folder or has it in its environment. PostgreSQL's processes all work in their folder.
export function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isIn = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
        return isIn || readFileSync(`/proc/${pid}/environ`, "utf8").includes(`DATA_DIR=${folder}`);
      } catch {
        // The process has ended, or we may not inspect it.
        return false;
      }
    });
}

export function killHard(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

// Reads PostgreSQL's own record: its pid, its socket folder, and the first TCP address it listens on.
export function readPostmaster(dataDir: string): { file: string; pid: number; socketFolder: string; tcpAddress: string } {
  const file = join(dataDir, "postgres", "postmaster.pid");
  const lines = readFileSync(file, "utf8").split("\n");
  return { file, pid: Number(lines[0]), socketFolder: lines[4] ?? "", tcpAddress: lines[5] ?? "" };
}

// Returns the addresses on which a process accepts TCP connections, as in 0100007F:1F90.
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

// Runs `work` while another connection holds the locks of a statement.
export async function whileHeld<T>(url: string, lock: string, work: () => Promise<T>): Promise<T> {
  const client = await connectTo({ connectionString: url });
  try {
    await client.query("begin");
    await client.query(lock);
    return await work();
  } finally {
    await client.end();
  }
}

// Connects directly to the embedded PostgreSQL, not through the service.
export function connectToFolder(dataDir: string): Promise<Client> {
  return connectTo({ host: join(dataDir, "run"), user: "casehound", database: "postgres" });
}

// Counts the sessions that wait for a lock. A transaction sees new sessions only after its snapshot of them is cleared.
export async function countLockWaits(client: Client): Promise<number> {
  await client.query("select pg_stat_clear_snapshot()");
  const { rowCount } = await client.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
  return rowCount ?? 0;
}

// Creates a database on a server and returns its URL. It is empty, or a copy of the template.
export async function createDatabase(serverUrl: string, options = "encoding 'UTF8'", template = "template0"): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const client = await connectTo({ connectionString: serverUrl });
  await client.query(`create database ${name} template ${template} ${options}`);
  await client.end();
  return changeUrl(serverUrl, { database: name });
}

export function databaseOf(url: string): string {
  return /\/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "";
}

// Edits the text, because URLs of Unix sockets have no host, which the URL class rejects.
export function changeUrl(url: string, changed: { user?: string; database?: string }): string {
  const [, scheme = "", user = "", host = "", database = "", rest = ""] =
    /^(\w+:\/\/)(?:([^@/]*)@)?([^/?]*)\/?([^?]*)(.*)$/.exec(url) ?? [];
  return `${scheme}${changed.user ?? user}@${host}/${changed.database ?? database}${rest}`;
}

// Returns a free port below the range that systems assign automatically.
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
