import { readChain } from "./chain.ts";
import { checkDeeds, type DeedCounts } from "./deeds.ts";
import type { Call, Change, History } from "./history.ts";
import { findDisorder } from "./order.ts";
import { Registers } from "./registers.ts";

export type Verdict = DeedCounts & { violations: string[]; versions: number; contentsCompared: number };

// Checks whether the log, one entry after another, explains everything that the clients saw.
export function check(history: History): Verdict {
  const chain = readChain(history);
  const deeds = checkDeeds(history.calls, chain);
  const reads = history.calls.filter(({ deed, end }) => deed === undefined && end < Infinity);
  const disorder = findDisorder([...deeds.operations, ...reads], new Registers(chain.changes), chain.openings);
  const contents = compareContents(history.calls, chain.changes);
  return {
    violations: [...chain.violations, ...deeds.violations, ...disorder, ...contents.violations],
    versions: chain.versions,
    ...deeds.counts,
    contentsCompared: contents.compared,
  };
}

// A version must look the same to everybody, and as the log says.
function compareContents(calls: Call[], changes: Change[]): { violations: string[]; compared: number } {
  const violations: string[] = [];
  const facts = new Map<string, string>();
  const hashes = new Map<string, string>();
  let compared = 0;
  for (const { register, value, facts: logged } of changes.flatMap(({ sets }) => sets)) {
    if (logged !== undefined) facts.set(`${register}#${String(value)}`, logged);
  }
  for (const { what, sights } of calls) {
    for (const sight of sights) {
      const name = `${sight.register}#${String(sight.value)}`;
      const wanted = facts.get(name);
      if (sight.facts !== undefined && wanted !== undefined && sight.facts !== wanted)
        violations.push(`content: ${what} saw ${name} as "${sight.facts}", but the log says "${wanted}"`);
      if (sight.hash === undefined) continue;
      compared += 1;
      if ((hashes.get(name) ?? sight.hash) !== sight.hash)
        violations.push(`content: ${what} saw ${name} differently from earlier readers`);
      hashes.set(name, sight.hash);
    }
  }
  return { violations, compared };
}
