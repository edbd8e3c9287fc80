import { expect, test } from "vitest";
import type { Activity } from "@casehound/client";
import { startAttack } from "./attackers.ts";
import { attackKinds, familyKinds, type Delivery, type FraudTruth, type SessionTruth } from "./delivery.ts";
import { Network } from "./network.ts";
import { Random } from "./random.ts";
import { scenarioDeliveries } from "./scenario.ts";
import { openShop } from "./simulate.ts";
import { stageDeliveries, type StageOptions } from "./stage.ts";

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 5);
const period = { startMs, measuredMs: startMs + 34 * dayMs, endMs: startMs + 42 * dayMs };
const attacks = {
  mule_ring: 2,
  dormant_mule: 2,
  dormant_takeover: 2,
  stolen_instruments: 2,
  card_testing: 4,
  promo_abuse: 2,
  session_hijack: 4,
  refund_abuse: 2,
  takeover_naive: 2,
  friendly_fraud: 2,
};
const place = { appKey: "key", origin: "https://shop.example" };
const options: StageOptions = {
  ...place,
  seed: "families",
  users: 80,
  period,
  scene: "ordinary",
  attacks,
  sendIntervalMs: 600_000,
};
const network = new Network();

const activities: Activity[] = [];
const sessions: SessionTruth[] = [];
const frauds: FraudTruth[] = [];
const looks = new Map<string, Set<string>>();
let leaks = 0;
const secrets = [...attackKinds, ...familyKinds, "attack_id", "genuine", "known_ms"];
for (const delivery of stageDeliveries(options)) {
  if (delivery.kind === "truth") sessions.push(delivery.session);
  if (delivery.kind === "fraud") frauds.push(delivery.fraud);
  if (delivery.kind === "server") activities.push(...delivery.activities);
  if (delivery.kind === "browser") noteLooks(delivery.body, delivery.headers["user-agent"] ?? "");
  const isTold = delivery.kind === "server" || delivery.kind === "browser";
  if (isTold && secrets.some((word) => JSON.stringify(delivery).includes(word))) leaks++;
}

function noteLooks(body: string, userAgent: string): void {
  const screens = body.matchAll(/"zone_offset":(-?\d+).*?"screen_height":(\d+),"screen_width":(\d+).*?"_session_id":"([^"]+)"/g);
  for (const [, zone, height, width, session = ""] of screens) {
    const known = looks.get(session) ?? new Set<string>();
    looks.set(session, known.add([userAgent, zone, height, width].join(" ")));
  }
}

const byId = new Map(activities.map((activity) => [activity.activity_id, activity]));
const told = ({ activities: list }: FraudTruth): Activity[] => list.flatMap(({ activity_id }) => byId.get(activity_id) ?? []);

// The attacks of a kind, each with what the servers reported about it.
function attacksOf(kind: FraudTruth["kind"]): Activity[][] {
  const groups = Map.groupBy(
    frauds.filter((fraud) => fraud.kind === kind),
    ({ attack_id }) => attack_id,
  );
  return [...groups.values()].map((group) => group.flatMap(told));
}

const ofType = (list: Activity[], type: string): Activity[] => list.filter((activity) => activity.type === type);
const distinct = (values: unknown[]): number => new Set(values).size;
const accountsIn = (list: Activity[]): number => distinct(list.map(({ website_account_id: id }) => id));
const timeOf = ({ occurred_at }: Activity): number => Date.parse(occurred_at);
const isFraud = new Set(frauds.flatMap((fraud) => fraud.activities.map(({ activity_id }) => activity_id)));
const honestPayments = ofType(activities, "payment").filter(({ activity_id }) => !isFraud.has(activity_id));

test("families: each one occurs as often as requested, and a shop without payments refuses them", () => {
  for (const [kind, count] of Object.entries(attacks)) {
    const ids = sessions.filter((session) => session.kind === kind).map((session) => session.attack_id);
    expect(distinct(ids), kind).toBe(count);
  }
  const { shop } = openShop({ ...place, seed: "none", startMs, days: 2, users: 4 });
  const attack = { id: "a", kind: "mule_ring", random: new Random("a"), haste: 1, isShow: false, loginsMin: 0 } as const;
  expect(() => startAttack(shop, attack, startMs)).toThrow(RangeError);
});

test("families: payments of honest customers have all members, repeat instruments, share payees and are sometimes declined", () => {
  for (const payment of honestPayments) {
    expect(payment).toMatchObject({ amount: expect.any(Number), currency: expect.any(String), order_id: expect.any(String) });
    expect(payment).toMatchObject({ payee_id: expect.any(String), instrument: { fingerprint: expect.any(String) } });
    expect(payment.attributes).not.toHaveProperty("amount");
  }
  const declined = honestPayments.filter(({ status }) => status === "declined").length / honestPayments.length;
  expect(declined).toBeGreaterThan(0.005);
  expect(declined).toBeLessThan(0.1);
  const largest = Math.max(
    ...Map.groupBy(honestPayments, ({ payee_id }) => payee_id)
      .values()
      .map(accountsIn),
  );
  expect(largest).toBeGreaterThan(10);
  const owners = Map.groupBy(honestPayments, ({ instrument }) => instrument?.fingerprint)
    .values()
    .toArray();
  expect(owners.every((uses) => accountsIn(uses) === 1)).toBe(true);
  expect(owners.some((uses) => uses.length > 3)).toBe(true);
});

test("families: a mule ring sends the money of several accounts to few payees that no customer pays", () => {
  for (const ring of attacksOf("mule_ring")) {
    const transfers = ofType(ring, "transfer");
    const payees = new Set(transfers.map(({ payee_id }) => payee_id));
    expect(accountsIn(transfers)).toBeGreaterThanOrEqual(3);
    expect(payees.size).toBeLessThanOrEqual(5);
    const others = activities.filter(({ payee_id, activity_id }) => payees.has(payee_id) && !isFraud.has(activity_id));
    expect(others).toEqual([]);
  }
});

test("families: dormant mules sign up weeks before they wake, and then pay out what they receive", () => {
  for (const wave of attacksOf("dormant_mule")) {
    expect(accountsIn(wave)).toBeGreaterThanOrEqual(3);
    expect(ofType(wave, "signup")).toEqual([]);
    for (const [account, steps] of Map.groupBy(wave, ({ website_account_id: id }) => id)) {
      const wokenMs = Math.min(...steps.map(timeOf));
      const before = activities.filter((each) => each.website_account_id === account && timeOf(each) < wokenMs);
      expect(before.map(({ type }) => type)).toContain("signup");
      expect(wokenMs - Math.max(...before.map(timeOf))).toBeGreaterThan(20 * dayMs);
      expect(ofType(steps, "custom:money_received")).toHaveLength(1);
      expect(ofType(steps, "transfer").length).toBeGreaterThanOrEqual(1);
    }
  }
});

test("families: a thief enters the account of a customer who has been away for at least ten days", () => {
  for (const steps of attacksOf("dormant_takeover")) {
    const wokenMs = Math.min(...steps.map(timeOf));
    const [account] = steps.map(({ website_account_id: id }) => id);
    const before = activities.filter((each) => each.website_account_id === account && timeOf(each) < wokenMs);
    expect(before.length).toBeGreaterThan(0);
    expect(wokenMs - Math.max(...before.map(timeOf))).toBeGreaterThan(9 * dayMs);
    expect(ofType(steps, "transfer")).toHaveLength(1);
  }
});

test("families: each stolen instrument is used in several accounts, from different devices and addresses", () => {
  for (const spent of attacksOf("stolen_instruments")) {
    const uses = Map.groupBy(ofType(spent, "payment"), ({ instrument }) => instrument?.fingerprint);
    expect(uses.size).toBeLessThanOrEqual(4);
    for (const payments of uses.values()) {
      expect(accountsIn(payments)).toBeGreaterThanOrEqual(2);
      expect(distinct(payments.map(({ ip }) => ip))).toBe(accountsIn(payments));
    }
  }
});

test("families: card testing is many small payments at one payee, mostly declined, each with another card", () => {
  const addresses: number[] = [];
  for (const tested of attacksOf("card_testing")) {
    const payments = ofType(tested, "payment");
    expect(payments.length).toBeGreaterThanOrEqual(60);
    expect(distinct(payments.map(({ instrument }) => instrument?.fingerprint))).toBe(payments.length);
    expect(distinct(payments.map(({ payee_id }) => payee_id))).toBe(1);
    expect(Math.max(...payments.map(({ amount = 0 }) => amount))).toBeLessThan(3);
    expect(payments.filter(({ status }) => status === "approved").length / payments.length).toBeLessThan(0.25);
    addresses.push(distinct(payments.map(({ ip }) => ip)));
  }
  expect(Math.min(...addresses)).toBe(1);
  expect(Math.max(...addresses)).toBeGreaterThan(50);
});

test("families: promo abuse uses one mailbox in many spellings and one kind of browser, with a new device for each account", () => {
  for (const abuse of attacksOf("promo_abuse")) {
    const signups = ofType(abuse, "signup");
    const shapes = signups.map(({ attributes }) => String(attributes?.["email"]).replace(/\+\d+/, "").replaceAll(/[.\d]/g, ""));
    expect(signups.length).toBeGreaterThanOrEqual(6);
    expect(distinct(shapes)).toBe(1);
    expect(distinct(signups.map(({ attributes }) => attributes?.["email"]))).toBeGreaterThan(signups.length / 2);
    expect(distinct(signups.map(({ device_id }) => device_id))).toBe(signups.length);
    expect(distinct(signups.map(({ user_agent }) => user_agent))).toBe(1);
    expect(distinct(signups.map(({ ip }) => network.locate(ip ?? "")?.carrier.asn))).toBeLessThanOrEqual(2);
    expect(ofType(abuse, "custom:coupon_redeemed")).toHaveLength(signups.length);
  }
});

test("families: a hijacked session keeps its id and device, and continues elsewhere without a log-in", () => {
  for (const stolen of attacksOf("session_hijack")) {
    expect(ofType(stolen, "login_succeeded")).toEqual([]);
    const [first] = stolen;
    const own = activities.filter(
      ({ session_id, activity_id }) =>
        session_id === first?.session_id && !stolen.some((each) => each.activity_id === activity_id),
    );
    const [login] = ofType(own, "login_succeeded");
    expect(login?.website_account_id).toBe(first?.website_account_id);
    expect(login?.device_id).toBe(first?.device_id);
    expect(network.locate(login?.ip ?? "")?.carrier.country).not.toBe(network.locate(first?.ip ?? "")?.carrier.country);
    expect(looks.get(first?.session_id ?? "")?.size).toBeGreaterThan(1);
    const notes = sessions.filter(({ session_id }) => session_id === first?.session_id).map(({ kind }) => kind);
    expect(notes).toContain("genuine");
    expect(notes).toContain("session_hijack");
  }
});

test("families: refund abuse asks for a refund of every order", () => {
  for (const abuse of attacksOf("refund_abuse")) {
    const orders = new Set(ofType(abuse, "payment").map(({ order_id }) => order_id));
    const refunds = new Set(ofType(abuse, "custom:refund_requested").map(({ attributes }) => attributes?.["order_id"]));
    expect(orders.size).toBeGreaterThanOrEqual(3);
    expect(refunds).toEqual(orders);
  }
});

test("families: the ground truth names only fraudulent activities that were sent, and the day on which each becomes known", () => {
  const attackers = sessions.filter(({ kind, has_value, first_ms }) => kind !== "genuine" && has_value && first_ms > startMs);
  const noted = new Set(frauds.map(({ session_id, kind }) => `${session_id} ${kind}`));
  expect(attackers.filter(({ session_id, kind }) => !noted.has(`${session_id} ${kind}`))).toEqual([]);
  for (const fraud of frauds) {
    expect(fraud.activities.length).toBeGreaterThan(0);
    expect(told(fraud)).toHaveLength(fraud.activities.length);
    const lastMs = Math.max(...told(fraud).map(timeOf));
    expect(fraud.known_ms ?? Number.POSITIVE_INFINITY).toBeGreaterThan(lastMs);
    for (const activity of told(fraud)) expect(activity.session_id).toBe(fraud.session_id);
    const payments = fraud.activities.filter(({ type }) => type === "payment" || type === "transfer");
    expect(payments.every(({ order_id }) => order_id !== undefined)).toBe(true);
  }
  const known = frauds.flatMap((fraud) =>
    fraud.known_ms === null ? [] : [(fraud.known_ms - Math.max(...told(fraud).map(timeOf))) / dayMs],
  );
  expect(known.length / frauds.length).toBeGreaterThan(0.5);
  expect(known.length).toBeLessThan(frauds.length);
  expect(known.toSorted((a, b) => a - b)[Math.floor(known.length / 2)]).toBeGreaterThan(2);
  expect(leaks).toBe(0);
});

test("families: a friendly fraud becomes known when its owner reports it", () => {
  for (const { known_ms, website_account_id: id } of frauds.filter(({ kind }) => kind === "friendly_fraud")) {
    const reports = ofType(activities, "fraud_report").filter(({ website_account_id: owner }) => owner === id);
    expect(reports.map(timeOf).some((atMs) => Math.abs(atMs - (known_ms ?? 0)) < 1000)).toBe(true);
  }
});

test.each(familyKinds)("families: the scenario %s plays the attack, and everything is over by now", (kind) => {
  const nowMs = Date.UTC(2026, 10, 15, 12);
  const played = [...scenarioDeliveries({ ...place, seed: "one", kind, nowMs })];
  const truths = played.flatMap((delivery) => (delivery.kind === "truth" ? [delivery.session] : []));
  expect(truths.some((truth) => truth.kind === kind && (truth.has_value || kind === "refund_abuse"))).toBe(true);
  expect(Math.max(...played.map(({ at_ms }) => at_ms))).toBeLessThanOrEqual(nowMs);
});

test("families: the same seed gives the same bytes, and another seed gives others", () => {
  const short = { ...options, users: 12, period: { startMs, measuredMs: startMs + 3 * dayMs, endMs: startMs + 5 * dayMs } };
  const text = (seed: string): string => JSON.stringify([...stageDeliveries({ ...short, seed })] satisfies Delivery[]);
  const first = text("a");
  expect(text("a")).toBe(first);
  expect(text("b")).not.toBe(first);
});
