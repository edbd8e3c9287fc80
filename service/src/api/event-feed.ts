import type { Database } from "../db/postgres/database.ts";
import { findLastEventIds, listEventsAfter } from "../db/events.ts";
import type { LoggedEvent } from "../domain/event.ts";
import { Failure } from "../domain/failure.ts";

// An event and its JSON text, which is made once for all listeners.
export type FeedEvent = { event: LoggedEvent; text: string };
export type FeedLimits = {
  pollMs: number;
  readersMax: number;
  readersOfTenantMax: number;
  // Per person or client.
  placesMax: number;
  replayMax: number;
};
type Entrant = { tenantId: string; reader: string };
// Calls back when the caller disconnects. Returns how to stop listening.
export type OnLeave = (tell: () => void) => () => void;
type Waiting = { after: number; timeoutMs: number; onLeave: OnLeave };
type Listener = { position: number; tell: (told: FeedEvent[]) => void };
type Tenant = { head: number; listeners: Set<Listener> };
// A reader's position, and the end of the log. `isReset`: the reader missed too much to be sent all of it.
export type Start = { position: number; head: number; isReset: boolean };

const defaults: FeedLimits = { pollMs: 500, readersMax: 500, readersOfTenantMax: 100, placesMax: 30, replayMax: 1000 };
const pageMax = 200;

// Follows the logs of the tenants that have listeners. However many there are, one statement looks up where these logs end, and
// each new part is read once.
export class EventFeed {
  readonly #database: Database;
  readonly #limits: FeedLimits;
  readonly #tenants = new Map<string, Tenant>();
  readonly #places = new Map<string, number>();
  readonly #onStop = new Set<() => void>();
  #readers = 0;
  #timer: NodeJS.Timeout | null = null;
  #isPolling = false;
  #isStopped = false;

  constructor(database: Database, limits: Partial<FeedLimits> = {}) {
    this.#database = database;
    this.#limits = { ...defaults, ...limits };
  }

  // Takes a place among the readers, until `leave` is called. Every request that waits takes one.
  enter({ tenantId, reader }: Entrant, onStop: () => void): { leave: () => void } {
    if (this.#isStopped) throw new Failure("service-unavailable", "The service is shutting down.", retryAfter(1));
    const { readersMax, readersOfTenantMax, placesMax } = this.#limits;
    const own = `${tenantId} ${reader}`;
    const isFull = this.#readers >= readersMax || this.#taken(tenantId) >= readersOfTenantMax || this.#taken(own) >= placesMax;
    if (isFull) throw new Failure("rate-limited", "Too many readers wait for events. Retry after a short delay.", retryAfter(5));
    this.#readers++;
    for (const key of [tenantId, own]) this.#places.set(key, this.#taken(key) + 1);
    this.#onStop.add(onStop);
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#readers--;
      this.#onStop.delete(onStop);
      for (const key of [tenantId, own]) {
        const left = this.#taken(key) - 1;
        if (left > 0) this.#places.set(key, left);
        else this.#places.delete(key);
      }
    };
    return { leave };
  }

  #taken(key: string): number {
    return this.#places.get(key) ?? 0;
  }

  // Where a reader that has seen everything up to `after` begins. Without `after`, it begins at the end of the log.
  async begin(tenantId: string, after: number | null): Promise<Start> {
    const head = (await findLastEventIds(this.#database.forTenant(tenantId), [tenantId])).get(tenantId) ?? 0;
    if (after === null) return { position: head, head, isReset: false };
    // A log that ends before `after` belongs to a database that was restored.
    const isReset = after > head || head - after > this.#limits.replayMax;
    return { position: isReset ? head : after, head, isReset };
  }

  // Passes on everything after the position, in order and each event once, until the signal aborts.
  follow(tenantId: string, listener: Listener, signal: AbortSignal): void {
    if (signal.aborted) return;
    const tenant = this.#tenants.get(tenantId) ?? { head: listener.position, listeners: new Set() };
    this.#tenants.set(tenantId, tenant);
    // A listener that begins further back moves the next read back to its position. The others skip what they already have.
    tenant.head = Math.min(tenant.head, listener.position);
    tenant.listeners.add(listener);
    signal.addEventListener("abort", () => {
      tenant.listeners.delete(listener);
      if (tenant.listeners.size === 0 && this.#tenants.get(tenantId) === tenant) this.#tenants.delete(tenantId);
    });
    this.#schedule(0);
  }

  // Waits until there is an event after the position, the time is over, the reader has left, or the service stops.
  async wait({ tenantId, reader }: Entrant, { after, timeoutMs, onLeave }: Waiting): Promise<void> {
    const ending = new AbortController();
    const end = () => ending.abort();
    const { leave } = this.enter({ tenantId, reader }, end);
    const timer = setTimeout(end, timeoutMs);
    const ended = new Promise<void>((resolve) => ending.signal.addEventListener("abort", () => resolve()));
    const listenNoLonger = onLeave(end);
    try {
      this.follow(tenantId, { position: after, tell: end }, ending.signal);
      await ended;
    } finally {
      clearTimeout(timer);
      listenNoLonger();
      ending.abort();
      leave();
    }
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    for (const each of this.#onStop) each();
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped || this.#isPolling || this.#tenants.size === 0) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#poll(), delayMs).unref();
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    let hasMore = false;
    try {
      const heads = await findLastEventIds(this.#database, [...this.#tenants.keys()]);
      const behind = [...this.#tenants].filter(([id, tenant]) => (heads.get(id) ?? 0) > tenant.head);
      // One page per tenant, so one tenant's flood does not delay the others.
      const read = await Promise.all(behind.map(([id, tenant]) => this.#advance(id, tenant)));
      hasMore = read.includes(true);
    } catch {
      // The database is unreachable. Every listener keeps its position, and the next poll reads what was missed.
    }
    this.#isPolling = false;
    this.#schedule(hasMore ? 0 : this.#limits.pollMs);
  }

  // Returns whether there may be more.
  async #advance(tenantId: string, tenant: Tenant): Promise<boolean> {
    const from = tenant.head;
    const events = await listEventsAfter(this.#database.forTenant(tenantId), tenantId, { after: from, limit: pageMax });
    const page = events.map((event) => ({ event, text: JSON.stringify(event) }));
    const last = events.at(-1)?.event_id;
    if (last === undefined) return false;
    // A listener that begins further back has arrived in the meantime. This page would make it skip what comes before.
    if (tenant.head !== from) return true;
    tenant.head = last;
    for (const listener of tenant.listeners) hear(listener, page);
    return page.length === pageMax;
  }
}

function hear(listener: Listener, page: FeedEvent[]): void {
  const fresh = page.filter(({ event }) => event.event_id > listener.position);
  const last = fresh.at(-1)?.event.event_id;
  if (last === undefined) return;
  listener.position = last;
  listener.tell(fresh);
}

function retryAfter(seconds: number): { headers: Record<string, string> } {
  return { headers: { "retry-after": String(seconds) } };
}
