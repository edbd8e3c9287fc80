import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Database, Queryable } from "../db/database.ts";
import { claimAttempt, deleteAttempts, releaseAttempt } from "../db/sign-in-attempts.ts";
import { hostOf } from "../domain/address.ts";
import { Failure } from "../domain/failure.ts";
import { attemptLimits } from "../domain/user.ts";
import { clientAddress } from "./address.ts";

type Parts = { database: Database; trustedProxies: BlockList; now: () => string };

// Who is tried: an e-mail as it was typed, and the tenants that are asked for it.
type Tried = { email: string; slugs: string[] };
// Whom the password fits, and whom it does not though it could have.
export type Checked<T> = { fitting: T[]; missed: T[] };

type Claim = { accounts: Map<string, Buffer>; email: Buffer; address: Buffer; at: string };

// Runs the check of a password for the tenants whose account has not failed too often, where neither the e-mail nor the
// address has. Counted before it runs, so that many at once get no more tries than one after the other. By the e-mail as it was
// typed, so that one that nobody has is limited like any other; and by tenant too, for a success of one tenant takes back
// nothing that was tried on another.
export async function limitAttempts<T extends { slug: string }>(
  parts: Parts,
  request: IncomingMessage,
  tried: Tried,
  check: (slugs: ReadonlySet<string>) => Promise<Checked<T>>,
): Promise<T[]> {
  const { database } = parts;
  const claim = await claimAll(parts, request, tried);
  let checked: Checked<T>;
  try {
    checked = await check(new Set(claim.accounts.keys()));
  } catch (error) {
    // What could not be checked is no failure of the one who asked.
    await database.transaction((tx) => releaseAll(tx, claim)).catch(() => {});
    throw error;
  }
  const { fitting } = checked;
  if (fitting.length > 0) await database.transaction((tx) => settleSuccess(tx, claim, checked));
  return fitting;
}

async function claimAll({ database, trustedProxies, now }: Parts, request: IncomingMessage, tried: Tried): Promise<Claim> {
  const at = now();
  const email = subjectHash("account", tried.email);
  const address = subjectHash("address", hostOf(clientAddress(request, trustedProxies) ?? "unknown"));
  const since = new Date(Date.parse(at) - attemptLimits.windowMs).toISOString();
  return database.transaction(async (tx) => {
    const claim = (subject_hash: Buffer, max: number) => claimAttempt(tx, { subject_hash, max, now: at, since });
    const refuse = (oldest: string) => tooMany(Date.parse(oldest) + attemptLimits.windowMs - Date.parse(at));
    const oldest = (await claim(email, attemptLimits.account)) ?? (await claim(address, attemptLimits.address));
    if (oldest !== null) throw refuse(oldest);
    const accounts = new Map<string, Buffer>();
    const full: string[] = [];
    for (const slug of tried.slugs) {
      const account = subjectHash("account", `${tried.email} ${slug}`);
      const stands = await claim(account, attemptLimits.account);
      if (stands === null) accounts.set(slug, account);
      else full.push(stands);
    }
    const [first] = full.toSorted();
    if (first !== undefined && accounts.size === 0) throw refuse(first);
    return { accounts, email, address, at };
  });
}

async function releaseAll(tx: Queryable, { accounts, email, address, at }: Claim): Promise<void> {
  for (const subject_hash of [email, address, ...accounts.values()]) await releaseAttempt(tx, { subject_hash, at });
}

// Where the password fits, the failures before it are forgotten. Where it does not, this one stays, for whoever owns an account
// in one tenant could else try out passwords of another; and so it does with the address.
async function settleSuccess<T extends { slug: string }>(
  tx: Queryable,
  { accounts, email, address, at }: Claim,
  { fitting, missed }: Checked<T>,
): Promise<void> {
  await deleteAttempts(tx, email);
  if (missed.length === 0) await releaseAttempt(tx, { subject_hash: address, at });
  const fits = new Set(fitting.map(({ slug }) => slug));
  const misses = new Set(missed.map(({ slug }) => slug));
  for (const [slug, subject_hash] of accounts) {
    if (fits.has(slug)) await deleteAttempts(tx, subject_hash);
    else if (!misses.has(slug)) await releaseAttempt(tx, { subject_hash, at });
  }
}

function subjectHash(kind: "account" | "address", text: string): Buffer {
  return hash("sha256", `${kind} ${text}`, "buffer");
}

function tooMany(waitMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Failure("rate-limited", "Too many attempts have failed. Wait before the next one.", {
    headers: { "retry-after": String(seconds) },
  });
}
