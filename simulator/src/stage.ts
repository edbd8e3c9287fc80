import { plannedAttacks, startAttack, type AttackCounts } from "./attackers.ts";
import type { Delivery } from "./delivery.ts";
import { guests, live } from "./life.ts";
import { enterScene, membersIn, type SceneKind } from "./scenes.ts";
import { openShop } from "./simulate.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const visitsPerDay = 0.6;
const guestShare = 0.2;
const historyBatchMs = 6 * hourMs;
// An attack that begins at the very end would be cut off.
const lastStart = 0.75;

// The seeds of stages. Use only the tuning seeds to tune a rule, a feature or a model.
export const stageSeeds = {
  tune: ["stage-tune-1", "stage-tune-2", "stage-tune-3", "stage-tune-4"],
  heldOut: ["stage-held-out-1", "stage-held-out-2", "stage-held-out-3"],
} as const;

export type StageOptions = {
  seed: string;
  users: number;
  // History without browser events lasts until `measuredMs`.
  period: { startMs: number; measuredMs: number; endMs: number };
  scene: SceneKind;
  attacks: AttackCounts;
  appKey: string;
  origin: string;
  sendIntervalMs?: number;
  batchMs?: number;
};

// A shop with payments. It first has a history, and then an unusual scene or attacks, with the frauds that later become known.
export function* stageDeliveries(options: StageOptions): Generator<Delivery> {
  const { seed, period, scene: kind, attacks, appKey, origin, batchMs = 1000, sendIntervalMs = 5000 } = options;
  const { startMs, measuredMs, endMs } = period;
  const users = membersIn(kind, options.users);
  const days = (endMs - startMs) / dayMs;
  const place = { appKey, origin, sendIntervalMs };
  const { shop, random } = openShop({ ...place, seed, users, startMs, days, visitsPerDay, payments: true, frauds: true });
  enterScene(shop, { kind, random: random.fork("scene"), historyMs: startMs, fromMs: measuredMs, toMs: endMs });
  // Some attacks prepare themselves during the history.
  const span = { fromMs: measuredMs, toMs: measuredMs + lastStart * (endMs - measuredMs) };
  for (const { attack, startMs: atMs } of plannedAttacks(random.fork("attacks"), attacks, span)) {
    shop.enter(startAttack(shop, attack, atMs));
  }
  for (const person of shop.people) {
    shop.enter(live(shop, person, { fromMs: startMs, toMs: endMs, haste: 1, hasNights: true }));
  }
  shop.hasBrowsers = false;
  yield* shop.run({ untilMs: measuredMs, batchMs: historyBatchMs });
  shop.hasBrowsers = true;
  const meanGapMs = dayMs / (users * visitsPerDay * guestShare);
  shop.enter(guests(shop, random.fork("guests"), { fromMs: measuredMs, toMs: endMs, meanGapMs }));
  yield* shop.run({ untilMs: Number.POSITIVE_INFINITY, batchMs });
}
