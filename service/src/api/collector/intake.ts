import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../../domain/failure.ts";
import type { RecordedActivity } from "../../domain/activity.ts";
import type { Rejection } from "../../domain/quarantine.ts";

// What one request brought: to be made durable as a whole, before it is answered.
export type Parcel = { activities: RecordedActivity[]; rejections: Rejection[]; bytes: number };

type Waiting = { parcel: Parcel; resolve: () => void; reject: (error: unknown) => void };

const bytesWaitingMax = 16 * 1024 * 1024;
// A tenant that sends more than can be written leaves room for the others.
const bytesOfTenantMax = 12 * 1024 * 1024;
const eventsTogetherMax = 4000;
// A tenant's writes begin no closer together: at 400 requests a second, one write for eight of them took a fifth of the time that
// eight took.
const gatherMs = 20;
// So many tenants are written for at once, that the API's own writes find a connection too.
const writersMax = 4;

// While one write of a tenant runs, and for a moment after it began, what comes in waits, and goes together: a commit costs the
// same for a hundred requests as for one. Tenants take turns, and no more waits than this process can hold.
export class Intake {
  readonly #write: (tenantId: string, parcels: Parcel[]) => Promise<void>;
  readonly #rest: () => Promise<void>;
  // In the order of their turns.
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();
  readonly #gathering = new Set<string>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(write: (tenantId: string, parcels: Parcel[]) => Promise<void>, rest: () => Promise<void> = () => sleep(gatherMs)) {
    this.#write = write;
    this.#rest = rest;
  }

  // Throws where there is too much to hold already, so that a sender can be told before its body is read.
  requireRoom(tenantId: string): void {
    if (this.#bytes >= bytesWaitingMax || (this.#bytesOf.get(tenantId) ?? 0) >= bytesOfTenantMax)
      throw new Failure("service-unavailable", "Too much is waiting to be stored. Send it again later.", {
        headers: { "retry-after": "5" },
      });
  }

  async add(tenantId: string, parcel: Parcel): Promise<void> {
    if (parcel.activities.length === 0 && parcel.rejections.length === 0) return;
    this.requireRoom(tenantId);
    this.#hold(tenantId, parcel.bytes);
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting = this.#waiting.get(tenantId) ?? [];
        this.#waiting.set(tenantId, waiting);
        waiting.push({ parcel, resolve, reject });
        this.#begin();
      });
    } finally {
      this.#hold(tenantId, -parcel.bytes);
    }
  }

  #hold(tenantId: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#bytesOf.get(tenantId) ?? 0) + bytes;
    if (held > 0) this.#bytesOf.set(tenantId, held);
    else this.#bytesOf.delete(tenantId);
  }

  #begin(): void {
    for (const [tenantId, waiting] of this.#waiting) {
      if (this.#busy.size >= writersMax) return;
      if (this.#busy.has(tenantId) || this.#gathering.has(tenantId)) continue;
      const together = takeTogether(waiting);
      this.#waiting.delete(tenantId);
      // Behind all the others, with what did not fit.
      if (waiting.length > 0) this.#waiting.set(tenantId, waiting);
      this.#busy.add(tenantId);
      this.#gathering.add(tenantId);
      void this.#gather(tenantId);
      void this.#run(tenantId, together);
    }
  }

  async #gather(tenantId: string): Promise<void> {
    await this.#rest();
    this.#gathering.delete(tenantId);
    this.#begin();
  }

  async #run(tenantId: string, together: Waiting[]): Promise<void> {
    const error = await this.#attempt(tenantId, together);
    if (error === null || together.length === 1 || error instanceof Failure) settle(together, error);
    // Not the store's fault, so it is one request's: it must not take the others with it.
    else for (const each of together) settle([each], await this.#attempt(tenantId, [each]));
    this.#busy.delete(tenantId);
    this.#begin();
  }

  async #attempt(tenantId: string, together: Waiting[]): Promise<unknown> {
    try {
      await this.#write(
        tenantId,
        together.map((each) => each.parcel),
      );
      return null;
    } catch (error) {
      return error;
    }
  }
}

function settle(together: Waiting[], error: unknown): void {
  for (const { resolve, reject } of together) {
    if (error === null) resolve();
    else reject(error);
  }
}

// One at the least.
function takeTogether(waiting: Waiting[]): Waiting[] {
  let events = 0;
  let count = 0;
  for (const { parcel } of waiting) {
    events += parcel.activities.length;
    if (count > 0 && events > eventsTogetherMax) break;
    count++;
  }
  return waiting.splice(0, count);
}
