import { setTimeout as sleep } from "node:timers/promises";
import { Batcher } from "../../concurrency/batcher.ts";
import { partOf } from "../../concurrency/share.ts";
import type { NewActivity } from "../../db/inbox.ts";
import { Failure } from "../../domain/failure.ts";
import type { Rejection } from "../../domain/quarantine.ts";

// The content of one request. All of it must be durable before the request is answered.
export type CollectedRequest = { activities: NewActivity[]; rejections: Rejection[]; bytes: number };

const mib = 1024 * 1024;
const bytesWaitingMax = partOf(16 * mib, 4 * mib);
// Leaves room for other tenants when one sends more than can be written.
const bytesOfTenantMax = (bytesWaitingMax * 3) / 4;
const eventsTogetherMax = 4000;
// A tenant's next write begins this long after the start of the last one, or earlier if this many events wait, but not before the
// last one has ended. At 400 requests a second, one write for eight requests took a fifth of the time that eight writes took.
const gatherMs = 20;
const gatherEvents = 100;
// How many tenants are written for at once. The rest of the connections are left for the API's own writes.
const writersMax = partOf(4);

// The text of each activity repeats what the request's headers say, so small events take many times the bytes that were sent.
function bytesHeld({ activities, bytes }: CollectedRequest): number {
  const characters = activities.reduce((sum, { text }) => sum + text.length, 0);
  return Math.max(bytes, characters);
}

// While one write of a tenant runs, and for a moment after it began, further requests wait and are then written together: a
// commit costs the same for a hundred requests as for one. Tenants take turns, and the bytes that wait are limited to what this
// process can hold.
export class Intake {
  readonly #write: (tenantId: string, parcels: CollectedRequest[]) => Promise<void>;
  // The outcome of a parcel is the error that kept it from being stored, or null.
  readonly #batcher: Batcher<CollectedRequest, unknown>;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(
    write: (tenantId: string, parcels: CollectedRequest[]) => Promise<void>,
    pause: () => Promise<void> = () => sleep(gatherMs),
  ) {
    this.#write = write;
    this.#batcher = new Batcher((tenantId, parcels) => this.#store(tenantId, parcels), {
      togetherMax: eventsTogetherMax,
      weightOf: ({ activities }) => activities.length,
      atOnceMax: 1,
      besideMin: gatherEvents,
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

  async add(tenantId: string, parcel: CollectedRequest): Promise<void> {
    if (parcel.activities.length === 0 && parcel.rejections.length === 0) return;
    this.requireRoom(tenantId);
    const held = bytesHeld(parcel);
    this.#hold(tenantId, held);
    try {
      const error = await this.#batcher.add(tenantId, parcel);
      if (error !== null) throw error;
    } finally {
      this.#hold(tenantId, -held);
    }
  }

  #hold(tenantId: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#bytesOf.get(tenantId) ?? 0) + bytes;
    if (held > 0) this.#bytesOf.set(tenantId, held);
    else this.#bytesOf.delete(tenantId);
  }

  async #store(tenantId: string, parcels: CollectedRequest[]): Promise<unknown[]> {
    const error = await this.#attempt(tenantId, parcels);
    if (error === null || parcels.length === 1 || error instanceof Failure) return parcels.map(() => error);
    // The store did not fail, so one request caused the error. Each is retried alone, so it does not fail the others.
    const outcomes: unknown[] = [];
    for (const parcel of parcels) outcomes.push(await this.#attempt(tenantId, [parcel]));
    return outcomes;
  }

  async #attempt(tenantId: string, parcels: CollectedRequest[]): Promise<unknown> {
    try {
      await this.#write(tenantId, parcels);
      return null;
    } catch (error) {
      return error;
    }
  }
}
