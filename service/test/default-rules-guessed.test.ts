import { expect, test } from "vitest";
import { addressIn, shownValues, Stage, withCountries, type Step } from "./stage.ts";

const day = 24 * 60;
const home = addressIn("Berlin");
const away = addressIn("Lagos");

const login = (minute: number, more: Partial<Step> = {}): Step => ({
  minute,
  type: "login_succeeded",
  website_account_id: "owner",
  device_id: "laptop",
  ip: home,
  ...more,
});
const stolen = (minute: number): Step => {
  const { device_id: _device, ...step } = login(minute, { ip: away });
  return step;
};
// The play begins at midnight (UTC), 20 days ago. Otherwise, guesses of the day before would count in part at some times of day.
const openAtNight = () => Stage.open(withCountries(), 20 * 24 + (Date.now() % (day * 60_000)) / 3_600_000);
const days = (count: number) => Array.from({ length: count }, (_, index) => login(index * day));
// Wrong passwords for many accounts, each from an address of its own.
const guesses = (count: number): Step[] =>
  Array.from({ length: count }, (_, index) => ({
    minute: 10 * day + index * 20,
    type: "login_failed",
    website_account_id: `user-${index}`,
    ip: `198.51.${index}.1`,
  }));
const attacked = 10 * day + 15 * 60;

test("rule guessed_login: a stranger's log-in without a device while passwords are guessed opens an Account Takeover case", async () => {
  const stage = await openAtNight();
  const last = await stage.playLast([...days(6), ...guesses(40), stolen(attacked)]);
  expect(last.rules).toEqual(["guessed_login"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "account:owner", details: { primary_fraud_label: "Account Takeover" } });
  expect(shownValues(found, "guessed_login")).toMatchObject({
    "tenant.guesses_1d": 40,
    "account.device_is_missing": true,
    "account.ip_is_known": false,
  });
});

test("rule guessed_login: an account with few log-ins is protected too, if the country is new", async () => {
  for (const [ip, rules] of [
    [away, ["guessed_login"]],
    [addressIn("Berlin", 9), []],
  ] as const) {
    const stage = await openAtNight();
    const last = await stage.playLast([...days(2), ...guesses(40), { ...stolen(attacked), ip }]);
    expect(last).toMatchObject({ rules, features: { "account.device_is_missing": true } });
  }
});

test("rule guessed_login: the owner at a known address or with a new phone nearby is not accused", async () => {
  const stage = await openAtNight();
  await stage.play([...days(6), ...guesses(40)]);
  const { device_id: _device, ...blocked } = login(attacked);
  const played = await stage.play([blocked, login(attacked + 1), login(attacked + 2, { device_id: "phone" })]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
});

test("rule guessed_login: without unusually many failed log-ins of strangers it does not fire", async () => {
  const stage = await openAtNight();
  const few = await stage.playLast([...days(6), ...guesses(19), stolen(attacked)]);
  expect(few).toMatchObject({ rules: [], features: { "tenant.guesses_1d": 19 } });
  // The same number of failures is usual if many accounts log in.
  const busy = await openAtNight();
  const others = Array.from({ length: 200 }, (_, index) =>
    login(10 * day + index, { website_account_id: `other-${index}`, device_id: `other-${index}` }),
  );
  const last = await busy.playLast([...days(6), ...others, ...guesses(40), stolen(attacked)]);
  expect(last.rules).toEqual([]);
});

// Wrong passwords for the owner's account, each from an address of its own.
const tries = (count: number): Step[] => guesses(count).map((step) => ({ ...step, website_account_id: "owner" }));
const mistyped = (minute: number, ip: string): Step => login(minute, { type: "login_failed", device_id: "phone", ip });

test("rule stuffing_slow: while somebody guesses, the owner may mistype the password at home or in the usual network", async () => {
  const stage = await openAtNight();
  await stage.play([...days(6), ...tries(3)]);
  const nearby = addressIn("Berlin", 9);
  const played = await stage.play([mistyped(10 * day + 90, home), mistyped(10 * day + 91, nearby)]);
  expect(played.map(({ rules }) => rules)).toEqual([[], []]);
  const stranger = await stage.playLast([mistyped(10 * day + 92, away)]);
  expect(stranger).toMatchObject({ rules: ["stuffing_slow"], features: { "account.asn_is_new": true } });
});

test("rule stuffing_slow: while somebody guesses, a new customer may log in with a new phone, but not from a new country", async () => {
  for (const [ip, rules] of [
    [addressIn("Berlin", 9), []],
    [away, ["stuffing_slow"]],
  ] as const) {
    const stage = await openAtNight();
    const last = await stage.playLast([...days(2), ...tries(4), login(10 * day + 90, { device_id: "phone", ip })]);
    expect(last.rules.filter((rule) => rule === "stuffing_slow")).toEqual(rules);
  }
});
