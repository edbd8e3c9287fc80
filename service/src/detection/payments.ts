import { instrumentIdOf } from "../domain/instrument.ts";
import { localTime } from "../domain/time-zone.ts";
import { compareAmount, learnAmount, moneyOf } from "./amounts.ts";
import { addToDays, daysSinceFrauds, largestOfDays, newDays, sumOfDays, type Days } from "./days.ts";
import type { AccountFacts, Entity, PaymentFacts, SharedFacts } from "./entity.ts";
import { countHashes, hashKey, hasHash, withHash } from "./hash-list.ts";
import { observeTests } from "./misuse.ts";
import { ringHash } from "./ring-hash.ts";
import type { EnrichedActivity, Scene } from "./scene.ts";
import { addNew, fraudRates, newcomers } from "./shared.ts";
import { minutes } from "./travel.ts";
import { valuesToSet, type RuleContext } from "./vector.ts";

const dayMs = 24 * 60 * 60 * 1000;
const payeesMax = 64;
const instrumentsMax = 16;
const accountsMax = 64;
// Amounts that are more than this many standard deviations above the account's mean.
const unusual = { high: 2, higher: 3 };

type Values = RuleContext["account"];
// The hashes of what the payment names, empty if it names nothing. `isTaught`: whether later payments are compared with this one.
type Used = { payee: string; instrument: string; order: string; isTaught: boolean; isDeclined: boolean };

// Sets the payment's fields, and adds the payment to its account, payee and instrument. Returns whether the account pays this
// payee for the first time. Nothing is learned from declined payments, because they cost nothing and anybody could make any
// number of them. An order counts once, even if it is reported as attempted and then as approved.
export function observePayment(context: RuleContext, scene: Scene): boolean {
  const { event, account, payment, ringKey } = scene;
  if (!payment) return false;
  readMembers(context.event, scene);
  const used = usedBy(scene);
  const before = account?.facts.payments ?? { last: 0, money: {}, payees: "", instruments: "" };
  const isNew = {
    payee: used.payee !== "" && !hasHash(before.payees, used.payee),
    instrument: used.instrument !== "" && !hasHash(before.instruments, used.instrument),
  };
  if (account) {
    context.account["payee_is_new"] = isNew.payee && before.payees !== "";
    context.account["instrument_is_new"] = isNew.instrument && before.instruments !== "";
    observeAccount(context.account, account.facts, event, { before, used });
  }
  observeTests(context, scene);
  if (used.isTaught) addToDays((payment.totals.days ??= newDays()), event.at, { n: 1 });
  const { website_account_id: id } = event.activity;
  for (const group of ["payee", "instrument"] as const) {
    const shared = payment[group];
    if (!shared) continue;
    const newAccount = isNew[group] && used.isTaught && id !== undefined ? id : null;
    observeShared(valuesToSet(context, group), shared, { event, used, newAccount, ringKey, totals: payment.totals.days });
  }
  const { instrument } = payment;
  if (instrument && id !== undefined && used.isTaught)
    instrument.facts.accounts = withHash(instrument.facts.accounts ?? "", hashKey(id, ringKey), accountsMax);
  if (instrument) valuesToSet(context, "instrument")["accounts"] = countHashes(instrument.facts.accounts ?? "");
  return isNew.payee && used.isTaught && id !== undefined;
}

function readMembers(into: Values, { event: { activity, at }, timeZone }: Scene): void {
  const { hour, isWeekend } = localTime(at, timeZone);
  into["hour"] = hour;
  into["is_weekend"] = isWeekend;
  into["status"] = activity.status ?? "";
  into["currency"] = activity.currency ?? "";
  into["instrument_type"] = activity.instrument?.type ?? "";
}

function usedBy({ event: { activity }, account, ringKey }: Scene): Used {
  const hashed = (name: string | undefined) => (name === undefined ? "" : hashKey(name, ringKey));
  const order = hashed(activity.order_id);
  const isDeclined = activity.status === "declined";
  const isRepeated = order !== "" && account?.facts.payments?.order === order;
  return {
    payee: hashed(activity.payee_id),
    instrument: hashed(instrumentIdOf(activity)),
    order,
    isDeclined,
    isTaught: !isDeclined && !isRepeated,
  };
}

type OwnPayment = { before: PaymentFacts; used: Used };

function observeAccount(into: Values, facts: AccountFacts, event: EnrichedActivity, { before, used }: OwnPayment): void {
  const { at, value } = event;
  const currency = event.activity.currency ?? "";
  const { z, ratio } = compareAmount(Object.hasOwn(before.money, currency) ? before.money[currency] : undefined, value);
  into["amount_z"] = z;
  into["amount_ratio"] = ratio;
  if (before.last > 0 && before.last <= at) into["minutes_since_payment"] = minutes(at - before.last);
  const before7 = { at, span: 7 };
  const before14 = { at, span: 14 };
  into["high_amounts_7d"] = sumOfDays(facts.days, "high", before7);
  into["high_amounts_14d"] = sumOfDays(facts.days, "high", before14);
  into["very_high_amounts_7d"] = sumOfDays(facts.days, "higher", before7);
  into["very_high_amounts_14d"] = sumOfDays(facts.days, "higher", before14);
  into["amount_z_max_7d"] = largestOfDays(facts.days, "z", before7);
  const days = (facts.days ??= newDays());
  if (used.isTaught) {
    facts.payments = before;
    learnPayment(before, event, used);
    const unusually = {
      high: z > unusual.high ? 1 : 0,
      higher: z > unusual.higher ? 1 : 0,
      z: Math.max(Math.round(z * 10) / 10, 0),
    };
    addToDays(days, at, unusually);
  }
  if (used.isDeclined) addToDays(days, at, { declined: 1 });
  into["declined_1d"] = Math.round(sumOfDays(days, "declined", { at, span: 1, isRolling: true }));
  readAmounts(into, before, { at, currency });
}

function readAmounts(into: Values, { money }: PaymentFacts, { at, currency }: { at: number; currency: string }): void {
  const same = Object.hasOwn(money, currency) ? money[currency]?.days : undefined;
  for (const span of [1, 7, 30] as const) {
    const window = { at, span, isRolling: true };
    const all = Object.values(money).reduce((sum, { days }) => sum + sumOfDays(days, "n", window), 0);
    const n = sumOfDays(same, "n", window);
    into[`payments_${span}d`] = Math.round(all);
    into[`amount_mean_${span}d`] = n === 0 ? 0 : Math.round((sumOfDays(same, "sum", window) / n) * 100) / 100;
  }
}

function learnPayment(facts: PaymentFacts, { at, value, activity }: EnrichedActivity, used: Used): void {
  facts.last = Math.max(facts.last, at);
  if (used.order !== "") facts.order = used.order;
  if (used.payee !== "") facts.payees = withHash(facts.payees, used.payee, payeesMax);
  if (used.instrument !== "") facts.instruments = withHash(facts.instruments, used.instrument, instrumentsMax);
  const money = moneyOf(facts.money, activity.currency ?? "");
  learnAmount(money, value);
  addToDays(money.days, at, { n: 1, sum: value });
}

type SharedPayment = {
  event: EnrichedActivity;
  used: Used;
  // The account, if it has never paid this payee or used this instrument before.
  newAccount: string | null;
  ringKey: string;
  totals: Days | undefined;
};

function observeShared(into: Values, shared: Entity<SharedFacts>, given: SharedPayment): void {
  const { facts } = shared;
  const { event, used, newAccount, ringKey, totals } = given;
  const { at } = event;
  const { days } = facts;
  into["is_known"] = true;
  // If nothing has been counted yet, the entity was created for this payment.
  const isSeen = days.day > 0;
  facts.first = Math.min(facts.first, at);
  into["days_since_first"] = Math.floor((at - facts.first) / dayMs);
  if (isSeen && facts.last <= at) into["days_since_last"] = Math.round(((at - facts.last) / dayMs) * 100) / 100;
  if (used.isTaught) addToDays(days, at, { n: 1 });
  if (used.isDeclined) addToDays(days, at, { declined: 1 });
  if (used.isTaught) facts.last = Math.max(facts.last, at);
  if (newAccount !== null) addNew(shared, { at, account: ringHash(newAccount, ringKey) });
  for (const span of [1, 7, 28] as const)
    into[`payments_${span}d`] = Math.round(sumOfDays(days, "n", { at, span, isRolling: true }));
  into["declined_1d"] = Math.round(sumOfDays(days, "declined", { at, span: 1, isRolling: true }));
  for (const span of [3, 7, 14, 28] as const) into[`frauds_${span}d`] = sumOfDays(days, "frauds", { at, span });
  const since = daysSinceFrauds(days, at);
  if (since) into["days_since_fraud"] = since.last;
  if (since) into["days_since_first_fraud"] = since.first;
  Object.assign(into, fraudRates(days, totals, at), newcomers(shared, at));
}

// The known frauds of an account or a device. Most have none.
export function readFrauds(into: Values, days: Days | undefined, at: number, spans: readonly number[]): void {
  if (days?.frauds === undefined) return;
  for (const span of spans) into[`frauds_${span}d`] = sumOfDays(days, "frauds", { at, span });
  const since = daysSinceFrauds(days, at);
  if (since) into["days_since_fraud"] = since.last;
}
