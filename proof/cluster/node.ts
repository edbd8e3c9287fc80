import { spawn } from "node:child_process";
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { findPostmaster, urlOfNode, type Node } from "../../service/test/citus.ts";
import { connectTo, killHard } from "../../service/test/launch.ts";

const startMsMax = 60_000;
const pollMs = 50;

// How the server was started, to start it again in the same way.
type Started = {
  pid: number;
  file: string;
  args: string[];
  folder: string;
  options: { uid: number; gid: number; env: NodeJS.ProcessEnv };
};

// One server of the cluster. It can be killed if it runs on this machine and this process may signal it.
export class ClusterNode {
  readonly node: Node;
  readonly #url: string;
  #started: Started;

  private constructor(url: string, node: Node, started: Started) {
    this.#url = urlOfNode(url, node);
    this.node = node;
    this.#started = started;
  }

  // Returns null if the server is on another machine, or belongs to somebody else.
  static async find(url: string, node: Node): Promise<ClusterNode | null> {
    const found = await findPostmaster(url, node);
    if (!found) return null;
    try {
      return new ClusterNode(url, node, readStarted(found.pid, found.folder));
    } catch {
      return null;
    }
  }

  get name(): string {
    return `${this.node.host}:${this.node.port}`;
  }

  kill(): void {
    killHard(this.#started.pid);
  }

  // Retries, because a new postmaster refuses to start until the processes of the killed one have noticed and exited.
  async start(): Promise<void> {
    const deadline = Date.now() + startMsMax;
    const { file, args, folder, options } = this.#started;
    for (;;) {
      const child = spawn(file, args, { cwd: folder, ...options, detached: true, stdio: "ignore" });
      const ended = new Promise<"ended">((resolve) =>
        child.on("exit", () => resolve("ended")).on("error", () => resolve("ended")),
      );
      child.unref();
      const state = await Promise.race([this.#isUp(deadline), ended]);
      if (state === "up") {
        this.#started = { ...this.#started, pid: child.pid ?? -1 };
        return;
      }
      if (Date.now() > deadline) throw new Error(`${this.name} did not start again`);
      await sleep(pollMs);
    }
  }

  async #isUp(deadline: number): Promise<"up" | "late"> {
    while (Date.now() < deadline) {
      try {
        const client = await connectTo({ connectionString: this.#url });
        await client.end();
        return "up";
      } catch {
        await sleep(pollMs);
      }
    }
    return "late";
  }
}

// Throws if this process may not send signals to the server.
function readStarted(pid: number, folder: string): Started {
  process.kill(pid, 0);
  const listOf = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0").slice(0, -1);
  const [, ...args] = listOf("cmdline");
  const { uid, gid } = statSync(`/proc/${pid}`);
  const env = Object.fromEntries(
    listOf("environ").map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
  );
  return { pid, file: readlinkSync(`/proc/${pid}/exe`), args, folder, options: { uid, gid, env } };
}
