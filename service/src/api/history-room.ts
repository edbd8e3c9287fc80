import { countHistory } from "../db/history.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { Failure } from "../domain/failure.ts";

const waitingMax = 5_000_000;
// Counting millions of rows for every request would take too long, so each process counts again only after it has accepted this
// many activities. Until then it does not see what other processes accept, so each process may exceed the limit by this many.
const countEvery = 100_000;
const tenantsMax = 10_000;
const retryAfterSeconds = 60;

// Limits how much history of a tenant may wait to be scored.
export class HistoryRoom {
  readonly #max: number;
  readonly #left = new Map<string, number>();

  constructor(max = waitingMax) {
    this.#max = max;
  }

  async take(database: Queryable, tenantId: string, wanted: number): Promise<void> {
    const known = this.#left.get(tenantId) ?? 0;
    const left = known >= wanted ? known : await this.#count(database, tenantId);
    if (left < wanted) throw this.#tooMany();
    if (this.#left.size >= tenantsMax) this.#left.clear();
    this.#left.set(tenantId, left - wanted);
  }

  async #count(database: Queryable, tenantId: string): Promise<number> {
    return Math.min(this.#max - (await countHistory(database, tenantId, this.#max)), countEvery);
  }

  #tooMany(): Failure {
    const detail = `At most ${this.#max.toLocaleString("en")} activities of a tenant may wait to be scored. Start the import, and send more when fewer are waiting.`;
    return new Failure("rate-limited", detail, { headers: { "retry-after": String(retryAfterSeconds) } });
  }
}
