// Counts distinct texts in little space. Up to 1,024 the count is exact, because their hashes are kept. Beyond that it uses a
// HyperLogLog of 4,096 registers with a standard error of 1.6 %. A sketch depends only on the set: not on the order in which
// members were added, and not on how they were split before a union.
export const exactMax = 1024;

const indexBits = 12;
const registerCount = 1 << indexBits;
const packedBytes = (registerCount * 6) / 8;
const slotsMin = 16;
const isList = 1;
const isRegisters = 2;

// Every non-empty sketch starts with its kind and its count, so the count can be read without the rest.
export const headBytes = 5;

// Two 32-bit halves, because JavaScript has no fast 64-bit integers. They are never both 0.
export type Hash = { hi: number; lo: number };

// Not cryptographic: collisions are easy to construct.
export function hashOf(text: string): Hash {
  const { length } = text;
  let hi = 0x2545f491 ^ length;
  let lo = 0x6c8e9cf5 ^ length;
  for (let i = 0; i < length; i += 2) {
    const piece = text.charCodeAt(i) | ((i + 1 < length ? text.charCodeAt(i + 1) : 0) << 16);
    hi = Math.imul(hi ^ piece, 0x9e3779b1);
    hi ^= hi >>> 15;
    lo = Math.imul(lo ^ ((piece << 9) | (piece >>> 23)), 0xc2b2ae3d);
    lo ^= lo >>> 13;
  }
  hi = scatter(hi + Math.imul(lo, 0x27d4eb2f));
  lo = scatter(lo ^ hi);
  return { hi, lo: hi === 0 && lo === 0 ? 1 : lo };
}

// A bijective mixer: each input bit flips each output bit about half of the time.
function scatter(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

export class Sketch {
  // An open-addressed table of hashes, hi and lo alternating. Both are 0 in a free slot.
  #slots: Uint32Array = new Uint32Array(2 * slotsMin);
  #size = 0;
  #registers: Uint8Array | null = null;

  static decode(bytes: Uint8Array): Sketch {
    const sketch = new Sketch();
    sketch.absorb(bytes);
    return sketch;
  }

  // Returns whether the sketch changed.
  add({ hi, lo }: Hash): boolean {
    return this.#put(hi, lo);
  }

  union(other: Sketch): void {
    if (other.#registers) this.#raise(other.#registers);
    else forEachHash(other.#slots, (hi, lo) => this.#put(hi, lo));
  }

  // Unites this sketch with an encoded one without building a second sketch.
  absorb(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const isPacked = bytes[0] === isRegisters && bytes.length === headBytes + packedBytes;
    if (isPacked) this.#raise(unpack(bytes.subarray(headBytes)));
    else forEachEncoded(bytes, (hi, lo) => this.#put(hi, lo));
  }

  count(): number {
    // The estimate may be lower than the number of members known for certain.
    return this.#registers ? Math.max(exactMax + 1, Math.round(estimate(this.#registers))) : this.#size;
  }

  // The empty sketch has no bytes. Equal sets have equal bytes.
  encode(): Uint8Array {
    const count = this.count();
    if (count === 0) return new Uint8Array(0);
    const bytes = new Uint8Array(headBytes + (this.#registers ? packedBytes : 8 * count));
    const view = new DataView(bytes.buffer);
    bytes[0] = this.#registers ? isRegisters : isList;
    view.setUint32(1, count, true);
    if (this.#registers) pack(this.#registers, bytes.subarray(headBytes));
    else bytes.set(sortedBytes(this.#slots, count), headBytes);
    return bytes;
  }

  #put(hi: number, lo: number): boolean {
    if (this.#registers) return raiseOne(this.#registers, hi, lo);
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (lo << 1) & mask;
    while (slots[at] !== 0 || slots[at + 1] !== 0) {
      if (slots[at] === hi && slots[at + 1] === lo) return false;
      at = (at + 2) & mask;
    }
    if (this.#size === exactMax) {
      this.#give();
      this.#put(hi, lo);
      return true;
    }
    slots[at] = hi;
    slots[at + 1] = lo;
    this.#size++;
    // Keep the table at most half full, so that searches stay short.
    if (4 * this.#size > slots.length) this.#grow();
    return true;
  }

  #grow(): void {
    const slots = this.#slots;
    this.#slots = new Uint32Array(2 * slots.length);
    this.#size = 0;
    forEachHash(slots, (hi, lo) => this.#put(hi, lo));
  }

  // Converts the list to registers.
  #give(): Uint8Array {
    if (this.#registers) return this.#registers;
    const registers = new Uint8Array(registerCount);
    forEachHash(this.#slots, (hi, lo) => raiseOne(registers, hi, lo));
    this.#slots = new Uint32Array(0);
    this.#size = 0;
    return (this.#registers = registers);
  }

  #raise(others: Uint8Array): void {
    const registers = this.#give();
    for (let index = 0; index < registerCount; index++) {
      const other = others[index] ?? 0;
      if (other > (registers[index] ?? 0)) registers[index] = other;
    }
  }
}

// Returns count() as it was when the sketch was encoded. The first `headBytes` are enough.
export function countOf(encoded: Uint8Array): number {
  if (encoded.length === 0) return 0;
  return new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength).getUint32(1, true);
}

// The sketch must have at most 1,024 members.
export function hashesIn(encoded: Uint8Array): Hash[] {
  const hashes: Hash[] = [];
  if (encoded.length > 0) forEachEncoded(encoded, (hi, lo) => hashes.push({ hi, lo }));
  return hashes;
}

export function countUnion(encoded: Uint8Array[]): number {
  const [first, ...others] = encoded;
  if (first === undefined) return 0;
  if (others.length === 0) return countOf(first);
  const sketch = Sketch.decode(first);
  for (const each of others) sketch.absorb(each);
  return sketch.count();
}

function forEachEncoded(encoded: Uint8Array, visit: (hi: number, lo: number) => void): void {
  const isWhole = encoded[0] === isList && encoded.length === headBytes + 8 * countOf(encoded);
  if (!isWhole) throw new Error("the sketch cannot be decoded");
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  for (let at = headBytes; at < encoded.length; at += 8) visit(view.getUint32(at + 4, true), view.getUint32(at, true));
}

function forEachHash(slots: Uint32Array, visit: (hi: number, lo: number) => void): void {
  for (let at = 0; at < slots.length; at += 2) {
    const hi = slots[at] ?? 0;
    const lo = slots[at + 1] ?? 0;
    if (hi !== 0 || lo !== 0) visit(hi, lo);
  }
}

function sortedBytes(slots: Uint32Array, count: number): Uint8Array {
  const bytes = new Uint8Array(8 * count);
  const view = new DataView(bytes.buffer);
  let at = 0;
  forEachHash(slots, (hi, lo) => {
    view.setUint32(at, lo, true);
    view.setUint32(at + 4, hi, true);
    at += 8;
  });
  new BigUint64Array(bytes.buffer).sort();
  return bytes;
}

// The first 12 bits select the register. It keeps the position of the first 1 among the other 52 bits.
function raiseOne(registers: Uint8Array, hi: number, lo: number): boolean {
  const index = hi >>> (32 - indexBits);
  const rest = (hi << indexBits) >>> 0;
  const rank = rest === 0 ? 33 - indexBits + Math.clz32(lo) : 1 + Math.clz32(rest);
  if (rank <= (registers[index] ?? 0)) return false;
  registers[index] = rank;
  return true;
}

// Ertl's estimator (2017). Unlike the original by Flajolet et al., it does not switch between ranges, so it has no bias around
// the switch.
function estimate(registers: Uint8Array): number {
  const counts = Array.from({ length: 64 }, () => 0);
  for (const rank of registers) counts[rank] = (counts[rank] ?? 0) + 1;
  const [zeros = 0, ...ranked] = counts;
  const sum = ranked.reduce((total, count, index) => total + count * 2 ** -(index + 1), 0);
  return registerCount ** 2 / (2 * Math.LN2 * (sum + registerCount * emptiness(zeros / registerCount)));
}

// The weight of the empty registers, by their share x: x + the sum of x^(2^k) * 2^(k-1).
function emptiness(share: number): number {
  let power = share;
  let factor = 1;
  let sum = share;
  for (let before = NaN; sum !== before && sum !== Infinity;) {
    before = sum;
    power *= power;
    sum += power * factor;
    factor *= 2;
  }
  return sum;
}

// Packs four 6-bit registers into three bytes.
function pack(registers: Uint8Array, into: Uint8Array): void {
  for (let from = 0, to = 0; from < registerCount; from += 4, to += 3) {
    const low = (registers[from] ?? 0) | ((registers[from + 1] ?? 0) << 6);
    const bits = low | ((registers[from + 2] ?? 0) << 12) | ((registers[from + 3] ?? 0) << 18);
    into[to] = bits;
    into[to + 1] = bits >> 8;
    into[to + 2] = bits >> 16;
  }
}

function unpack(packed: Uint8Array): Uint8Array {
  const registers = new Uint8Array(registerCount);
  for (let from = 0, to = 0; to < registerCount; from += 3, to += 4) {
    const bits = (packed[from] ?? 0) | ((packed[from + 1] ?? 0) << 8) | ((packed[from + 2] ?? 0) << 16);
    registers[to] = bits & 63;
    registers[to + 1] = (bits >> 6) & 63;
    registers[to + 2] = (bits >> 12) & 63;
    registers[to + 3] = bits >> 18;
  }
  return registers;
}
