import { expect, test } from "vitest";
import { similarityOf } from "./similarity.ts";

test("similarity: equal vectors are 1, and only values that one of the two has are compared", () => {
  const one = { "account.logins_24h": 3, "login.is_new_device": true };
  expect(similarityOf(one, { ...one })).toBe(1);
  expect(similarityOf(one, { "account.logins_24h": 3 })).toBe(0.5);
  expect(similarityOf({}, {})).toBe(0);
});

test("similarity: numbers are compared by factor, texts and the tenant's own values are left out", () => {
  const near = similarityOf({ "event.amount": 1000 }, { "event.amount": 1100 });
  const far = similarityOf({ "event.amount": 1000 }, { "event.amount": 100_000 });
  expect(near).toBeGreaterThan(0.9);
  expect(far).toBe(0);
  const base = { "account.logins_24h": 2 };
  expect(similarityOf({ ...base, "event.ip": "203.0.113.1", "tenant.logins_1h": 9 }, { ...base, "event.ip": "x" })).toBe(1);
  expect(similarityOf({ "event.amount": -10 }, { "event.amount": 10 })).toBe(0);
});
