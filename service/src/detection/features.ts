import type { RecordedActivity } from "../domain/activity.ts";
import { hostOf, siteOf } from "../domain/address.ts";
import { valueRatio } from "./amounts.ts";
import { never } from "./catalogue.ts";
import { readContinuity } from "./continuity.ts";
import { addTie, tieKey, type AccountFacts, type LoginRatio, type SessionFacts } from "./entity.ts";
import { observeEntry } from "./entry.ts";
import {
  countOncePerDay,
  daysSinceLogin,
  heldAt,
  learnLogin,
  loginValues,
  ratioOfLogin,
  settleHeld,
  shortKey,
} from "./habits.ts";
import { countLogin, observeGuesses, observeStrangers } from "./misuse.ts";
import { observePayment, readFrauds } from "./payments.ts";
import { ringHash, shortRingHash } from "./ring-hash.ts";
import { countryNumber, type RingEntry } from "./ring.ts";
import { believedTime, isSensitive, isValue, kindBits, kindOf, type EnrichedActivity, type Scene } from "./scene.ts";
import { updateSession } from "./session-facts.ts";
import { minutes, minutesSinceOther, travelSpeed } from "./travel.ts";
import { contextOf, type RuleContext } from "./vector.ts";
import { countWindows, windows } from "./windows.ts";

const valuesMax = 16;
const gapsMin = 8;
const accountsMax = 1000;

type Values = RuleContext["account"];
// `isShared`: whether the log-in counts among the log-ins of all accounts, with which later log-ins are compared.
export type Observed = { context: RuleContext; ratio: LoginRatio | null; isShared: boolean };

// Adds the activity to the rings and facts of its entities, and returns the values that rules and scorers read.
export function observe(scene: Scene): Observed {
  const { event, device, ip, signups, network, session } = scene;
  const { at } = event;
  const context = contextOf({}, event.activity.attributes ?? {});
  // Entries of unverified pages count only when a page is scored.
  const except = event.source === "page" ? 0 : kindBits.claim;
  const isLogin = isLearnedLogin(scene);
  addToRings(scene, isLogin);
  readEvent(context.event, event);
  if (scene.account) settleHeld(scene.account, at);
  if (scene.account) readAccount(context.account, scene, scene.account, except);
  else context.account["is_known"] = event.claimed !== undefined;
  if (device) readDevice(context.device, scene, device, except);
  if (ip) countWindows(context.ip, windows.ip, ip.ring, at, except);
  if (signups) countWindows(context.ip, windows.signups, signups.ring, at, except);
  if (network) countWindows(context.network, windows.network, network.ring, at, except);
  const isNewPayer = observePayment(context, scene);
  observeEntry(context, scene);
  const fresh = isLogin && scene.account ? ratioOfLogin(scene.account.facts, loginValues(event), scene.shares, at) : null;
  if (session) updateSession(session, event, scene.ringKey);
  if (session) readSession(context, event, session, fresh);
  const ratio = fresh ?? earlierRatio(context, scene);
  context.login["ratio"] = ratio?.total ?? 0;
  context.login["history"] = ratio?.history ?? 0;
  observeStrangers(context, scene, isNewPayer);
  observeGuesses(context, scene);
  if (scene.account) learn(scene.account.facts, scene);
  if (scene.account && fresh) learnLogin(scene.account, event, { ratio: fresh, ...noveltyOf(context) });
  context.tenant["has_browser"] = scene.tenantHasBrowser;
  const isShared = fresh !== null && scene.account !== null && countOncePerDay(scene.account.facts, event);
  if (isShared) countLogin(scene);
  return { context, ratio, isShared };
}

// Returns the ratio of the log-in that the activity follows: the account's own in this session, or else an unusual one of the
// last day. Otherwise a thief would only need a new session. The ratio of another account does not apply, and no ratio applies to
// a claim. A device that is usual for the account is the owner's, so an unusual log-in elsewhere does not apply to it.
function earlierRatio(context: RuleContext, { event, account, session }: Scene): LoginRatio | null {
  if (!account) return null;
  const { website_account_id: id = "", device_id: device } = event.activity;
  // Sessions from before the key was stored have none.
  if (session?.ratio && (session.ratioOf ?? tieKey(id)) === tieKey(id)) return session.ratio;
  const isUsualDevice = device !== undefined && Object.hasOwn(account.facts.seen.device, shortKey(device));
  const held = isUsualDevice ? null : heldAt(account.facts, event.at);
  if (!held) return null;
  context.session["began_on_new_device"] ||= held.isNewDevice;
  context.session["began_in_new_country"] ||= held.isNewCountry;
  return held.ratio;
}

function noveltyOf({ account }: RuleContext): { isNewDevice: boolean; isNewCountry: boolean } {
  return { isNewDevice: account["device_is_new"] === true, isNewCountry: account["country_is_new"] === true };
}

// Whether a page reports something that the tenant's servers report themselves. Then it was already counted, or it never
// happened.
function isHearsay({ event, serverTells }: Scene): boolean {
  const { type, origin } = event.activity;
  return origin === "browser" && (kindOf(type) & serverTells) !== 0;
}

// Only one log-in per account and session is learned from pages, so that somebody who is in an account cannot turn their device
// into a usual one.
function isLearnedLogin(scene: Scene): boolean {
  const { event, account, session } = scene;
  if (event.activity.type !== "login_succeeded" || isHearsay(scene)) return false;
  if (event.source === "server") return true;
  const id = event.activity.website_account_id;
  if (!account || !session || id === undefined) return false;
  const key = tieKey(id);
  if (session.logins.includes(key)) return false;
  addTie(session.logins, key);
  return true;
}

// The kind under which rings count the event. A log-in that is not learned does not count as a success, because forged successes
// would hide the failures around them.
function ringKind(scene: Scene, isLogin: boolean): number {
  const { activity, source } = scene.event;
  const marks = (activity.origin === "browser" ? kindBits.browser : 0) | (source === "page" ? kindBits.claim : 0);
  const isRepetition = isHearsay(scene) && source !== "page";
  const isDoubted = isRepetition || (activity.type === "login_succeeded" && !isLogin);
  return marks | (isDoubted ? kindBits.other : kindOf(activity.type));
}

function addToRings(scene: Scene, isLogin: boolean): void {
  const { event, account, device, ip, signups, network, block, ringKey } = scene;
  const { activity, at } = event;
  const kind = ringKind(scene, isLogin);
  const named = activity.website_account_id ?? event.claimed;
  const accountHash = named === undefined ? 0 : ringHash(named, ringKey);
  const deviceHash = activity.device_id === undefined ? 0 : ringHash(activity.device_id, ringKey);
  const address = activity.ip === undefined ? 0 : shortRingHash(hostOf(activity.ip), ringKey);
  const base: RingEntry = { at, kind, peer: accountHash, address, country: countryNumber(event.country) };
  // One subscriber may use any network of an IPv6 block, so the block counts as one address.
  const subscriber = activity.ip === undefined ? 0 : shortRingHash(siteOf(activity.ip), ringKey);
  account?.ring.add({ ...base, peer: deviceHash, address: subscriber }, kindBits.other);
  device?.ring.add(base, kindBits.other);
  ip?.ring.add(
    { ...base, address: activity.device_id === undefined ? 0 : shortRingHash(activity.device_id, ringKey) },
    kindBits.other,
  );
  signups?.ring.add(base, kindBits.other);
  network?.ring.add(base, kindBits.other);
  if (block && block.ring !== network?.ring) block.ring.add(base, kindBits.other);
}

function readEvent(into: Values, event: EnrichedActivity): void {
  const { activity } = event;
  into["type"] = activity.type;
  into["origin"] = activity.origin;
  into["value"] = event.value;
  into["country"] = event.country;
  into["asn"] = event.asn;
  into["browser"] = event.browser;
  into["os"] = event.os;
  into["is_bot_agent"] = event.isBotAgent;
  into["email_is_disposable"] = event.isDisposableEmail;
  into["signs"] = activity.browser?.signs?.length ?? 0;
  into["source"] = event.source;
}

function readDevice(into: Values, scene: Scene, device: NonNullable<Scene["device"]>, except: number): void {
  const { facts, ring, confirmed, confirmedRecently } = device;
  const { at, source } = scene.event;
  if (scene.isNewPair && source === "page") facts.claimed = Math.min((facts.claimed ?? 0) + 1, accountsMax);
  else if (scene.isNewPair) facts.accounts = Math.min(facts.accounts + 1, accountsMax);
  into["is_known"] = true;
  into["age_minutes"] = age(facts, scene.event);
  into["accounts_total"] = Math.min(facts.accounts + (source === "page" ? (facts.claimed ?? 0) : 0), accountsMax);
  into["confirmed_frauds"] = confirmed;
  into["confirmed_frauds_90d"] = confirmedRecently;
  into["fraud_share_90d"] = facts.accounts >= accountsMax ? 0 : share(confirmedRecently, facts.accounts);
  readFrauds(into, facts.days, at, [28]);
  countWindows(into, windows.device, ring, at, except);
}

// An activity that was reported late may be older than what is known. Then it is the first that was seen.
function age(facts: { first: number }, event: EnrichedActivity): number {
  const at = believedTime(event);
  facts.first = Math.min(facts.first, at);
  return minutes(at - facts.first);
}

function share(part: number, whole: number): number {
  return part === 0 ? 0 : Math.min(Math.round((part / Math.max(whole, 1)) * 100) / 100, 1);
}

function readAccount(into: Values, { event }: Scene, account: NonNullable<Scene["account"]>, except: number): void {
  const { facts, flags } = account;
  const { at, country, asn, activity } = event;
  const isNew = (counts: Record<string, number>, value: string) =>
    facts.logins > 0 && value !== "" && !Object.hasOwn(counts, value) && Object.keys(counts).some((known) => !isBlock(known));
  into["is_known"] = true;
  into["age_minutes"] = age(facts, event);
  into["is_blocked"] = flags.is_blocked;
  into["is_quarantined"] = flags.is_quarantined;
  into["is_fraudulent"] = flags.is_fraudulent;
  into["logins"] = facts.logins;
  into["device_is_new"] = isNew(facts.seen.device, activity.device_id === undefined ? "" : shortKey(activity.device_id));
  into["device_is_missing"] = isDeviceMissing(facts, activity);
  into["ip_is_known"] = activity.ip !== undefined && Object.hasOwn(facts.seen.ip, shortKey(hostOf(activity.ip)));
  into["country_is_new"] = isNew(facts.seen.country, country);
  into["asn_is_new"] = isNew(facts.seen.asn, asn === 0 ? "" : String(asn));
  into["travel_kmh"] = travelSpeed(facts.last, event);
  into["minutes_since_other_country"] = minutesSinceOther(facts, event);
  into["values"] = facts.values.length;
  into["value_ratio"] = valueRatio(facts.values, event.value);
  const hasChange = facts.sensitive !== 0 && facts.sensitive <= at;
  into["minutes_since_sensitive_change"] = hasChange ? minutes(at - facts.sensitive) : never;
  into["last_sensitive_change"] = hasChange ? (facts.change ?? "") : "";
  into["reports"] = facts.reports;
  readFrauds(into, facts.days, at, [7, 14, 28]);
  if (activity.type === "login_succeeded") into["days_since_last_login"] = daysSinceLogin(facts, believedTime(event));
  into["confirmed_frauds"] = account.confirmed;
  into["false_positives"] = account.falsePositives;
  countWindows(into, windows.account, account.ring, at, except);
}

// If browsers forget their devices, the account remembers only its last ones, so half of its log-ins are enough.
function isDeviceMissing({ logins, seen }: AccountFacts, { type, device_id: device }: RecordedActivity): boolean {
  if (device !== undefined || !type.startsWith("login_") || logins === 0) return false;
  const named = Object.values(seen.device).reduce((sum, count) => sum + count, 0);
  return 2 * named >= logins;
}

// `fresh` is the ratio of this event if it is a log-in. It applies to the rest of the session.
function readSession(context: RuleContext, event: EnrichedActivity, session: SessionFacts, fresh: LoginRatio | null): void {
  const { at } = event;
  if (fresh) {
    session.login ??= at;
    const { isNewDevice, isNewCountry } = noveltyOf(context);
    session.isNewDevice ||= isNewDevice;
    session.isNewCountry ||= isNewCountry;
    session.ratio = fresh;
    session.ratioOf = tieKey(event.activity.website_account_id ?? "");
  }
  const into = context.session;
  into["is_known"] = true;
  into["has_browser"] = session.hasBrowser;
  into["age_seconds"] = Math.round((at - session.started) / 1000);
  into["events"] = session.events;
  into["pages"] = session.pages;
  into["scrolls"] = session.scrolls;
  into["engagement_seconds"] = Math.round(session.engagement / 1000);
  into["seconds_to_login"] = session.login === null ? never : Math.max(Math.round((session.login - session.started) / 1000), 0);
  into["accounts"] = session.accounts.length;
  into["sensitive_changes"] = session.sensitive;
  into["is_webdriver"] = session.isWebdriver;
  into["has_inputs"] = session.inputs !== null;
  into["inputs"] = session.inputs ?? 0;
  into["began_on_new_device"] = session.isNewDevice;
  into["began_in_new_country"] = session.isNewCountry;
  readContinuity(into, session.continuity, at);
  readGaps(into, session.times);
}

function readGaps(into: Values, times: number[]): void {
  const count = Math.max(times.length - 1, 0);
  into["gaps"] = count;
  if (count < gapsMin) return;
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / count;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / count;
  into["gap_spread"] = mean === 0 ? 0 : Math.round((Math.sqrt(variance) / mean) * 100) / 100;
  into["gap_mean_ms"] = Math.round(mean);
}

// Learns what the account's later activity is compared with. Nothing is learned from a failed log-in, because anybody can cause
// one.
function learn(facts: AccountFacts, scene: Scene): void {
  const { activity, at, value } = scene.event;
  if (activity.type === "fraud_report") facts.reports++;
  if (isSensitive(activity.type) && !isHearsay(scene) && at >= facts.sensitive) {
    facts.sensitive = at;
    facts.change = activity.type;
  }
  if (isValue(activity.type) && value > 0 && !isHearsay(scene)) {
    facts.values.push(value);
    if (facts.values.length > valuesMax) facts.values.shift();
  }
}

// If the autonomous system is unknown, a log-in's network is a block of addresses.
function isBlock(network: string): boolean {
  return network.includes("/");
}
