import type { AccountFacts, Counts, LoginRatio } from "./entity.ts";

// How much likelier this log-in is for a stranger than for the account's owner, as a sum of parts that can each be shown.
// Each part asks one thing more than the one before it: given the country, this network; given the network, this address.
// p(x | owner) backs off to p(x | everybody), so that what the owner never did counts by the length of his history, and what
// everybody does counts little. It needs no labels.
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

// How many of everybody's log-ins the owner's history is mixed with. Lower makes what is new to him weigh more.
const backOff = 1;
const partMax = 3;
const historyMin = 4;

export type LoginShares = { total: number; of: (kind: ValueKind, value: string) => number };

export function loginRatio(facts: AccountFacts, values: LoginValues, shares: LoginShares): LoginRatio {
  const history = facts.logins;
  if (history < historyMin) return { total: 0, history, parts: [] };
  const parts = valueKinds.flatMap((kind): [string, number][] => {
    const value = values[kind];
    const parent = parentOf[kind];
    if (value === "" || (parent !== null && values[parent] === "")) return [];
    // Only log-ins of which such a value is known: when a tenant begins to send devices, they are not new to everybody.
    const before = parent === null ? sumOf(facts.seen[kind]) : (counted(facts.seen[parent], values[parent]) ?? 0);
    const all = parent === null ? shares.total : shares.of(parent, values[parent]);
    const everybody = (shares.of(kind, value) + 0.5) / (all + 1);
    const owner =
      ((counted(facts.seen[kind], value) ?? 0) + backOff * everybody) /
      (Math.max(before, counted(facts.seen[kind], value) ?? 0) + backOff);
    const part = Math.min(Math.max(Math.log(everybody / owner), -partMax), partMax);
    return Math.abs(part) < 0.05 ? [] : [[kind, Math.round(part * 100) / 100]];
  });
  const total = parts.reduce((sum, [, part]) => sum + part, 0);
  return { total: Math.round(total * 100) / 100, history, parts };
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function counted(counts: Counts, value: string): number | undefined {
  return Object.hasOwn(counts, value) ? counts[value] : undefined;
}
