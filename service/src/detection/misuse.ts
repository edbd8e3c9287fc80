import { addToDays, medianShare, newDays, sumOfDays, type Days } from "./days.ts";
import type { Scene } from "./scene.ts";
import { surprise } from "./shared.ts";
import { valuesToSet, type RuleContext } from "./vector.ts";

// Signs of misuse that can be seen only in many payments or log-ins together. A share of the tenant's payments is compared with its
// usual share, so that a large shop, a holiday or a wave of new customers is not suspicious.
const dayMs = 24 * 60 * 60 * 1000;
const kept = 30;
// Twice the usual share can still be chance, or a bank whose cards fail for an hour.
const tolerated = 2;
// The usual shares that are assumed while little is known. The usual share is never higher than `max`. Otherwise an attack that
// lasts for weeks would become usual.
const tests = { usual: 2, of: 20, max: 0.25 };
const guesses = { usual: 2, of: 20, max: 0.25 };
const strangers = { usual: 1, of: 10, max: 0.5 };
// A log-in with at least this log-likelihood ratio is unusual for its account.
const unusualRatio = 1;

type Shares = { part: number; whole: number };

function shareOf({ part, whole }: Shares, prior: typeof tests): number {
  return Math.min((part + prior.usual) / (whole + prior.of), prior.max);
}

// Somebody who tests stolen cards uses many that were never seen before, and most of them are declined. Each card counts once as
// new and once as declined, however often it is tried.
export function observeTests(context: RuleContext, { event, payment }: Scene): void {
  const instrument = payment?.instrument;
  if (!payment || !instrument) return;
  const { at } = event;
  const { days, first } = instrument.facts;
  const isFirst = days.day === 0;
  const isNew = isFirst || at - first < dayMs;
  if (!isNew) return;
  const isTested = event.activity.status === "declined" && sumOfDays(days, "declined", { at, span: kept }) === 0;
  const totals = (payment.totals.days ??= newDays());
  addToDays(totals, at, { novel: isFirst ? 1 : 0, tested: isTested ? 1 : 0 });
  const { count, ratio } = comparedWithUsual(totals, at, { part: "tested", whole: "novel", assumed: tests });
  context.tenant["card_tests_1d"] = count;
  context.tenant["card_tests_ratio"] = ratio;
}

// At most this many failed log-ins of one address, and of one network, are counted within an hour. More than that are an attack
// from that source, which has rules of its own.
const guessesMax = { ip: 3, network: 10 };

// Somebody who guesses passwords from many addresses cannot be seen at any of them, nor in any account. But together, the failed
// log-ins of strangers are far more than usual, compared with the accounts that log in.
export function observeGuesses(context: RuleContext, { event, logins }: Scene): void {
  if (!logins) return;
  const { at, activity } = event;
  const { account, ip, network } = context;
  const isOwners = account["ip_is_known"] === true || isKnownDevice(context);
  const isCounted = Number(ip["failed_logins_1h"]) <= guessesMax.ip && Number(network["failed_logins_1h"]) <= guessesMax.network;
  const days = (logins.days ??= newDays());
  if (activity.type === "login_failed" && !isOwners && isCounted) addToDays(days, at, { guessed: 1 });
  const { count, ratio } = comparedWithUsual(days, at, { part: "guessed", whole: "n", assumed: guesses });
  context.tenant["guesses_1d"] = count;
  context.tenant["guesses_ratio"] = ratio;
}

type Share = { part: "tested" | "guessed"; whole: "novel" | "n"; assumed: typeof tests };

// Counts `part` in the last 24 hours, and compares it with what is usual for that many of `whole`. The last two days do not count
// as usual. The usual share is that of the median day: if it were the mean, each attack would make the next one look usual.
function comparedWithUsual(days: Days, at: number, { part, whole, assumed }: Share): { count: number; ratio: number } {
  const today = (column: Share["part"] | Share["whole"]) => sumOfDays(days, column, { at, span: 1, isRolling: true });
  const count = Math.round(today(part));
  if (count === 0) return { count, ratio: 0 };
  const earlier = medianShare(days, { part, whole }, { at, span: kept, except: 2 });
  const usual = shareOf({ part: earlier.share * earlier.whole, whole: earlier.whole }, assumed);
  return { count, ratio: surprise(count, tolerated * today(whole) * usual) };
}

// Call it once a day for each account, so that nobody can hide guesses behind many log-ins to one account.
export function countLogin({ event, logins }: Scene): void {
  if (logins) addToDays((logins.days ??= newDays()), event.at, { n: 1 });
}

// Whether the account has logged in on this device.
function isKnownDevice({ account, device }: RuleContext): boolean {
  return device["is_known"] === true && account["device_is_new"] === false && Number(account["logins"]) > 0;
}

// A payee that receives stolen money is paid for the first time by accounts that a stranger has logged in to. Call this only when
// the log-in's ratio is known.
export function observeStrangers(context: RuleContext, { event, payment }: Scene, isNewPayer: boolean): void {
  const payee = payment?.payee;
  if (!payment || !payee) return;
  const { at } = event;
  const totals = payment.totals.days ?? newDays();
  if (isNewPayer) {
    const strange = Number(context.login["ratio"]) >= unusualRatio ? 1 : 0;
    addToDays(payee.facts.days, at, { strange });
    addToDays(totals, at, { fresh: 1, strange });
  }
  const within = (days: Days, column: "fresh" | "strange") => sumOfDays(days, column, { at, span: 7 });
  const strange = within(payee.facts.days, "strange");
  if (strange === 0) return;
  // This payee's own payments are left out. Otherwise, in a small shop, the attack itself would raise the usual share.
  const fresh = within(payee.facts.days, "fresh");
  const others = { part: within(totals, "strange") - strange, whole: within(totals, "fresh") - fresh };
  const into = valuesToSet(context, "payee");
  into["strangers_7d"] = strange;
  into["strangers_ratio_7d"] = surprise(strange, tolerated * fresh * shareOf(others, strangers));
}
