import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Database } from "../../db/postgres/database.ts";
import { claimAttempt, deleteOldAttempts, releaseAttempt } from "../../db/sign-in-attempts.ts";
import { hostOf, siteOf } from "../../domain/address.ts";
import { Failure } from "../../domain/failure.ts";
import { attemptLimits, attemptWindowMs, type AttemptKind } from "../../domain/user.ts";
import { clientAddress } from "../http/address.ts";
import type { KnownDevice } from "./devices.ts";

type AttemptOptions = { database: Database; trustedProxies: BlockList; now: () => string };

// How many old rows an attempt deletes at most. It inserts up to four, so the table shrinks again after an attack.
const deletedMax = 8;

// The e-mail as it was typed, the tenants to check it in, the browser if it has signed in to some of them before, and the tenants
// in which somebody has signed in to the account from the same address.
type Tried = { email: string; slugs: string[]; device: KnownDevice | null; usualSlugs: string[] };
// The accounts whose password matches, and those whose password could have matched but does not.
export type Checked<T> = { fitting: T[]; missed: T[] };

export type Subject = { kind: AttemptKind; text: string };
type Claim = { hashes: Buffer[]; at: string };
// The tenants in which the password may be checked.
type Admitted = Claim & { slugs: string[] };

// Checks a password, unless too many attempts have failed recently. A browser that has signed in to an account before has its own
// count for that account, so failures of strangers cannot lock the owner out. All other attempts are counted by the e-mail as it
// was typed, so an unknown e-mail is treated like a known one. An attempt is counted before it is checked, so parallel attempts
// get no more tries than sequential ones.
export async function limitAttempts<T extends { slug: string }>(
  options: AttemptOptions,
  request: IncomingMessage,
  tried: Tried,
  check: (slugs: ReadonlySet<string>) => Promise<Checked<T>>,
): Promise<T[]> {
  const admitted = await admit(options, request, tried);
  let checked: Checked<T>;
  try {
    checked = await check(new Set(admitted.flatMap(({ slugs }) => slugs)));
  } catch (error) {
    // A check that could not run does not count as a failed attempt.
    for (const each of admitted) await release(options, each).catch(() => {});
    throw error;
  }
  if (checked.fitting.length === 0) return [];
  const missed = new Set(checked.missed.map(({ slug }) => slug));
  // If the password is right in one tenant and wrong in another, the attempt stays a failure in the second. Otherwise the owner
  // of an account in one tenant could guess the password of the same e-mail in another.
  for (const each of admitted) if (!each.slugs.some((slug) => missed.has(slug))) await release(options, each);
  return checked.fitting;
}

// For somebody who is already identified, by a session or by the right password, and must enter something again or in addition.
// Returns null if the check does.
export async function limitOwnAttempts<T>(
  options: AttemptOptions,
  subjects: Subject[],
  check: () => Promise<T | null>,
): Promise<T | null> {
  const claimed = await claim(options, subjects);
  const checked = await check().catch(async (error: unknown) => {
    await release(options, claimed).catch(() => {});
    throw error;
  });
  if (checked !== null) await release(options, claimed);
  return checked;
}

async function admit(options: AttemptOptions, request: IncomingMessage, tried: Tried): Promise<Admitted[]> {
  const { email, device } = tried;
  const address = hostOf(addressOf(options, request));
  const left = new Set(tried.slugs);
  const groups: { slugs: string[]; subjects: Subject[] }[] = [];
  const add = (slugs: string[], subjects: Subject[]) => {
    const own = slugs.filter((slug) => left.delete(slug));
    if (own.length > 0) groups.push({ slugs: own, subjects });
  };
  add(device?.slugs ?? [], [{ kind: "device", text: `${device?.id} ${email}` }]);
  // Somebody who shares the person's address, for example in an office, must not be able to try everybody's password from it.
  const ofAddress = strangersSubjects(options, request, email).filter(({ kind }) => kind === "address" || kind === "site");
  add(tried.usualSlugs, [{ kind: "usualAddress", text: `${address} ${email}` }, ...ofAddress]);
  // Unknown e-mail addresses are counted like known ones.
  if (left.size > 0 || groups.length === 0)
    groups.push({ slugs: [...left], subjects: strangersSubjects(options, request, email) });
  const [first, ...others] = groups;
  const admitted = first ? [{ slugs: first.slugs, ...(await claim(options, first.subjects)) }] : [];
  // Tenants to which this browser is less known are skipped while they have to wait.
  for (const { slugs, subjects } of others) {
    const claimed = await claim(options, subjects).catch((error: unknown) => {
      if (error instanceof Failure && error.code === "rate-limited") return null;
      throw error;
    });
    if (claimed) admitted.push({ slugs, ...claimed });
  }
  return admitted;
}

function addressOf({ trustedProxies }: AttemptOptions, request: IncomingMessage): string {
  return clientAddress(request, trustedProxies) ?? "unknown";
}

function strangersSubjects(options: AttemptOptions, request: IncomingMessage, email: string): Subject[] {
  const ip = addressOf(options, request);
  const [address, site] = [hostOf(ip), siteOf(ip)];
  return [
    { kind: "pair", text: `${address} ${email}` },
    { kind: "account", text: email },
    { kind: "address", text: address },
    // An IPv6 site may choose any of its networks.
    ...(site === address ? [] : [{ kind: "site" as const, text: site }]),
  ];
}

// Claims all of them or none. The fixed order also fixes the order of the locks, so they cannot deadlock.
async function claim({ database, now }: AttemptOptions, subjects: Subject[]): Promise<Claim> {
  const at = now();
  const since = new Date(Date.parse(at) - attemptWindowMs).toISOString();
  const hashes = subjects.map(({ kind, text }) => hash("sha256", `${kind} ${text}`, "buffer"));
  await database.transaction(async (tx) => {
    for (const [index, { kind }] of subjects.entries()) {
      const subject_hash = hashes[index] ?? Buffer.alloc(0);
      const until = await claimAttempt(tx, { subject_hash, ...attemptLimits[kind], now: at, since });
      if (until !== null) throw tooMany(Date.parse(until) - Date.parse(at));
    }
    await deleteOldAttempts(tx, { since, limit: deletedMax });
  });
  return { hashes, at };
}

async function release({ database }: AttemptOptions, { hashes, at }: Claim): Promise<void> {
  await database.transaction(async (tx) => {
    for (const subject_hash of hashes) await releaseAttempt(tx, { subject_hash, at });
  });
}

function tooMany(waitMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Failure("rate-limited", "Too many attempts have failed. Wait before the next one.", {
    headers: { "retry-after": String(seconds) },
  });
}
