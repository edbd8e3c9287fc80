// Every measure counts a row by its weight, for example the number of rows that a sampled one stands for.
export type Scored = { score: number; isFraud: boolean; weight: number };

// Rows with equal scores, the highest score first.
type Tie = { score: number; frauds: number; genuine: number };

function tiesOf(rows: readonly Scored[]): Tie[] {
  const ties: Tie[] = [];
  for (const { score, isFraud, weight } of rows.toSorted((one, other) => other.score - one.score)) {
    let tie = ties.at(-1);
    if (tie?.score !== score) ties.push((tie = { score, frauds: 0, genuine: 0 }));
    if (isFraud) tie.frauds += weight;
    else tie.genuine += weight;
  }
  return ties;
}

function sumOf(ties: readonly Tie[], of: "frauds" | "genuine"): number {
  return ties.reduce((sum, tie) => sum + tie[of], 0);
}

// The chance that a fraud scores higher than a genuine row. Null if one of the classes is empty.
export function rocAuc(rows: readonly Scored[]): number | null {
  const ties = tiesOf(rows);
  const [frauds, genuine] = [sumOf(ties, "frauds"), sumOf(ties, "genuine")];
  if (frauds === 0 || genuine === 0) return null;
  let below = genuine;
  let wins = 0;
  for (const tie of ties) {
    below -= tie.genuine;
    wins += tie.frauds * (below + tie.genuine / 2);
  }
  return wins / frauds / genuine;
}

// The mean precision over the frauds, each at its own score. Null if there is no fraud.
export function averagePrecision(rows: readonly Scored[]): number | null {
  const ties = tiesOf(rows);
  const frauds = sumOf(ties, "frauds");
  if (frauds === 0) return null;
  let [found, alerts, sum] = [0, 0, 0];
  for (const tie of ties) {
    found += tie.frauds;
    alerts += tie.frauds + tie.genuine;
    sum += (tie.frauds * found) / alerts;
  }
  return sum / frauds;
}

// The expected difference between the predicted chance, which is the score here, and the true share of fraud. Bins have equal
// weight. Rows with equal scores stay together.
export function calibrationError(rows: readonly Scored[], binCount = 10): number | null {
  const ties = tiesOf(rows);
  const total = sumOf(ties, "frauds") + sumOf(ties, "genuine");
  if (total === 0) return null;
  let [error, seen, predicted, actual] = [0, 0, 0, 0];
  let binEnd = total / binCount;
  for (const { score, frauds, genuine } of ties) {
    seen += frauds + genuine;
    predicted += score * (frauds + genuine);
    actual += frauds;
    if (seen < binEnd) continue;
    error += Math.abs(predicted - actual);
    [predicted, actual] = [0, 0];
    binEnd = ((Math.floor((seen / total) * binCount) + 1) * total) / binCount;
  }
  return (error + Math.abs(predicted - actual)) / total;
}

export type BudgetPoint = { alertsPerDay: number; threshold: number; precision: number; recall: number };

// What each budget of alerts a day finds if everything from a threshold on is an alert. The threshold is the lowest score that
// stays within the budget.
export function precisionAtBudgets(rows: readonly Scored[], days: number, budgets: readonly number[]): BudgetPoint[] {
  const ties = tiesOf(rows);
  const frauds = sumOf(ties, "frauds");
  return budgets.map((budget) => {
    let [found, alerts, threshold] = [0, 0, Infinity];
    for (const tie of ties) {
      if (alerts + tie.frauds + tie.genuine > budget * days) break;
      found += tie.frauds;
      alerts += tie.frauds + tie.genuine;
      threshold = tie.score;
    }
    const precision = alerts === 0 ? 0 : found / alerts;
    return { alertsPerDay: alerts / days, threshold, precision, recall: frauds === 0 ? 0 : found / frauds };
  });
}

export type Weighted = { value: number; weight: number };

// A share of 0 would make the index infinite.
const shareMin = 1e-4;

// The population stability index: how far the values of a field have moved. Below 0.1 is usual, above 0.25 is a different
// population. Bins have equal weight before; missing values (NaN) are one more bin.
export function stabilityIndex(before: readonly Weighted[], now: readonly Weighted[], binCount = 10): number | null {
  const limits = quantilesOf(before, binCount);
  const [sharesBefore, sharesNow] = [sharesOf(before, limits), sharesOf(now, limits)];
  if (!sharesBefore || !sharesNow) return null;
  return sharesBefore.reduce((sum, share, bin) => {
    const [one, other] = [Math.max(share, shareMin), Math.max(sharesNow[bin] ?? 0, shareMin)];
    return sum + (other - one) * Math.log(other / one);
  }, 0);
}

function quantilesOf(rows: readonly Weighted[], binCount: number): number[] {
  const sorted = rows.filter(({ value }) => !Number.isNaN(value)).toSorted((one, other) => one.value - other.value);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const limits: number[] = [];
  let seen = 0;
  for (const { value, weight } of sorted) {
    seen += weight;
    if (seen >= ((limits.length + 1) * total) / binCount && limits.at(-1) !== value) limits.push(value);
  }
  return limits;
}

// Null if there are no rows.
function sharesOf(rows: readonly Weighted[], limits: number[]): number[] | null {
  const shares = Array.from({ length: limits.length + 2 }, () => 0);
  let total = 0;
  for (const { value, weight } of rows) {
    const found = limits.findIndex((limit) => value <= limit);
    const bin = Number.isNaN(value) ? limits.length + 1 : found < 0 ? limits.length : found;
    shares[bin] = (shares[bin] ?? 0) + weight;
    total += weight;
  }
  return total === 0 ? null : shares.map((share) => share / total);
}
