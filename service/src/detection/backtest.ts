import { backtestAccountsMax, backtestExamplesMax, type ExampleKey, type StoredResult } from "../domain/backtest.ts";
import { precisionOf, type Outcomes } from "../domain/rule.ts";

export type Hit = {
  key: ExampleKey;
  day: string;
  occurred_at: string;
  score: number;
  decision: string;
  subject: string;
  website_account_id: string | null;
};

// Sums up what a draft would have done. Hits must be added newest first.
export class Tally {
  readonly #days = new Map<string, { hits: number; decisions: number }>();
  readonly #accounts = new Set<string>();
  readonly #overlap = new Map<string, number>();
  readonly #examples: ExampleKey[] = [];
  // The earliest hit of each subject.
  readonly subjects = new Map<string, string>();
  #hits = 0;
  #caught = 0;

  constructor(days: string[]) {
    for (const day of days) this.#days.set(day, { hits: 0, decisions: 0 });
  }

  addDecisions(day: string, count: number): void {
    this.#day(day).decisions += count;
  }

  addHit({ key, day, occurred_at, score, decision, subject, website_account_id: account }: Hit): void {
    this.#hits++;
    this.#day(day).hits++;
    if (score >= 3) this.#caught++;
    for (const rule of rulesOf(decision)) this.#overlap.set(rule, (this.#overlap.get(rule) ?? 0) + 1);
    if (account !== null && this.#accounts.size < backtestAccountsMax) this.#accounts.add(account);
    const first = this.subjects.get(subject);
    if (first === undefined && this.#examples.length < backtestExamplesMax) this.#examples.push(key);
    const isRemembered = first !== undefined || this.subjects.size < backtestAccountsMax;
    if (isRemembered && (first === undefined || occurred_at < first)) this.subjects.set(subject, occurred_at);
  }

  result(outcomes: Outcomes): StoredResult {
    const days = [...this.#days].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      decisions: days.reduce((sum, [, { decisions }]) => sum + decisions, 0),
      hits: this.#hits,
      hits_per_day: days.map(([day, counts]) => ({ day, ...counts })),
      accounts: this.#accounts.size,
      overlap: [...this.#overlap]
        .map(([rule_id, hits]) => ({ rule_id, hits }))
        .toSorted((a, b) => b.hits - a.hits || (a.rule_id < b.rule_id ? -1 : 1)),
      caught_already: this.#hits === 0 ? null : this.#caught / this.#hits,
      precision: precisionOf(outcomes),
      examples: this.#examples,
    };
  }

  #day(day: string): { hits: number; decisions: number } {
    const known = this.#days.get(day) ?? { hits: 0, decisions: 0 };
    this.#days.set(day, known);
    return known;
  }
}

// Returns the rules that were on and fired.
function rulesOf(decision: string): string[] {
  // Only the engine writes decisions, so the shape is known.
  return Object.keys((JSON.parse(decision) as { r?: Record<string, number> }).r ?? {});
}
