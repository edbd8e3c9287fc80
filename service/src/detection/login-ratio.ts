import type { AccountFacts, Counts, LoginRatio } from "./entity.ts";

// How much likelier this log-in is for a stranger than for the account's owner, as a sum of parts that can each be shown.
// Each part asks one thing more than the one before it: given the country, this network; given the network, this address.
// p(x | owner) backs off to p(x | everybody), so that what the owner never did counts by the length of his history and by how
// seldom he did anything new in it, and what everybody does counts little. It needs no labels.
export type LoginValues = {
  country: string;
  asn: string;
  ip: string;
  os: string;
  browser: string;
  agent: string;
  device: string;
};
export type ValueKind = keyof LoginValues;

// The chain of each kind: what it is asked of.
const parentOf: Record<ValueKind, ValueKind | null> = {
  country: null,
  asn: "country",
  ip: "asn",
  os: null,
  browser: "os",
  agent: "browser",
  device: null,
};
export const valueKinds = Object.keys(parentOf) as ValueKind[];

// What is new because something else is: a new country has new networks, and a new machine a new device. It is told once.
const newWith: Record<ValueKind, ValueKind[]> = {
  country: [],
  asn: ["country"],
  ip: ["country", "asn"],
  os: [],
  browser: ["os"],
  agent: ["os", "browser"],
  device: ["os", "browser", "agent"],
};

const partMax = 3;
// As far as a value can speak for the owner. A country is one exit of a VPN away, and an agent one header: whoever aims at an
// account chooses those alike. What a browser stored and where a line ends cannot be chosen.
const partMin: Record<ValueKind, number> = { country: -1, asn: -1, ip: -3, os: -1, browser: -1, agent: -1, device: -3 };
const historyMin = 4;
// How many of everybody's log-ins come without a device: a script that was blocked, an app that does not tell it.
const shareWithoutDevice = 0.05;

export type LoginShares = { total: number; of: (kind: ValueKind, value: string) => number };

export function loginRatio(facts: AccountFacts, values: LoginValues, shares: LoginShares): LoginRatio {
  const history = facts.logins;
  if (history < historyMin) return { total: 0, history, parts: [] };
  const parts = valueKinds.flatMap((kind): [string, number][] => {
    const part = Math.min(Math.max(partOf(kind, facts, values, shares), partMin[kind]), partMax);
    return Math.abs(part) < 0.05 ? [] : [[kind, Math.round(part * 100) / 100]];
  });
  const total = parts.reduce((sum, [, part]) => sum + part, 0);
  return { total: Math.round(total * 100) / 100, history, parts };
}

function partOf(kind: ValueKind, facts: AccountFacts, values: LoginValues, shares: LoginShares): number {
  const [value, parent, seen] = [values[kind], parentOf[kind], facts.seen[kind]];
  if (kind === "device" && value === "") return withoutDevice(facts);
  if (value === "" || (parent !== null && values[parent] === "")) return 0;
  const own = counted(seen, value);
  const known = sumOf(seen);
  if (own === 0 && newWith[kind].some((above) => isNew(facts.seen[above], values[above]))) return 0;
  // Only log-ins of which such a value is known: when a tenant begins to send devices, they are not new to everybody.
  const before = Math.max(parent === null ? known : counted(facts.seen[parent], values[parent]), own);
  const all = parent === null ? shares.total : shares.of(parent, values[parent]);
  // A browser that runs on many systems is counted for all of them.
  const everybody = Math.min((shares.of(kind, value) + 0.5) / (all + 1), 1);
  // As many of everybody's log-ins are mixed in as there were new values so far (Witten and Bell's estimate): a new address says
  // little of somebody whose carrier gives him one every day, nor a new device where the browser forgets it every week.
  const backOff = known === 0 ? 1 : Math.max((before * Object.keys(seen).length) / known, 1);
  return Math.log(everybody / ((own + backOff * everybody) / (before + backOff)));
}

// New to an account whose log-ins all had one: whoever keeps the script from running must not seem more usual than who lets it
// run. That an account has none as always speaks for nobody, for anybody can do without.
function withoutDevice({ logins, seen }: AccountFacts): number {
  const named = sumOf(seen.device);
  if (named === 0) return 0;
  const owner = (Math.max(logins - named, 0) + shareWithoutDevice) / (logins + 1);
  return Math.max(Math.log(shareWithoutDevice / owner), 0);
}

function isNew(seen: Counts, value: string): boolean {
  return value !== "" && counted(seen, value) === 0 && Object.keys(seen).length > 0;
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function counted(counts: Counts, value: string): number {
  return Object.hasOwn(counts, value) ? (counts[value] ?? 0) : 0;
}
