import { clockToleranceMs } from "../domain/activity.ts";
import { ringSize } from "./catalogue.ts";

// What a ring stores about one event. `peer` and `address` are hashes and `country` is two letters as a number; 0 means none.
export type RingEntry = { at: number; kind: number; peer: number; address: number; country: number };
type RingColumn = "peer" | "address" | "country";
// The bit of a kind that marks events of unverified pages.
export const claimBit = 128;

const entryBytes = 15;
// Times are stored as milliseconds relative to this epoch, in five bytes, which covers 1985 to 2054. Times before the epoch are
// marked in the first bit of the country, which no letter uses.
const epochMs = Date.UTC(2020, 0, 1);
const timeMax = 2 ** 40 - 1;
const beforeEpoch = 0x8000;
const longestWindowMs = 24 * 60 * 60 * 1000;
const reserved = ringSize / 2;
const spare = 16;

// The entity's last 64 events in order of event time, with late ones inserted in their place. Window counts are exact until the
// ring is full. Then they saturate, and never count too many. The ring works on the stored bytes: a batch touches a thousand
// rings, and building objects for their entries took more time than all the rules.
export class Ring {
  // Before the first change, the bytes as they were loaded. After it, our own copy with room to grow.
  #bytes: Uint8Array;
  #view: DataView;
  #isOwn = false;
  #changes = 0;
  #length: number;

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#length = bytes.byteLength / entryBytes;
  }

  static empty(): Ring {
    return new Ring(new Uint8Array(0));
  }

  static decode(bytes: Uint8Array): Ring {
    return new Ring(bytes);
  }

  encode(): Uint8Array {
    return this.#bytes.subarray(0, this.#length * entryBytes);
  }

  get length(): number {
    return this.#length;
  }

  // Whether something was added since the ring was loaded.
  get isChanged(): boolean {
    return this.#isOwn;
  }

  // The kinds of all entries, as a set of bits.
  get kinds(): number {
    let kinds = 0;
    for (let index = 0; index < this.#length; index++) kinds |= this.#view.getUint8(index * entryBytes + 5);
    return kinds;
  }

  // Entries are kept in order of time. A full ring drops its oldest entry, which may be the new one. Kinds in `yielding` (a set
  // of bits) are dropped before others, down to half of the ring. Otherwise a few failed log-ins would be pushed out by the pages
  // that everybody loads meanwhile. Claims make room for everything else and replace only claims, so that nobody can push real
  // evidence out with forged events. If nothing yields, an entry that repeats another one is dropped, so that nobody can push out
  // tries on many accounts with many tries on one.
  add(entry: RingEntry, yielding = 0): void {
    const time = ringTime(entry.at);
    const length = this.#length;
    let index = length;
    while (index > 0 && this.#time(index - 1) > time) index--;
    const gone = length < ringSize ? length : this.#goneFor(entry, time, index, yielding);
    if (gone === -1) return;
    this.#makeRoom();
    if (gone < index) {
      this.#bytes.copyWithin(gone * entryBytes, (gone + 1) * entryBytes, index * entryBytes);
      index--;
    } else {
      this.#bytes.copyWithin((index + 1) * entryBytes, index * entryBytes, gone * entryBytes);
    }
    this.#length = Math.min(length + 1, ringSize);
    this.#write(entry, time, index);
    this.#changes++;
  }

  #makeRoom(): void {
    const wanted = Math.min(this.#length + 1, ringSize) * entryBytes;
    if (this.#isOwn && this.#bytes.byteLength >= wanted) return;
    const bytes = new Uint8Array(Math.min(Math.max(2 * this.#length, spare), ringSize) * entryBytes);
    bytes.set(this.encode());
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#isOwn = true;
  }

  // Returns the index of the entry that a full ring drops for a new one at `index`, or -1 to drop the new one. Claims go first,
  // then an entry that is too old for any window that ends at the newest, whatever its kind.
  #goneFor(entry: RingEntry, time: number, index: number, yielding: number): number {
    const { kind } = entry;
    const claim = this.#oldest(claimBit);
    if ((kind & claimBit) !== 0) {
      if (claim !== -1) return index <= claim ? -1 : claim;
      return this.#time(0) < time - longestWindowMs - clockToleranceMs ? 0 : -1;
    }
    if (claim !== -1) return claim;
    const oldest = index === 0 ? -1 : 0;
    const oldestTime = index === 0 ? time : this.#time(0);
    const newestTime = index === ringSize ? time : this.#time(ringSize - 1);
    if (yielding === 0 || oldestTime <= newestTime - longestWindowMs) return oldest;
    const isYielding = (kind & yielding) !== 0;
    let first = ringSize;
    let others = isYielding ? 0 : 1;
    for (let each = ringSize - 1; each >= 0; each--) {
      if ((this.#view.getUint8(each * entryBytes + 5) & yielding) === 0) others++;
      else first = each;
    }
    if (others > reserved) return this.#repeated(entry) ?? oldest;
    return isYielding && index <= first ? -1 : first;
  }

  // The index of the oldest entry that a newer one repeats. Entries with the same address go before those that only have the same
  // kind and peer.
  #repeated(added: RingEntry): number | null {
    let [same, similar]: (number | null)[] = [null, null];
    const peers = new Set([peerKey(added.kind, added.peer)]);
    const all = new Set([fullKey(added.kind, added.peer, added.address)]);
    for (let index = this.#length - 1; index >= 0; index--) {
      const start = index * entryBytes;
      const kind = this.#view.getUint8(start + 5);
      const peer = this.#value(start, "peer");
      const address = this.#value(start, "address");
      if (all.has(fullKey(kind, peer, address))) same = index;
      else if (peers.has(peerKey(kind, peer))) similar = index;
      all.add(fullKey(kind, peer, address));
      peers.add(peerKey(kind, peer));
    }
    return same ?? similar ?? null;
  }

  // The index of the oldest entry of these kinds; -1 if there is none.
  #oldest(kinds: number): number {
    for (let index = 0; index < this.#length; index++) {
      if ((this.#view.getUint8(index * entryBytes + 5) & kinds) !== 0) return index;
    }
    return -1;
  }

  #write(entry: RingEntry, time: number, index: number): void {
    const start = index * entryBytes;
    const distance = Math.abs(time);
    this.#view.setUint8(start, Math.floor(distance / 2 ** 32));
    this.#view.setUint32(start + 1, distance % 2 ** 32);
    this.#view.setUint8(start + 5, entry.kind);
    this.#view.setUint32(start + 6, entry.peer);
    this.#view.setUint8(start + 10, entry.address >>> 16);
    this.#view.setUint16(start + 11, entry.address & 0xffff);
    this.#view.setUint16(start + 13, time < 0 ? entry.country | beforeEpoch : entry.country);
  }

  // Counts the events of `kinds` (a set of bits; 0 means all) but not of `except`, or the distinct values of `column` among them,
  // in a window of that length that contains the time `at`. For the newest event that is the window up to it. For a late event it
  // is the fullest window around it, so that whichever event of a burst is scored last sees the whole burst.
  count(at: number, windowMs: number, kinds: number, column?: RingColumn, except = 0): number {
    const time = ringTime(at);
    const newest = this.length - 1;
    if (latest.ring !== this || latest.changes !== this.#changes) this.#read();
    const { times } = latest;
    let most = countUpTo(newest, time, windowMs, kinds, column, except);
    for (let last = newest; last >= 0; last--) {
      const end = times[last] ?? 0;
      if (end <= time) break;
      if (end - windowMs < time) most = Math.max(most, countUpTo(last, end, windowMs, kinds, column, except));
    }
    return most;
  }

  #read(): void {
    for (let index = 0; index < this.#length; index++) {
      const start = index * entryBytes;
      latest.times[index] = this.#time(index);
      latest.kinds[index] = this.#view.getUint8(start + 5);
      latest.peer[index] = this.#value(start, "peer");
      latest.address[index] = this.#value(start, "address");
      latest.country[index] = this.#value(start, "country");
    }
    latest.ring = this;
    latest.changes = this.#changes;
  }

  #time(index: number): number {
    const start = index * entryBytes;
    const distance = this.#view.getUint8(start) * 2 ** 32 + this.#view.getUint32(start + 1);
    return this.#view.getInt8(start + 13) < 0 ? -distance : distance;
  }

  #value(start: number, column: RingColumn): number {
    if (column === "peer") return this.#view.getUint32(start + 6);
    if (column === "address") return this.#view.getUint8(start + 10) * 2 ** 16 + this.#view.getUint16(start + 11);
    return this.#view.getUint16(start + 13) & ~beforeEpoch;
  }
}

function peerKey(kind: number, peer: number): number {
  return peer * 256 + kind;
}

// Both hashes in 32 bits. If two entries collide, one of them is dropped a little early.
function fullKey(kind: number, peer: number, address: number): number {
  return peerKey(kind, (peer ^ Math.imul(address, 0x9e3779b1)) >>> 0);
}

function ringTime(at: number): number {
  return Math.max(-timeMax, Math.min(at - epochMs, timeMax));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// A set of up to `ringSize` numbers that is cleared without being written. A Set would be made about thirty times per event.
class DistinctNumbers {
  // Four places for each number, so that the next free one is near.
  readonly #places = 2 ** Math.ceil(Math.log2(4 * ringSize));
  readonly #values = new Uint32Array(this.#places);
  // A place is in use if it was written in this round.
  readonly #rounds = new Uint32Array(this.#places);
  #round = 0;

  clear(): void {
    this.#round++;
    if (this.#round < 2 ** 32) return;
    this.#rounds.fill(0);
    this.#round = 1;
  }

  // Returns whether the number is new.
  add(value: number): boolean {
    const last = this.#places - 1;
    let place = (Math.imul(value, 0x9e3779b1) >>> 8) & last;
    while (this.#rounds[place] === this.#round) {
      if (this.#values[place] === value) return false;
      place = (place + 1) & last;
    }
    this.#rounds[place] = this.#round;
    this.#values[place] = value;
    return true;
  }
}

// Shared by all calls.
const distinct = new DistinctNumbers();

// The entries of the ring that was counted last. One event counts a dozen windows of the same ring, and reading the stored bytes
// for each of them took most of the time.
const latest = {
  ring: null as Ring | null,
  changes: 0,
  times: new Float64Array(ringSize),
  kinds: new Uint8Array(ringSize),
  peer: new Uint32Array(ringSize),
  address: new Uint32Array(ringSize),
  country: new Uint16Array(ringSize),
};

function countUpTo(
  last: number,
  end: number,
  windowMs: number,
  wanted: number,
  column: RingColumn | undefined,
  except: number,
): number {
  const { times, kinds } = latest;
  const values = column === undefined ? null : latest[column];
  const after = end - windowMs;
  let count = 0;
  if (values) distinct.clear();
  for (let index = last; index >= 0; index--) {
    const time = times[index] ?? 0;
    if (time > end) continue;
    if (time <= after) break;
    const kind = kinds[index] ?? 0;
    if ((wanted !== 0 && (wanted & kind) === 0) || (kind & except) !== 0) continue;
    const value = values ? (values[index] ?? 0) : 0;
    if (!values || (value !== 0 && distinct.add(value))) count++;
  }
  return count;
}

export function countryNumber(country: string): number {
  return country.length === 2 ? country.charCodeAt(0) * 256 + country.charCodeAt(1) : 0;
}
