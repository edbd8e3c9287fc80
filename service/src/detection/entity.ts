import type { BrowserFacts } from "../domain/activity.ts";
import type { Ring } from "./ring.ts";

// What is known of an entity beside its ring. Members are short, for the row is written with every event of the entity.
export type Counts = Record<string, number>;

export type AccountFacts = {
  // First seen.
  first: number;
  logins: number;
  reports: number;
  // Of successful logins: how often each country, network, address, system, browser, agent, device.
  seen: { country: Counts; asn: Counts; ip: Counts; os: Counts; browser: Counts; agent: Counts; device: Counts };
  // Where the last login was from, and the last one that was from another country than it.
  last: Place | null;
  elsewhere: Place | null;
  values: number[];
  sensitive: number;
  // Whether the tenant's servers tell of its log-ins, and on which devices: then nobody else is believed.
  isVouched?: true;
};
export type Place = { at: number; country: string; lat: number | null; lon: number | null };

export type DeviceFacts = { first: number; accounts: number };
// Of a value that logins share: in how many of all logins it was seen.
export type ValueFacts = { logins: number };

export type SessionFacts = {
  // What the browser says of itself, as it first said it.
  client: Partial<BrowserFacts> | null;
  started: number;
  last: number;
  events: number;
  pages: number;
  scrolls: number;
  engagement: number;
  hasBrowser: boolean;
  // Times of the site's own browser events, the latest 32, from the first of them on.
  origin: number;
  times: number[];
  login: number | null;
  accounts: number[];
  sensitive: number;
  isWebdriver: boolean;
  inputs: number | null;
  isNewDevice: boolean;
  isNewCountry: boolean;
  ratio: LoginRatio | null;
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
    isWebdriver: false,
    inputs: null,
    isNewDevice: false,
    isNewCountry: false,
    ratio: null,
  };
}

const countsMax = 12;

// The rarest goes where there are too many: a habit is what is seen often.
export function addCount(counts: Counts, value: string): void {
  // A user agent may name itself `constructor`, which every object has.
  counts[value] = (Object.hasOwn(counts, value) ? (counts[value] ?? 0) : 0) + 1;
  const names = Object.keys(counts);
  if (names.length <= countsMax) return;
  const rarest = names.filter((name) => name !== value).reduce((a, b) => ((counts[b] ?? 0) < (counts[a] ?? 0) ? b : a));
  delete counts[rarest];
}
