import { createHmac } from "node:crypto";

// Two words of 32 bits.
export type RingKey = readonly [number, number];

// Derives the key of a tenant's rings from the secret with which its addresses are hashed.
export function ringKeyOf(secret: Uint8Array): RingKey {
  const bytes = createHmac("sha256", secret).update("rings").digest();
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
}

// The four words of the hash's state. Shared by all calls, because several names are hashed per event.
const state = new Int32Array(4);

// HalfSipHash-2-4 over the text's code units, 32 bits, never 0. Without the tenant's key nobody can find names that collide, which
// would be counted as one. Two of the at most 64 values of a ring collide once in two million rings.
export function ringHash(text: string, [first, second]: RingKey): number {
  state.set([first, second, 0x6c796765 ^ first, 0x74656462 ^ second]);
  const { length } = text;
  for (let index = 0; index + 1 < length; index += 2) mix(text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
  mix((length % 2 === 1 ? text.charCodeAt(length - 1) : 0) | (length << 24));
  state[2] = word(2) ^ 0xff;
  for (let round = 0; round < 4; round++) turn();
  return (word(1) ^ word(3)) >>> 0 || 1;
}

export function shortRingHash(text: string, key: RingKey): number {
  return ringHash(text, key) >>> 8 || 1;
}

function mix(block: number): void {
  state[3] = word(3) ^ block;
  turn();
  turn();
  state[0] = word(0) ^ block;
}

function turn(): void {
  let [a, b, c, d] = [word(0), word(1), word(2), word(3)];
  a = (a + b) | 0;
  b = rotated(b, 5) ^ a;
  a = rotated(a, 16);
  c = (c + d) | 0;
  d = rotated(d, 8) ^ c;
  a = (a + d) | 0;
  d = rotated(d, 7) ^ a;
  c = (c + b) | 0;
  b = rotated(b, 13) ^ c;
  c = rotated(c, 16);
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

function word(index: number): number {
  return state[index] ?? 0;
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
