import { plannedAttacks, startAttack, type AttackCounts } from "./attackers.ts";
import type { Delivery } from "./delivery.ts";
import { guests, live } from "./life.ts";
import { Network } from "./network.ts";
import { buildPeople } from "./people.ts";
import { Random } from "./random.ts";
import { Shop } from "./shop.ts";
import type { Voice } from "./voice.ts";

const dayMs = 86_400_000;

export type ShopOptions = {
  seed: string;
  startMs: number;
  days: number;
  users: number;
  appKey: string;
  // What the shop's pages give as app id; the app key where left out.
  appId?: string;
  origin: string;
  // Of a typical member; each has a rate of their own around it.
  visitsPerDay?: number;
  // Visits of strangers for each visit of a member.
  guestShare?: number;
  // How long the SDK gathers events before it sends them.
  sendIntervalMs?: number;
  // Who reports what happens; the shop's servers if left out.
  voice?: Voice;
};

export type SimulationOptions = ShopOptions & {
  // How long the shop's servers gather activities before they send them.
  batchMs?: number;
  // How many of each kind in the period.
  attacks: AttackCounts;
  // Attacks begin only after this share of the period, so that there is some history.
  attacksFrom?: number;
};

// A shop with its people, and nobody in it yet.
export function openShop(options: ShopOptions): { shop: Shop; random: Random } {
  const random = new Random(options.seed);
  const network = new Network();
  const { users, startMs, days, appKey, origin, visitsPerDay = 0.6 } = options;
  const people = buildPeople({ random: random.fork("people"), network, users, startMs, days, visitsPerDay });
  const { appId = appKey, sendIntervalMs = 5000, voice = { kind: "server" } } = options;
  const settings = { appKey, appId, origin, sendIntervalMs, voice };
  return { shop: new Shop({ settings, network, people }), random };
}

// Weeks of a shop, in the order that they arrive. The same options give the same bytes, and an attack moves nothing of what people
// do who share neither account nor machine with its victim.
export function* simulate(options: SimulationOptions): Generator<Delivery> {
  const { shop, random } = openShop(options);
  const { startMs, days, users, visitsPerDay = 0.6, guestShare = 0.4 } = options;
  const toMs = startMs + days * dayMs;
  for (const person of shop.people) shop.enter(live(shop, person, { fromMs: startMs, toMs, haste: 1, hasNights: true }));
  if (guestShare > 0) {
    const meanGapMs = dayMs / (users * visitsPerDay * guestShare);
    shop.enter(guests(shop, random.fork("guests"), { fromMs: startMs, toMs, meanGapMs }));
  }
  const fromMs = startMs + (options.attacksFrom ?? 0.25) * days * dayMs;
  for (const { attack, startMs } of plannedAttacks(random.fork("attacks"), options.attacks, { fromMs, toMs })) {
    shop.enter(startAttack(shop, attack, startMs));
  }
  yield* shop.run({ untilMs: Number.POSITIVE_INFINITY, batchMs: options.batchMs ?? 1000 });
}
