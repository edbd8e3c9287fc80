import { hash, randomBytes } from "node:crypto";
import { peers } from "../../concurrency/peers.ts";
import type { Config } from "../../config.ts";
import type { RecordedActivity } from "../../domain/activity.ts";
import { blockOf, hostOf } from "../../domain/address.ts";
import { overQuotaKept } from "../../domain/quarantine.ts";
import { Quotas } from "../http/rate-limits.ts";

const namesMax = 100_000;
// A block is a /24 or an IPv6 /48, in which one sender may have any number of addresses.
const blockShare = 4;
// One person makes fewer events than all people behind an address.
const accountShare = 1 / 4;
// A block or an account counts as quiet while it sends less than this part of its quota.
const quietShare = 1 / 40;
// The part of the key's quota that each kind of event may use up. The rest is left to the kinds after it, so loud senders cannot
// take what the others need. Signed events may use all of it, because a forger may have many blocks of IPv6 addresses.
const shares = { loud: 1 / 4, quiet: 3 / 4, signed: 1 };
// A packed body may unpack to this many bytes for each event of a quota.
const bytesPerEvent = 2_048;

type Rates = Config["collectorQuotas"]["key"];
type Event = { names: number[]; isSampled: boolean; nowMs: number };
// Who sent a request.
export type Sender = { tenantId: string; ip: string | undefined };

// The quotas of one address, or of one app key. Events above a quota pass if they are sampled, but sampled events are limited to
// the same quota again. Otherwise a flood in a session that happens to be sampled would pass.
class Level {
  readonly #events: Quotas | null;
  readonly #spare: Quotas | null;
  readonly #names: Quotas | null;

  constructor(level: string, { events, names }: Rates) {
    const quotasOf = (what: string, rate: number | null) =>
      rate === null ? null : new Quotas("collector", rate).sharedAs(`${level} ${what}`);
    this.#events = quotasOf("events", events);
    this.#names = quotasOf("names", names);
    this.#spare = quotasOf("spare", events ?? names);
  }

  // Whether neither the quota nor the sample of it has anything left.
  isSpent(key: string, nowMs: number): boolean {
    return [this.#events, this.#spare].every((quotas) => quotas?.isSpent(key, nowMs) ?? false);
  }

  admits(key: string, { names, isSampled, nowMs }: Event, share = 1): boolean {
    const isWithin =
      (this.#events?.take(key, nowMs, 1, share) ?? true) &&
      (names.length === 0 || (this.#names?.take(key, nowMs, names.length, share) ?? true));
    return isWithin || (isSampled && (this.#spare?.take(key, nowMs) ?? true));
  }
}

// Hashes of the devices and sessions that were admitted recently, in two generations. When the current one is full, it replaces
// the previous one.
class RecentNames {
  #current = new Set<number>();
  #previous = new Set<number>();
  // A visitor's next connection may lead to another process.
  readonly #sendCount = peers.join("names", { least: 1, onCount: (name) => this.#keep(Number(name)) });

  has(name: number): boolean {
    return this.#current.has(name) || this.#previous.has(name);
  }

  add(name: number): void {
    this.#keep(name);
    this.#sendCount?.(String(name), 1);
  }

  #keep(name: number): void {
    if (this.#current.size >= namesMax) [this.#previous, this.#current] = [this.#current, new Set()];
    this.#current.add(name);
  }
}

// Limits the events, and the new devices and sessions, that one address and one block of addresses may send under one app key,
// and that all addresses together may send. Limits the unpacked bytes of packed bodies in the same way. Anybody can read the key
// in a page, so events above the quotas are sampled by session. Memory is bounded.
export class CollectorQuotas {
  readonly #address: Level;
  readonly #block: Level;
  readonly #account: Level;
  readonly #quietBlock: Level;
  readonly #quietAccount: Level;
  readonly #key: Level;
  readonly #bytes: Record<"address" | "block" | "quietBlock" | "key", Quotas | null>;
  readonly #recent = new RecentNames();
  // Random. Otherwise a sender could choose names that are always sampled.
  readonly #salt = peers.salt ?? randomBytes(16).toString("hex");
  readonly #nowMs: () => number;

  constructor({ address, key }: Config["collectorQuotas"], nowMs: () => number = () => performance.now()) {
    this.#address = new Level("address", address);
    const [block, account] = [timesOf(address, blockShare), timesOf(address, accountShare)];
    this.#block = new Level("block", block);
    this.#account = new Level("account", account);
    this.#quietBlock = new Level("quietBlock", quietOf(block));
    this.#quietAccount = new Level("quietAccount", quietOf(account));
    this.#key = new Level("key", key);
    this.#bytes = {
      address: bytesOf("address", address.events),
      block: bytesOf("block", block.events),
      quietBlock: bytesOf("quietBlock", quietOf(block).events),
      key: bytesOf("key", key.events),
    };
    this.#nowMs = nowMs;
  }

  // Whether a packed body may be unpacked. This is checked first because unpacking costs the most. If no event without a signed
  // identity can pass, the body is unpacked only for a tenant that has signed ones.
  mayUnpack(sender: Sender, hasSigned: boolean): boolean {
    const nowMs = this.#nowMs();
    const keys = keysOf(sender);
    if (!hasSigned && this.#address.isSpent(keys.address, nowMs)) return false;
    const isSpent = (level: keyof typeof keys, share?: number) =>
      this.#bytes[level]?.isSpent(keys[level], nowMs, 1, share) ?? false;
    return !isSpent("address") && !isSpent("block") && !isSpent("key", isSpent("quietBlock") ? shares.loud : 1);
  }

  // Counts what was unpacked. Its size is not known before.
  countUnpacked(sender: Sender, bytes: number): void {
    const keys = keysOf(sender);
    for (const level of levels) this.#bytes[level]?.charge(keys[level], this.#nowMs(), bytes);
  }

  // Decides for each activity of one request whether it is kept. The address's quota is checked first, then the block's, so that
  // what they reject does not use up the key's quota. Signed events first use their account's quota, because the site's server
  // confirmed their users, and many of them may share an address. Accounts have quotas too, because a forger may own an account.
  // The louder an event's account or block is, the less of the key's quota the event may use up.
  admitterOf(sender: Sender): (activity: RecordedActivity) => boolean {
    const { tenantId } = sender;
    const nowMs = this.#nowMs();
    const { address, block } = keysOf(sender);
    const hashes = new Map<string, number>();
    const hashOf = (name: string) => {
      const known = hashes.get(name);
      if (known !== undefined) return known;
      const made = Number.parseInt(hash("sha256", `${this.#salt} ${tenantId} ${name}`, "hex").slice(0, 7), 16);
      hashes.set(name, made);
      return made;
    };
    return ({ activity_id, session_id, device_id, identity, website_account_id: account = "" }) => {
      const session = session_id === undefined ? [] : [hashOf(`session ${session_id}`)];
      const device = device_id === undefined ? [] : [hashOf(`device ${device_id}`)];
      const [sampledBy = hashOf(`activity ${activity_id}`)] = [...session, ...device];
      const names = [...session, ...device].filter((name) => !this.#recent.has(name));
      const event = { names, isSampled: sampledBy % overQuotaKept === 0, nowMs };
      const ofAccount = `${tenantId} ${account}`;
      const isWithin = (level: Level, key: string) => level.admits(key, { ...event, isSampled: false });
      const isOfAccount = identity === "signed" && isWithin(this.#account, ofAccount);
      const isOfSource = isOfAccount || (this.#address.admits(address, event) && this.#block.admits(block, event));
      const kind = () => {
        if (isOfAccount && isWithin(this.#quietAccount, ofAccount)) return "signed";
        return isWithin(this.#quietBlock, block) ? "quiet" : "loud";
      };
      const isAdmitted = isOfSource && this.#key.admits(tenantId, event, shares[kind()]);
      if (isAdmitted) for (const name of names) this.#recent.add(name);
      return isAdmitted;
    };
  }
}

const levels = ["address", "block", "quietBlock", "key"] as const;

function keysOf({ tenantId, ip }: Sender): Record<(typeof levels)[number], string> {
  const [address, block] = ip === undefined ? ["", ""] : [hostOf(ip), blockOf(ip)];
  const ofBlock = `${tenantId} ${block}`;
  return { address: `${tenantId} ${address}`, block: ofBlock, quietBlock: ofBlock, key: tenantId };
}

function timesOf({ events, names }: Rates, share: number): Rates {
  return { events: events === null ? null : events * share, names: names === null ? null : names * share };
}

// At least one per second, so that quiet senders have room even if the quota is small.
function quietOf(rates: Rates): Rates {
  const { events, names } = timesOf(rates, quietShare);
  return { events: events === null ? null : Math.max(1, events), names: names === null ? null : Math.max(1, names) };
}

function bytesOf(level: string, events: number | null): Quotas | null {
  return events === null ? null : new Quotas("collector", events * bytesPerEvent).sharedAs(`${level} bytes`);
}
