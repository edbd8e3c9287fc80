import { startAttack } from "./attackers.ts";
import { attackKinds, familyKinds, type AttackKind, type Delivery } from "./delivery.ts";
import { live } from "./life.ts";
import { openShop } from "./simulate.ts";

const dayMs = 86_400_000;
const historyDays = 30;
const users = 40;
const visitsPerDay = 1.2;
// How long before now an attack starts. Slow attacks use all of this time.
const attackMs: Partial<Record<AttackKind, number>> = {
  stuffing_slow: 2 * dayMs,
  friendly_fraud: 2 * dayMs,
  mule_ring: 2 * dayMs,
  dormant_mule: dayMs,
  stolen_instruments: dayMs,
  promo_abuse: 2 * dayMs,
  refund_abuse: 3 * dayMs,
};
const usualMs = 20 * 60_000;

export const scenarioKinds: readonly AttackKind[] = [...attackKinds, ...familyKinds];
const families: ReadonlySet<string> = new Set(familyKinds);

export type ScenarioOptions = { kind: AttackKind; seed: string; nowMs: number; appKey: string; origin: string };

// A month of members' activity as the shop's servers would send it, and one attack with its browser events that ends about now.
export function* scenarioDeliveries({ kind, seed, nowMs, appKey, origin }: ScenarioOptions): Generator<Delivery> {
  const attackFromMs = nowMs - (attackMs[kind] ?? usualMs);
  const fromMs = attackFromMs - historyDays * dayMs;
  const payments = families.has(kind);
  const { shop, random } = openShop({ seed, startMs: fromMs, days: historyDays, users, visitsPerDay, appKey, origin, payments });
  const attack = { id: `${kind}-0`, kind, random: random.fork(kind), haste: 4, isShow: true, loginsMin: 12 };
  // In some families, attackers prepare their attack during the history.
  if (payments) shop.enter(startAttack(shop, attack, attackFromMs));
  shop.hasBrowsers = false;
  for (const person of shop.people) shop.enter(live(shop, person, { fromMs, toMs: attackFromMs, haste: 1, hasNights: true }));
  for (const delivery of shop.run({ untilMs: attackFromMs, batchMs: dayMs })) if (delivery.kind === "server") yield delivery;
  shop.hasBrowsers = true;
  if (!payments) shop.enter(startAttack(shop, attack, attackFromMs));
  for (const delivery of shop.run({ untilMs: nowMs, batchMs: 1_000 })) if (delivery.at_ms <= nowMs) yield delivery;
}
