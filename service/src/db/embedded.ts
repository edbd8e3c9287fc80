import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { advisoryLocks } from "./advisory-locks.ts";
import { EmbeddedFault, binary, makeCluster, makeFolder, makeSocketFolder, quoted } from "./cluster.ts";
import { isRunning, isRunningIn, launcher, serverUser, type Launcher } from "./privilege.ts";

// A PostgreSQL of our own in DATA_DIR, reached over a unix socket. What a start finds there may be: nothing; a clean
// folder; one whose service was killed, with PostgreSQL gone or still running; one that another service uses right now.
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const pollMs = 50;

const settings = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  max_connections: "100",
  shared_buffers: "128MB",
  max_wal_size: "2GB",
  log_min_messages: "warning",
  log_line_prefix: "%m [%p] ",
};

export type EmbeddedAddress = { host: string; user: string; database: string };

export class EmbeddedPostgres {
  readonly address: EmbeddedAddress;
  readonly #folder: string;
  readonly #log: string;
  readonly #launcher: Launcher;
  // Where this start's lines begin: what older ones said explains nothing.
  #logBegin: number;
  #server: ChildProcess | null = null;
  #guard: Client | null = null;
  #isStopping = false;

  private constructor(dataDir: string) {
    this.#folder = join(dataDir, "postgres");
    this.#log = join(dataDir, "postgres.log");
    this.#logBegin = statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
    makeFolder(dataDir);
    const user = serverUser(this.#folder);
    const host = makeSocketFolder(dataDir, user);
    this.#launcher = launcher([binary("postgres"), dataDir, host], user);
    this.address = { host, user: "casehound", database: "postgres" };
  }

  // For the service: alone on the folder, with PostgreSQL as a child that is started again should it die.
  static async forService(dataDir: string): Promise<EmbeddedPostgres> {
    const embedded = new EmbeddedPostgres(dataDir);
    await embedded.#prepare();
    if (await embedded.#guardWith("select pg_try_advisory_lock($1) as got", advisoryLocks.service, dataDir)) {
      // The PostgreSQL of a service that was killed: its child no more, so it is stopped and started as ours.
      if (!embedded.#isOurs()) await embedded.#takeOver(dataDir);
    }
    await embedded.#shareUserLock();
    embedded.#watch();
    return embedded;
  }

  // For a command: beside a running service, or on its own for as long as the command takes.
  static async forCommand(dataDir: string): Promise<EmbeddedPostgres> {
    const embedded = new EmbeddedPostgres(dataDir);
    await embedded.#prepare();
    await embedded.#shareUserLock();
    return embedded;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const wantsStop = this.#watching || (await this.#isLastUser());
    await this.#guard?.end().catch(() => {});
    if (!wantsStop) {
      this.#server?.unref();
      return;
    }
    // Ours, which may not have got as far as its pid file yet; then another's, where ours gave way to it.
    await this.#stopServer();
    await this.#stopOther();
  }

  #watching = false;

  async #prepare(): Promise<void> {
    makeCluster(this.#folder, this.#launcher, this.address.user);
    this.#guard = await this.#connectOrStart();
  }

  async #connectOrStart(): Promise<Client> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const client = new Client({ ...this.address, application_name: "casehound-guard", connectionTimeoutMillis: 5_000 });
      client.on("error", () => {});
      try {
        await client.connect();
        return client;
      } catch (cause) {
        await client.end().catch(() => {});
        if (Date.now() > deadline) throw new EmbeddedFault(`PostgreSQL did not start: ${this.#lastLog()}`, { cause });
        if (this.#server !== null && hasEnded(this.#server)) {
          if (!this.#isServedByAnother() && !this.#isBlocked())
            throw new EmbeddedFault(`PostgreSQL did not start: ${this.#lastLog()}`);
          this.#server = null;
        }
        if (this.#server === null && !this.#isServedByAnother()) this.#spawnServer();
        await sleep(pollMs);
      }
    }
  }

  #spawnServer(): void {
    this.#dropForeignPid();
    const all = { ...settings, unix_socket_directories: quoted(this.address.host) };
    const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const run = this.#launcher.command(binary("postgres"), ["-D", this.#folder, ...flags]);
    // To a file, not to a pipe: it must not die of a broken pipe when the service is killed.
    const log = openSync(this.#log, "a", 0o600);
    this.#logBegin = fstatSync(log).size;
    // A group of its own, so that Ctrl+C reaches the service alone, which then stops it in good order.
    this.#server = spawn(run.file, run.args, { ...run.options, stdio: ["ignore", log, log], detached: true });
    this.#server.on("error", () => {});
    closeSync(log);
  }

  // Not ours where the one that we started gave way to another's that was faster.
  #isOurs(): boolean {
    return this.#server !== null && this.#server.pid === this.#serverPid();
  }

  #isServedByAnother(): boolean {
    const pid = this.#serverPid();
    return pid !== null && pid !== this.#server?.pid && isRunningIn(pid, this.#folder);
  }

  // PostgreSQL would not start where any process of its user has the number that a killed one left.
  #dropForeignPid(): void {
    const pid = this.#serverPid();
    if (pid !== null && isRunning(pid) && !isRunningIn(pid, this.#folder)) rmSync(join(this.#folder, "postmaster.pid"));
  }

  #serverPid(): number | null {
    try {
      return Number(readFileSync(join(this.#folder, "postmaster.pid"), "utf8").split("\n")[0]);
    } catch {
      return null;
    }
  }

  async #guardWith(text: string, lock: number, dataDir: string): Promise<true> {
    const got = await this.#guard?.query<{ got: boolean }>(text, [lock]);
    if (got?.rows[0]?.got === true) return true;
    await this.#guard?.end();
    throw new EmbeddedFault(`another casehound is running on DATA_DIR ${dataDir}`);
  }

  async #takeOver(dataDir: string): Promise<void> {
    await this.#guard?.end();
    await this.#stopOther();
    this.#guard = await this.#connectOrStart();
    await this.#guardWith("select pg_try_advisory_lock($1) as got", advisoryLocks.service, dataDir);
  }

  // One that another process has started.
  async #stopOther(): Promise<void> {
    const pid = this.#serverPid();
    if (pid === null || !isRunningIn(pid, this.#folder)) return;
    process.kill(pid, "SIGINT");
    await until(() => !isRunningIn(pid, this.#folder), stopTimeoutMs);
  }

  async #shareUserLock(): Promise<void> {
    await this.#guard?.query("select pg_advisory_lock_shared($1)", [advisoryLocks.users]);
  }

  async #isLastUser(): Promise<boolean> {
    if (!this.#guard) return false;
    await this.#guard.query("select pg_advisory_unlock_shared($1)", [advisoryLocks.users]);
    const { rows } = await this.#guard.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [advisoryLocks.users]);
    return rows[0]?.got === true;
  }

  #watch(): void {
    this.#watching = true;
    const onEnd = (): void => {
      if (this.#isStopping) return;
      process.emitWarning("PostgreSQL ended by itself, and is started again", "CasehoundWarning");
      void this.#restart();
    };
    // It can have ended already: the processes that it leaves behind answer a little longer than it lives.
    if (this.#server && hasEnded(this.#server)) onEnd();
    else this.#server?.once("exit", onEnd);
  }

  // The postmaster was killed. Its backends see that and leave; until then a new one cannot start, so it is tried again.
  async #restart(): Promise<void> {
    await this.#guard?.end().catch(() => {});
    while (!this.#isStopping) {
      if (this.#server && hasEnded(this.#server)) this.#server = null;
      try {
        this.#guard = await this.#connectOrStart();
        await this.#guard.query("select pg_advisory_lock($1)", [advisoryLocks.service]);
        await this.#shareUserLock();
        this.#watch();
        return;
      } catch {
        await sleep(pollMs * 4);
      }
    }
  }

  async #stopServer(): Promise<void> {
    const server = this.#server;
    if (!server?.pid || hasEnded(server)) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGINT");
    await Promise.race([exited, sleep(stopTimeoutMs, undefined, { ref: false })]);
  }

  // By processes of a PostgreSQL that was killed, which leave when they notice, or by another one that is just giving up.
  #isBlocked(): boolean {
    return /still in use|Is another postmaster/.test(this.#ownLog());
  }

  #lastLog(): string {
    const lines = this.#ownLog().trim().split("\n");
    return lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? (lines.at(-1) || "it wrote nothing to postgres.log");
  }

  #ownLog(): string {
    return existsSync(this.#log) ? readFileSync(this.#log).subarray(this.#logBegin).toString() : "";
  }
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

async function until(isTrue: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!isTrue() && Date.now() < deadline) await sleep(pollMs);
}
