import { addToDays, dailyFrauds, sumOfDays, type Days } from "./days.ts";
import type { Entity, SharedFacts } from "./entity.ts";
import { ringSize } from "./catalogue.ts";
import { kindBits } from "./scene.ts";

// What accounts share is compared with its own past, so that a large payee, an office or a popular browser is not suspicious by its
// size alone.
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

// Until the past is known, one new account per day is expected. That assumption counts as much as two days.
const assumed = { perDay: 1, days: 2 };
// A busy hour has this many times its share of the day.
const busyHour = 3;

type Meeting = { at: number; account: number };

// Counts an account that is new there. It is counted once in 24 hours.
export function addNew({ ring, facts }: Entity<SharedFacts>, { at, account }: Meeting): void {
  const before = countNew(ring, at, dayMs);
  ring.add({ at, kind: kindBits.signup, peer: account, address: 0, country: 0 });
  if (countNew(ring, at, dayMs) === before && before < ringSize) return;
  facts.fresh++;
  addToDays(facts.days, at, { fresh: 1 });
}

function countNew(ring: Entity<SharedFacts>["ring"], at: number, windowMs: number): number {
  return ring.count(at, windowMs, kindBits.signup, "peer");
}

export type Newcomers = { new_accounts_24h: number } & Record<`new_ratio_${"1h" | "24h" | "7d" | "28d"}`, number>;

// How many accounts were new there, and how surprising that is after its own past: the logarithm of how much likelier the number is
// if the rate has risen to it than if the rate is the usual one.
export function newcomers({ ring, facts }: Entity<SharedFacts>, at: number): Newcomers {
  const { days, first, fresh } = facts;
  const age = Math.max((at - first) / dayMs, 0);
  const within = (span: number) => sumOfDays(days, "fresh", { at, span });
  const all = within(30);
  // The rate per day, learned before the last `span` days, of which at most 30 are kept.
  const rate = (span: number) =>
    (all - within(span) + assumed.perDay * assumed.days) / (Math.max(Math.min(age, 30) - span, 0) + assumed.days);
  const everBefore = (Math.max(fresh - within(28), 0) + assumed.perDay * assumed.days) / (Math.max(age - 28, 0) + assumed.days);
  const inDay = ring.length < ringSize ? countNew(ring, at, dayMs) : Math.max(countNew(ring, at, dayMs), within(1));
  return {
    new_accounts_24h: inDay,
    new_ratio_1h: surprise(countNew(ring, at, hourMs), (rate(1) * busyHour) / 24),
    new_ratio_24h: surprise(inDay, rate(2)),
    new_ratio_7d: surprise(within(7), 7 * rate(7)),
    new_ratio_28d: surprise(within(28), 28 * everBefore),
  };
}

// The log-likelihood ratio of two Poisson distributions: one with the mean `count`, one with the mean `expected`. 0 if there are
// not more than expected.
function surprise(count: number, expected: number): number {
  const least = Math.max(expected, 0.5);
  return count <= least ? 0 : Math.round((count * Math.log(count / least) - (count - least)) * 100) / 100;
}

// A fraud rate is pulled towards the tenant's, with the weight of this many payments.
const rateWeight = 5;
// The tenant's own rate is assumed to be one in a hundred, until as many payments are known.
const tenantPrior = { frauds: 1, n: 100 };
const tenantRateMax = 0.2;
// While a payee or an instrument is being abused, half of its payments are fraud. On each day, an abuse starts with one of
// a thousand, and one of twenty ends.
const abuse = { share: 0.5, start: 0.001, end: 0.05 };
const certain = 1e-9;
// The newest days count as not labelled yet while they hold at most this share of all known frauds.
const early = 0.05;

export type FraudRates = { fraud_rate: number; compromise: number };

// The rate of known frauds, and the log-odds of "is being abused now", less what they are without any evidence. Labels come late,
// so payments count as honest only on days for which the tenant already knows frauds. Without any known fraud both are 0.
export function fraudRates(days: Days, totals: Days | undefined, at: number): FraudRates {
  const all = totals ? dailyFrauds(totals, at) : [];
  const unlabelled = countUnlabelled(all.map(({ frauds }) => frauds));
  if (unlabelled === null) return { fraud_rate: 0, compromise: 0 };
  const tenant = sumUp(all.slice(unlabelled));
  const usual = Math.min((tenant.frauds + tenantPrior.frauds) / (tenant.n + tenantPrior.n), tenantRateMax);
  const daily = dailyFrauds(days, at).map(({ n, frauds }, ago) => ({
    n: ago < unlabelled ? frauds : Math.max(n, frauds),
    frauds,
  }));
  const own = sumUp(daily);
  const rate = (own.frauds + rateWeight * usual) / (own.n + rateWeight);
  return { fraud_rate: Math.round(rate * 1e4) / 1e4, compromise: Math.round(abuseOdds(daily, usual) * 100) / 100 };
}

// How many of the newest days are not labelled yet; null if no fraud is known. A few frauds are reported at once, so they do not
// mean that their day is labelled.
function countUnlabelled(frauds: number[]): number | null {
  const all = frauds.reduce((sum, each) => sum + each, 0);
  if (all === 0) return null;
  let newer = 0;
  return frauds.findIndex((each) => (newer += each) > early * all);
}

// Follows the probability of an abuse from the oldest day to the newest, which comes first in the list.
function abuseOdds(daily: { n: number; frauds: number }[], usual: number): number {
  const { share, start, end } = abuse;
  const unknown = start / (start + end);
  let p = unknown;
  for (const { n, frauds } of daily.toReversed()) {
    const evidence = frauds * Math.log(share / usual) + (n - frauds) * Math.log((1 - share) / (1 - usual));
    const odds = (p / (1 - p)) * Math.exp(Math.min(Math.max(evidence, -30), 30));
    p = Math.min(Math.max(odds / (1 + odds), certain), 1 - certain);
    p = p * (1 - end) + (1 - p) * start;
  }
  return Math.log(p / (1 - p)) - Math.log(unknown / (1 - unknown));
}

function sumUp(daily: { n: number; frauds: number }[]): { n: number; frauds: number } {
  return daily.reduce((sum, each) => ({ n: sum.n + each.n, frauds: sum.frauds + each.frauds }), { n: 0, frauds: 0 });
}
