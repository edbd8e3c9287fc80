import { hash } from "node:crypto";

// Names are counted in rings by a hash of 32 or 24 bits, never 0. The hash begins with the tenant's secret key: without the key,
// nobody can choose names that collide and so are counted as one.
export function ringHash(name: string, key: string): number {
  return firstBits(name, key, 8);
}

export function shortRingHash(name: string, key: string): number {
  return firstBits(name, key, 6);
}

function firstBits(name: string, key: string, digits: number): number {
  return Number.parseInt(hash("sha256", key + name, "hex").slice(0, digits), 16) || 1;
}
