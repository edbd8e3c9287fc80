import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Database } from "../db/database.ts";
import { claimAttempt, deleteAttempts, releaseAttempt } from "../db/sign-in-attempts.ts";
import { hostOf } from "../domain/address.ts";
import { Failure } from "../domain/failure.ts";
import { attemptLimits } from "../domain/user.ts";
import { clientAddress } from "./address.ts";

type Parts = { database: Database; trustedProxies: BlockList; now: () => string };

// Runs the check of a password where neither its account nor its address has failed too often. Null from the check is a
// failure. Counted before it runs, so that many at once get no more tries than one after the other; and by the e-mail as it
// was typed, so that one that nobody has is limited like any other.
export async function limitAttempts<T>(
  { database, trustedProxies, now }: Parts,
  request: IncomingMessage,
  email: string,
  check: () => Promise<T | null>,
): Promise<T | null> {
  const at = now();
  const account = subjectHash("account", email);
  const address = subjectHash("address", hostOf(clientAddress(request, trustedProxies) ?? "unknown"));
  const since = new Date(Date.parse(at) - attemptLimits.windowMs).toISOString();
  await database.transaction(async (tx) => {
    const oldest =
      (await claimAttempt(tx, { subject_hash: account, max: attemptLimits.account, now: at, since })) ??
      (await claimAttempt(tx, { subject_hash: address, max: attemptLimits.address, now: at, since }));
    if (oldest !== null) throw tooMany(Date.parse(oldest) + attemptLimits.windowMs - Date.parse(at));
  });
  const release = (isRight: boolean) =>
    database.transaction(async (tx) => {
      if (isRight) await deleteAttempts(tx, account);
      else await releaseAttempt(tx, { subject_hash: account, at });
      await releaseAttempt(tx, { subject_hash: address, at });
    });
  let checked: T | null;
  try {
    checked = await check();
  } catch (error) {
    // What could not be checked is no failure of the one who asked.
    await release(false).catch(() => {});
    throw error;
  }
  if (checked !== null) await release(true);
  return checked;
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
