import { peers } from "../../concurrency/peers.ts";
import type { Config } from "../../config.ts";
import type { Identity } from "./identity.ts";
import { Limited, type LimitName } from "./limited.ts";
import { Turns } from "./turns.ts";

// A caller may use its whole quota at once, and the quota is full again one window later: bursts are allowed.
const windowSecondsDefault = 10;
const bucketsMax = 20_000;
const looksMax = 4;
// A caller's requests are reported to the other processes of this service once they reach this share of the quota.
const unsentShare = 1 / 100;

// The only state per caller: when its quota will be full again.
type Bucket = { wholeAtMs: number };

// One quota per caller, by the generic cell rate algorithm: one number per caller and no timer.
export class Quotas {
  readonly policy: string;
  readonly #name: LimitName;
  readonly #costMs: number;
  readonly #windowMs: number;
  readonly #bucketsMax: number;
  readonly #buckets = new Map<string, Bucket>();
  #sendCount: ((key: string, units: number) => void) | null = null;

  constructor(name: LimitName, perSecond: number, max = bucketsMax, windowSeconds = windowSecondsDefault) {
    this.#name = name;
    this.#costMs = 1000 / perSecond;
    this.#windowMs = windowSeconds * 1000;
    this.#bucketsMax = max;
    this.policy = `"${name}";q=${perSecond * windowSeconds};w=${windowSeconds}`;
  }

  get size(): number {
    return this.#buckets.size;
  }

  // From now on, counts of the other processes of this service under the same topic are included here.
  sharedAs(topic: string): this {
    const least = Math.max(1, (this.#windowMs / this.#costMs) * unsentShare);
    this.#sendCount = peers.join(topic, { least, onCount: (key, units) => this.#count(key, performance.now(), units) });
    return this;
  }

  // Counts a request, or several units at once, if there is quota left. Rejected requests do not count, so a caller that waits is
  // admitted again. With a `share`, the rest of the quota is left to others who use the same key.
  take(key: string, nowMs: number, units = 1, share = 1): boolean {
    const bucket = this.#buckets.get(key) ?? this.#add(key, nowMs);
    if (this.isSpent(key, nowMs, units, share)) return false;
    bucket.wholeAtMs = Math.max(bucket.wholeAtMs, nowMs) + this.#costMs * units;
    this.#sendCount?.(key, units);
    return true;
  }

  // Counts what was used already, even if it is more than was left. The caller then waits longer, but at most one more window.
  charge(key: string, nowMs: number, units: number): void {
    this.#count(key, nowMs, units);
    this.#sendCount?.(key, units);
  }

  #count(key: string, nowMs: number, units: number): void {
    const bucket = this.#buckets.get(key) ?? this.#add(key, nowMs);
    const wholeAtMs = Math.max(bucket.wholeAtMs, nowMs) + this.#costMs * units;
    bucket.wholeAtMs = Math.min(wholeAtMs, nowMs + 2 * this.#windowMs);
  }

  isSpent(key: string, nowMs: number, units = 1, share = 1): boolean {
    // A tolerance of a thousandth of a request makes up for floating-point rounding.
    return this.#usedMs(key, nowMs) + this.#costMs * units > this.#windowMs * share + this.#costMs / 1000;
  }

  isHalfUsed(key: string, nowMs: number): boolean {
    return this.#usedMs(key, nowMs) >= this.#windowMs / 2;
  }

  // The requests left (r) and a time in seconds (t): until the next request is allowed if none is left, else until the quota is
  // full.
  state(key: string, nowMs: number): string {
    const usedMs = this.#usedMs(key, nowMs);
    const left = Math.max(0, Math.floor((this.#windowMs - usedMs) / this.#costMs + 0.001));
    return `"${this.#name}";r=${left};t=${left === 0 ? this.waitSeconds(key, nowMs) : Math.ceil(usedMs / 1000)}`;
  }

  waitSeconds(key: string, nowMs: number): number {
    return Math.max(1, Math.ceil((this.#usedMs(key, nowMs) + this.#costMs - this.#windowMs) / 1000));
  }

  #usedMs(key: string, nowMs: number): number {
    return Math.max(0, (this.#buckets.get(key)?.wholeAtMs ?? 0) - nowMs);
  }

  // Makes room for a new caller. Of the oldest few buckets, those whose quota is full again are dropped, which loses nothing, and
  // the others move to the end. If the map is still full, its first bucket is dropped.
  #add(key: string, nowMs: number): Bucket {
    let looks = 0;
    for (const [other, bucket] of this.#buckets) {
      if (looks++ === looksMax) break;
      this.#buckets.delete(other);
      if (bucket.wholeAtMs > nowMs) this.#buckets.set(other, bucket);
    }
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size >= this.#bucketsMax && !oldest.done) this.#buckets.delete(oldest.value);
    const bucket = { wholeAtMs: nowMs };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

const turnsOfCaller = { atOnceMax: 64, waitingMax: 2_000, waitMsMax: 15_000 };
// More than one caller may use, so no caller can fill it alone. Callers wait in queues of their own, which keeps this one short.
const turnsOfTenant = { ...turnsOfCaller, atOnceMax: 128 };

type Caller = Pick<Identity, "tenant" | "actor" | "person">;
type Counted = { quotas: Quotas; key: string };

const keys = new WeakMap<Caller, string>();

// Names of people and of other issuers' clients are unique only within their tenant, so the key includes the tenant. Cached per
// identity.
function keyOf(caller: Caller): string {
  const known = keys.get(caller);
  if (known !== undefined) return known;
  const key = `${caller.tenant?.tenant_id ?? ""} ${caller.actor}`;
  keys.set(caller, key);
  return key;
}

const details = {
  client: "This client has sent too many requests. Nothing was applied: retry after a short delay.",
  tenant: "The clients of this tenant have sent too many requests. Nothing was applied: retry after a short delay.",
};

// Limits what callers may send to this service: each client or person, all clients of a tenant together, and a tenant's web
// pages.
export class RateLimiter {
  readonly #client: Quotas | null;
  readonly #tenant: Quotas | null;
  readonly #collector: Quotas | null;
  readonly #turnsOfCaller = new Turns(turnsOfCaller);
  readonly #turnsOfTenant = new Turns(turnsOfTenant);

  constructor({ client, tenant, collector }: Config["rateLimits"]) {
    this.#client = client === null ? null : new Quotas("client", client).sharedAs("client");
    this.#tenant = tenant === null ? null : new Quotas("tenant", tenant).sharedAs("tenant");
    this.#collector = collector === null ? null : new Quotas("collector", collector).sharedAs("collector");
  }

  // Counts a request of an identified caller. Returns the rate-limit headers once half of a quota is used. Below that they would
  // not help the client and would cost every response.
  admit(caller: Caller): Record<string, string> | null {
    const nowMs = performance.now();
    const tenantId = caller.tenant?.tenant_id ?? "";
    const own = this.#client && { quotas: this.#client, key: keyOf(caller) };
    // People do not share the tenant's quota, so the tenant's machines cannot lock them out.
    const shared = this.#tenant && !caller.person && tenantId !== "" ? { quotas: this.#tenant, key: tenantId } : null;
    if (own && !own.quotas.take(own.key, nowMs)) throw limited("client", own, [own, shared], nowMs);
    if (shared && !shared.quotas.take(shared.key, nowMs)) throw limited("tenant", shared, [own, shared], nowMs);
    const isNear = own?.quotas.isHalfUsed(own.key, nowMs) || shared?.quotas.isHalfUsed(shared.key, nowMs);
    return isNear ? fieldsOf([own, shared], nowMs) : null;
  }

  // A rate does not limit what a request costs, so the number of requests that run at once is limited too, per caller and per
  // tenant.
  async inTurn<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const key = keyOf(caller);
    const tenantId = caller.tenant?.tenant_id ?? "";
    // One function enters both queues: every request passes here, and a nested one costs two more promises.
    const turn = this.#turnsOfCaller.enter(key);
    if (turn) await turn;
    try {
      const turnOfTenant = this.#turnsOfTenant.enter(tenantId);
      if (turnOfTenant) await turnOfTenant;
      try {
        return await work();
      } finally {
        this.#turnsOfTenant.leave(tenantId);
      }
    } finally {
      this.#turnsOfCaller.leave(key);
    }
  }

  // Counted separately: the key is in every page, so anyone can send with it.
  admitPage(tenantId: string): void {
    if (this.#collector && !this.#collector.take(tenantId, performance.now()))
      throw new Limited("collector", "Too many events were sent with this key.", {});
  }
}

function limited(name: "client" | "tenant", { quotas, key }: Counted, all: (Counted | null)[], nowMs: number): Limited {
  const wait = String(quotas.waitSeconds(key, nowMs));
  return new Limited(name, details[name], { "retry-after": wait, ...fieldsOf(all, nowMs) });
}

// The fields of draft-ietf-httpapi-ratelimit-headers.
function fieldsOf(all: (Counted | null)[], nowMs: number): Record<string, string> {
  const counted = all.filter((each) => each !== null);
  return {
    "ratelimit-policy": counted.map(({ quotas }) => quotas.policy).join(", "),
    ratelimit: counted.map(({ quotas, key }) => quotas.state(key, nowMs)).join(", "),
  };
}
