import type { AccountFacts, Counts, LoginRatio, LoginValues } from "./entity.ts";

// How much more likely this log-in is for a stranger than for the account's owner, as a sum of parts that can each be shown. Each
// part depends on its parent: this network given the country, this address given the network.
// p(x | owner) backs off to p(x | everybody). So a value that is new to the owner counts more with a longer history and with
// fewer new values in it, and a value that everybody has counts little. It needs no labels.
export type ValueKind = keyof LoginValues;

// The parent of each kind: a value is judged given its parent's value.
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

// Kinds whose novelty explains this one: a new country brings new networks, and a new machine brings a new device. The novelty
// counts once.
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
// How much a value can count in the owner's favour. A country is one VPN exit away and a user agent is one header, so anyone who
// targets an account can imitate them. Nobody can choose what another browser has stored, or the address where a connection ends.
const partMin: Record<ValueKind, number> = { country: -1, asn: -1, ip: -3, os: -1, browser: -1, agent: -1, device: -3 };
const historyMin = 4;
// The share of all log-ins that have no device, because a script was blocked or an app does not send the device.
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
  // Count only log-ins that had such a value. When a tenant starts to send devices, they must not be new to everybody.
  const before = Math.max(parent === null ? known : counted(facts.seen[parent], values[parent]), own);
  const all = parent === null ? shares.total : shares.of(parent, values[parent]);
  // A browser that runs on several systems is counted for all of them, so the share could exceed 1.
  const everybody = Math.min((shares.of(kind, value) + 0.5) / (all + 1), 1);
  // Everybody's share is weighted by the number of new values so far (Witten-Bell smoothing). So a new address says little if the
  // carrier assigns one every day, and so does a new device if the browser forgets it every week.
  const backOff = known === 0 ? 1 : Math.max((before * Object.keys(seen).length) / known, 1);
  return Math.log(everybody / ((own + backOff * everybody) / (before + backOff)));
}

// Unusual for an account whose log-ins all had a device: blocking the script must not look more usual than letting it run. If an
// account never had one, its absence is no evidence, because anybody can leave it out.
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
