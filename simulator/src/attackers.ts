import { attackParameters, type Attack, type AttackScript } from "./attack.ts";
import { farmSignUps, runHeadless, runScript } from "./bots.ts";
import { spendStolenCards, testCards } from "./cards.ts";
import { attackKinds, familyKinds, type AttackKind } from "./delivery.ts";
import { buy, cents } from "./errands.ts";
import { hijackSession } from "./hijack.ts";
import { visitorOf } from "./life.ts";
import { runMuleRing, takeOverSleeper, wakeMules } from "./mules.ts";
import { pages } from "./pages.ts";
import { abusePromotion, abuseRefunds } from "./promo.ts";
import type { Random } from "./random.ts";
import type { Actor, Shop } from "./shop.ts";
import { spray, stuffInBurst, stuffSlowly } from "./stuffing.ts";
import { resetThenTransfer, takeOver } from "./takeover.ts";
import { humanRhythm, Visit } from "./visit.ts";

const dayMs = 86_400_000;

// The real owner buys something and later claims that somebody else did.
const regret: AttackScript = function* (shop, attack, startMs) {
  yield startMs;
  const { random, kind, id } = attack;
  const owner = shop.member(random, startMs, attack.loginsMin);
  if (owner === null) return;
  const { timesMedian, reportDays } = attackParameters.friendly_fraud;
  const { sigma, speed } = owner.habits.rhythm;
  const rhythm = humanRhythm(random, { sigma, speed: speed * attack.haste });
  const visitor = { ...visitorOf(shop, owner, startMs), random, rhythm, truth: { kind, attack_id: id } };
  const visit = new Visit(shop, visitor, startMs).to(pages.home);
  if (visit.isKnown) visit.stayLoggedIn();
  else visit.to(pages.login).logIn();
  const amount = cents(random.logNormal(owner.habits.amountMedian * timesMedian, 0.4));
  buy(visit, amount, owner.country.currency);
  const endMs = visit.end();
  const reportMs = endMs + (attack.isShow ? 5000 : random.logNormal(reportDays, 0.5) * dayMs);
  visit.noteFraud(Math.round(reportMs));
  yield reportMs;
  shop.tell(reportMs, {
    activity_id: random.uuid(),
    type: "fraud_report",
    occurred_at: new Date(reportMs).toISOString(),
    website_account_id: owner.account.id,
    attributes: { label: "Organic", note: `Chargeback over ${amount} ${owner.country.currency}: the customer denies the order.` },
  });
};

const scripts: Record<AttackKind, AttackScript> = {
  takeover_naive: takeOver,
  takeover_vpn: takeOver,
  takeover_targeted: takeOver,
  takeover_very_targeted: takeOver,
  stuffing_burst: stuffInBurst,
  stuffing_slow: stuffSlowly,
  spraying: spray,
  signup_farm: farmSignUps,
  reset_then_transfer: resetThenTransfer,
  scripted_bot: runScript,
  headless_bot: runHeadless,
  friendly_fraud: regret,
  mule_ring: runMuleRing,
  dormant_mule: wakeMules,
  dormant_takeover: takeOverSleeper,
  stolen_instruments: spendStolenCards,
  card_testing: testCards,
  promo_abuse: abusePromotion,
  session_hijack: hijackSession,
  refund_abuse: abuseRefunds,
};

const families: ReadonlySet<string> = new Set(familyKinds);

export function startAttack(shop: Shop, attack: Attack, startMs: number): Actor {
  if (shop.till === null && families.has(attack.kind)) throw new RangeError(`${attack.kind} needs a shop with payments`);
  return scripts[attack.kind](shop, attack, startMs);
}

export type AttackCounts = Partial<Record<AttackKind, number>>;

// Schedules the given number of attacks of each kind at random times in the period.
export function* plannedAttacks(
  random: Random,
  counts: AttackCounts,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Generator<{ attack: Attack; startMs: number }> {
  for (const kind of [...attackKinds, ...familyKinds]) {
    for (let n = 0; n < (counts[kind] ?? 0); n++) {
      const own = random.fork(`${kind}-${n}`);
      const startMs = own.between(fromMs, toMs);
      yield { attack: { id: `${kind}-${n}`, kind, random: own, haste: 1, isShow: false, loginsMin: 0 }, startMs };
    }
  }
}
