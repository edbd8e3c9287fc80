import { expect, test } from "vitest";
import { hashSecret, isClientSecret, newSecret, nobodysHash } from "./secret.ts";

const site = (n: number) => `2001:db8:${n.toString(16)}::1`;

async function newClient() {
  const secret = newSecret();
  return { secret, hash: await hashSecret(secret) };
}

const check = (secret: string, secret_hash: string, address: string) =>
  isClientSecret(secret, { secret_hash, previous_secrets: [] }, { address, limit: (work) => work() });

// Sends wrong secrets all at once.
const flood = (count: number, of: (n: number) => { hash: string; address: string }) =>
  Promise.allSettled(Array.from({ length: count }, (_, n) => check("wrong", of(n).hash, of(n).address)));
const refusedOf = (outcomes: PromiseSettledResult<boolean>[]) => outcomes.filter(({ status }) => status === "rejected").length;

test("client secret: a new client is checked while two addresses fill the queue with invented client ids", async () => {
  const { secret, hash } = await newClient();
  const guesses = flood(120, (n) => ({ hash: nobodysHash(`invented-${n}`), address: site(n % 2) }));
  expect(await check(secret, hash, site(9))).toBe(true);
  expect(refusedOf(await guesses)).toBe(120 - 51);
}, 60_000);

test("client secret: a new client is checked while two addresses fill the queue with guesses of its own secret", async () => {
  const { secret, hash } = await newClient();
  const guesses = flood(120, (n) => ({ hash, address: site(n % 2) }));
  expect(await check(secret, hash, site(9))).toBe(true);
  expect(refusedOf(await guesses)).toBe(120 - 51);
}, 60_000);

test("client secret: a new client is checked while a hundred addresses guess the secret of another", async () => {
  const [{ secret, hash }, guessed] = [await newClient(), await newClient()];
  const guesses = flood(100, (n) => ({ hash: guessed.hash, address: site(n) }));
  expect(await check(secret, hash, site(999))).toBe(true);
  expect(refusedOf(await guesses)).toBe(75);
  // No place was lost.
  expect(await check(guessed.secret, guessed.hash, site(0))).toBe(true);
}, 60_000);
