import type { Logger } from "pino";
import type { Database } from "./db/postgres/database.ts";
import { Worker } from "./engine/worker.ts";
import { upgradeDefaultRules } from "./tenancy.ts";

// During an upgrade, processes of the last release may still score activity. They skip rules with fields that they do not know. So
// the new rules wait until an upgrade of all processes should be over.
const waitMs = 15 * 60 * 1000;
const retryMs = 60 * 1000;

type UpgradeOptions = { database: Database; clock: { now: () => string }; log: Logger; waitMs?: number };

// Upgrades default rules some time after the start.
export class RuleUpgrades extends Worker {
  readonly #options: UpgradeOptions;
  #hasWaited = false;

  constructor(options: UpgradeOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    const { database, clock, log, waitMs: pauseMs = waitMs } = this.#options;
    if (this.#hasWaited) {
      try {
        await upgradeDefaultRules(database, clock);
      } catch (error) {
        log.error({ err: error, retry_in_ms: retryMs }, "default rules could not be upgraded");
        return Math.min(retryMs, pauseMs);
      }
    }
    this.#hasWaited = true;
    return pauseMs;
  }
}
