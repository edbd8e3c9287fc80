import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { binary } from "../../service/src/db/postgres/cluster.ts";
import { launcher, serverUser } from "../../service/src/db/postgres/privilege.ts";
import { connectTo, freePort, killHard, processesOf } from "../../service/test/launch.ts";

const user = "casehound";
const pollMs = 10;
const upMsMax = 60_000;
// Enough for a standby to begin from a copy that was made under load.
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  wal_keep_size: "1GB",
  max_connections: "150",
  hot_standby: "on",
  wal_receiver_status_interval: "1s",
  wal_retrieve_retry_interval: "100ms",
  // A killed process loses nothing that it has handed to the operating system.
  fsync: "off",
};

// One PostgreSQL, a primary or a standby, that can be killed and made again.
export class Server {
  readonly folder: string;
  readonly port: number;
  readonly #synchronousCommit: string;
  #child: ChildProcess | null = null;

  private constructor(folder: string, port: number, synchronousCommit: string) {
    this.folder = folder;
    this.port = port;
    this.#synchronousCommit = synchronousCommit;
  }

  static async create(folder: string, synchronousCommit: string): Promise<Server> {
    const server = new Server(folder, await freePort(), synchronousCommit);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o700);
    own(folder);
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  // Creates the database of a first primary, and starts it.
  async begin(): Promise<void> {
    await run("initdb", ["-D", this.#data, "-A", "trust", "-U", user, "-E", "UTF8", "--locale=C", "--no-sync"]);
    await this.start();
  }

  async start(): Promise<void> {
    const all = { ...settings, port: String(this.port), synchronous_commit: this.#synchronousCommit };
    const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const { file, args: whole, options } = command("postgres", ["-D", this.#data, ...args]);
    const child = spawn(file, whole, { ...options, stdio: "ignore" });
    this.#child = child;
    const deadline = Date.now() + upMsMax;
    for (;;) {
      const client = await this.connect().catch(() => null);
      if (client) return client.end();
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`PostgreSQL in ${this.folder} did not start`);
      await sleep(pollMs);
    }
  }

  connect(): Promise<Client> {
    return connectTo({ host: "127.0.0.1", port: this.port, user, database: "postgres" });
  }

  async run(...statements: string[]): Promise<void> {
    const client = await this.connect();
    try {
      for (const each of statements) await client.query(each);
    } finally {
      await client.end();
    }
  }

  // All processes, so that none of them commits anything after this.
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    for (const pid of processesOf(this.folder)) killHard(pid);
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await exited;
    }
    while (processesOf(this.folder).length > 0) {
      for (const pid of processesOf(this.folder)) killHard(pid);
      await sleep(pollMs);
    }
  }

  // Starts anew as a standby of the primary, from a copy that is made while the primary works.
  async follow(primary: Server): Promise<void> {
    await this.kill();
    rmSync(this.#data, { recursive: true, force: true });
    const client = await primary.connect();
    let label: string;
    try {
      await client.query("select pg_backup_start('standby', true)");
      await copy(primary.#data, this.#data);
      const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
      label = rows[0]?.labelfile ?? "";
    } finally {
      await client.end();
    }
    for (const name of ["postmaster.pid", "postmaster.opts", "pg_wal"])
      rmSync(join(this.#data, name), { recursive: true, force: true });
    for (const name of ["pg_wal", "pg_wal/archive_status", "pg_wal/summaries"]) {
      mkdirSync(join(this.#data, name), { mode: 0o700 });
      own(join(this.#data, name));
    }
    const info = `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=${user} application_name=standby'\n`;
    for (const [name, text] of [
      ["backup_label", label],
      ["standby.signal", ""],
      ["postgresql.auto.conf", info],
    ] as const) {
      writeFileSync(join(this.#data, name), text, { mode: 0o600 });
      own(join(this.#data, name));
    }
    await this.start();
    await primary.awaitStandby();
  }

  async promote(): Promise<void> {
    await this.run("select pg_promote(false)");
    const client = await this.connect();
    try {
      const isStandby = async () => (await client.query<{ is: boolean }>("select pg_is_in_recovery() as is")).rows[0]?.is;
      while ((await isStandby()) === true) await sleep(pollMs / 2);
    } finally {
      await client.end();
    }
  }

  // From now on, a change is confirmed only once the standby has it.
  async requireStandby(): Promise<void> {
    await this.run("alter system set synchronous_standby_names = '*'", "select pg_reload_conf()");
    const client = await this.connect();
    try {
      const look = "select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming'";
      while ((await client.query(look)).rowCount === 0) await sleep(pollMs);
    } finally {
      await client.end();
    }
  }

  // Waits until the standby has applied everything that this server has written so far.
  async awaitStandby(): Promise<void> {
    const client = await this.connect();
    const deadline = Date.now() + upMsMax;
    try {
      const { rows } = await client.query<{ until: string }>("select pg_current_wal_lsn()::text as until");
      const look = "select 1 from pg_stat_replication where state = 'streaming' and replay_lsn >= $1::pg_lsn";
      const values = [rows[0]?.until];
      while ((await client.query(look, values)).rowCount === 0) {
        if (Date.now() > deadline) throw new Error("the standby does not follow its primary");
        await sleep(pollMs);
      }
    } finally {
      await client.end();
    }
  }

  get #data(): string {
    return join(this.folder, "data");
  }
}

function command(name: "postgres" | "initdb", args: string[]): { file: string; args: string[]; options: SpawnOptions } {
  const file = binary(name);
  return launcher([file], serverUser("/")).command(file, args);
}

async function run(name: "initdb", args: string[]): Promise<void> {
  const { file, args: whole, options } = command(name, args);
  await ended(spawn(file, whole, { ...options, stdio: "ignore" }), [0]);
}

// Files that vanish during the copy are not needed, because the write-ahead log has what became of them.
async function copy(from: string, to: string): Promise<void> {
  await ended(spawn("cp", ["-a", from, to], { stdio: "ignore" }), [0, 1]);
  if (!existsSync(join(to, "PG_VERSION"))) throw new Error(`${from} could not be copied`);
}

async function ended(child: ChildProcess, allowed: number[]): Promise<void> {
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("exit", resolve));
  if (code === null || !allowed.includes(code)) throw new Error(`${child.spawnfile} ended with ${code}`);
}

function own(path: string): void {
  const owner = serverUser("/");
  if (owner) chownSync(path, owner.uid, owner.gid);
}
