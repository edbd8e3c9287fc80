import { argon2Sync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Failure } from "../../domain/failure.ts";
import { hashPassword, isPassword, passwordCost, realCost } from "./password.ts";

const password = "correct horse battery staple";
// Other tests use a cheaper hash.
const cheap = { ...passwordCost };
beforeAll(() => Object.assign(passwordCost, realCost));
afterAll(() => Object.assign(passwordCost, cheap));

const stranger = (n = 0) => ({ kind: "stranger" as const, name: `192.0.2.${n}` });

test("password: stored as argon2id with 19 MiB, two passes, one lane and its own salt", async () => {
  const stored = await hashPassword(password);
  const [, name, version, cost, salt = "", hash = ""] = stored.split("$");
  expect([name, version, cost]).toEqual(["argon2id", "v=19", "m=19456,t=2,p=1"]);
  const nonce = Buffer.from(salt, "base64");
  expect(nonce.length).toBe(16);
  const derived = argon2Sync("argon2id", {
    message: password,
    nonce,
    memory: 19_456,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  });
  expect(Buffer.from(hash, "base64")).toEqual(derived);
  expect(await hashPassword(password)).not.toBe(stored);
});

test("password: only the same password matches, in either Unicode form", async () => {
  const stored = await hashPassword("caf\u00e9 caf\u00e9 caf\u00e9");
  expect(await isPassword("cafe\u0301 cafe\u0301 cafe\u0301", stored, stranger())).toBe(true);
  for (const wrong of ["cafe cafe cafe", "caf\u00e9 caf\u00e9 caf\u00e9 ", "Caf\u00e9 caf\u00e9 caf\u00e9", ""]) {
    expect(await isPassword(wrong, stored, stranger())).toBe(false);
  }
});

test("password: a hash with other parameters is checked with those", async () => {
  const nonce = Buffer.alloc(16, 7);
  const hash = argon2Sync("argon2id", { message: password, nonce, memory: 64, passes: 3, parallelism: 2, tagLength: 24 });
  const stored = `$argon2id$v=19$m=64,t=3,p=2$${nonce.toString("base64").replace(/=+$/, "")}$${hash.toString("base64")}`;
  expect(await isPassword(password, stored, stranger())).toBe(true);
  expect(await isPassword("another password", stored, stranger())).toBe(false);
});

test("password: without a stored hash, nothing matches", async () => {
  expect(await isPassword(password, null, stranger())).toBe(false);
  expect(await isPassword("", null, stranger())).toBe(false);
});

test("password 429: in a flood, two are checked at a time, twenty wait, and the rest are asked to retry", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => isPassword(password, null, stranger(n))));
  const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as Failure] : []));
  expect(refused.length).toBe(18);
  for (const each of refused) expect(each).toMatchObject({ code: "rate-limited", headers: { "retry-after": "1" } });
  // No slot was lost.
  expect(await isPassword(password, null, stranger())).toBe(false);
});

test("password 429: one address fills only part of the queue, and nothing of the queue for known browsers", async () => {
  const flood = Promise.allSettled(Array.from({ length: 40 }, () => isPassword(password, null, stranger())));
  const other = isPassword(password, null, stranger(1));
  const known = isPassword(password, null, { kind: "known", name: "browser" });
  expect(await Promise.all([other, known])).toEqual([false, false]);
  const outcomes = await flood;
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(33);
});

test("password: floods of strangers at many addresses do not hold up a known browser", async () => {
  const flood = Promise.allSettled(Array.from({ length: 40 }, (_, n) => isPassword(password, null, stranger(n))));
  expect(await isPassword(password, null, { kind: "known", name: "browser" })).toBe(false);
  await flood;
});
