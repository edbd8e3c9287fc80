import type { Logger } from "pino";
import { claimOverdue } from "../db/cases.ts";
import { listTenantsWithOverdue } from "../db/due-times.ts";
import { appendEvents } from "../db/events.ts";
import type { Database } from "../db/postgres/database.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Clock } from "./cases.ts";
import { Worker } from "./worker.ts";

const claimedMax = 200;
const idleMs = 5_000;

type OverdueOptions = { database: Database; clock: Pick<Clock, "now">; log: Logger };

// Announces cases whose due time has passed. Several processes may run it: each case is claimed by one of them.
export class OverdueWorker extends Worker {
  readonly #options: OverdueOptions;

  constructor(options: OverdueOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    let isMore = false;
    // One batch of each tenant in turn. If one fails, the others go on.
    for (const tenantId of await this.#tenants()) {
      if (this.signal.aborted) break;
      try {
        if ((await announceOverdue(this.#options, tenantId)) === claimedMax) isMore = true;
      } catch (error) {
        this.#report(error);
      }
    }
    return isMore ? 0 : idleMs;
  }

  async #tenants(): Promise<string[]> {
    try {
      return await listTenantsWithOverdue(this.#options.database);
    } catch (error) {
      this.#report(error);
      return [];
    }
  }

  #report(error: unknown): void {
    this.#options.log.error({ err: error }, "overdue cases could not be announced; trying again");
  }
}

// Returns how many cases it announced.
export function announceOverdue({ database, clock }: Omit<OverdueOptions, "log">, tenantId: string): Promise<number> {
  return database.transaction(async (tx) => {
    const cases = await claimOverdue(tx, tenantId, claimedMax);
    const now = clock.now();
    const events = cases.map(({ case_id: id, case_version: version, due_at }): DomainEvent => ({
      type: "case.overdue",
      occurred_at: now,
      actor: "system",
      resource: { type: "case", id, version },
      data: { due_at },
    }));
    if (events.length > 0) await appendEvents(tx, tenantId, events);
    return cases.length;
  });
}
