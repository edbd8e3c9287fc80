import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

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

async function isSecret(secret: string, stored: string): Promise<boolean> {
  // To the hash a key is the same with zeros after it.
  if (secret.includes("\0")) return false;
  const [, salt = "", hash = ""] = stored.split("$");
  const derived = await derive(secret, Buffer.from(salt, "base64url"), hashBytes, cost);
  return timingSafeEqual(derived, Buffer.from(hash, "base64url"));
}

type Hashes = { secret_hash: string; previous_secret_hash: string | null; previous_secret_until: string | null };

// The current secret, or the one before it while it is still good.
export async function isClientSecret(secret: string, client: Hashes): Promise<boolean> {
  if (await isSecret(secret, client.secret_hash)) return true;
  const { previous_secret_hash: previous, previous_secret_until: until } = client;
  return previous !== null && until !== null && Date.parse(until) > Date.now() && isSecret(secret, previous);
}
