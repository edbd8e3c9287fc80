import { matchAccounts } from "./accounts.ts";
import { registerOf, type Change, type FinalCase, type FinalState, type History, type LogEntry } from "./history.ts";
import type { Openings } from "./order.ts";

export type Chain = { changes: Change[]; openings: Openings; versions: number; violations: string[] };

const statusAfter: Record<string, string> = {
  "case.opened": "OPEN",
  "case.evidence_added": "OPEN",
  "case.reopened": "OPEN",
  "case.closed": "CLOSED",
};

export const factsOfCase = (status: string, changedAt: string) => `${status} ${changedAt}`;

// Reads the log as one chain. Its ids have no gap, the versions of each case have no gap or fork, an account never has two open
// cases, times never go backwards, and it yields the states that the cases show in the end.
export function readChain({ calls, log, cases }: History): Chain {
  const chain: Chain = { changes: [], openings: new Map(), versions: 0, violations: [] };
  const accounts = matchAccounts(calls, log);
  const versions = new Map<string, number>();
  const openCases = new Map<string, string>();
  let expectedId = log[0]?.event_id ?? 1;
  for (const entry of log) {
    if (entry.event_id !== expectedId) chain.violations.push(`gap: event ${entry.event_id} follows ${expectedId - 1}`);
    expectedId = entry.event_id + 1;
    if (entry.resource.type === "case") addCaseChange(chain, entry, { versions, openCases, cases });
    if (entry.resource.type === "end_user_account") chain.changes.push(withoutCases(entry, accounts.changeOf(entry)));
  }
  chain.violations.push(...accounts.violations, ...compareEnds(versions, cases));
  return chain;
}

// A new account has no open case.
function withoutCases({ type, resource }: LogEntry, change: Change): Change {
  if (type !== "account.created") return change;
  return { ...change, sets: [...change.sets, { register: registerOf.openCase(resource.id), value: null }] };
}

type Ledger = { versions: Map<string, number>; openCases: Map<string, string>; cases: Map<string, FinalCase> };

function addCaseChange(chain: Chain, entry: LogEntry, { versions, openCases, cases }: Ledger): void {
  const { id, version = 0 } = entry.resource;
  const before = versions.get(id) ?? 0;
  const named = `event ${entry.event_id} (${entry.type}) made version ${version} of case ${id}`;
  if (version <= before) chain.violations.push(`fork: ${named}, which is at version ${before}`);
  if (version > before + 1) chain.violations.push(`gap: ${named}, which was at version ${before}`);
  versions.set(id, Math.max(version, before));
  chain.versions += 1;
  const found = cases.get(id);
  const state = found?.states[version - 1];
  if (!found || !state) {
    chain.violations.push(`lost: ${named}, which the case does not show at the end`);
    return;
  }
  const status = statusAfter[entry.type] ?? "";
  const fault = faultOfState(entry, status, { state, before: found.states[version - 2] });
  if (fault !== null) chain.violations.push(`${fault}: ${named}, but the case shows ${JSON.stringify(state)}`);
  const { account } = found;
  const open = openCases.get(account);
  if (status === "OPEN" && open !== undefined && open !== id)
    chain.violations.push(`two open cases: ${named}, while case ${open} of the same account was open`);
  if (status === "OPEN") openCases.set(account, id);
  else if (open === id) openCases.delete(account);
  if (entry.type === "case.opened") addOpening(chain.openings, account, { case_id: id, position: entry.event_id });
  chain.changes.push({
    position: entry.event_id,
    visibleAt: entry.event_id,
    marker: state.marker,
    made: { case_id: id, version },
    sets: [
      { register: registerOf.case(id), value: version, facts: factsOfCase(status, entry.occurred_at) },
      { register: registerOf.openCase(account), value: openCases.get(account) ?? null },
    ],
  });
}

function faultOfState(
  entry: LogEntry,
  status: string,
  { state, before }: { state: FinalState; before?: FinalState | undefined },
) {
  if (state.at !== entry.occurred_at || state.by !== entry.actor || state.status !== status) return "the log differs";
  if (before && before.at > state.at) return `time runs backwards from ${before.at}`;
  return null;
}

function addOpening(openings: Openings, account: string, opening: { case_id: string; position: number }): void {
  const known = openings.get(account);
  if (known) known.push(opening);
  else openings.set(account, [opening]);
}

function compareEnds(versions: Map<string, number>, cases: Map<string, FinalCase>): string[] {
  return [...cases]
    .filter(([id, { states }]) => versions.get(id) !== states.length)
    .map(
      ([id, { states }]) => `phantom: case ${id} has ${states.length} states, but the log made ${versions.get(id) ?? 0} versions`,
    );
}
