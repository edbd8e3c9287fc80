import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findPooler } from "../../scripts/pooler.ts";
import { serverUser } from "../src/db/postgres/privilege.ts";
import { connectTo, freePort } from "./launch.ts";

type Mode = "session" | "transaction" | "statement";
type Options = { mode: Mode; more?: string };

// A PgBouncer in front of a PostgreSQL.
export class Pooler {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
  }

  // `socketFolder` is where PostgreSQL listens.
  static async open(
    target: { socketFolder: string; database: string; user: string },
    { mode, more = "" }: Options,
  ): Promise<Pooler> {
    const program = findPooler();
    if (program === null) throw new Error("PgBouncer is not installed: run npm run test:slow");
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "casehound-pooler-"));
    const file = join(folder, "pgbouncer.ini");
    const { socketFolder, database, user } = target;
    writeFileSync(
      file,
      `[databases]
* = host=${socketFolder} port=5432
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 60
max_client_conn = 300
logfile = ${join(folder, "log")}
${more}
`.replace("* = host", `* = user=${user} host`),
    );
    // It refuses to run as root.
    const owner = serverUser(folder);
    chmodSync(folder, 0o755);
    if (owner) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid);
    const child = spawn(program, ["-q", file], { stdio: "ignore", ...owner });
    const url = `postgresql://${user}@127.0.0.1:${port}/${database}`;
    const pooler = new Pooler(url, child, folder);
    for (let tries = 0; ; tries++) {
      const client = await connectTo({ connectionString: url }).catch((error: unknown) => error);
      if (!(client instanceof Error) && typeof client === "object" && client !== null && "end" in client) {
        await (client as { end: () => Promise<void> }).end();
        return pooler;
      }
      if (tries === 100 || child.exitCode !== null) {
        await pooler.close();
        throw new Error("PgBouncer did not start", { cause: client });
      }
      await sleep(50);
    }
  }

  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    if (this.#child.exitCode === null) {
      this.#child.kill("SIGKILL");
      await exited;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
