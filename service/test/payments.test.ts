import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import type { Features } from "../src/detection/catalogue.ts";
import { instrumentIdOf } from "../src/domain/instrument.ts";
import { Stage, type Step } from "./stage.ts";

const hour = 60;
const day = 24 * hour;
const card = { type: "card", bin: "411111", last4: "1111" };
const paid = (days: number, more: Partial<Step> = {}): Step => ({
  minute: days * day,
  type: "payment",
  website_account_id: "owner",
  amount: 10,
  currency: "EUR",
  payee_id: "shop",
  instrument: card,
  status: "approved",
  ...more,
});

async function statesOf({ tenant }: Stage): Promise<{ kind: string; ring: Uint8Array; facts: string }[]> {
  const text = "select kind, ring, facts from entity_states where tenant_id = $1 order by kind";
  return tenant.database.query(statement(text, [tenant.tenantId]));
}

test("payments: earlier payments are remembered from batch to batch, and the fields are stored with the decision", async () => {
  const stage = await Stage.open();
  for (const days of [1, 2, 3]) await stage.play([paid(days), paid(days, { website_account_id: "other", amount: 900 })]);
  const last = await stage.playLast([paid(4, { amount: 60, payee_id: "mule", instrument: { fingerprint: "fp" } })]);
  expect(last.features).toMatchObject({
    "event.value": 60,
    "event.currency": "EUR",
    "event.status": "approved",
    "account.minutes_since_payment": day,
    "account.payments_7d": 4,
    "account.amount_ratio": 6,
    "account.payee_is_new": true,
    "account.instrument_is_new": true,
    "payee.is_known": true,
    "payee.payments_28d": 1,
    "payee.new_accounts_24h": 1,
    "instrument.accounts": 1,
  });
  const again = await stage.playLast([paid(5, { website_account_id: "other" })]);
  expect(again.features).toMatchObject({ "payee.payments_28d": 7, "instrument.accounts": 2, "account.amount_ratio": 0.01 });
  expect(again.features).not.toHaveProperty("account.payee_is_new");
});

// The hour depends on when the test runs.
const withoutHour = ({ features }: { features: Features }) => ({ ...features, "event.hour": 0, "event.is_weekend": false });

const kindsOf = async (stage: Stage) => (await statesOf(stage)).map(({ kind, ring }) => `${kind} ${ring.length}`).toSorted();

test("payments: the same activities give the same fields and states in one batch and one by one", async () => {
  const paying = Array.from({ length: 12 }, (_, n) =>
    paid(3 + n / 3, { website_account_id: `a${n % 3}`, payee_id: `p${n % 4}`, amount: 5 + n }),
  );
  // The first log-ins add nobody to the block of addresses, so it is not stored before the later ones.
  const entering = ["own", "own", "own", "other", "another"].map((device_id, n): Step => {
    return { minute: n * hour, type: "login_succeeded", website_account_id: "a1", device_id, ip: "192.0.2.1" };
  });
  const steps = [...entering, ...paying];
  const [together, apart] = [await Stage.open(), await Stage.open()];
  const batch = await together.play(steps);
  const single = [];
  for (const step of steps) single.push(await apart.playLast([step]));
  expect(single.map(withoutHour)).toEqual(batch.map(withoutHour));
  expect(await kindsOf(apart)).toEqual(await kindsOf(together));
});

test("payments: payees and instruments are loaded only for payments, and what is stored reveals no card and no mailbox", async () => {
  const stage = await Stage.open();
  const signup: Step = { minute: 0, type: "signup", website_account_id: "owner", ip: "192.0.2.1" };
  await stage.play([{ ...signup, attributes: { email: "Jane.Doe+1@example.com" } }, paid(1)]);
  const states = await statesOf(stage);
  expect(new Set(states.map(({ kind }) => kind))).toEqual(
    new Set(["account", "ip", "value", "payee", "instrument", "mailbox", "block"]),
  );
  const text = JSON.stringify(states);
  for (const secret of ["4111", "jane", "example.com", instrumentIdOf({ instrument: card }) ?? "", "shop"])
    expect(text.toLowerCase()).not.toContain(secret);
  const plain = await Stage.open();
  await plain.play([{ minute: 0, type: "payment", website_account_id: "owner", attributes: { amount: 5 } }]);
  expect((await statesOf(plain)).map(({ kind }) => kind)).toEqual(["account"]);
});

test("payments: a payment without payment members is scored as before those members existed", async () => {
  const stage = await Stage.open();
  const base = { type: "payment", website_account_id: "owner" };
  const played = await stage.play([0, 1, 2, 3].map((minute): Step => ({ ...base, minute, attributes: { amount: 40 } })));
  expect(Object.keys(played.at(-1)?.features ?? {}).toSorted()).toEqual([
    "account.age_minutes",
    "account.events_1h",
    "account.events_24h",
    "account.is_known",
    "account.value_ratio",
    "account.values",
    "event.origin",
    "event.type",
    "event.value",
  ]);
});

test("payments: nothing about the payee is learned from a payment that a page reports", async () => {
  const stage = await Stage.open();
  const forged = Array.from({ length: 20 }, (_, n) => paid(1, { origin: "browser", session_id: `s${n}`, minute: day + n }));
  await stage.play([paid(0), ...forged]);
  expect((await stage.playLast([paid(2)])).features).toMatchObject({ "payee.payments_28d": 2, "account.payments_7d": 2 });
});

test("payments: hours and weekends are those of the tenant's zone", async () => {
  const stage = await Stage.open();
  const { database, tenantId } = stage.tenant;
  const [utc] = await stage.play([paid(1)]);
  const at = new Date(stage.at(day));
  expect(utc?.features["event.hour"] ?? 0).toBe(at.getUTCHours());
  await database.query(statement("update tenants set time_zone = 'Asia/Tokyo' where tenant_id = $1", [tenantId]));
  const [tokyo] = await stage.play([paid(1, { activity_id: "tokyo" })]);
  expect(tokyo?.features["event.hour"] ?? 0).toBe((at.getUTCHours() + 9) % 24);
});

test("payments: a farm of sign-ups with one kind of browser and similar mailboxes is detected, even from many addresses", async () => {
  const stage = await Stage.open();
  const visits = Array.from({ length: 12 }, (_, n) => ({ minute: day + n, session_id: `s${n}`, ip: `192.0.${n}.1` }));
  const browser = { screen: "800x600", zone_offset_minutes: 60, locale: "de-DE" };
  await stage.play(visits.map((visit): Step => ({ ...visit, type: "page_view", origin: "browser", browser })));
  const signups = visits.map((visit, n): Step => {
    const attributes = { email: `j.doe+${n}@example.com` };
    return { ...visit, minute: visit.minute + 1, type: "signup", website_account_id: `a${n}`, attributes };
  });
  await stage.play(signups.slice(0, 6));
  const { features } = await stage.playLast(signups.slice(6));
  expect(features).toMatchObject({ "mailbox.new_accounts_24h": 12, "look.new_accounts_24h": 12, "block.new_accounts_24h": 1 });
  expect(Number(features["look.new_ratio_24h"])).toBeGreaterThan(10);
});

test("payments: many customers behind one address of an event do not stand out", async () => {
  const stage = await Stage.open();
  const guests = Array.from({ length: 60 }, (_, n) => ({ website_account_id: `a${n}`, device_id: `d${n}` }));
  await stage.play(guests.map((guest, n): Step => ({ ...guest, minute: n, type: "login_succeeded", ip: `198.51.${n}.1` })));
  const event = guests.map((guest, n): Step => ({ ...guest, minute: day + n, type: "login_succeeded", ip: "192.0.2.1" }));
  const last = await stage.playLast(event);
  expect(Object.keys(last.features).filter((name) => name.startsWith("block."))).toEqual([]);
});
