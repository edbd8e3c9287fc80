import { hostOf } from "../domain/address.ts";
import { addCount, type AccountFacts, type HeldLogin, type LoginRatio, type LoginValues, type LoginLocation } from "./entity.ts";
import { loginRatio, valueKinds, type LoginShares } from "./login-ratio.ts";
import { believedTime, type EnrichedActivity, type Scene } from "./scene.ts";

// A log-in with at least this ratio is unusual. It is held before the account's habits include it. Otherwise a thief who logs in
// twice would be usual the second time. The more unusual it is, the longer it is held: a day for each unit of log-odds.
const unusualMin = 1;
const dayMs = 24 * 60 * 60 * 1000;
const holdDaysMax = 7;
// A held log-in that led to a case is held for this long, unless the case is closed as a false positive.
const suspectMs = 30 * dayMs;
// If a fraud is reported or confirmed within this time after a log-in, the account forgets the log-in again.
const undoMs = 90 * dayMs;
const heldMax = 4;

type Account = NonNullable<Scene["account"]>;

// Ends the holding of log-ins. A log-in becomes a habit when its time is over, or when the case that it led to is closed as a
// false positive. It never becomes one if somebody reported or confirmed a fraud meanwhile, or if the account is flagged. If the
// fraud is reported or confirmed later, the values that were learned from the log-in are forgotten.
export function settleHeld({ facts, flags, confirmed, falsePositives }: Account, at: number): void {
  if (facts.held === undefined) return;
  const isFlagged = flags.is_blocked || flags.is_quarantined || flags.is_fraudulent;
  const rest = facts.held.filter((held) => {
    const isFraud = facts.reports > held.reports || confirmed > held.confirmed;
    if (held.taught) {
      if (isFraud) forget(facts, held);
      return !isFraud && at < held.at + undoMs;
    }
    const isOver = at >= held.until;
    const isCleared = held.isSuspect === true && falsePositives > held.falsePositives;
    if (isFraud || isFlagged || !(isOver || isCleared)) return !isOver;
    held.taught = valueKinds.filter((kind) => !Object.hasOwn(facts.seen[kind], held.values[kind]));
    addHabit(facts, held.values);
    noteLogin(facts, held.at);
    return true;
  });
  if (rest.length > 0) facts.held = rest;
  else delete facts.held;
}

// Remembers that activity after a held log-in led to a case. Activity on another device does not concern that log-in.
export function suspectHeld(facts: AccountFacts, { activity: { device_id: device } }: EnrichedActivity): void {
  for (const held of stillHeld(facts)) {
    if (device !== undefined && held.values.device !== shortKey(device)) continue;
    held.isSuspect = true;
    held.until = Math.max(held.until, held.at + suspectMs);
  }
}

function stillHeld({ held = [] }: AccountFacts): HeldLogin[] {
  return held.filter((each) => each.taught === undefined);
}

function forget(facts: AccountFacts, { values, taught = [] }: HeldLogin): void {
  for (const kind of taught) delete facts.seen[kind][values[kind]];
}

// Returns the held log-in that is most unusual, of those before `at`.
export function heldAt(facts: AccountFacts, at: number): HeldLogin | null {
  const before = stillHeld(facts).filter((each) => each.at <= at && at < each.until);
  return before.reduce<HeldLogin | null>((most, each) => (most && most.ratio.total >= each.ratio.total ? most : each), null);
}

// Compares a log-in with the account's habits. While another log-in is held, a second one like it is as unusual as the first, and
// not more: an owner with a new phone uses it in several networks on the first day. So the ratio exceeds the held one only if it
// would do so even with the held log-ins as habits.
export function ratioOfLogin(facts: AccountFacts, values: LoginValues, shares: LoginShares, at: number): LoginRatio {
  const alone = loginRatio(facts, values, shares);
  const held = heldAt(facts, at);
  if (!held || alone.total <= Math.max(held.ratio.total, unusualMin)) return alone;
  const taught: AccountFacts = { ...facts, seen: structuredClone(facts.seen) };
  for (const each of stillHeld(facts)) addHabit(taught, each.values);
  const beyond = loginRatio(taught, values, shares);
  if (beyond.total <= held.ratio.total) return held.ratio;
  return beyond.total < alone.total ? beyond : alone;
}

type Seen = { ratio: LoginRatio; isNewDevice: boolean; isNewCountry: boolean };

// Adds a log-in to the habits, or holds it. A repeated log-in keeps the time of the first, so that a new phone becomes usual even
// if it logs in every hour.
export function learnLogin({ facts, confirmed, falsePositives }: Account, event: EnrichedActivity, seen: Seen): void {
  const { at, country, lat, lon } = event;
  const values = loginValues(event);
  learnPlace(facts, { at, country, lat, lon });
  if (seen.ratio.total < unusualMin) {
    noteLogin(facts, at);
    return addHabit(facts, values);
  }
  const held = stillHeld(facts);
  if (held.some((each) => valueKinds.every((kind) => each.values[kind] === values[kind]))) return;
  const until = believedTime(event) + dayMs * Math.min(seen.ratio.total, holdDaysMax);
  const added: HeldLogin = { ...seen, at, until, values, reports: facts.reports, confirmed, falsePositives };
  const learned = (facts.held ?? []).filter((each) => each.taught !== undefined);
  facts.held = [...mostUnusual([...held, added]), ...mostUnusual(learned)];
}

function mostUnusual(held: HeldLogin[]): HeldLogin[] {
  return held.toSorted((a, b) => b.ratio.total - a.ratio.total).slice(0, heldMax);
}

// Only an account's first log-in of a day counts toward what is usual for all accounts. Otherwise one account could make its
// values look usual for everybody by logging in again and again. Returns whether this log-in counts, and remembers its day.
export function countOncePerDay(facts: AccountFacts, event: EnrichedActivity): boolean {
  const day = Math.floor(believedTime(event) / dayMs);
  if (facts.sharedDay !== undefined && day <= facts.sharedDay) return false;
  facts.sharedDay = day;
  return true;
}

export function loginValues(event: EnrichedActivity): LoginValues {
  const { activity } = event;
  return {
    country: event.country,
    asn: event.asn === 0 ? event.network : String(event.asn),
    ip: activity.ip === undefined ? "" : shortKey(hostOf(activity.ip)),
    os: event.os,
    browser: event.browser,
    agent: activity.user_agent === undefined ? "" : shortKey(activity.user_agent),
    device: activity.device_id === undefined ? "" : shortKey(activity.device_id),
  };
}

// A short key for a text that does not reveal the text. It is FNV-1a in 32 bits, without a tenant's key, because stored habits
// must still match. An attacker who knows the text of a habit can send the text itself, so a collision gains nothing.
export function shortKey(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  // FNV's low bits depend mostly on the last characters.
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  return (hash >>> 0 || 1).toString(36);
}

function noteLogin(facts: AccountFacts, at: number): void {
  facts.lastLogin = Math.max(facts.lastLogin ?? at, at);
}

// Returns how many days before `at` the account last logged in; 0 if it never did, or less than a day ago. Only a log-in that
// became a habit counts. Otherwise the account would no longer count as dormant at a thief's second log-in.
export function daysSinceLogin({ lastLogin, last }: AccountFacts, at: number): number {
  // States from before this time was stored have only the place of the last log-in.
  const before = lastLogin ?? last?.at;
  return before === undefined ? 0 : Math.max(Math.floor((at - before) / dayMs), 0);
}

function addHabit(facts: AccountFacts, values: LoginValues): void {
  facts.logins++;
  for (const kind of valueKinds) if (values[kind] !== "") addCount(facts.seen[kind], values[kind]);
}

// The place is learned at once, so that only the first log-in from a distant place counts as travel.
function learnPlace(facts: AccountFacts, place: LoginLocation): void {
  if (place.country === "" && place.lat === null) return;
  if (facts.last && facts.last.at > place.at) return;
  if (facts.last && facts.last.country !== "" && facts.last.country !== place.country) facts.elsewhere = facts.last;
  facts.last = place;
}
