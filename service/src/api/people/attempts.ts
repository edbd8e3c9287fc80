import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Database } from "../../db/postgres/database.ts";
import { claimAttempt, releaseAttempt } from "../../db/sign-in-attempts.ts";
import { hostOf, siteOf } from "../../domain/address.ts";
import { Failure } from "../../domain/failure.ts";
import { attemptLimits, attemptWindowMs, type AttemptKind } from "../../domain/user.ts";
import { clientAddress } from "../http/address.ts";
import type { KnownDevice } from "./devices.ts";

type AttemptOptions = { database: Database; trustedProxies: BlockList; now: () => string };

// The e-mail as it was typed, the tenants to check it in, and the browser if it has signed in to some of them before.
type Tried = { email: string; slugs: string[]; device: KnownDevice | null };
// The accounts whose password matches, and those whose password could have matched but does not.
export type Checked<T> = { fitting: T[]; missed: T[] };

type Subject = { kind: AttemptKind; text: string };
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

// For somebody who is signed in and must enter the password again.
export async function limitOwnAttempts(options: AttemptOptions, userId: string, check: () => Promise<boolean>): Promise<boolean> {
  const claimed = await claim(options, [{ kind: "signedIn", text: userId }]);
  const isRight = await check().catch(async (error: unknown) => {
    await release(options, claimed).catch(() => {});
    throw error;
  });
  if (isRight) await release(options, claimed);
  return isRight;
}

async function admit(options: AttemptOptions, request: IncomingMessage, { email, slugs, device }: Tried): Promise<Admitted[]> {
  const ip = clientAddress(request, options.trustedProxies) ?? "unknown";
  const [address, site] = [hostOf(ip), siteOf(ip)];
  const stranger: Subject[] = [
    { kind: "pair", text: `${address} ${email}` },
    { kind: "account", text: email },
    { kind: "address", text: address },
    // An IPv6 site may choose any of its networks.
    ...(site === address ? [] : [{ kind: "site" as const, text: site }]),
  ];
  if (!device) return [{ slugs, ...(await claim(options, stranger)) }];
  const own = { slugs: device.slugs, ...(await claim(options, [{ kind: "device", text: `${device.id} ${email}` }])) };
  const others = slugs.filter((slug) => !device.slugs.includes(slug));
  if (others.length === 0) return [own];
  // To the other tenants this browser is a stranger. They are skipped while strangers have to wait.
  const asStranger = await claim(options, stranger).catch((error: unknown) => {
    if (error instanceof Failure && error.code === "rate-limited") return null;
    throw error;
  });
  return asStranger ? [own, { slugs: others, ...asStranger }] : [own];
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
