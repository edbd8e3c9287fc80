import { mallory, worlds, type CaseItem, type Ground, type World } from "./ground.ts";

type Row = { attack: string; world: World; what: string };
type Worst = { seen: number; most: number | null };

// What attackers achieved, by attack and world. The worst result of all tries counts.
export class Ledger {
  readonly violations: string[] = [];
  readonly #worst = new Map<string, Map<World, Worst>>();

  // Records a figure that has a goal. A figure above its goal is a violation.
  goal(row: Row, seen: number, most: number, detail = ""): void {
    this.#keep(row, { seen, most });
    if (seen <= most) return;
    const more = detail === "" ? "" : ` (${detail})`;
    this.violations.push(`${row.attack}, ${row.world}: ${row.what} ${shownOf(seen)}, the goal is ${goalOf(most)}${more}`);
  }

  // Records a figure without a goal.
  note(row: Row, seen: number): void {
    this.#keep(row, { seen, most: null });
  }

  fail(violation: string): void {
    this.violations.push(violation);
  }

  #keep({ attack, world, what }: Row, worst: Worst): void {
    const name = `${attack}: ${what}`;
    const byWorld = this.#worst.get(name) ?? new Map<World, Worst>();
    this.#worst.set(name, byWorld);
    if (worst.seen >= (byWorld.get(world)?.seen ?? -Infinity)) byWorld.set(world, worst);
  }

  // A row for each attack and figure, with all worlds in it.
  get figures(): Record<string, string> {
    const rows = [...this.#worst].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(rows.map(([name, byWorld]) => [name, rowOf(byWorld)]));
  }
}

function rowOf(byWorld: Map<World, Worst>): string {
  const inOrder = worlds.flatMap((world) => {
    const worst = byWorld.get(world);
    return worst ? [{ world, ...worst }] : [];
  });
  const cells = [...Map.groupBy(inOrder, ({ most }) => most)].map(([most, group]) => {
    const seen = group.map((each) => `${each.world} ${shownOf(each.seen)}`).join(", ");
    return most === null ? seen : `${seen} (goal: ${goalOf(most)})`;
  });
  return cells.join("; ");
}

function goalOf(most: number): string {
  return most === 0 ? "0" : `at most ${shownOf(most)}`;
}

function shownOf(value: number): string {
  return (Math.round(value * 1000) / 1000).toLocaleString("en");
}

// A snapshot of everything that forgery must not change.
export type Look = { cases: CaseItem[]; accounts: Map<string, string>; links: number };

export async function lookAt(ground: Ground): Promise<Look> {
  const [cases, accounts, { links }] = await Promise.all([ground.cases(), ground.accounts(), ground.rows()]);
  return { cases, accounts, links };
}

export type Damage = { accused: CaseItem[]; sources: CaseItem[]; created: string[]; changed: string[]; links: number };

// The difference between two snapshots, without the attacker's own account.
export function damageOf(before: Look, after: Look): Damage {
  const versions = new Map(before.cases.map((each) => [each.case_id, each.case_version]));
  const touched = after.cases.filter((each) => versions.get(each.case_id) !== each.case_version);
  const others = [...after.accounts].filter(([id]) => id !== mallory);
  return {
    accused: touched.filter(({ website_account_id: id }) => id !== "UNKNOWN" && id !== mallory),
    sources: touched.filter(({ website_account_id: id }) => id === "UNKNOWN"),
    created: others.filter(([id]) => !before.accounts.has(id)).map(([id]) => id),
    changed: others.filter(([id, json]) => before.accounts.has(id) && before.accounts.get(id) !== json).map(([id]) => id),
    links: after.links - before.links,
  };
}

// The goals of every attack, in every world in which somebody vouches for accounts.
export function judgeDamage(ledger: Ledger, row: Omit<Row, "what">, damage: Damage): void {
  const { accused, created, changed, links } = damage;
  const worst = accused.toSorted((a, b) => b.overall_risk_score - a.overall_risk_score)[0];
  const shown = worst ? `${worst.website_account_id}: score ${worst.overall_risk_score}, ${worst.recommended_action}` : "";
  ledger.goal({ ...row, what: "cases on accounts" }, accused.length, 0, shown);
  ledger.goal({ ...row, what: "accounts created" }, created.length, 0, created[0]);
  ledger.goal({ ...row, what: "accounts changed or linked" }, changed.length + Math.max(links, 0), 0, changed[0]);
}

// The goals for a case about a source that was opened by forged events alone.
export function judgeSources(ledger: Ledger, row: Omit<Row, "what">, { sources }: Damage): void {
  const loud = sources.filter((each) => each.recommended_action !== "MONITOR");
  ledger.note({ ...row, what: "cases about sources" }, sources.length);
  ledger.goal({ ...row, what: "cases about sources above MONITOR" }, loud.length, 0, loud[0]?.recommended_action);
}

// Claims alone open a case on an account only for a tenant that uses only the snippet, and such a case is limited to this score
// and action.
export function judgeClaims(ledger: Ledger, row: Omit<Row, "what">, { accused }: Damage): void {
  const loud = accused.filter((each) => each.overall_risk_score > 3 || each.recommended_action !== "MONITOR");
  const [first] = loud;
  const shown = first ? `score ${first.overall_risk_score}, ${first.recommended_action}` : "";
  ledger.note({ ...row, what: "cases on accounts" }, accused.length);
  ledger.goal({ ...row, what: "cases of claims above score 3 or MONITOR" }, loud.length, 0, shown);
}
