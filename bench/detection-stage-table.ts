import { familyKinds } from "@casehound/simulator/delivery";
import type { FamilyRun } from "./detection-families.ts";
import type { SceneResult } from "./detection-scenes.ts";
import { median } from "./detection-summary.ts";
import { percent, table, whole, type Row, type Setting } from "./detection-table.ts";

// As Markdown.
export function scenesText(results: SceneResult[], { seeds, users, days, historyDays }: Setting): string {
  const rows = [...Map.groupBy(results, ({ scene }) => scene)].map(([scene, runs]): Row => {
    const sum = (pick: (run: SceneResult) => number): number => runs.reduce((total, run) => total + pick(run), 0);
    const daily = (count: number): string => (count / sum((run) => run.days)).toFixed(1);
    const [reason] = Object.entries(runs[0]?.reasons ?? {}).map(([name, count]) => `${name} (${count})`);
    return [
      scene,
      runs[0]?.members ?? 0,
      whole(sum(({ events }) => events)),
      daily(sum(({ before }) => before.onAccounts + before.onSources)),
      daily(sum(({ before }) => before.onSources)),
      daily(sum(({ after }) => after.onAccounts + after.onSources)),
      daily(sum(({ after }) => after.onSources)),
      reason ?? "",
    ];
  });
  const head = [
    "simulated scene",
    "members",
    "events",
    "before",
    "of sources",
    "after",
    "of sources",
    "most frequent reason before",
  ];
  return (
    `Honest but unusual scenes, simulated. Seeds: ${seeds.join(", ")}. An ordinary shop has ${users} members. Measured: ${days} days ` +
    `after ${historyDays} days of history. There are no attackers, so every case is false.\n` +
    "False cases a day: in the first half, and in the second half, after one person has closed every open case once as a false " +
    `positive. The columns _of sources_ count cases about a device, session or address.\n\n${table(head, rows)}`
  );
}

type FamilySummary = {
  kind: string;
  attacks: number;
  withCase: number;
  // Medians over the attacks with a case.
  minutesToCase: number | null;
  casesPerAttack: number | null;
  accounts: number;
  accountsInCase: number;
  accountsWithOwnCase: number;
};

export function summariseFamilies(runs: FamilyRun[]): FamilySummary[] {
  const attacks = runs.flatMap((run) => run.attacks);
  return familyKinds.map((kind) => {
    const own = attacks.filter((attack) => attack.kind === kind);
    const caught = own.filter(({ cases }) => cases.size > 0);
    const sum = (pick: (attack: (typeof own)[number]) => number): number => own.reduce((total, each) => total + pick(each), 0);
    return {
      kind,
      attacks: own.length,
      withCase: caught.length,
      minutesToCase: median(caught.flatMap(({ msToCase }) => (msToCase === null ? [] : [msToCase / 60_000]))),
      casesPerAttack: median(caught.map(({ cases }) => cases.size)),
      accounts: sum((each) => each.accounts.size),
      accountsInCase: sum((each) => each.inCase.intersection(each.accounts).size),
      accountsWithOwnCase: sum((each) => each.ownCase.intersection(each.accounts).size),
    };
  });
}

const share = (count: number, of: number): string => percent(of === 0 ? null : count / of);

export function familiesText(runs: FamilyRun[]): string {
  const rows = summariseFamilies(runs).map((each): Row => [
    each.kind,
    each.attacks,
    share(each.withCase, each.attacks),
    each.minutesToCase?.toFixed(1) ?? "",
    each.casesPerAttack ?? "",
    each.accounts,
    share(each.accountsInCase, each.accounts),
    share(each.accountsWithOwnCase, each.accounts),
  ]);
  const head = ["simulated attack", "attacks", "case", "minutes", "cases", "accounts", "in a case", "own case"];
  const days = runs.reduce((total, run) => total + run.days, 0);
  const falseCases = runs.reduce((total, run) => total + run.falseCases, 0);
  return (
    "Families of fraud, simulated. _case_: the share of attacks with a case. _minutes_ and _cases_: the median time to the first " +
    "case, and the median number of cases of one attack. _accounts_: accounts that the attacks used. _in a case_: the share with an " +
    "activity of the attack in any case. _own case_: the share with a case about the account.\n" +
    `False cases a day in these shops: ${(falseCases / days).toFixed(1)}.\n\n${table(head, rows)}`
  );
}
