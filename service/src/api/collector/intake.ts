import { setTimeout as sleep } from "node:timers/promises";
import { Batcher } from "../../concurrency/batcher.ts";
import { Failure } from "../../domain/failure.ts";
import type { RecordedActivity } from "../../domain/activity.ts";
import type { Rejection } from "../../domain/quarantine.ts";

// What one request brought: to be made durable as a whole, before it is answered.
export type Parcel = { activities: RecordedActivity[]; rejections: Rejection[]; bytes: number };

const bytesWaitingMax = 16 * 1024 * 1024;
// A tenant that sends more than can be written leaves room for the others.
const bytesOfTenantMax = 12 * 1024 * 1024;
const eventsTogetherMax = 4000;
// A tenant's writes begin no closer together: at 400 requests a second, one write for eight of them took a fifth of the time that
// eight took.
const gatherMs = 20;
// So many tenants are written for at once, that the API's own writes find a connection too.
const writersMax = 4;

// While one write of a tenant runs, and for a moment after it began, further requests wait and are then written together: a commit
// costs the same for a hundred requests as for one. Tenants take turns, and no more waits than this process can hold.
export class Intake {
  readonly #write: (tenantId: string, parcels: Parcel[]) => Promise<void>;
  // The outcome of a parcel is why it could not be stored, or null.
  readonly #batcher: Batcher<Parcel, unknown>;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(write: (tenantId: string, parcels: Parcel[]) => Promise<void>, pause: () => Promise<void> = () => sleep(gatherMs)) {
    this.#write = write;
    this.#batcher = new Batcher((tenantId, parcels) => this.#store(tenantId, parcels), {
      togetherMax: eventsTogetherMax,
      weightOf: ({ activities }) => activities.length,
      atOnceMax: 1,
      allAtOnceMax: writersMax,
      pause,
    });
  }

  // Throws if there is too much to hold already, so a sender can be refused before its body is read.
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
      const error = await this.#batcher.add(tenantId, parcel);
      if (error !== null) throw error;
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

  async #store(tenantId: string, parcels: Parcel[]): Promise<unknown[]> {
    const error = await this.#attempt(tenantId, parcels);
    if (error === null || parcels.length === 1 || error instanceof Failure) return parcels.map(() => error);
    // Not the store's fault, so one request caused it: it must not take the others with it.
    const outcomes: unknown[] = [];
    for (const parcel of parcels) outcomes.push(await this.#attempt(tenantId, [parcel]));
    return outcomes;
  }

  async #attempt(tenantId: string, parcels: Parcel[]): Promise<unknown> {
    try {
      await this.#write(tenantId, parcels);
      return null;
    } catch (error) {
      return error;
    }
  }
}
