import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from "node:crypto";
import { promisify } from "node:util";
import { Derivations } from "../tokens/derivations.ts";

const derive = promisify<"argon2id", Argon2Parameters, Buffer>(argon2);

// OWASP's for argon2id: 19 MiB, two passes, one lane. 45 ms of one core here.
const cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const hashBytes = 32;

// Each derivation takes 19 MiB.
const derivations = new Derivations({
  atOnceMax: 2,
  waitingMax: 20,
  detail: "Too many passwords are being checked. Retry after a short delay.",
});

type Parts = { memory: number; passes: number; parallelism: number; salt: Buffer; length: number };

// One spelling for each password, whichever keyboard wrote it.
function hashOf(password: string, { salt, length, ...cost }: Parts): Promise<Buffer> {
  const message = password.normalize("NFC");
  return derivations.run("", () => derive("argon2id", { message, nonce: salt, tagLength: length, ...cost }));
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return toPhc(salt, await hashOf(password, { ...cost, salt, length: hashBytes }));
}

function toPhc(salt: Buffer, hash: Buffer): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

const phc = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// What nobody's password is: checked in the place of one that is not there, for the same work and the same time.
const nobodys = toPhc(randomBytes(saltBytes), randomBytes(hashBytes));

export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const match = phc.exec(stored ?? nobodys);
  if (!match) throw new Error("a stored password is in no form that is known here");
  const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number);
  const [salt, hash] = [Buffer.from(match[4] ?? "", "base64"), Buffer.from(match[5] ?? "", "base64")];
  const derived = await hashOf(password, { memory, passes, parallelism, salt, length: hash.length });
  return timingSafeEqual(derived, hash) && stored !== null;
}
