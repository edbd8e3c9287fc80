import { expect, test } from "vitest";
import { SmallWorld, type Deed } from "../../test/small-world.ts";
import { active } from "../../test/verdict.ts";
import { misuseRules } from "./misuse-rules.ts";
import { contextOf } from "./vector.ts";

const day = 24 * 60;

const paid = (minute: number, more: Partial<Deed> = {}): Deed => {
  return { minute, type: "payment", website_account_id: "a", amount: 10, currency: "EUR", payee_id: "p", ...more };
};
const tried = (n: number, minute: number, status: "approved" | "declined" = "declined"): Deed =>
  paid(minute, { website_account_id: `a${n}`, instrument: { fingerprint: `card-${n}` }, status });

test("misuse: each declined new instrument counts once, and the count is compared with twice the usual share", () => {
  const world = new SmallWorld();
  const tests = Array.from({ length: 12 }, (_, n) => tried(n, 3 * day + n));
  const seen = world.seeAll([...tests, tried(4, 3 * day + 20), tried(5, 3 * day + 21)]);
  // One of ten is assumed to be usual: 12 against 2.4.
  expect(seen).toMatchObject({ "tenant.card_tests_1d": 12, "tenant.card_tests_ratio": 9.71 });
});

test("misuse: an attempt that is declined later counts as one card test, and an instrument with a past does not count", () => {
  const world = new SmallWorld();
  const attempt = { instrument: { fingerprint: "one" } };
  const [attempted, declined] = ["attempted", "declined"] as const;
  world.see(paid(day, { ...attempt, status: attempted }));
  expect(world.seeAll([paid(day + 1, { ...attempt, status: declined })])).toMatchObject({ "tenant.card_tests_1d": 1 });
  const later = world.seeAll([paid(3 * day, { ...attempt, status: declined })]);
  expect(later).not.toHaveProperty("tenant.card_tests_1d");
});

test("misuse: the usual share is learned from the days before, but is never above a quarter", () => {
  const world = new SmallWorld();
  let n = 0;
  const before = Array.from({ length: 20 }, (_, at) => Array.from({ length: 10 }, () => tried(n++, at * day))).flat();
  before.forEach((deed) => world.see(deed));
  const attack = Array.from({ length: 20 }, (_, at) => tried(n++, 25 * day + at));
  // 20 against twice a quarter of 20.
  expect(world.seeAll(attack)).toMatchObject({ "tenant.card_tests_ratio": 3.86 });
});

// An account with a history on two devices, and a log-in on another one.
const entered = (account: string, device: string): Deed[] =>
  [0, 1, 2, 3, 7].map((at) => ({
    minute: (at + 0.5) * day,
    type: "login_succeeded",
    website_account_id: account,
    session_id: `s-${account}-${at}`,
    device_id: at === 7 ? device : `${account}-${at % 2}`,
  }));
const looted = (account: string, device: string, minute = 8 * day): Deed =>
  paid(minute, { website_account_id: account, session_id: `s-${account}-7`, device_id: device });

test("misuse: accounts that pay a payee for the first time after an unusual log-in are counted once each", () => {
  const world = new SmallWorld();
  for (const n of [1, 2]) for (const deed of [...entered(`v-${n}`, "thief"), looted(`v-${n}`, "thief")]) world.see(deed);
  // Two accounts, where half an account is the least that is ever expected.
  expect(world.seeAll([looted("v-1", "thief", 8 * day + 5)])).toMatchObject({
    "payee.strangers_7d": 2,
    "payee.strangers_ratio_7d": 1.27,
  });
});

test("misuse: a first payment after a usual log-in is not counted", () => {
  const world = new SmallWorld();
  const seen = world.seeAll([...entered("v-1", "v-1-0"), looted("v-1", "v-1-0")]);
  expect(seen).not.toHaveProperty("payee.strangers_7d");
});

test("misuse: two frauds that are reported at once do not accuse a large payee", () => {
  const { compiled } = active(misuseRules.find(({ rule_id }) => rule_id === "payee_known_fraud") ?? { rule_id: "none" });
  // The log-odds of two frauds on a day that is not labelled yet, at a tenant with 20 frauds in 10,000 payments a day.
  const fields = { "event.type": "payment", "payee.frauds_28d": 2, "payee.compromise": 6.81 };
  expect(compiled.test(contextOf({ ...fields, "payee.payments_28d": 500 }, {}))).toBe(true);
  expect(compiled.test(contextOf({ ...fields, "payee.payments_28d": 28_000 }, {}))).toBe(false);
});

const failed = (n: number, minute: number, more: Partial<Deed> = {}): Deed => ({
  minute,
  type: "login_failed",
  website_account_id: `v-${n}`,
  ip: `198.51.${n}.1`,
  ...more,
});
const member = (n: number, minute: number): Deed => ({
  ...failed(n, minute),
  type: "login_succeeded",
  device_id: `laptop-${n}`,
  ip: `192.0.2.${n}`,
});
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

test("misuse: failed log-ins of strangers are counted over all accounts, and compared with twice the usual share of log-ins", () => {
  const world = new SmallWorld();
  numbers(10).forEach((n) => world.see(member(n, n)));
  // A tenth is assumed to be usual: 24 against 2.
  expect(world.seeAll(numbers(24).map((n) => failed(n, 20 + 10 * n)))).toMatchObject({
    "tenant.guesses_1d": 24,
    "tenant.guesses_ratio": 37.64,
  });
  expect(world.seeAll([member(3, 300)])).toMatchObject({ "tenant.guesses_1d": 24 });
  expect(world.seeAll([member(3, 5 * day)])).not.toHaveProperty("tenant.guesses_1d");
});

test("misuse: owners who mistype their passwords, many failures of one source, and pages do not count as guesses", () => {
  const world = new SmallWorld();
  numbers(10).forEach((n) => world.see(member(n, n)));
  const atHome = numbers(10).map((n) => failed(n, 20 + n, { ip: `192.0.2.${n}` }));
  const onOwnDevice = numbers(10).map((n) => failed(n, 40 + n, { device_id: `laptop-${n}` }));
  const onPages = numbers(10).map((n) => failed(n, 50 + n, { origin: "browser" }));
  expect(world.seeAll([...atHome, ...onOwnDevice, ...onPages])).not.toHaveProperty("tenant.guesses_1d");
  const oneAddress = world.seeAll(numbers(20).map((n) => failed(n, 100 + n, { ip: "203.0.113.9" })));
  expect(oneAddress).toMatchObject({ "tenant.guesses_1d": 3 });
  const oneNetwork = world.seeAll(numbers(30).map((n) => failed(n, 200 + n, { asn: 64_500 })));
  expect(oneNetwork).toMatchObject({ "tenant.guesses_1d": 13 });
});

// Ten accounts log in every day, and on the chosen days somebody guesses the passwords of 30 others.
const guessedOn = (days: number[]): Record<string, unknown> => {
  const world = new SmallWorld();
  const attack = (at: number) => numbers(30).map((n) => failed(n, at * day + 100 + 10 * n));
  for (const at of numbers(25)) {
    numbers(10).forEach((n) => world.see(member(n, at * day + n)));
    if (days.includes(at)) attack(at).forEach((deed) => world.see(deed));
  }
  numbers(10).forEach((n) => world.see(member(n, 25 * day + n)));
  return world.seeAll(attack(25));
};

test("misuse: earlier attacks do not make the next one look usual, unless they took half of the days", () => {
  const first = guessedOn([])["tenant.guesses_ratio"];
  expect(first).toBeGreaterThan(40);
  expect(guessedOn([3, 4, 5, 11, 12, 13, 14, 20, 21])["tenant.guesses_ratio"]).toBe(first);
  expect(guessedOn(numbers(15))["tenant.guesses_ratio"]).toBeLessThan(30);
});

test("misuse: many log-ins to one account do not hide guesses", () => {
  const world = new SmallWorld();
  numbers(300).forEach((minute) => world.see(member(1, minute)));
  expect(world.seeAll(numbers(24).map((n) => failed(n, 301 + n)))).toMatchObject({ "tenant.guesses_ratio": 69.41 });
});

const login = (minute: number, more: Partial<Deed> = {}): Deed => {
  return { minute, type: "login_succeeded", website_account_id: "owner", ...more };
};
const onLaptop = { device_id: "laptop" };
const isMissing = (deeds: Deed[]) => "account.device_is_missing" in new SmallWorld().seeAll(deeds);

test("misuse: a log-in without a device is noted only if half of the account's log-ins had one", () => {
  const half = [login(0), login(1, onLaptop)];
  expect([isMissing([login(0)]), isMissing(half), isMissing([...half, login(2)])]).toEqual([false, false, true]);
  expect(isMissing([...half, login(2, { type: "login_failed" })])).toBe(true);
  expect(isMissing([...half, login(2, { type: "payment" })])).toBe(false);
  expect(isMissing([...half, login(2), login(3)])).toBe(false);
});
