import { isPseudonym, isReservedAccountId } from "./account.ts";
import {
  activityTypes,
  clockToleranceMs,
  userAgentCharactersMax,
  type BrowserFacts,
  type IdentityVerdict,
  type RecordedActivity,
} from "./activity.ts";
import { readAttributes, type Attributes } from "./clickstream-attributes.ts";
import { isAgentOff, isLocaleOff, isSessionIdOff, type AgentHeaders, type BrowserSign } from "./browser-signs.ts";
import { idCharactersMax } from "./field.ts";
import { characters, firstCharacters, isStorable } from "./text.ts";
import { identityAttribute } from "./identity.ts";
import type { QuarantineReason } from "./quarantine.ts";
import { isObject, storableText } from "./raw-value.ts";

// What is known about the request that delivered an event.
export type Delivery = {
  tenant: { tenant_id: string; slug: string; app_key: string; url_parameters: string[] };
  received_at: string;
  // The time of upload by the sender's clock, if it was sent.
  uploaded_ms?: number;
  isHashWrong: boolean;
  ip?: string;
  accept_language?: string;
  agent: AgentHeaders;
  checkIdentity: (token: unknown, accountId: string) => IdentityVerdict;
};

const eventIdCharacters = 64;
const idCharacters = 128;
const addressCharacters = 1024;
const titleCharacters = 256;
const factCharacters = 64;
const nameCharacters = 64;
const latestMs = Date.UTC(9999, 11, 31);
const ageMsMax = 90 * 24 * 60 * 60 * 1000;
const sizeMax = 100_000;
const zoneMinutesMax = 18 * 60;

// Converts one event of the Clickstream protocol into the canonical event, or returns why that is impossible. Nothing in it is
// trusted: the tenant is the key's, the account is the page's claim, and the address and user agent are those of the request.
export function readEvent(raw: unknown, delivery: Delivery): RecordedActivity | QuarantineReason {
  if (!isObject(raw)) return "not-an-object";
  const { event_id: id, event_type: name, timestamp } = raw;
  if (typeof id !== "string" || id === "" || characters(id) > eventIdCharacters) return "no-event-id";
  if (!isStorable(id)) return "unstorable";
  if (typeof name !== "string" || name.trim() === "") return "no-event-type";
  if (!isTime(timestamp)) return "bad-timestamp";
  const claimedMs = Math.floor(timestamp);
  const receivedMs = Date.parse(delivery.received_at);
  const shiftMs = shiftOf(claimedMs, receivedMs, delivery.uploaded_ms);
  const occurredMs = claimedMs + shiftMs;
  if (occurredMs < receivedMs - ageMsMax) return "too-old";
  const given = isObject(raw["attributes"]) ? raw["attributes"] : {};
  const { attributes, isOversized } = readAttributes(given, raw["items"]);
  const account = accountOf(raw["user"]);
  const facts = factsOf(raw, { given, delivery, shiftMs, name });
  const signs = signsOf({ given, delivery, facts });
  if (Math.abs(shiftMs) > clockToleranceMs) signs.push("clock-shifted");
  if (isOversized) signs.push("oversized");
  if (account.isBad) signs.push("bad-account-id");
  const { agent } = delivery;
  return withOptional<RecordedActivity>({
    activity_id: id,
    type: typeOf(name, attributes),
    occurred_at: new Date(occurredMs).toISOString(),
    website_account_id: account.id,
    session_id: textOf(given["_session_id"], idCharacters),
    device_id: textOf(raw["device_id"], idCharacters),
    ip: delivery.ip,
    user_agent: textOf(agent.user_agent, userAgentCharactersMax),
    attributes: Object.keys(attributes).length === 0 ? undefined : attributes,
    origin: "browser",
    received_at: delivery.received_at,
    identity: identityOf(raw["user"], { given, delivery, accountId: account.id }),
    claimed_at: shiftMs === 0 ? undefined : new Date(claimedMs).toISOString(),
    browser: signs.length === 0 ? facts : { ...facts, signs },
  });
}

// If the sender's clock is off by more than the tolerance, or the event is in the future, the event is shifted by the difference
// between the clocks. If that is unknown, or would leave the event in the future, it is shifted to now.
function shiftOf(claimedMs: number, receivedMs: number, uploadedMs: number | undefined): number {
  const offMs = uploadedMs === undefined ? 0 : receivedMs - uploadedMs;
  const isShifted = Math.abs(offMs) > clockToleranceMs || claimedMs > receivedMs;
  return isShifted ? Math.min(offMs, receivedMs - claimedMs) : 0;
}

const aliases: Record<string, string> = {
  _page_view: "page_view",
  login: "login_succeeded",
  sign_in: "login_succeeded",
  sign_up: "signup",
  purchase: "payment",
  sign_out: "logout",
};
// Only the tenant's servers can report fraud. Otherwise a page could open cases at will.
const plainTypes = new Set<string>(activityTypes.filter((type) => type !== "fraud_report"));
const failures = new Set<unknown>(["failure", "failed", "error", false]);

function typeOf(name: string, attributes: Attributes): string {
  const type = Object.hasOwn(aliases, name) ? aliases[name] : name;
  // A site that records all log-ins under one name reports in `result` how they went.
  const isFailedLogin = type === "login_succeeded" && type !== name && failures.has(attributes["result"]);
  if (isFailedLogin) return "login_failed";
  if (type !== undefined && plainTypes.has(type)) return type;
  return `custom:${firstCharacters(name, nameCharacters).replaceAll(/[^A-Za-z0-9_.-]/gu, "_")}`;
}

function accountOf(user: unknown): { id?: string; isBad: boolean } {
  const value = userAttribute(user, "_user_id");
  if (value === undefined || value === null || value === "") return { isBad: false };
  const id = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  const isFree = typeof id === "string" && !isReservedAccountId(id) && !isPseudonym(id);
  const isGood = isFree && isStorable(id) && characters(id) <= idCharactersMax;
  return isGood ? { id, isBad: false } : { isBad: true };
}

function userAttribute(user: unknown, name: string): unknown {
  const held = isObject(user) ? user[name] : undefined;
  return isObject(held) ? held["value"] : undefined;
}

type Naming = { given: Record<string, unknown>; delivery: Delivery; accountId: string | undefined };

// Undefined if the event names no account or carries no token. The Clickstream SDK goes on sending the token after the user has
// logged out.
function identityOf(user: unknown, { given, delivery, accountId }: Naming): IdentityVerdict | undefined {
  if (accountId === undefined) return undefined;
  const token = userAttribute(user, identityAttribute) ?? given[identityAttribute] ?? "";
  return token === "" ? undefined : delivery.checkIdentity(token, accountId);
}

type Within = { given: Record<string, unknown>; delivery: Delivery; shiftMs: number; name: string };

function factsOf(raw: Record<string, unknown>, { given, delivery, shiftMs, name }: Within): BrowserFacts {
  const { url_parameters: kept } = delivery.tenant;
  const { sdk_name: sdk, sdk_version: version } = raw;
  const started = given["_session_start_timestamp"];
  const referrer = addressOf(given["_latest_referrer"], kept) ?? addressOf(given["_page_referrer"], kept);
  return withOptional<BrowserFacts>({
    sdk: textOf(isText(sdk) && isText(version) ? `${sdk} ${version}` : isText(sdk) ? sdk : version, factCharacters),
    locale: textOf(raw["locale"], factCharacters),
    accept_language: textOf(delivery.accept_language, 2 * factCharacters),
    zone_offset_minutes: zoneOf(raw["zone_offset"]),
    screen: sizeOf(raw["screen_width"], raw["screen_height"]),
    viewport: sizeOf(raw["viewport_width"], raw["viewport_height"]),
    page_title: textOf(given["_page_title"], titleCharacters),
    page_url: pageOf(given["_page_url"], kept),
    referrer,
    session_started_at: isTime(started) && isTime(started + shiftMs) ? startedAt(started + shiftMs) : undefined,
    // A scroll event contains the reading time so far, which the page's own summary contains again. So only the summary counts.
    engagement_ms: name === "_user_engagement" ? countOf(given["_engagement_time_msec"]) : undefined,
    inputs: countOf(given["_casehound_inputs"]),
    input_spread: amountOf(given["_casehound_input_spread"]),
    is_webdriver: typeof given["_casehound_webdriver"] === "boolean" ? given["_casehound_webdriver"] : undefined,
  });
}

type Seen = { given: Record<string, unknown>; delivery: Delivery; facts: BrowserFacts };

function signsOf({ given, delivery, facts }: Seen): BrowserSign[] {
  const { _session_id: session, _session_start_timestamp: started, tenant_id: named } = given;
  const { tenant_id: id, slug, app_key: key } = delivery.tenant;
  const signs: BrowserSign[] = [];
  if (delivery.isHashWrong) signs.push("wrong-hash");
  const isNamed = typeof named === "string" || typeof named === "number";
  if (isNamed && !["", id, slug, key].includes(String(named))) signs.push("foreign-tenant-id");
  if (typeof session === "string" && isSessionOff(session, isTime(started) ? started : undefined))
    signs.push("session-id-mismatch");
  if (facts.screen !== undefined && facts.screen === facts.viewport) signs.push("screen-equals-viewport");
  const { locale, accept_language: accepted } = facts;
  if (locale !== undefined && accepted !== undefined && isLanguageOff(locale, accepted)) signs.push("locale-differs");
  if (isBrowserOff(delivery.agent)) signs.push("agent-differs");
  return signs;
}

// Consecutive events of a delivery often have the same values, so the last answer is kept.
function remembered<A, B, R>(ask: (a: A, b: B) => R): (a: A, b: B) => R {
  let last: { a: A; b: B; answer: R } | null = null;
  return (a, b) => {
    if (last === null || last.a !== a || last.b !== b) last = { a, b, answer: ask(a, b) };
    return last.answer;
  };
}

const isSessionOff = remembered(isSessionIdOff);
const isLanguageOff = remembered(isLocaleOff);
const isBrowserOff = remembered<AgentHeaders, void, boolean>(isAgentOff);
const startedAt = remembered<number, void, string>((ms) => new Date(ms).toISOString());
const pageOf = remembered(addressOf);

// Query and fragment may contain tokens and personal data, so only the parameters that the tenant asked for are kept. Credentials
// are never kept.
export function cutAddress(address: string, kept: readonly string[]): string {
  const [beforeFragment = ""] = address.split("#", 1);
  const mark = beforeFragment.indexOf("?");
  const path = (mark === -1 ? beforeFragment : beforeFragment.slice(0, mark)).replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
  if (mark === -1 || kept.length === 0) return path;
  const pairs = beforeFragment
    .slice(mark + 1)
    .split("&")
    .filter((pair) => kept.includes(pair.split("=", 1)[0] ?? ""));
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

function addressOf(value: unknown, kept: readonly string[]): string | undefined {
  return typeof value === "string" ? textOf(cutAddress(value, kept), addressCharacters) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function textOf(value: unknown, charactersMax: number): string | undefined {
  return isText(value) ? storableText(value, charactersMax) : undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= latestMs;
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.floor(value) : undefined;
}

function amountOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function zoneOf(offsetMs: unknown): number | undefined {
  const minutes = typeof offsetMs === "number" ? Math.round(offsetMs / 60_000) : Number.NaN;
  return Math.abs(minutes) <= zoneMinutesMax ? minutes : undefined;
}

function isSide(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= sizeMax;
}

function sizeOf(width: unknown, height: unknown): string | undefined {
  return isSide(width) && isSide(height) ? `${Math.round(width)}x${Math.round(height)}` : undefined;
}

// Members that are not set are undefined, and are left out when the object is serialized. Building it without them took a fifth
// of the time.
function withOptional<T extends object>(given: { [name in keyof T]: T[name] | undefined }): T {
  // The required members are never undefined, so the result has the type.
  return given as T;
}
