import { partOf } from "../concurrency/share.ts";
import { countHistory } from "../db/history.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { Failure } from "../domain/failure.ts";
import { fullRetrySeconds } from "../domain/history.ts";

const waitingMax = 5_000_000;
// Counting millions of rows for every request would take too long, so each process counts again only after it has accepted this
// many activities. Until then it does not see what other processes accept, so the limit can be exceeded by this many for each
// further process.
const countEvery = partOf(100_000, 10_000);
const tenantsMax = 10_000;

// `left`: how much may be stored before the next count. `begun` and `ended`: how much requests wanted to store so far, and how much
// of that is over, stored or not. A count does not see what is between the two.
type Room = { left: number; begun: number; ended: number; counting: Promise<void> | null };

// Limits how much history of a tenant may wait to be scored.
export class HistoryRoom {
  readonly #max: number;
  readonly #rooms = new Map<string, Room>();

  constructor(max = waitingMax) {
    this.#max = max;
  }

  async store<T>(database: Queryable, tenantId: string, wanted: number, store: () => Promise<T>): Promise<T> {
    const room = this.#roomOf(tenantId);
    if (room.left < wanted) await this.#count(database, tenantId, room);
    if (room.left < wanted) throw this.#tooMany();
    room.left -= wanted;
    room.begun += wanted;
    try {
      return await store();
    } finally {
      room.ended += wanted;
    }
  }

  #roomOf(tenantId: string): Room {
    const known = this.#rooms.get(tenantId);
    if (known) return known;
    if (this.#rooms.size >= tenantsMax) this.#rooms.clear();
    const room = { left: 0, begun: 0, ended: 0, counting: null };
    this.#rooms.set(tenantId, room);
    return room;
  }

  // Requests that arrive meanwhile wait for the same count. Otherwise a tenant without room could make the database count its
  // millions of rows many times at once.
  #count(database: Queryable, tenantId: string, room: Room): Promise<void> {
    const count = async () => {
      const { ended } = room;
      const waiting = await countHistory(database, tenantId, this.#max);
      room.left = Math.min(this.#max - waiting - (room.begun - ended), countEvery);
    };
    room.counting ??= count().finally(() => (room.counting = null));
    return room.counting;
  }

  #tooMany(): Failure {
    const detail = `At most ${this.#max.toLocaleString("en")} activities of a tenant may wait to be scored. Start the import, and send more when fewer are waiting.`;
    return new Failure("rate-limited", detail, { headers: { "retry-after": String(fullRetrySeconds) } });
  }
}
