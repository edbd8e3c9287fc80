import type { Chain } from "./chain.ts";
import type { Call, Change, Deed, MadeVersion } from "./history.ts";
import type { Operation } from "./order.ts";

type Attempt = Call & { deed: Deed };

export type DeedCounts = { replaysCompared: number; applications: number; unknownApplied: number; unknownNotApplied: number };
export type Deeds = { operations: Operation[]; violations: string[]; counts: DeedCounts };

const nameOf = ({ made, position }: Change) => (made ? `version ${made.version} of ${made.case_id}` : `change ${position}`);

// Compares the calls that wanted a change, grouped by marker, with the changes that carry the marker. A change is applied once if
// it was acknowledged, never if it was rejected, and every change belongs to a call.
export function checkDeeds(calls: Call[], chain: Chain): Deeds {
  const counts = { replaysCompared: 0, applications: 0, unknownApplied: 0, unknownNotApplied: 0 };
  const deeds: Deeds = { operations: [], violations: [], counts };
  const attempts = Map.groupBy(
    calls.filter((call): call is Attempt => call.deed !== undefined),
    ({ deed }) => deed.marker,
  );
  const changes = Map.groupBy(chain.changes, ({ marker }) => marker);
  for (const [marker, own] of changes) {
    if (!attempts.has(marker)) deeds.violations.push(`phantom: nobody requested ${own.map(nameOf).join(", ")} (${marker})`);
  }
  for (const [marker, group] of attempts) {
    for (const each of transactionsOf({ group, own: changes.get(marker) ?? [] })) checkDeed(deeds, marker, each);
  }
  return deeds;
}

type Both = { group: Attempt[]; own: Change[] };

// Usually one key is one transaction. But while a bulk close finds cases that others hold, each of its responses is a transaction of
// its own. If such a response is lost, a later one under the same key is no replay, and does not name what the lost one did.
function transactionsOf({ group, own }: Both): Both[] {
  const apart: Both[] = [];
  let left = own;
  const take = (attempts: Attempt[], taken: Change[]) => {
    apart.push({ group: attempts, own: taken });
    left = left.filter((change) => !taken.includes(change));
  };
  // A case that is changed twice under one key is a violation, which checkDeed can see only if nothing is taken apart.
  const cases = own.map(({ made }) => made?.case_id);
  if (new Set(cases).size < cases.length) return [{ group, own }];
  const partial = group.filter(({ deed }) => deed.outcome === "partial");
  for (const call of partial) {
    const bound: Attempt = { ...call, deed: { ...call.deed, outcome: "bound" } };
    take([bound], left.filter(isMadeBy(call.deed)));
  }
  const rest = group.filter((call) => !partial.includes(call));
  const unanswered = rest.filter(({ deed }) => deed.outcome === "unknown");
  const first = rest.find(({ deed }) => deed.outcome === "bound" && !deed.isReplay);
  if (first?.deed.isBulk === true && unanswered.length > 0)
    for (const run of runsOf(left.filter((change) => !isMadeBy(first.deed)(change)))) take(unanswered, run);
  if (rest.length > 0 || left.length > 0) apart.push({ group: rest, own: left });
  return apart;
}

function isMadeBy({ made }: Deed): (change: Change) => boolean {
  const claimed = new Set(made.map(keyOf));
  return (change) => claimed.has(keyOf(change.made));
}

// Splits changes into those with adjacent positions.
function runsOf(changes: Change[]): Change[][] {
  const runs: Change[][] = [];
  for (const change of changes.toSorted((a, b) => a.position - b.position)) {
    const run = runs.at(-1);
    if (run?.at(-1)?.position === change.position - 1) run.push(change);
    else runs.push([change]);
  }
  return runs;
}

function checkDeed(deeds: Deeds, marker: string, { group, own }: Both): void {
  const { kind } = group[0]?.deed ?? {};
  const bound = group.filter(({ deed }) => deed.outcome === "bound");
  const unknown = group.filter(({ deed }) => deed.outcome === "unknown");
  const report = (fault: string) =>
    deeds.violations.push(
      `${fault}: ${marker}, ${group[0]?.what}, responses: ${group.map(describe).join(" and ")}; in the log: ${own.map(nameOf).join(", ") || "nothing"}`,
    );
  deeds.counts.applications += own.length;
  if (unknown.length > 0) deeds.counts[own.length > 0 ? "unknownApplied" : "unknownNotApplied"] += 1;
  const places = own.map(({ made, position }) => made?.case_id ?? position);
  const isTwice = kind === "case" ? new Set(places).size < places.length : places.length > 1;
  if (isTwice) report("applied twice");
  if (bound.length === 0 && unknown.length === 0 && own.length > 0) report("rejected, but applied");
  if (kind === "case") {
    checkAnswers(report, bound, unknown);
    deeds.counts.replaysCompared += Math.max(0, bound.length - 1);
    const [claimed] = bound;
    if (claimed && !isSame(claimed.deed, own)) report("lost or forked");
  } else if (bound.length > 0 && own.length === 0) report("lost");
  if (own.length > 1) showTogether(report, own);
  if (own.some(({ isUnclear }) => isUnclear)) return;
  deeds.operations.push(...operationsOf({ group, own }, bound, unknown));
}

function describe({ deed }: Attempt): string {
  const made = deed.made.map(({ case_id, version }) => `version ${version} of ${case_id}`);
  return [deed.outcome, ...made].join(" ");
}

// One response is the first, and all others are its replays with the same bytes.
function checkAnswers(report: (fault: string) => void, bound: Attempt[], unknown: Attempt[]): void {
  if (new Set(bound.map(({ deed }) => deed.bytes)).size > 1) report("a replay with other bytes");
  const firsts = bound.filter(({ deed }) => !deed.isReplay).length;
  if (firsts > 1) report(`${firsts} responses for one key that are not replays`);
  if (firsts === 0 && bound.length > 0 && unknown.length === 0) report("a replay without a first response");
}

const keyOf = (made: MadeVersion | undefined) => `${made?.case_id}#${made?.version}`;

function isSame(deed: Deed, own: Change[]): boolean {
  return new Set(deed.made.map(keyOf)).size === own.length && own.every(isMadeBy(deed));
}

// One request is one transaction: its entries are adjacent, and nobody sees one of them without the others.
function showTogether(report: (fault: string) => void, own: Change[]): void {
  const positions = own.map(({ position }) => position);
  const [first, last] = [Math.min(...positions), Math.max(...positions)];
  if (last - first !== own.length - 1) report("a transaction with gaps");
  for (const change of own) change.visibleAt = last;
}

// The call that made the change, and the others, which only show that it was made. If the call that made it got no response, the
// change happened between the first call without a response and the first response.
function operationsOf({ group, own }: Both, bound: Attempt[], unknown: Attempt[]): Operation[] {
  const [attempt] = group;
  if (!attempt || (bound.length === 0 && own.length === 0)) return [];
  const isAsynchronous = attempt.deed.kind === "report";
  const first = bound.find(({ deed }) => !deed.isReplay);
  const source = isAsynchronous ? group : first ? [first] : unknown;
  const begin = source.reduce((least, call) => Math.min(least, call.begin), Infinity);
  const end = isAsynchronous ? Infinity : bound.reduce((least, call) => Math.min(least, call.end), Infinity);
  const positions = own.map(({ position }) => position);
  const change = own.length > 0 && { change: { first: Math.min(...positions), last: Math.max(...positions) } };
  const done = { begin, end, what: attempt.what, sights: (first ?? bound[0])?.sights ?? [], ...change };
  if (isAsynchronous || !change) return [done];
  const replays = bound.filter((call) => call !== first);
  return [done, ...replays.map((call) => ({ ...call, sights: [], after: change.change.last, what: `replay of ${call.what}` }))];
}
