import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { attackKinds, type Delivery, type SessionTruth } from "./delivery.ts";
import { live } from "./life.ts";
import { openShop, simulate, type SimulationOptions } from "./simulate.ts";

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 5);
const everyKind = Object.fromEntries(attackKinds.map((kind) => [kind, 1]));
const options: SimulationOptions = {
  seed: "simulate",
  startMs,
  days: 6,
  users: 60,
  attacks: everyKind,
  appKey: "key",
  origin: "https://shop.example",
};

function digest(deliveries: Iterable<Delivery>): string {
  const hash = createHash("sha256");
  for (const delivery of deliveries) hash.update(JSON.stringify(delivery));
  return hash.digest("hex");
}

function truths(deliveries: Iterable<Delivery>): SessionTruth[] {
  return Iterator.from(deliveries)
    .filter((delivery) => delivery.kind === "truth")
    .map(({ session }) => session)
    .toArray();
}

test("simulate: the same seed gives the same bytes, and another seed gives others", () => {
  const first = digest(simulate(options));
  expect(digest(simulate(options))).toBe(first);
  expect(digest(simulate({ ...options, seed: "another" }))).not.toBe(first);
});

test("simulate: everything is in chronological order, and nothing precedes the start", () => {
  const times = Iterator.from(simulate(options))
    .map(({ at_ms }) => at_ms)
    .toArray();
  expect(times.length).toBeGreaterThan(3000);
  expect(times[0]).toBeGreaterThan(startMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("simulate: attacks do not change what people do who are unrelated to the victims", () => {
  const attacks = { takeover_naive: 3, stuffing_burst: 1, scripted_bot: 3, friendly_fraud: 3 };
  const attacked = truths(simulate({ ...options, attacks }));
  const victims = new Set(
    attacked.filter(({ kind, has_login }) => kind !== "genuine" && has_login).map((each) => each.website_account_id),
  );
  const { people } = openShop(options).shop;
  // A person who shares a device with a victim finds it as the victim left it.
  const homes = new Set(people.filter(({ account }) => victims.has(account.id)).map(({ household }) => household));
  const others = people.filter(({ household, library }) => !homes.has(household) && library === null);
  const ids = new Set(others.map(({ account }) => account.id));
  const isOthers = ({ kind, website_account_id: id }: SessionTruth): boolean => kind === "genuine" && ids.has(id ?? "");
  expect(attacked.filter(isOthers).length).toBeGreaterThan(50);
  expect(attacked.filter(isOthers)).toEqual(truths(simulate({ ...options, attacks: {} })).filter(isOthers));
});

test("simulate: is lazy, and holds only people and visits in progress", () => {
  const { value } = simulate({ ...options, days: 36_500 }).next();
  expect(value?.kind).toBeDefined();
  const { shop } = openShop(options);
  const toMs = startMs + options.days * dayMs;
  for (const person of shop.people) shop.enter(live(shop, person, { fromMs: startMs, toMs, haste: 1, hasNights: true }));
  const planned = Iterator.from(shop.run({ untilMs: toMs, batchMs: 1000 })).map(() => shop.planned);
  const most = planned.reduce((max, count) => Math.max(max, count), 0);
  expect(most).toBeGreaterThan(options.users / 2);
  expect(most).toBeLessThan(options.users + 500);
});

test("simulate: nothing that is sent contains the ground truth", () => {
  const words = [...attackKinds, "attack_id", "genuine", "logins_before"];
  const told = Iterator.from(simulate(options))
    .filter(({ kind }) => kind !== "truth")
    .map((delivery) => JSON.stringify(delivery))
    .filter((sent) => words.some((word) => sent.includes(word)));
  expect(told.next().value).toBeUndefined();
});

test("simulate: every session is labelled, with ids that were sent and the number of log-ins reported before", () => {
  const ids = new Set<string>();
  const loginsOf = new Map<string, number[]>();
  const sessions: SessionTruth[] = [];
  for (const delivery of simulate(options)) {
    if (delivery.kind === "truth") sessions.push(delivery.session);
    if (delivery.kind === "browser") for (const [, id] of delivery.body.matchAll(/"_session_id":"([^"]+)"/g)) ids.add(id ?? "");
    if (delivery.kind !== "server") continue;
    for (const { session_id: session = "", type, website_account_id: account = "", occurred_at } of delivery.activities) {
      ids.add(session);
      if (type !== "login_succeeded") continue;
      loginsOf.set(account, [...(loginsOf.get(account) ?? []), Date.parse(occurred_at)]);
    }
  }
  const unlabelled = ids.difference(new Set(sessions.map((session) => session.session_id)));
  expect([...unlabelled].filter((id) => id !== "")).toEqual([]);
  expect(new Set(sessions.map(({ kind }) => kind))).toEqual(new Set(["genuine", ...attackKinds]));
  const wrong = sessions.filter(({ website_account_id: id = "", first_ms, logins_before }) => {
    const before = (loginsOf.get(id) ?? []).filter((atMs) => atMs < first_ms).length;
    // Somebody else may be at the log-in form at the same time.
    return Math.abs(logins_before - before) > 1;
  });
  expect(wrong).toEqual([]);
  expect(sessions.some(({ kind, logins_before }) => kind.startsWith("takeover") && logins_before > 0)).toBe(true);
});
