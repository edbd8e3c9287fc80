import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { advisoryLocks } from "./advisory-locks.ts";
import { EmbeddedFault, binary, closeFolder, makeCluster, makeFolder, makeSocketFolder, quoted } from "./cluster.ts";
import { codeOf, isAway, lockTimeoutCode } from "./faults.ts";
import { tryLock } from "./lock-wait.ts";
import { interrupt, isRunning, isRunningIn, launcher, serverUser, type Launcher, type User } from "./privilege.ts";

// Our own PostgreSQL in DATA_DIR, reached over a Unix socket. At start, the folder may be missing or clean, its service may have
// been killed with PostgreSQL gone or still running, or another service may be using it.
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const pollMs = 20;
// How long a starting service waits for commands before it stops the PostgreSQL that they use.
const commandsTimeoutMs = 10_000;

const settings = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  max_connections: "200",
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
  readonly #paths: string[];
  readonly #user: User | null;
  #madeLauncher: Launcher | undefined;
  // Where the log of this start begins. Earlier lines do not explain its failure.
  #logBegin: number;
  #server: ChildProcess | null = null;
  // Whether any server has answered since ours was started. If so, the end of ours is not a failed start.
  #hasAnswered = false;
  #guard: Client | null = null;
  #isStopping = false;

  private constructor(dataDir: string) {
    this.#folder = join(dataDir, "postgres");
    this.#log = join(dataDir, "postgres.log");
    this.#logBegin = statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
    makeFolder(dataDir);
    this.#user = serverUser(this.#folder);
    closeFolder(dataDir, this.#user);
    const host = makeSocketFolder(dataDir, this.#user);
    this.#paths = [binary("postgres"), dataDir, host];
    this.address = { host, user: "casehound", database: "postgres" };
  }

  // For the service: it is the only one on the folder, and PostgreSQL is a child that is restarted if it dies.
  static async forService(dataDir: string): Promise<EmbeddedPostgres> {
    const embedded = new EmbeddedPostgres(dataDir);
    await embedded.#enter((guard) => embedded.#claimFolder(guard, dataDir));
    embedded.#watch();
    return embedded;
  }

  // For a command: next to a running service, or on its own while the command runs.
  static async forCommand(dataDir: string): Promise<EmbeddedPostgres> {
    const embedded = new EmbeddedPostgres(dataDir);
    await embedded.#enter(async () => true);
    return embedded;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const wantsStop = this.#watching || (await this.#isLastUser());
    if (wantsStop) await this.#stopRunning();
    else this.#server?.unref();
    // Close this connection only after the stop: its lock keeps others from using a server that is about to stop.
    await this.#guard?.end().catch(() => {});
  }

  #watching = false;

  // Connects, starts PostgreSQL if it is not running, and counts as one of its users from then on. Another command may be
  // stopping the server that was found. Then the connection is lost, and a new server is started once the old one is gone.
  // `claim` returns whether this server can be used.
  async #enter(claim: (guard: Client) => Promise<boolean>): Promise<void> {
    makeCluster(this.#folder, () => this.#launcher(), this.address.user);
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const guard = await this.#connectOrStart(deadline);
      this.#guard = guard;
      try {
        if (await claim(guard)) return await this.#shareUserLock(guard);
      } catch (cause) {
        await guard.end().catch(() => {});
        const isLocked = codeOf(cause) === lockTimeoutCode;
        if (isLocked || (isAway(cause) && Date.now() > deadline))
          throw new EmbeddedFault(`other commands keep stopping PostgreSQL in ${this.#folder}: try again`, { cause });
        if (!isAway(cause)) throw cause;
      }
    }
  }

  #newClient(): Client {
    const limits = { connectionTimeoutMillis: 5_000, lock_timeout: startTimeoutMs };
    const client = new Client({ ...this.address, application_name: "casehound-guard", ...limits });
    client.on("error", () => {});
    return client;
  }

  async #connectOrStart(deadline = Date.now() + startTimeoutMs): Promise<Client> {
    // Without a pid file no server is running, so there is no need to try to connect first.
    if (this.#server === null && this.#serverPid() === null) this.#spawnServer();
    for (;;) {
      const client = this.#newClient();
      try {
        await client.connect();
        this.#hasAnswered = true;
        return client;
      } catch (cause) {
        await client.end().catch(() => {});
        if (Date.now() > deadline) throw new EmbeddedFault(`PostgreSQL did not start: ${this.#lastLog()}`, { cause });
        if (this.#server !== null && hasEnded(this.#server)) {
          // Another command's PostgreSQL, to which ours gave way, may have stopped since. Both write to this log.
          const gaveWay = this.#lastLog().includes("the database system is shutting down");
          if (!this.#hasAnswered && !gaveWay && !this.#isServedByAnother() && !this.#isBlocked())
            throw new EmbeddedFault(`PostgreSQL did not start: ${this.#lastLog()}`);
          this.#server = null;
        }
        if (this.#isStopping) throw new EmbeddedFault("PostgreSQL is not started, because the service is stopping", { cause });
        if (this.#server === null && !this.#isServedByAnother()) this.#spawnServer();
        await sleep(pollMs);
      }
    }
  }

  // A command next to a running service launches nothing.
  #launcher(): Launcher {
    return (this.#madeLauncher ??= launcher(this.#paths, this.#user));
  }

  #spawnServer(): void {
    this.#dropForeignPid();
    const all = { ...settings, unix_socket_directories: quoted(this.address.host) };
    const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const run = this.#launcher().command(binary("postgres"), ["-D", this.#folder, ...flags]);
    // Log to a file instead of a pipe: PostgreSQL must not die of a broken pipe if the service is killed.
    const log = openSync(this.#log, "a", 0o600);
    this.#logBegin = fstatSync(log).size;
    // A separate process group, so that Ctrl+C reaches only the service, which then stops PostgreSQL cleanly.
    this.#server = spawn(run.file, run.args, { ...run.options, stdio: ["ignore", log, log], detached: true });
    this.#server.on("error", () => {});
    this.#hasAnswered = false;
    closeSync(log);
  }

  // The running server is not ours if the one we started gave way to another that was faster.
  #isOurs(): boolean {
    return this.#server !== null && this.#server.pid === this.#serverPid();
  }

  #isServedByAnother(): boolean {
    const pid = this.#serverPid();
    return pid !== null && pid !== this.#server?.pid && isRunningIn(pid, this.#folder);
  }

  // PostgreSQL refuses to start if any process of its user has the pid that a killed server left in the file.
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

  // Uses locks, because they end with the connection, so a killed process leaves none behind. A PostgreSQL that is not our child
  // was left by a killed service or belongs to a command. It is stopped, and we start our own.
  async #claimFolder(guard: Client, dataDir: string): Promise<boolean> {
    if (!(await tryLock(guard, "service"))) throw new EmbeddedFault(`another casehound is running on DATA_DIR ${dataDir}`);
    if (this.#isOurs()) return true;
    await this.#waitForCommands(guard);
    await this.#stopRunning();
    await guard.end().catch(() => {});
    return false;
  }

  // A command that takes longer is cut off: the service has priority.
  async #waitForCommands(guard: Client): Promise<void> {
    await guard.query("select set_config('lock_timeout', $1, false)", [String(commandsTimeoutMs)]);
    await guard.query("select pg_advisory_lock($1)", [advisoryLocks.users]).catch((error: unknown) => {
      if (codeOf(error) !== lockTimeoutCode) throw error;
    });
  }

  // Stops our server, which may have no pid file yet, or the running one if ours gave way to it. The pid is read first, because
  // after the stop the file may already name a server that another command has started.
  async #stopRunning(): Promise<void> {
    const pid = this.#serverPid();
    const own = this.#server?.pid;
    await this.#stopServer();
    if (pid === null || pid === own || !isRunningIn(pid, this.#folder)) return;
    interrupt(pid);
    await until(() => !isRunningIn(pid, this.#folder), stopTimeoutMs);
  }

  // A stopping server can still grant the lock if it ends the stopper's connection before ours. It accepts no new connections by
  // then, so a new connection is tried once the lock is held.
  async #shareUserLock(guard: Client): Promise<void> {
    await guard.query("select pg_advisory_lock_shared($1)", [advisoryLocks.users]);
    const probe = this.#newClient();
    try {
      await probe.connect();
    } finally {
      await probe.end().catch(() => {});
    }
  }

  // If the lock is granted, no other process can become a user any more.
  async #isLastUser(): Promise<boolean> {
    if (!this.#guard) return false;
    try {
      await this.#guard.query("select pg_advisory_unlock_shared($1)", [advisoryLocks.users]);
      return await tryLock(this.#guard, "users");
    } catch (error) {
      // The server is gone, or is being stopped by somebody else.
      if (isAway(error)) return false;
      throw error;
    }
  }

  #watch(): void {
    this.#watching = true;
    const onEnd = (): void => {
      if (this.#isStopping) return;
      process.emitWarning("PostgreSQL exited unexpectedly and is being restarted", "CasehoundWarning");
      void this.#restart();
    };
    // It may have ended already: its child processes answer a little longer than it lives.
    if (this.#server && hasEnded(this.#server)) onEnd();
    else this.#server?.once("exit", onEnd);
  }

  // The postmaster was killed. A new one cannot start until its backends have noticed and exited, so starting is retried.
  async #restart(): Promise<void> {
    await this.#guard?.end().catch(() => {});
    while (!this.#isStopping) {
      if (this.#server && hasEnded(this.#server)) this.#server = null;
      try {
        this.#guard = await this.#connectOrStart();
        await this.#guard.query("select pg_advisory_lock($1)", [advisoryLocks.service]);
        await this.#shareUserLock(this.#guard);
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

  // Whether another server keeps ours from starting: processes of a killed PostgreSQL, which exit once they notice, or a server
  // that is about to give up.
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
