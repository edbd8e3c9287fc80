import { expect, test } from "vitest";
import { SmallWorld, type Deed } from "../../test/small-world.ts";
import { fields, type Features } from "./catalogue.ts";
import { entryFields, paymentFields } from "./payment-catalogue.ts";

const hour = 60;
const day = 24 * hour;
const card = { type: "card", bin: "411111", last4: "1111" };
const paid = (days: number, more: Partial<Deed> = {}): Deed => ({
  minute: days * day,
  type: "payment",
  website_account_id: "a",
  amount: 10,
  currency: "EUR",
  payee_id: "p",
  ...more,
});

// The world begins on Friday, 1 May 2026, at midnight UTC, which is 2 o'clock in the world's zone.
type Story = { deeds: Deed[]; labelled?: Deed[]; last: Deed; features: Features };
const frauds = [1, 2, 3].map((n) => paid(20, { minute: 20 * day + n, website_account_id: `victim-${n}`, instrument: card }));
const stories: Record<string, Story> = {
  "an amount is compared with the account's own": {
    deeds: [paid(0), paid(1), paid(2, { payee_id: "q" }), paid(3, { amount: 100, payee_id: "q" })],
    last: paid(4.5, { amount: 20, status: "approved", instrument: card }),
    features: {
      "event.hour": 14,
      "event.status": "approved",
      "event.currency": "EUR",
      "event.instrument_type": "card",
      "account.minutes_since_payment": 1.5 * day,
      // Half of the day before still counts.
      "account.payments_1d": 2,
      "account.payments_7d": 5,
      "account.payments_30d": 5,
      // 20, and half of 100.
      "account.amount_mean_1d": 46.67,
      "account.amount_mean_7d": 30,
      "account.amount_mean_30d": 30,
      // Three amounts of 10, and one that counts as 2.5 deviations of 3.54 above them: a mean of 12.21 and a deviation of 4.93.
      "account.amount_z": 1.58,
      "account.amount_ratio": 1.64,
      "account.high_amounts_7d": 1,
      "account.high_amounts_14d": 1,
      "account.very_high_amounts_7d": 1,
      "account.very_high_amounts_14d": 1,
      "account.amount_z_max_7d": 25.5,
      "payee.payments_7d": 3,
      "instrument.is_known": true,
      "instrument.payments_1d": 1,
      "instrument.accounts": 1,
    },
  },
  "a payee and an instrument that the account never used": {
    deeds: [paid(0, { instrument: { fingerprint: "own" } }), paid(1, { website_account_id: "b", payee_id: "q" })],
    last: paid(1.5, { payee_id: "q", instrument: card, status: "declined" }),
    features: {
      "event.is_weekend": true,
      "account.payee_is_new": true,
      "account.instrument_is_new": true,
      "account.declined_1d": 1,
      "payee.is_known": true,
      "payee.declined_1d": 1,
      "payee.payments_1d": 1,
      "payee.days_since_last": 0.5,
      "instrument.declined_1d": 1,
    },
  },
  "frauds belong to the day on which they happened": {
    deeds: [paid(0, { instrument: card, device_id: "d" }), ...frauds, paid(24, { device_id: "d", instrument: card })],
    labelled: [...frauds, paid(24, { device_id: "d", instrument: card })],
    last: paid(26, { device_id: "d", instrument: card }),
    features: {
      "account.frauds_7d": 1,
      "account.frauds_14d": 1,
      "account.frauds_28d": 1,
      "account.days_since_fraud": 2,
      "device.frauds_28d": 1,
      "device.days_since_fraud": 2,
      "payee.frauds_3d": 1,
      "payee.frauds_7d": 4,
      "payee.frauds_14d": 4,
      "payee.frauds_28d": 4,
      "payee.days_since_fraud": 2,
      "payee.days_since_first": 26,
      "payee.payments_28d": 6,
      // The tenant knows 4 frauds among 5 payments up to the day of the last one: 5 of 105. So 4 of 5 become 4.24 of 10.
      "payee.fraud_rate": 0.4238,
      // 4 of 4 on the last 7 of those days: 4.24 of 9.
      "payee.fraud_rate_7d": 0.4709,
      "payee.days_since_first_fraud": 6,
      // The probability of abuse was 0.98 on the day of the last fraud. On each of three days it ended with 0.05, so 0.83 is
      // left.
      "payee.compromise": 5.53,
      "instrument.payments_7d": 5,
      "instrument.payments_28d": 6,
      "instrument.frauds_3d": 1,
      "instrument.frauds_7d": 4,
      "instrument.frauds_14d": 4,
      "instrument.frauds_28d": 4,
      "instrument.fraud_rate": 0.4238,
      "instrument.fraud_rate_7d": 0.4709,
      "instrument.days_since_first_fraud": 6,
      "instrument.compromise": 5.53,
      "instrument.days_since_first": 26,
      "instrument.days_since_last": 2,
      "instrument.days_since_fraud": 2,
      "instrument.accounts": 4,
    },
  },
  "many new accounts at a quiet payee, with one instrument": {
    deeds: Array.from({ length: 40 }, (_, n) => paid(0, { website_account_id: `a${n}`, minute: 31 * day + n, instrument: card })),
    last: paid(0, { minute: 31 * day + 40, instrument: card }),
    features: {
      "payee.new_accounts_24h": 41,
      // 41, where at least 0.5 are expected: 41 * ln(82) - 40.5.
      "payee.new_ratio_1h": 140.18,
      // 41 against 1 per day: 41 * ln(41) - 40.
      "payee.new_ratio_24h": 112.26,
      "payee.new_ratio_7d": 38.47,
      "payee.new_ratio_28d": 2.64,
      "instrument.new_accounts_24h": 41,
      "instrument.new_ratio_1h": 140.18,
      "instrument.new_ratio_24h": 112.26,
      "instrument.new_ratio_7d": 38.47,
      "instrument.new_ratio_28d": 2.64,
    },
  },
  "many sign-ups with similar mailboxes, one look and one block of addresses": {
    deeds: Array.from({ length: 40 }, (_, n) => signup(n)),
    last: signup(40),
    features: Object.fromEntries(
      ["mailbox", "look", "block"].flatMap((group) => [
        [`${group}.new_accounts_24h`, 41],
        [`${group}.new_ratio_1h`, 140.18],
        [`${group}.new_ratio_24h`, 112.26],
        [`${group}.new_ratio_7d`, 38.47],
        [`${group}.new_ratio_28d`, 2.64],
      ]),
    ),
  },
  "a session that goes on elsewhere": {
    deeds: [
      { minute: 0, type: "login_succeeded", website_account_id: "a", device_id: "d" },
      { ...inSession(200 * day, { country: "DE", asn: 1, user_agent: "one" }), type: "login_succeeded", device_id: "d" },
      { ...inSession(200 * day + 1, {}), type: "page_view", origin: "browser", facts: { screen: "800x600" } },
      { ...inSession(200 * day + 10, {}), type: "page_view", origin: "browser", facts: { screen: "1920x1080" } },
      { ...inSession(200 * day + 20, { country: "NG", asn: 2, user_agent: "two" }), type: "page_view" },
    ],
    last: { ...inSession(200 * day + 30, { country: "DE", asn: 1, user_agent: "one" }), type: "login_succeeded", device_id: "d" },
    features: {
      "session.network_changed": true,
      "session.country_changed": true,
      "session.agent_changed": true,
      "session.screen_changed": true,
      "session.minutes_since_network_change": 10,
      "session.minutes_since_country_change": 10,
      "session.minutes_since_agent_change": 10,
      "session.minutes_since_screen_change": 20,
    },
  },
  "a log-in after a long silence": {
    deeds: [{ minute: 0, type: "login_succeeded", website_account_id: "a" }],
    last: { minute: 200 * day + 1, type: "login_succeeded", website_account_id: "a", device_id: "d", known: { onDevice: 1 } },
    features: { "account.days_since_last_login": 200, "device.fraud_share_90d": 1 },
  },
  "a log-in without the account's device": {
    deeds: [{ minute: 0, type: "login_succeeded", website_account_id: "a", device_id: "d" }],
    last: { minute: 1, type: "login_succeeded", website_account_id: "a" },
    features: { "account.device_is_missing": true },
  },
};

function signup(n: number): Deed {
  return {
    minute: 31 * day + n,
    type: "signup",
    website_account_id: `a${n}`,
    session_id: `s${n}`,
    ip: "192.0.2.7",
    attributes: { email: `Jane.Doe+${n}@example.com` },
    facts: { screen: "800x600", zone_offset_minutes: 60, locale: "de-DE" },
  };
}

function inSession(minute: number, more: Partial<Deed>): Omit<Deed, "type"> {
  return { minute, website_account_id: "a", session_id: "s", ...more };
}

function play({ deeds, labelled = [], last }: Story): Features {
  const world = new SmallWorld();
  for (const deed of deeds) world.see(deed);
  for (const deed of labelled) world.label(deed);
  return world.seeAll([last]);
}

test.each(Object.entries(stories))("features: %s", (_, story) => {
  const seen = play(story);
  expect(Object.fromEntries(Object.keys(story.features).map((name) => [name, seen[name]]))).toEqual(story.features);
});

test("features: every field about payments and about what accounts share appears in a story", () => {
  const told = new Set(Object.values(stories).flatMap(({ features }) => Object.keys(features)));
  const missing = [...paymentFields, ...entryFields].map(({ name }) => name).filter((name) => !told.has(name));
  expect(missing).toEqual([]);
});

test("features: a payment sets only fields of the catalogue, each with its own type", () => {
  const types = new Map(fields.map(({ name, type }) => [name, type]));
  for (const story of Object.values(stories)) {
    const wrong = Object.entries(play(story)).filter(([name, value]) => types.get(name) !== typeof value);
    expect(wrong).toEqual([]);
  }
});

test("features: an amount that is only an attribute sets no field about payments", () => {
  const world = new SmallWorld();
  const deeds = [0, 1, 2, 3].map((minute): Deed => ({ minute, type: "payment", website_account_id: "a", value: 7 }));
  const ofPayments = new Set(paymentFields.map(({ name }) => name));
  expect(Object.keys(world.seeAll(deeds)).filter((name) => ofPayments.has(name))).toEqual([]);
});

test("features: amounts of two currencies are not compared, and at most four currencies are remembered", () => {
  const world = new SmallWorld();
  for (const days of [0, 1, 2]) world.see(paid(days));
  const yen = world.seeAll([paid(3, { amount: 5000, currency: "JPY" })]);
  expect(yen).not.toHaveProperty("account.amount_z");
  expect(yen).toMatchObject({ "account.amount_mean_7d": 5000, "account.payments_7d": 4 });
  for (const currency of ["USD", "GBP", "CHF"]) world.see(paid(4, { currency, amount: 1 }));
  expect(world.seeAll([paid(5)])).toMatchObject({ "account.amount_ratio": 1 });
  expect(world.seeAll([paid(6, { amount: 5000, currency: "JPY" })])).not.toHaveProperty("account.amount_ratio");
});

test("features: repeated fraudulent amounts stay unusual, because they hardly change the account's mean", () => {
  const world = new SmallWorld();
  for (let days = 0; days < 20; days++) world.see(paid(days, { amount: 40 + (days % 5) * 5 }));
  const seen = Array.from({ length: 6 }, (_, n) => world.seeAll([paid(20 + n / 10, { amount: 500 })])["account.amount_z"]);
  expect(seen.filter((z) => Number(z) > 3)).toHaveLength(6);
  expect(Number(world.seeAll([paid(22, { amount: 50 })])["account.amount_ratio"])).toBeGreaterThan(0.5);
});

test("features: an order that is attempted and then approved counts once", () => {
  const world = new SmallWorld();
  world.see(paid(0, { order_id: "o", status: "attempted" }));
  const seen = world.seeAll([paid(0, { minute: 1, order_id: "o", status: "approved" })]);
  expect(seen).toMatchObject({ "account.payments_7d": 1, "payee.payments_7d": 1, "payee.new_accounts_24h": 1 });
});

test("features: a busy payee and an office do not stand out, however many new accounts they have every day", () => {
  const world = new SmallWorld();
  let seen: Features = {};
  for (let n = 0; n < 30 * 40; n++) seen = world.seeAll([paid(n / 40, { website_account_id: `a${n}` })]);
  expect(Number(seen["payee.new_accounts_24h"])).toBeGreaterThan(30);
  for (const span of ["1h", "24h", "7d"]) expect(Number(seen[`payee.new_ratio_${span}`] ?? 0)).toBeLessThan(1);
});

test("features: guests at an event, who bring the devices that they always use, are not new to its addresses", () => {
  const world = new SmallWorld();
  const guests = Array.from({ length: 60 }, (_, n) => ({ website_account_id: `a${n}`, device_id: `d${n}` }));
  for (const guest of guests) world.see({ ...guest, minute: 0, type: "login_succeeded", ip: "198.51.100.1" });
  const last = guests.map((guest, n) => ({ ...guest, minute: day + n, type: "login_succeeded", ip: "192.0.2.9" }));
  expect(Object.keys(world.seeAll(last)).filter((name) => name.startsWith("block."))).toEqual([]);
  const strangers = guests.map((guest, n) => ({ ...guest, device_id: `x${n}`, minute: 2 * day + n, type: "login_succeeded" }));
  expect(Number(world.seeAll(strangers.map((each) => ({ ...each, ip: "192.0.2.9" })))["block.new_ratio_1h"])).toBeGreaterThan(50);
});

test("features: declined payments do not count for a payee's new accounts, so nobody can use them to clear or accuse the payee", () => {
  const world = new SmallWorld();
  world.see(paid(0));
  for (let n = 0; n < 50; n++) world.see(paid(1, { minute: day + n, website_account_id: `x${n}`, status: "declined" }));
  const seen = world.seeAll([paid(1.5)]);
  expect(seen).toMatchObject({ "payee.payments_28d": 2, "payee.declined_1d": 50 });
  expect(seen).not.toHaveProperty("payee.new_ratio_24h");
});

test("features: an unverified page cannot make somebody else's session look as if it continued elsewhere", () => {
  const world = new SmallWorld();
  world.see({ ...inSession(0, { country: "DE", asn: 1, user_agent: "one" }), type: "login_succeeded" });
  const forged = { minute: 1, session_id: "s", source: "page" as const, claimed: "a", origin: "browser" as const };
  world.see({ ...forged, type: "page_view", country: "NG", asn: 2, user_agent: "two", facts: { screen: "1x1" } });
  const seen = world.seeAll([{ ...inSession(2, { country: "DE", asn: 1, user_agent: "one" }), type: "payment" }]);
  expect(Object.keys(seen).filter((name) => name.includes("change"))).toEqual([]);
});

test("features: after a stranger's log-in, a dormant account still counts as dormant", () => {
  const world = new SmallWorld();
  for (let n = 0; n < 6; n++) world.see({ minute: n * day, type: "login_succeeded", website_account_id: "a", device_id: "own" });
  const stranger: Deed = { minute: 300 * day, type: "login_succeeded", website_account_id: "a", device_id: "strange" };
  world.see(stranger);
  expect(world.seeAll([{ ...stranger, minute: 300 * day + 5 }])["account.days_since_last_login"]).toBe(295);
});

test("features: a label that is taken back leaves no trace", () => {
  const world = new SmallWorld();
  for (const days of [0, 1, 2]) world.see(paid(days));
  world.label(paid(1));
  world.label(paid(1), -1);
  const seen = world.seeAll([paid(3)]);
  expect(Object.keys(seen).filter((name) => /fraud|compromise/.test(name))).toEqual([]);
});
