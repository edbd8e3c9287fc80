import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

// Codes of authenticator apps (RFC 6238), with the parameters that every app supports.
const secretBytes = 20;
const stepSeconds = 30;
const digits = 6;
// How many steps a phone's clock may be off, in either direction.
const driftSteps = 1;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function newTotpSecret(): Buffer {
  return randomBytes(secretBytes);
}

// Base32 as apps expect it: upper case, without padding.
export function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[parseInt(group.padEnd(5, "0"), 2)]).join("");
}

export function totpUri(secret: Buffer, { email, slug }: { email: string; slug: string }): string {
  const issuer = `Casehound (${slug})`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

export function totpStep(atMs: number): number {
  return Math.floor(atMs / 1000 / stepSeconds);
}

// Returns the step whose code this is, or null. Steps up to `lastStep` are used up, so a code that somebody has watched is
// worthless once it was entered.
export function findTotpStep(
  code: string,
  secret: Buffer,
  { atMs, lastStep }: { atMs: number; lastStep: number },
): number | null {
  const given = Buffer.from(code);
  if (given.length !== digits) return null;
  const now = totpStep(atMs);
  let found: number | null = null;
  for (let step = now - driftSteps; step <= now + driftSteps; step++)
    if (timingSafeEqual(given, Buffer.from(totpCode(secret, step))) && step > lastStep) found ??= step;
  return found;
}
