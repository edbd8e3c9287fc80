import type { AttackKind, FraudTruth, SessionTruth } from "./delivery.ts";
import type { Random } from "./random.ts";

const dayMs = 86_400_000;

// What the servers reported about a visit.
export type Told = FraudTruth["activities"][number];

// How the shop learns of a fraud: the share that anybody ever reports, and the median number of days until then. Owners notice
// missing money within days. Banks take weeks to charge a card payment back. Much abuse is never noticed.
const reports: Record<AttackKind, { share: number; days: number }> = {
  takeover_naive: { share: 0.95, days: 3 },
  takeover_vpn: { share: 0.95, days: 3 },
  takeover_targeted: { share: 0.95, days: 4 },
  takeover_very_targeted: { share: 0.95, days: 5 },
  stuffing_burst: { share: 0.5, days: 6 },
  stuffing_slow: { share: 0.4, days: 8 },
  spraying: { share: 0.4, days: 8 },
  signup_farm: { share: 0.5, days: 10 },
  reset_then_transfer: { share: 0.97, days: 2 },
  scripted_bot: { share: 0.3, days: 6 },
  headless_bot: { share: 0.3, days: 6 },
  friendly_fraud: { share: 1, days: 7 },
  mule_ring: { share: 0.95, days: 3 },
  dormant_mule: { share: 0.8, days: 9 },
  dormant_takeover: { share: 0.7, days: 14 },
  stolen_instruments: { share: 0.9, days: 12 },
  card_testing: { share: 0.6, days: 8 },
  promo_abuse: { share: 0.5, days: 12 },
  session_hijack: { share: 0.95, days: 3 },
  refund_abuse: { share: 0.6, days: 15 },
};

// These do no harm by themselves, so nobody reports them as fraud.
const idle = new Set(["login_failed", "page_view", "logout"]);

export function fraudIn(session: SessionTruth, told: Told[], random: Random, knownMs?: number): FraudTruth | null {
  const { kind, attack_id, website_account_id, session_id, last_ms } = session;
  const activities = told.filter(({ type }) => !idle.has(type));
  if (kind === "genuine" || attack_id === undefined || session_id === undefined || activities.length === 0) return null;
  const { share, days } = reports[kind];
  const isReported = random.chance(share);
  const drawnMs = Math.round(last_ms + random.logNormal(days, 0.6) * dayMs);
  return {
    kind,
    attack_id,
    ...(website_account_id === undefined ? {} : { website_account_id }),
    session_id,
    activities,
    known_ms: knownMs ?? (isReported ? drawnMs : null),
  };
}
