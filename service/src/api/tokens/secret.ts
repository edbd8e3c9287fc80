import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { PreviousSecret } from "../../domain/client.ts";
import { siteOf } from "../../domain/address.ts";
import { Derivations } from "./derivations.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number }, Buffer>(scrypt);
const cost = { N: 16_384, r: 8, p: 1 };
const hashBytes = 32;
const saltBytes = 16;
const rememberedMax = 1_000;

const detail = "Too many secrets are being checked. Retry after a short delay.";
// Addresses take turns, and one of them fills only half of the queue, however many client ids it invents.
const queue = new Derivations({ atOnceMax: 2, waitingMax: 50, waitingOfOneMax: 25, detail });
// At most 25 addresses at a time may have secrets of one client checked. This leaves the other half of the queue to the other
// clients.
const guessers = new Derivations({ atOnceOfOneMax: 25, waitingMax: 0, detail });
// How many secrets of one client are being checked for one address.
const underWay = new Map<string, number>();

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

// The operator may choose a weak secret, so the hash is slow. All secrets of a client share the salt of the first, so that one
// derivation checks a secret against all of them.
export async function hashSecret(secret: string, sibling?: string): Promise<string> {
  const salt = sibling === undefined ? randomBytes(saltBytes) : Buffer.from(partsOf(sibling).salt, "base64url");
  return toStored(salt, await derive(secret, salt, hashBytes, cost));
}

function toStored(salt: Buffer, hash: Buffer): string {
  return `scrypt$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

function partsOf(stored: string): { salt: string; hash: Buffer } {
  const [, salt = "", hash = ""] = stored.split("$");
  return { salt, hash: Buffer.from(hash, "base64url") };
}

const processKey = randomBytes(32);

function keyed(purpose: string, text: string): Buffer {
  return createHmac("sha256", processKey).update(`${purpose} ${text}`).digest();
}

// A hash that matches no secret and is always the same for one id. Unknown client ids are checked against it, so that they cost
// the same work as known ones.
export function nobodysHash(clientId: string): string {
  return toStored(keyed("salt", clientId).subarray(0, saltBytes), keyed("hash", clientId));
}

// Remembers right secrets, hashed with a key that only this process has, so that a client with the right secret never waits
// behind somebody who is guessing.
const remembered = new Map<string, Buffer>();

function remember(stored: string, print: Buffer): void {
  const oldest = remembered.keys().next();
  if (remembered.size >= rememberedMax && !oldest.done) remembered.delete(oldest.value);
  remembered.set(stored, print);
}

type Hashes = { secret_hash: string; previous_secrets: PreviousSecret[] };

// The current secret, and the earlier ones that still work.
function hashesOf({ secret_hash, previous_secrets }: Hashes): string[] {
  const now = new Date().toISOString();
  return [secret_hash, ...previous_secrets.filter(({ until }) => until > now).map((each) => each.secret_hash)];
}

function isRemembered(hashes: string[], print: Buffer): boolean {
  return hashes.some((stored) => {
    const known = remembered.get(stored);
    return known !== undefined && timingSafeEqual(known, print);
  });
}

type Asked = { address: string; limit: (check: () => Promise<boolean>) => Promise<boolean> };

// `limit` runs the check of a secret that this process has not verified before.
export async function isClientSecret(
  secret: string,
  client: Hashes,
  { address, limit }: Asked = { address: "", limit: (check) => check() },
): Promise<boolean> {
  // The derivation pads its input with zeros, so a secret with trailing zero bytes would match too.
  if (secret.includes("\0")) return false;
  const hashes = hashesOf(client);
  const print = keyed("secret", secret);
  if (isRemembered(hashes, print)) return true;
  return limit(async () => {
    const found = await findHash(secret, hashes, siteOf(address));
    if (found !== undefined) remember(found, print);
    return found !== undefined;
  });
}

async function findHash(secret: string, hashes: string[], site: string): Promise<string | undefined> {
  const all = hashes.map((stored) => ({ stored, ...partsOf(stored) }));
  // Usually one salt; secrets that an earlier release rotated may have others.
  for (const salt of new Set(all.map((each) => each.salt))) {
    const work = () => derive(secret, Buffer.from(salt, "base64url"), hashBytes, cost);
    const derived = await asGuesser(salt, site, () => queue.run(site, work));
    const found = all.find((each) => each.salt === salt && timingSafeEqual(each.hash, derived));
    if (found) return found.stored;
  }
  return undefined;
}

// An address counts once, however many secrets it sends.
async function asGuesser<T>(salt: string, site: string, work: () => Promise<T>): Promise<T> {
  const key = `${salt} ${site}`;
  const before = underWay.get(key) ?? 0;
  // Never waits: it takes a place or throws.
  if (before === 0) void guessers.enter(salt);
  underWay.set(key, before + 1);
  try {
    return await work();
  } finally {
    const left = (underWay.get(key) ?? 1) - 1;
    if (left > 0) underWay.set(key, left);
    else {
      underWay.delete(key);
      guessers.leave(salt);
    }
  }
}
