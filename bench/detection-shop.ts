import { plannedAttacks, startAttack, type AttackCounts } from "@casehound/simulator/attackers";
import type { Delivery } from "@casehound/simulator/delivery";
import { guests, live } from "@casehound/simulator/life";
import { openShop } from "@casehound/simulator/simulate";
import { hasServers, type Voice } from "@casehound/simulator/voice";

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

export type Period = { startMs: number; measuredMs: number; endMs: number };
export type BenchShop = { seed: string; users: number; period: Period; appKey: string; origin: string; voice?: Voice };

const visitsPerDay = 0.6;
const guestShare = 0.2;
const historyBatchMs = 6 * hourMs;
// Browsers and servers send in large batches, because a run's time goes into requests. So a case may come this much later than
// with the SDK's own 5 seconds.
const sendIntervalMs = 60_000;
const batchMs = 20_000;
// An attack that begins on the last day would be cut off.
const lastStartMs = 2 * dayMs;
// Only servers can report a chargeback.
const serverOnly: ReadonlySet<string> = new Set(["friendly_fraud"]);

// Per 100 members and 14 days. Far more than a real shop sees, so that few weeks give reliable shares.
const attacks = {
  takeover_naive: 6,
  takeover_vpn: 6,
  takeover_targeted: 6,
  takeover_very_targeted: 6,
  stuffing_burst: 0.75,
  stuffing_slow: 0.5,
  spraying: 0.5,
  signup_farm: 2,
  reset_then_transfer: 5,
  scripted_bot: 4,
  headless_bot: 4,
  friendly_fraud: 2,
} satisfies AttackCounts;

export function periodOf({ days, historyDays }: { days: number; historyDays: number }, endMs = Date.UTC(2026, 10, 1)): Period {
  const measuredMs = endMs - days * dayMs;
  return { startMs: measuredMs - historyDays * dayMs, measuredMs, endMs };
}

// First weeks of history with only what the shop reports, then the measured period with browsers, guests and attackers.
export function* shopTimeline(bench: BenchShop): Generator<Delivery> {
  const { users, period, voice } = bench;
  const { startMs, measuredMs, endMs } = period;
  const days = (endMs - startMs) / dayMs;
  const { shop, random } = openShop({ ...bench, startMs, days, visitsPerDay, sendIntervalMs });
  shop.hasBrowsers = false;
  for (const person of shop.people) {
    shop.enter(live(shop, person, { fromMs: startMs, toMs: endMs, haste: 1, hasNights: true }));
  }
  yield* shop.run({ untilMs: measuredMs, batchMs: historyBatchMs });
  shop.hasBrowsers = true;
  const meanGapMs = dayMs / (users * visitsPerDay * guestShare);
  shop.enter(guests(shop, random.fork("guests"), { fromMs: measuredMs, toMs: endMs, meanGapMs }));
  const scale = (users / 100) * ((endMs - measuredMs) / (14 * dayMs));
  const wanted = Object.entries(attacks).filter(([kind]) => hasServers(voice) || !serverOnly.has(kind));
  const counts = Object.fromEntries(wanted.map(([kind, count]) => [kind, Math.ceil(count * scale)]));
  const span = { fromMs: measuredMs, toMs: Math.max(endMs - lastStartMs, measuredMs) };
  for (const { attack, startMs: atMs } of plannedAttacks(random.fork("attacks"), counts, span)) {
    shop.enter(startAttack(shop, attack, atMs));
  }
  yield* shop.run({ untilMs: Number.POSITIVE_INFINITY, batchMs });
}
