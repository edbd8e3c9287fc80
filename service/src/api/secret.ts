import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Failure } from "../domain/failure.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number }, Buffer>(scrypt);
const cost = { N: 16_384, r: 8, p: 1 };
const hashBytes = 32;

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

// A setter may choose a weak secret for itself, so even these hashes are slow ones.
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(secret, salt, hashBytes, cost);
  return `scrypt$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

const derivationsMax = 2;
const waitingMax = 50;
const waitingOfOneMax = 25;
const rememberedMax = 1_000;
const waiting: { salt: Buffer; go: () => void }[] = [];
let derivations = 0;

// The derivation fills threads that everything else needs too, so a flood of wrong secrets must not: few at a time, and
// beyond a short queue the caller is told to come back. One client's secret takes a part of the queue alone, for who guesses it
// must not keep the others from their tokens.
async function deriveInTurn(secret: string, salt: Buffer): Promise<Buffer> {
  if (derivations >= derivationsMax) {
    const ofSame = waiting.filter((each) => each.salt.equals(salt)).length;
    if (waiting.length >= waitingMax || ofSame >= waitingOfOneMax) {
      throw new Failure("rate-limited", "Too many secrets are being checked. Retry after a short delay.", {
        headers: { "retry-after": "1" },
      });
    }
    await new Promise<void>((go) => waiting.push({ salt, go }));
  }
  derivations++;
  try {
    return await derive(secret, salt, hashBytes, cost);
  } finally {
    derivations--;
    waiting.shift()?.go();
  }
}

// Secrets that were right, under a key that only this process has: who knows the secret never waits behind who does not.
const rememberKey = randomBytes(32);
const remembered = new Map<string, Buffer>();

async function isSecret(secret: string, stored: string): Promise<boolean> {
  // The derivation pads with zeros: a secret followed by them would count as the same.
  if (secret.includes("\0")) return false;
  const print = createHmac("sha256", rememberKey).update(secret).digest();
  const known = remembered.get(stored);
  if (known && timingSafeEqual(known, print)) return true;
  const [, salt = "", hash = ""] = stored.split("$");
  const derived = await deriveInTurn(secret, Buffer.from(salt, "base64url"));
  const isRight = timingSafeEqual(derived, Buffer.from(hash, "base64url"));
  if (isRight && remembered.size < rememberedMax) remembered.set(stored, print);
  return isRight;
}

type Hashes = { secret_hash: string; previous_secret_hash: string | null; previous_secret_until: string | null };

// The current secret, or the one before it while it is still good.
export async function isClientSecret(secret: string, client: Hashes): Promise<boolean> {
  if (await isSecret(secret, client.secret_hash)) return true;
  const { previous_secret_hash: previous, previous_secret_until: until } = client;
  return previous !== null && until !== null && Date.parse(until) > Date.now() && isSecret(secret, previous);
}
