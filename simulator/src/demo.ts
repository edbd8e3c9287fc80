import type { Attack } from "./attack.ts";
import { startAttack } from "./attackers.ts";
import { attackKinds, type AttackKind, type Delivery, type ServerBatch } from "./delivery.ts";
import { guests, live } from "./life.ts";
import type { Random } from "./random.ts";
import type { Actor, Shop } from "./shop.ts";
import { openShop } from "./simulate.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;

const demoDays = 30;
const demoUsers = 150;
const historyVisitsPerDay = 0.9;
// During the demo, members visit more often than in reality, and strangers fill the shop.
const liveHaste = 8;
const guestGapMs = 7 * secondMs;
// Attack members with a known history, because those attacks show what detection can see.
const loginsMin = 6;

// The first 40 seconds: seconds after the start, kind, and how much faster than real time.
const opening: [seconds: number, kind: AttackKind, haste: number][] = [
  [2, "stuffing_burst", 4],
  [3, "takeover_naive", 5],
  [5, "signup_farm", 80],
  [7, "scripted_bot", 4],
  [9, "friendly_fraud", 30],
];

// The weights of later attacks. Slow ones would take days that nobody watches.
const later: Record<(typeof attackKinds)[number], number> = {
  takeover_naive: 2,
  takeover_vpn: 2,
  takeover_targeted: 2,
  takeover_very_targeted: 1,
  stuffing_burst: 1,
  stuffing_slow: 0,
  spraying: 0.5,
  signup_farm: 1,
  reset_then_transfer: 2,
  scripted_bot: 2,
  headless_bot: 1,
  friendly_fraud: 1,
};

export type DemoOptions = { seed: string; startMs: number; appKey: string; appId?: string; origin: string };

export type Demo = {
  // A month of the members' activity up to the start, as the shop's servers would send it: 4,000 to 6,000 activities.
  backlog: () => Generator<ServerBatch>;
  // Endless activity from this time on, in real time. Call it once, after the backlog has been sent.
  live: (liveMs: number) => Generator<Delivery>;
};

export function demoTimeline(options: DemoOptions): Demo {
  const { startMs } = options;
  const fromMs = startMs - demoDays * dayMs;
  const { shop, random } = openShop({
    ...options,
    startMs: fromMs,
    days: demoDays,
    users: demoUsers,
    visitsPerDay: historyVisitsPerDay,
    payments: true,
  });
  return { backlog: () => pastActivity(shop, fromMs, startMs), live: (liveMs) => presentActivity(shop, random, liveMs) };
}

// Only servers can report the past. Last week's browsers cannot send any more.
function* pastActivity(shop: Shop, fromMs: number, toMs: number): Generator<ServerBatch> {
  shop.hasBrowsers = false;
  for (const person of shop.people) shop.enter(live(shop, person, { fromMs, toMs, haste: 1, hasNights: true }));
  for (const delivery of shop.run({ untilMs: toMs, batchMs: demoDays * dayMs })) if (delivery.kind === "server") yield delivery;
}

function* presentActivity(shop: Shop, random: Random, liveMs: number): Generator<Delivery> {
  shop.hasBrowsers = true;
  const [fromMs, toMs] = [liveMs, Number.POSITIVE_INFINITY];
  for (const person of shop.people) shop.enter(live(shop, person, { fromMs, toMs, haste: liveHaste, hasNights: false }));
  shop.enter(guests(shop, random.fork("guests"), { fromMs, toMs, meanGapMs: guestGapMs }));
  for (const [seconds, kind, haste] of opening) {
    const attack = demoAttack(random, kind, 0, { haste, isShow: true });
    shop.enter(startAttack(shop, attack, liveMs + seconds * secondMs));
  }
  shop.enter(trickle(shop, random.fork("trickle"), liveMs));
  yield* shop.run({ untilMs: toMs, batchMs: 500 });
}

// About one attack a minute at first, for people who are watching, then one every few minutes.
function* trickle(shop: Shop, random: Random, liveMs: number): Actor {
  let atMs = liveMs + minuteMs;
  for (let number = 1; ; number++) {
    yield atMs;
    const kind = random.pickWeighted(attackKinds, (each) => later[each]);
    shop.enter(startAttack(shop, demoAttack(random, kind, number, { haste: kind === "spraying" ? 20 : 2, isShow: false }), atMs));
    atMs += atMs < liveMs + 10 * minuteMs ? random.between(40, 80) * secondMs : random.between(3, 6) * minuteMs;
  }
}

function demoAttack(random: Random, kind: AttackKind, number: number, manner: Pick<Attack, "haste" | "isShow">): Attack {
  const id = `${kind}-${number}`;
  return { id, kind, random: random.fork(id), loginsMin, ...manner };
}
