import { argon2, randomBytes, randomUUID, timingSafeEqual, type Argon2Parameters } from "node:crypto";
import { promisify } from "node:util";
import { Derivations } from "../tokens/derivations.ts";

const derive = promisify<"argon2id", Argon2Parameters, Buffer>(argon2);

// OWASP's parameters for argon2id: 19 MiB, two passes, one lane. One hash took 45 ms of one core.
export const realCost = Object.freeze({ memory: 19_456, passes: 2, parallelism: 1 });
// Tests that are not about passwords lower it.
export const passwordCost = { ...realCost };
const saltBytes = 16;
const hashBytes = 32;

const detail = "Too many passwords are being checked. Retry after a short delay.";

// Each derivation takes 19 MiB. Strangers take turns by address, and one address fills only a quarter of the queue. People who
// are known by their browser, their session or a link have a queue of their own, so strangers do not delay them.
const queues = {
  stranger: new Derivations({ atOnceMax: 2, waitingMax: 20, waitingOfOneMax: 5, detail }),
  known: new Derivations({ atOnceMax: 1, waitingMax: 10, waitingOfOneMax: 3, detail }),
};

// Who wants a password checked: the address of a stranger, or the browser or user that is known.
export type Asker = { kind: keyof typeof queues; name: string };

type HashParameters = { memory: number; passes: number; parallelism: number; salt: Buffer; length: number };

// Normalized, because keyboards may encode the same letters differently.
function hashOf(password: string, { salt, length, ...cost }: HashParameters, { kind, name }: Asker): Promise<Buffer> {
  const message = password.normalize("NFC");
  return queues[kind].run(name, () => derive("argon2id", { message, nonce: salt, tagLength: length, ...cost }));
}

// Hashes a new password. Its owner has already shown a link or the current password. The passwords of one e-mail in several
// tenants share the salt of the first, so that one derivation checks a password against all of them.
export async function hashPassword(password: string, sibling: string | null = null): Promise<string> {
  const salt = sibling === null ? randomBytes(saltBytes) : partsOf(sibling).salt;
  const asker: Asker = { kind: "known", name: randomUUID() };
  return toPhc(salt, await hashOf(password, { ...passwordCost, salt, length: hashBytes }, asker));
}

function toPhc(salt: Buffer, hash: Buffer): string {
  const { memory, passes, parallelism } = passwordCost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

const phc = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// A hash that matches no password. It is checked if there is no stored one, so both cases take the same work and time.
const nobodys = () => toPhc(randomBytes(saltBytes), randomBytes(hashBytes));

function partsOf(stored: string): HashParameters & { hash: Buffer } {
  const match = phc.exec(stored);
  if (!match) throw new Error("a stored password hash has an unknown format");
  const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number);
  const [salt, hash] = [Buffer.from(match[4] ?? "", "base64"), Buffer.from(match[5] ?? "", "base64")];
  return { memory, passes, parallelism, salt, length: hash.length, hash };
}

export async function isPassword(password: string, stored: string | null, asker: Asker): Promise<boolean> {
  const matches = await findMatches(password, stored === null ? [] : [stored], asker);
  return stored !== null && matches.has(stored);
}

// Returns those of the stored hashes that match. Derives one hash for each salt, and at least one.
export async function findMatches(password: string, stored: string[], asker: Asker): Promise<Set<string>> {
  const matches = new Set<string>();
  // Everything before the hash, and the length of the hash.
  const alike = Map.groupBy(
    stored.length > 0 ? stored : [nobodys()],
    (each) => `${each.slice(0, each.lastIndexOf("$"))} ${each.length}`,
  );
  for (const [first = "", ...others] of alike.values()) {
    const { hash: _, ...parameters } = partsOf(first);
    const derived = await hashOf(password, parameters, asker);
    for (const each of [first, ...others]) if (timingSafeEqual(derived, partsOf(each).hash)) matches.add(each);
  }
  return matches;
}
