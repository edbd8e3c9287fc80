export type GivenLabel = { account: string | null; person: string | null; weight: number };

const shareOfAccount = 0.01;
const shareOfPerson = 0.25;

// Returns the weights of the frauds after two limits. The labels of one account have at most 1 % of the total weight after the
// limit, or twice an equal share if there are fewer than 200 accounts. The labels that one person gave have at most a quarter of
// the total weight before the limit, or an equal share if fewer than four people give labels. Neither limit is below 1, the
// weight of one label.
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

// Returns the largest weight that one account may have. It is a share of the total after the limit: 1 % of the total before the
// limit would let an account with ten thousand labels outweigh all others.
function mostOf(accounts: readonly (string | null)[], weights: readonly number[]): number {
  const totals = [...totalsOf(accounts, weights).values()].toSorted((one, other) => other - one);
  const share = Math.max(shareOfAccount, 2 / Math.max(totals.length, 1));
  let rest = sumOf(weights);
  for (const [limited, total] of totals.entries()) {
    // If the `limited` largest accounts each have the weight `most`, each has exactly `share` of the total.
    const most = limited * share < 1 ? (share * rest) / (1 - limited * share) : Infinity;
    if (total <= most) return most;
    rest -= total;
  }
  return Infinity;
}

const shareOfHonestAccount = 0.001;
const honestMin = 200;

// Returns the weights of honest activities after the limit. Those of one account together have at most the weight of 200
// activities, or of a thousandth of all, so that nobody can make a pattern look honest by repeating it. Each of them loses the
// same share. If the later ones were left out instead, a busy account would have only frauds on its last days, and a model would
// learn the age of the account. The total weight does not change, so that the share of fraud stays correct.
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
