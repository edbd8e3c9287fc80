import { hash } from "node:crypto";
import { Cached } from "../domain/cached.ts";

const cachedMax = 20_000;
const tenantsMax = 4;

// By tenant's key, then by name. An event's names are hashed several times, and most of them occur again soon.
const cached = new Cached<Cached<number>>(tenantsMax, (key) => new Cached(cachedMax, (name) => firstBits(name, key)));

// Names are counted in rings by a hash of 32 or 24 bits, never 0. The hash begins with the tenant's secret key: without the key,
// nobody can choose names that collide and so are counted as one.
export function ringHash(name: string, key: string): number {
  return cached.get(key).get(name) || 1;
}

export function shortRingHash(name: string, key: string): number {
  return cached.get(key).get(name) >>> 8 || 1;
}

function firstBits(name: string, key: string): number {
  return Number.parseInt(hash("sha256", key + name, "hex").slice(0, 8), 16);
}
