import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { listTenantsWithWork } from "../db/activities.ts";
import type { Database } from "../db/database.ts";
import { detectBatch, type Clock, type Pass } from "./detect.ts";

const idleMs = 100;
const faultMs = 1_000;

type Parts = { database: Database; clock: Clock; log: Logger; onPass: (pass: Pass) => void };

// Asks which tenants have work, and gives each of them one batch before any gets a second: a flood of one does not starve another.
export class Engine {
  readonly #parts: Parts;
  #stopping: AbortController = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) await sleep(await this.#pass(), undefined, { signal }).catch(() => {});
  }

  // Returns how long to rest before the next one.
  async #pass(): Promise<number> {
    const { database, onPass } = this.#parts;
    const total: Pass = { scored: 0, opened: 0, joined: 0 };
    const tenants = await listTenantsWithWork(database).catch((error: unknown) => this.#failed(error));
    let hasFailed = tenants === null;
    for (const tenantId of tenants ?? []) {
      if (this.#stopping.signal.aborted) break;
      // What fails for one tenant must not hold up the next.
      const pass = await detectBatch(database, tenantId, this.#parts.clock).catch((error: unknown) =>
        this.#failed(error, tenantId),
      );
      hasFailed ||= pass === null;
      total.scored += pass?.scored ?? 0;
      total.opened += pass?.opened ?? 0;
      total.joined += pass?.joined ?? 0;
    }
    onPass(total);
    if (hasFailed) return faultMs;
    return total.scored > 0 ? 0 : idleMs;
  }

  #failed(error: unknown, tenantId?: string): null {
    this.#parts.log.error({ err: error, tenant_id: tenantId }, "a pass of the engine failed; it is run again");
    return null;
  }
}
