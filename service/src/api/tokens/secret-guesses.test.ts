import { expect, test } from "vitest";
import { SecretGuesses } from "./secret-guesses.ts";

const wrong = async () => false;

// Returns how many guesses were checked until one was refused.
async function guess(guesses: SecretGuesses, of: (n: number) => { clientId: string; address: string }): Promise<number> {
  for (let n = 0; n < 1_000; n++) {
    const isRefused = await guesses.limit(of(n), wrong).catch(() => true);
    if (isRefused) return n;
  }
  return 1_000;
}

test("guesses: wrong secrets from one address are limited, whatever client ids they name", async () => {
  const guesses = new SecretGuesses("secrets");
  const checked = await guess(guesses, (n) => ({ clientId: `id-${n}`, address: "192.0.2.66" }));
  expect(checked >= 120 && checked < 130).toBe(true);
  const right = { clientId: "shop", address: "198.51.100.7" };
  expect(await guesses.limit(right, async () => true)).toBe(true);
});

test("guesses: the networks of one IPv6 site count as one address", async () => {
  const checked = await guess(new SecretGuesses("secrets"), (n) => ({
    clientId: `id-${n}`,
    address: `2001:db8:66:${n.toString(16)}::1`,
  }));
  expect(checked >= 120 && checked < 130).toBe(true);
});

test("guesses: right secrets do not count", async () => {
  const guesses = new SecretGuesses("secrets");
  const right = { clientId: "shop", address: "192.0.2.66" };
  for (let n = 0; n < 200; n++) expect(await guesses.limit(right, async () => true)).toBe(true);
});
