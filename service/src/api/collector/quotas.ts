import { hash, randomBytes } from "node:crypto";
import type { Config } from "../../config.ts";
import type { RecordedActivity } from "../../domain/activity.ts";
import { hostOf } from "../../domain/address.ts";
import { overQuotaKept } from "../../domain/quarantine.ts";
import { Quotas } from "../http/rate-limits.ts";

const namesMax = 100_000;

type Rates = Config["collectorQuotas"]["key"];
type Event = { names: number[]; isSampled: boolean; nowMs: number };

// The quotas of one address, or of one app key. Events above a quota pass if they are sampled, but sampled events are limited to
// the same quota again. Otherwise a flood in a session that happens to be sampled would pass.
class Level {
  readonly #events: Quotas | null;
  readonly #spare: Quotas | null;
  readonly #names: Quotas | null;

  constructor({ events, names }: Rates) {
    this.#events = events === null ? null : new Quotas("collector", events);
    this.#names = names === null ? null : new Quotas("collector", names);
    const spare = events ?? names;
    this.#spare = spare === null ? null : new Quotas("collector", spare);
  }

  admits(key: string, { names, isSampled, nowMs }: Event): boolean {
    const isWithin =
      (this.#events?.take(key, nowMs) ?? true) && (names.length === 0 || (this.#names?.take(key, nowMs, names.length) ?? true));
    return isWithin || (isSampled && (this.#spare?.take(key, nowMs) ?? true));
  }
}

// Hashes of the devices and sessions that were admitted recently, in two generations. When the current one is full, it replaces
// the previous one.
class RecentNames {
  #current = new Set<number>();
  #previous = new Set<number>();

  has(name: number): boolean {
    return this.#current.has(name) || this.#previous.has(name);
  }

  add(name: number): void {
    if (this.#current.size >= namesMax) [this.#previous, this.#current] = [this.#current, new Set()];
    this.#current.add(name);
  }
}

// Limits the events, and the new devices and sessions, that one address may send under one app key, and that all addresses
// together may send. Anybody can read the key in a page, so events above the quotas are sampled by session. Memory is bounded.
export class CollectorQuotas {
  readonly #address: Level;
  readonly #key: Level;
  readonly #recent = new RecentNames();
  // Random for each process. Otherwise a sender could choose names that are always sampled.
  readonly #salt = randomBytes(16).toString("hex");
  readonly #nowMs: () => number;

  constructor({ address, key }: Config["collectorQuotas"], nowMs: () => number = () => performance.now()) {
    this.#address = new Level(address);
    this.#key = new Level(key);
    this.#nowMs = nowMs;
  }

  // Decides for each activity of one request whether it is kept. The address's quota is checked first, so that what it rejects
  // does not use up the key's quota. Signed events skip the address's quota, because the site's server confirmed their users, and
  // many of them may share an address.
  admitterOf({ tenantId, ip }: { tenantId: string; ip: string | undefined }): (activity: RecordedActivity) => boolean {
    const nowMs = this.#nowMs();
    const address = `${tenantId} ${ip === undefined ? "" : hostOf(ip)}`;
    const hashes = new Map<string, number>();
    const hashOf = (name: string) => {
      const known = hashes.get(name);
      if (known !== undefined) return known;
      const made = Number.parseInt(hash("sha256", `${this.#salt} ${tenantId} ${name}`, "hex").slice(0, 7), 16);
      hashes.set(name, made);
      return made;
    };
    return ({ activity_id, session_id, device_id, identity }) => {
      const session = session_id === undefined ? [] : [hashOf(`session ${session_id}`)];
      const device = device_id === undefined ? [] : [hashOf(`device ${device_id}`)];
      const [sampledBy = hashOf(`activity ${activity_id}`)] = [...session, ...device];
      const names = [...session, ...device].filter((name) => !this.#recent.has(name));
      const event = { names, isSampled: sampledBy % overQuotaKept === 0, nowMs };
      const isAdmitted = (identity === "signed" || this.#address.admits(address, event)) && this.#key.admits(tenantId, event);
      if (isAdmitted) for (const name of names) this.#recent.add(name);
      return isAdmitted;
    };
  }
}
