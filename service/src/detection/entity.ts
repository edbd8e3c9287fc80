import { hash } from "node:crypto";
import { Cached } from "../domain/cached.ts";
import type { BrowserFacts } from "../domain/activity.ts";
import type { Money } from "./amounts.ts";
import { newDays, type Days } from "./days.ts";
import type { Ring } from "./ring.ts";

// What is known about an entity besides its ring. It is kept small, because the row is written with every event of the entity.
export type Counts = Record<string, number>;

export type AccountFacts = {
  // When the account was first seen.
  first: number;
  logins: number;
  reports: number;
  // How many successful log-ins had each country, network, address, system, browser, agent and device.
  seen: { country: Counts; asn: Counts; ip: Counts; os: Counts; browser: Counts; agent: Counts; device: Counts };
  // The place of the last log-in, and of the last one from a different country.
  last: LoginLocation | null;
  elsewhere: LoginLocation | null;
  values: number[];
  // The last sensitive change: when, and the type of the activity.
  sensitive: number;
  change?: string;
  // Unusual log-ins that are not habits yet, and habits learned from unusual log-ins of the last 90 days.
  held?: HeldLogin[];
  // The day of the last log-in that was counted among the log-ins of all accounts, in days since 1970.
  sharedDay?: number;
  // The last log-in that became a habit. A stranger's log-in does not count, so the account still counts as dormant.
  lastLogin?: number;
  payments?: PaymentFacts;
  // Known frauds, declined payments and unusual amounts by day.
  days?: Days;
};
export type PaymentFacts = {
  last: number;
  // The order of the last payment, because one order may be reported as attempted and then as approved.
  order?: string;
  // By currency.
  money: Record<string, Money>;
  // The payees and instruments that the account has used, as hashes of four characters each. The last used ones come last.
  payees: string;
  instruments: string;
};
// `until` is when the log-in may become a habit. The counts are the account's at the time of the log-in.
export type HeldLogin = {
  at: number;
  until: number;
  values: LoginValues;
  ratio: LoginRatio;
  isNewDevice: boolean;
  isNewCountry: boolean;
  reports: number;
  confirmed: number;
  falsePositives: number;
  // Whether activity after the log-in led to a case.
  isSuspect?: boolean;
  // The kinds of its values that were new to the account when it became a habit. Unset before that.
  taught?: (keyof LoginValues)[];
};
// What a log-in is compared by. An empty text means that it is unknown.
export type LoginValues = {
  country: string;
  asn: string;
  ip: string;
  os: string;
  browser: string;
  agent: string;
  device: string;
};
export type LoginLocation = { at: number; country: string; lat: number | null; lon: number | null };

// How many names (accounts or browsers) a source used in a day, and their keys. `usual` slowly follows the previous days, so that
// nobody can train it within a few days.
export type Crowd = { day: number; today: number; usual: number; names?: string[] };
// `crowd` counts the accounts that pages named on a device, an address or a block of addresses. `fleet` counts the browsers
// that pages used on an address or a block: their devices or, without a device id, their sessions.
export type Crowds = { crowd?: Crowd; fleet?: Crowd };

export type DeviceFacts = Crowds & {
  first: number;
  accounts: number;
  // Known frauds by day.
  days?: Days;
  // How many accounts unverified pages named on the device.
  claimed?: number;
  // The accounts that a server reported on this device, and when.
  ties?: [account: string, at: number][];
};
// Facts about an address, a network or a block of addresses. Null if no page was seen there.
export type AddressFacts = Crowds | null;
// For a value that log-ins share: how many of all log-ins had it. One such entity, with a reserved name, counts all payments of
// the tenant in `days`.
export type ValueFacts = { logins: number; days?: Days };
// Something that accounts share: a payee, an instrument, similar e-mail addresses, a kind of browser or a block of addresses.
export type SharedFacts = {
  first: number;
  last: number;
  // How many accounts have been new to it in all.
  fresh: number;
  days: Days;
  // The accounts of an instrument, as hashes of four characters each.
  accounts?: string;
};

// The first value that was seen in a session, hashed, and the time at which another value was first seen.
export type Continuity = Partial<Record<"network" | "country" | "agent" | "screen", [first: string, changed?: number]>>;

export type SessionFacts = {
  // What the browser said about itself in its first event.
  client: Partial<BrowserFacts> | null;
  started: number;
  last: number;
  events: number;
  pages: number;
  scrolls: number;
  engagement: number;
  hasBrowser: boolean;
  // Times of the site's own browser events, relative to `origin`, the time of the first. Only the latest 32 are kept.
  origin: number;
  times: number[];
  login: number | null;
  accounts: number[];
  sensitive: number;
  // When the first browser event of the session was received, or 0 if there was none. Uses our clock, because a page can choose
  // its event times.
  heard: number;
  // Accounts that a server (`ties`) or a signed identity (`signed`) tied to the session.
  ties: string[];
  signed: string[];
  // Accounts that unverified pages named in the session.
  claims: string[];
  // Accounts for which a log-in in this session was learned from a page. Only one is learned per account.
  logins: string[];
  isWebdriver: boolean;
  inputs: number | null;
  isNewDevice: boolean;
  isNewCountry: boolean;
  ratio: LoginRatio | null;
  // The key of the account that the ratio belongs to.
  ratioOf: string | null;
  // The network, country, agent and screen with which the session began, and when each of them first changed.
  continuity: Continuity | null;
};

export type LoginRatio = { total: number; history: number; parts: [name: string, logOdds: number][] };

export type Entity<F> = { ring: Ring; facts: F };

export function newAccountFacts(at: number): AccountFacts {
  const seen = { country: {}, asn: {}, ip: {}, os: {}, browser: {}, agent: {}, device: {} };
  return { first: at, logins: 0, reports: 0, seen, last: null, elsewhere: null, values: [], sensitive: 0 };
}

export function newSessionFacts(at: number): SessionFacts {
  return {
    client: null,
    started: at,
    last: at,
    events: 0,
    pages: 0,
    scrolls: 0,
    engagement: 0,
    hasBrowser: false,
    origin: at,
    times: [],
    login: null,
    accounts: [],
    sensitive: 0,
    heard: 0,
    ties: [],
    signed: [],
    claims: [],
    logins: [],
    isWebdriver: false,
    inputs: null,
    isNewDevice: false,
    isNewCountry: false,
    ratio: null,
    ratioOf: null,
    continuity: null,
  };
}

export function newSharedFacts(at: number): SharedFacts {
  return { first: at, last: at, fresh: 0, days: newDays() };
}

const countsMax = 12;

// If there are too many values, the rarest is dropped, because a habit is what is seen often.
export function addCount(counts: Counts, value: string): void {
  // A user agent may be called `constructor`, which every object inherits.
  counts[value] = (Object.hasOwn(counts, value) ? (counts[value] ?? 0) : 0) + 1;
  const names = Object.keys(counts);
  if (names.length <= countsMax) return;
  const rarest = names.filter((name) => name !== value).reduce((a, b) => ((counts[b] ?? 0) < (counts[a] ?? 0) ? b : a));
  delete counts[rarest];
}

const tieKeysMax = 5_000;
const tieKeys = new Cached(tieKeysMax, (account) => hash("sha256", `tie:${account}`, "base64url").slice(0, 22));

// The key under which a session or a device remembers an account. It is long enough that nobody can find another account with the
// same key.
export function tieKey(account: string): string {
  return tieKeys.get(account);
}

const tiesMax = 16;

// If there are too many, the oldest is dropped.
export function addTie(ties: string[], key: string): void {
  if (ties.includes(key)) return;
  ties.push(key);
  if (ties.length > tiesMax) ties.shift();
}
