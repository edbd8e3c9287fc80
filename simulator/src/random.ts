import { createHash } from "node:crypto";

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hex32(word: number): string {
  return `${hexBytes[word >>> 24]}${hexBytes[(word >>> 16) & 255]}${hexBytes[(word >>> 8) & 255]}${hexBytes[word & 255]}`;
}

// A small, fast, counter-based generator (sfc32). Its seed is a text, so every actor of the simulation has its own stream, and
// one actor's draws never shift another's.
export class Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    const digest = createHash("sha256").update(seed).digest();
    this.#seed = seed;
    this.#a = digest.readInt32LE(0);
    this.#b = digest.readInt32LE(4);
    this.#c = digest.readInt32LE(8);
    for (let i = 0; i < 12; i++) this.word();
  }

  // Depends only on the seed and the label, not on earlier draws.
  fork(label: string): Random {
    return new Random(`${this.#seed}/${label}`);
  }

  // 32 random bits.
  word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  // From 0 (inclusive) to 1 (exclusive).
  unit(): number {
    return this.word() / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.unit();
  }

  // A whole number from low to high, both inclusive.
  whole(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  normal(mean: number, deviation: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    return mean + deviation * radius * Math.cos(2 * Math.PI * this.unit());
  }

  logNormal(median: number, sigma: number): number {
    return median * Math.exp(this.normal(0, sigma));
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.unit());
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.unit() * list.length)];
    if (picked === undefined) throw new RangeError("Nothing to pick from");
    return picked;
  }

  pickWeighted<T>(list: readonly T[], weightOf: (item: T) => number): T {
    let left = this.unit() * list.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of list) {
      left -= weightOf(item);
      if (left < 0) return item;
    }
    return this.pick(list);
  }

  // Picks a key by the shares in the table.
  pickShare<K extends string>(shares: Record<K, number>): K {
    // The keys of a record of K are K, but Object.entries only knows that they are strings.
    const entries = Object.entries(shares) as [K, number][];
    return this.pickWeighted(entries, ([, share]) => share)[0];
  }

  hex(words: number): string {
    let text = "";
    for (let i = 0; i < words; i++) text += hex32(this.word());
    return text;
  }

  uuid(): string {
    const [a, b, c, d] = [hex32(this.word()), hex32(this.word()), hex32(this.word()), hex32(this.word())];
    const variant = "89ab"[this.word() & 3];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }
}

// A value that depends only on the two numbers, for results that must be repeatable.
export function scramble(a: number, b: number): number {
  let mixed = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x165667b1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
