export type GivenLabel = { account: string | null; person: string | null; weight: number };

const shareOfAccount = 0.01;
const shareOfPerson = 0.25;

// The weights of the frauds after the limits. The labels of one account weigh at most 1 % of what all weigh then, or twice an equal
// share if there are fewer than 200 accounts. Those that one person gave weigh at most a quarter of what all weighed before, or an
// equal share if only a few people give labels. One label always counts.
export function cappedWeights(labels: readonly GivenLabel[]): number[] {
  const weights = labels.map(({ weight }) => weight);
  const accounts = labels.map(({ account }) => account);
  limit(accounts, weights, Math.max(1, mostOf(accounts, weights)));
  const people = new Set(labels.map(({ person }) => person));
  limit(
    labels.map(({ person }) => person),
    weights,
    Math.max(1, Math.max(shareOfPerson, 1 / people.size) * sumOf(weights)),
  );
  return weights;
}

// The most that one account may weigh. It is a share of what is left after the limit: of all labels, an account with ten thousand
// of them would still be most of what a model learns.
function mostOf(accounts: readonly (string | null)[], weights: readonly number[]): number {
  const totals = [...totalsOf(accounts, weights).values()].toSorted((one, other) => other - one);
  const share = Math.max(shareOfAccount, 2 / Math.max(totals.length, 1));
  let rest = sumOf(weights);
  for (const [limited, total] of totals.entries()) {
    // So many accounts are limited. If each weighs `most`, that is its share of the sum.
    const most = limited * share < 1 ? (share * rest) / (1 - limited * share) : Infinity;
    if (total <= most) return most;
    rest -= total;
  }
  return Infinity;
}

const shareOfHonestAccount = 0.001;
const honestMin = 200;

// The weights of honest activities after the limit. Those of one account together have at most the weight of 200 activities, or
// of a thousandth of all, so that nobody can make a pattern look honest by repeating it. Each of them loses the same share. If
// the later ones were left out instead, an account would have nothing but frauds on its last days, and a model would learn the
// age of the account. The sum stays the same, so that the share of fraud remains true.
export function cappedHonest(accounts: readonly (string | null)[], given: readonly number[]): number[] {
  const before = sumOf(given);
  const weights = [...given];
  limit(accounts, weights, Math.max(honestMin, shareOfHonestAccount * before));
  const after = sumOf(weights);
  return after === before ? weights : weights.map((weight) => (weight * before) / after);
}

function limit(owners: readonly (string | null)[], weights: number[], most: number): void {
  const totals = totalsOf(owners, weights);
  owners.forEach((owner, index) => {
    const total = owner === null ? 0 : (totals.get(owner) ?? 0);
    if (total > most) weights[index] = ((weights[index] ?? 0) * most) / total;
  });
}

function totalsOf(owners: readonly (string | null)[], weights: readonly number[]): Map<string, number> {
  const totals = new Map<string, number>();
  owners.forEach((owner, index) => {
    if (owner !== null) totals.set(owner, (totals.get(owner) ?? 0) + (weights[index] ?? 0));
  });
  return totals;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
