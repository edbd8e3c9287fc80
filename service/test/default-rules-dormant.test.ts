import { pino } from "pino";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { Expiry } from "../src/engine/expire.ts";
import { addressIn, shownValues, Stage, withCountries, type Step } from "./stage.ts";

const day = 24 * 60;
const stageDays = 380;
const home = addressIn("Berlin");
const away = addressIn("Lagos");

const login = (days: number, more: Partial<Step> = {}): Step => ({
  minute: days * day,
  type: "login_succeeded",
  website_account_id: "owner",
  device_id: "own-phone",
  ip: home,
  ...more,
});
const before = [0, 1, 2, 3, 4, 5].map((days) => login(days));
const open = () => Stage.open(withCountries(), stageDays * 24);

test("rule dormant_account: an unusual log-in after half a year without one opens an Account Takeover case", async () => {
  const stage = await open();
  await stage.play(before);
  const last = await stage.playLast([login(186, { device_id: "strange", ip: away })]);
  expect(last.rules).toEqual(["dormant_account"]);
  expect(last.features).toMatchObject({ "account.days_since_last_login": 181 });
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "account:owner", details: { primary_fraud_label: "Account Takeover" } });
  expect(JSON.stringify(found)).toContain("The account was not used for 181 days.");
  expect(shownValues(found, "dormant_account")).toMatchObject({ "account.days_since_last_login": 181 });
});

test("rule dormant_account: the owner's own device, the usual network, or a shorter absence is not enough", async () => {
  const stage = await open();
  await stage.play(before);
  const short = await stage.playLast([login(184, { device_id: "strange", ip: away })]);
  expect(short.rules).toEqual([]);
  const owner = await open();
  await owner.play(before);
  const played = await owner.play([login(300), login(379, { device_id: "new-phone", activity_id: "new" })]);
  expect(played.map(({ rules }) => rules)).toEqual([[], []]);
  expect(await owner.cases()).toEqual([]);
});

test("rule dormant_account: at a thief's second log-in, the account still counts as dormant", async () => {
  const stage = await open();
  await stage.play(before);
  await stage.play([login(200, { device_id: "strange", ip: away })]);
  const again = await stage.playLast([login(201, { device_id: "strange", ip: away })]);
  expect(again.rules).toEqual(["dormant_account"]);
});

test("rule dormant_account: a dormant account's habits do not expire before the rule can fire", async () => {
  const longAgo = new Date(Date.now() - stageDays * day * 60_000).toISOString();
  let now = longAgo;
  const stage = await Stage.open({ ...withCountries(), clock: { ...clock, now: () => now } }, stageDays * 24);
  await stage.play(before);
  now = clock.now();
  const expiry = new Expiry({ database: stage.tenant.database, clock, log: pino({ level: "silent" }), retentionDays: 1 });
  expect((await expiry.pass())?.isWhole).toBe(true);
  const last = await stage.playLast([login(379, { device_id: "strange", ip: away })]);
  expect(last.rules).toEqual(["dormant_account"]);
});
