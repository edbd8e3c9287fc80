// Cases as e-mails and chat messages show them. One attack is one line, however many cases it opened.

// `attack`: the case of the attack that this case belongs to, with the number of accounts that it lists.
export type ToldCase = {
  case_id: string;
  score: number;
  label: string;
  account: string;
  attack: { case_id: string; accounts: number } | null;
};

// `cases`: how many of the cases in the message belong to it. `isNew`: the case of the attack is one of them.
export type ToldAttack = { case_id: string; accounts: number; cases: number; isNew: boolean; score: number; label: string };

// In the order of the cases.
export function groupByAttack(cases: readonly ToldCase[]): { attacks: ToldAttack[]; others: ToldCase[] } {
  const attacks = new Map<string, ToldAttack>();
  const others: ToldCase[] = [];
  for (const { attack, case_id, score, label, account } of cases) {
    if (attack === null) {
      others.push({ attack, case_id, score, label, account });
      continue;
    }
    const known = attacks.get(attack.case_id) ?? { ...attack, score, label, cases: 0, isNew: false };
    const isAttack = case_id === attack.case_id;
    const named = isAttack ? { ...known, score, label, isNew: true } : known;
    attacks.set(attack.case_id, { ...named, cases: known.cases + 1 });
  }
  return { attacks: [...attacks.values()], others };
}

const figure = new Intl.NumberFormat("en");

export function counted(count: number, one: string, many: string): string {
  return `${figure.format(count)} ${count === 1 ? one : many}`;
}

export function attackWords({ accounts, cases, isNew }: ToldAttack): string {
  const size = accounts > 0 ? counted(accounts, "account", "accounts") : counted(cases, "case", "cases");
  return isNew ? `1 attack, ${size}` : `Ongoing attack, ${size} so far`;
}

// Such as "3 with score 5, 2 with score 4".
export function scoreWords(cases: readonly Pick<ToldCase, "score">[]): string {
  const counts = new Map<number, number>();
  for (const { score } of cases) counts.set(score, (counts.get(score) ?? 0) + 1);
  return [...counts]
    .toSorted(([a], [b]) => b - a)
    .map(([score, count]) => `${figure.format(count)} with score ${score}`)
    .join(", ");
}

// Such as "Account Takeover 3, Bot 2".
export function labelWords(cases: readonly Pick<ToldCase, "label">[]): string {
  const counts = new Map<string, number>();
  for (const { label } of cases) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([label, count]) => `${label} ${figure.format(count)}`)
    .join(", ");
}
