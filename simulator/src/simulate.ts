import { plannedAttacks, startAttack, type AttackCounts } from "./attackers.ts";
import type { Delivery } from "./delivery.ts";
import { guests, live } from "./life.ts";
import { Network } from "./network.ts";
import { Till } from "./payments.ts";
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
  // The app id that the shop's pages send. The default is the app key.
  appId?: string;
  origin: string;
  // The rate of a typical member. Each member's own rate varies around it.
  visitsPerDay?: number;
  // Visits by strangers for each visit by a member.
  guestShare?: number;
  // How long the SDK gathers events before sending them.
  sendIntervalMs?: number;
  // Who reports what happens. The default is the shop's servers.
  voice?: Voice;
  // Whether payments have payees, instruments and statuses. The families of fraud that use them need it.
  payments?: boolean;
  // Whether to note what was fraud and when that becomes known.
  frauds?: boolean;
};

export type SimulationOptions = ShopOptions & {
  // How long the shop's servers gather activities before sending them.
  batchMs?: number;
  // The number of attacks of each kind in the period.
  attacks: AttackCounts;
  // Attacks begin only after this share of the period, so there is some history.
  attacksFrom?: number;
};

// A shop with its people, before anybody has entered.
export function openShop(options: ShopOptions): { shop: Shop; random: Random } {
  const random = new Random(options.seed);
  const network = new Network();
  const { users, startMs, days, appKey, origin, visitsPerDay = 0.6 } = options;
  const people = buildPeople({ random: random.fork("people"), network, users, startMs, days, visitsPerDay });
  const { appId = appKey, sendIntervalMs = 5000, voice = { kind: "server" } } = options;
  const settings = { appKey, appId, origin, sendIntervalMs, voice };
  const till = options.payments === true ? new Till(random.fork("till")) : null;
  return { shop: new Shop({ settings, network, people, startMs, till, notesFrauds: options.frauds === true }), random };
}

// Weeks of a shop's activity in order of arrival. The same options give the same bytes. An attack changes nothing for people who
// share neither an account nor a device with its victim.
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
