import { plannedAttacks, startAttack, type AttackCounts } from "@casehound/simulator/attackers";
import type { Delivery } from "@casehound/simulator/delivery";
import { guests, live } from "@casehound/simulator/life";
import { openShop } from "@casehound/simulator/simulate";
import { hasServers, type Voice } from "@casehound/simulator/voice";

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

// Attackers, browsers and guests are active from `attackedMs` on, or only in the measured period if it is not set.
export type Period = { startMs: number; attackedMs?: number; measuredMs: number; endMs: number };
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

const attackedShare = 2 / 3;

// Returns the same period, with attacks also in the last two thirds of the history.
export function attackedPeriod(period: Period): Period {
  const { startMs, measuredMs } = period;
  return { ...period, attackedMs: measuredMs - attackedShare * (measuredMs - startMs) };
}

// Plays weeks of history that contain only what the shop reports, and then the measured period with browsers, guests and
// attackers. If the shop is attacked earlier, it also notes what was fraud. The earlier attackers, their devices and their
// addresses are different ones.
export function* shopTimeline(bench: BenchShop): Generator<Delivery> {
  const { users, period, voice } = bench;
  const { startMs, measuredMs, endMs, attackedMs = measuredMs } = period;
  const days = (endMs - startMs) / dayMs;
  const { shop, random } = openShop({ ...bench, startMs, days, visitsPerDay, sendIntervalMs, frauds: attackedMs < measuredMs });
  shop.hasBrowsers = false;
  for (const person of shop.people) {
    shop.enter(live(shop, person, { fromMs: startMs, toMs: endMs, haste: 1, hasNights: true }));
  }
  yield* shop.run({ untilMs: attackedMs, batchMs: historyBatchMs });
  shop.hasBrowsers = true;
  const meanGapMs = dayMs / (users * visitsPerDay * guestShare);
  shop.enter(guests(shop, random.fork("guests"), { fromMs: attackedMs, toMs: endMs, meanGapMs }));
  const enterAttacks = (stream: string, fromMs: number, toMs: number): void => {
    const counts = countsFor({ users, voice, days: (toMs - fromMs) / dayMs });
    const span = { fromMs, toMs: Math.max(toMs - lastStartMs, fromMs) };
    for (const { attack, startMs: atMs } of plannedAttacks(random.fork(stream), counts, span)) {
      shop.enter(startAttack(shop, { ...attack, id: `${stream}-${attack.id}` }, atMs));
    }
  };
  if (attackedMs < measuredMs) enterAttacks("earlier", attackedMs, measuredMs);
  enterAttacks("attacks", measuredMs, endMs);
  yield* shop.run({ untilMs: Number.POSITIVE_INFINITY, batchMs });
}

function countsFor({ users, voice, days }: { users: number; voice: Voice | undefined; days: number }): AttackCounts {
  const scale = (users / 100) * (days / 14);
  const wanted = Object.entries(attacks).filter(([kind]) => hasServers(voice) || !serverOnly.has(kind));
  return Object.fromEntries(wanted.map(([kind, count]) => [kind, Math.ceil(count * scale)]));
}
