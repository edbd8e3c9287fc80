import { addToDays, dailyFrauds, daysKept, sumOfDays, type Daily, type Days } from "./days.ts";
import type { Entity, SharedFacts } from "./entity.ts";
import { ringSize } from "./catalogue.ts";
import { kindBits } from "./scene.ts";

// Anything that accounts share, such as a payee, is compared with its own past. So a large payee, an office or a popular browser
// is not suspicious because of its size alone.
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

// Until the past is known, one new account per day is expected. This assumption has the weight of two observed days.
const assumed = { perDay: 1, days: 2 };
// A busy hour has this many times the mean of its day.
const busyHour = 3;

type Meeting = { at: number; account: number };

// Counts an account that is new to the entity. Each account counts once in 24 hours.
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

// Returns how many accounts were new to the entity, and how surprising that is given its past: the log-likelihood ratio of a
// higher rate compared with the usual rate.
export function newcomers({ ring, facts }: Entity<SharedFacts>, at: number): Newcomers {
  const { days, first, fresh } = facts;
  const age = Math.max((at - first) / dayMs, 0);
  const within = (span: number) => sumOfDays(days, "fresh", { at, span });
  const all = within(30);
  // The rate per day before the last `span` days. At most 30 days are kept.
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
export function surprise(count: number, expected: number): number {
  const least = Math.max(expected, 0.5);
  return count <= least ? 0 : Math.round((count * Math.log(count / least) - (count - least)) * 100) / 100;
}

// A fraud rate is shrunk towards the tenant's rate, which has the weight of this many payments.
const rateWeight = 5;
// The tenant's own rate is assumed to be one in a hundred. This assumption has the weight of a hundred payments.
const tenantPrior = { frauds: 1, n: 100 };
const tenantRateMax = 0.2;
// While a payee or an instrument is being abused, half of its payments are assumed to be fraud. Each day, abuse is assumed to
// start at one in a thousand of them, and to end at one in twenty of those that are being abused.
const abuse = { share: 0.5, start: 0.001, end: 0.05 };
const certain = 1e-9;
// The newest days count as not yet labelled while together they have at most this share of all known frauds.
const early = 0.05;

const recentDays = 7;

export type FraudRates = { fraud_rate: number; fraud_rate_7d: number; compromise: number };

// Returns the rates of known frauds, and the log-odds that the entity is being abused now, minus the log-odds without any
// evidence. If no fraud is known, all are 0. Labels arrive late: chargebacks take weeks. If the newest payments counted as honest
// until then, a payee would be cleared while it is being abused. So they count only with the share of frauds that is already known
// of those days. A day without frauds that is older than a labelled day counts in full.
export function fraudRates(days: Days, totals: Days | undefined, at: number): FraudRates {
  const all = totals ? dailyFrauds(totals, at) : { n: [], frauds: [] };
  const unlabelled = countUnlabelled(all.frauds);
  if (unlabelled === null) return { fraud_rate: 0, fraud_rate_7d: 0, compromise: 0 };
  const [known, n] = [sumOf(all.frauds, unlabelled), sumOf(all.n, unlabelled)];
  const usual = Math.min((known + tenantPrior.frauds) / (n + tenantPrior.n), tenantRateMax);
  const daily = dailyFrauds(days, at);
  const knownOfNew = sumOf(all.frauds, 0, unlabelled) / Math.max(sumOf(all.n, 0, unlabelled), 1);
  const reported = Math.min(knownOfNew / usual, 1);
  daily.frauds.forEach((frauds, ago) => {
    daily.n[ago] = Math.max((daily.n[ago] ?? 0) * (ago < unlabelled ? reported : 1), frauds);
  });
  const rate = (until: number) => (sumOf(daily.frauds, 0, until) + rateWeight * usual) / (sumOf(daily.n, 0, until) + rateWeight);
  return {
    fraud_rate: Math.round(rate(daysKept) * 1e4) / 1e4,
    fraud_rate_7d: Math.round(rate(unlabelled + recentDays) * 1e4) / 1e4,
    compromise: Math.round(abuseOdds(daily, usual) * 100) / 100,
  };
}

// Returns how many of the newest days are not yet labelled; null if no fraud is known. A few frauds are reported within hours.
// They do not mean that the other frauds of that day are known.
function countUnlabelled(frauds: number[]): number | null {
  const all = sumOf(frauds, 0);
  if (all === 0) return null;
  let newer = 0;
  return frauds.findIndex((each) => (newer += each) > early * all);
}

// Updates the probability of abuse from the oldest day to the newest. The newest day comes first in the lists.
function abuseOdds(daily: Daily, usual: number): number {
  const { share, start, end } = abuse;
  const unknown = start / (start + end);
  const [ofFraud, ofHonest] = [Math.log(share / usual), Math.log((1 - share) / (1 - usual))];
  let p = unknown;
  for (let ago = daily.n.length - 1; ago >= 0; ago--) {
    const [n, frauds] = [daily.n[ago] ?? 0, daily.frauds[ago] ?? 0];
    if (n > 0) {
      const evidence = frauds * ofFraud + (n - frauds) * ofHonest;
      const odds = (p / (1 - p)) * Math.exp(Math.min(Math.max(evidence, -30), 30));
      p = Math.min(Math.max(odds / (1 + odds), certain), 1 - certain);
    }
    p = p * (1 - end) + (1 - p) * start;
  }
  return Math.log(p / (1 - p)) - Math.log(unknown / (1 - unknown));
}

function sumOf(values: number[], from: number, until = values.length): number {
  let sum = 0;
  for (let index = from; index < until; index++) sum += values[index] ?? 0;
  return sum;
}
