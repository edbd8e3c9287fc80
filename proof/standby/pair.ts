import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "./server.ts";

// A primary and a standby that change places. `isSynchronous`: every acknowledged change is on both.
export class Pair {
  readonly #folder: string;
  readonly #servers: readonly [Server, Server];
  readonly #isSynchronous: boolean;
  #primaryAt: 0 | 1 = 0;

  private constructor(folder: string, servers: readonly [Server, Server], isSynchronous: boolean) {
    this.#folder = folder;
    this.#servers = servers;
    this.#isSynchronous = isSynchronous;
  }

  static async open(isSynchronous: boolean): Promise<Pair> {
    const folder = mkdtempSync(join(tmpdir(), "casehound-pair-"));
    chmodSync(folder, 0o755);
    const mode = isSynchronous ? "remote_apply" : "on";
    const servers = [await Server.create(join(folder, "a"), mode), await Server.create(join(folder, "b"), mode)] as const;
    const pair = new Pair(folder, servers, isSynchronous);
    try {
      await pair.primary.begin();
      await pair.repair();
    } catch (error) {
      await pair.close();
      throw error;
    }
    return pair;
  }

  get primary(): Server {
    return this.#servers[this.#primaryAt];
  }

  get standby(): Server {
    return this.#servers[this.#primaryAt === 0 ? 1 : 0];
  }

  // Both servers, in libpq's form.
  get url(): string {
    const [a, b] = this.#servers;
    return `postgresql://casehound@${a.address},${b.address}/postgres?target_session_attrs=read-write`;
  }

  // The old primary is dead before the standby takes over, as a cluster manager must ensure. Returns when both happened.
  async takeOver(onKilled: () => void = () => {}): Promise<{ killedMs: number; promotedMs: number }> {
    const killedMs = performance.now();
    await this.primary.kill();
    onKilled();
    await this.standby.promote();
    this.#primaryAt = this.#primaryAt === 0 ? 1 : 0;
    return { killedMs, promotedMs: performance.now() };
  }

  standbyHasAll(): Promise<void> {
    return this.primary.awaitStandby();
  }

  // Makes the dead server a standby of the living one.
  async repair(): Promise<void> {
    await this.standby.follow(this.primary);
    if (this.#isSynchronous) await this.primary.requireStandby();
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.kill();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
