// What the rules and the log-in ratio say, turned into the log-odds that boosting starts from: `a + b * ruleLogOdds`.
export type Prior = { a: number; b: number };

export const rulesAlone: Prior = { a: 0, b: 1 };

type Labelled = { labels: Uint8Array; weights: Float64Array; ruleLogOdds: Float64Array };

// The pull towards `rulesAlone` is as strong as this many frauds.
const pull = 10;
const stepsMax = 50;
const limit = { a: 20, b: 5 };

export function startOf({ a, b }: Prior, ruleLogOdds: number): number {
  return a + b * ruleLogOdds;
}

export function probabilityOf(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

// Logistic regression by Newton's method. The loss counts as much as the rarer class weighs: a million genuine rows beside five
// frauds are five frauds' worth of evidence, so a new tenant stays close to its rules.
export function fitPrior(rows: Labelled): Prior {
  const { labels, weights } = rows;
  const total = [0, 0];
  labels.forEach((label, row) => (total[label] = (total[label] ?? 0) + (weights[row] ?? 0)));
  const [genuine = 0, frauds = 0] = total;
  if (genuine === 0 || frauds === 0) return rulesAlone;
  const scale = (2 * Math.min(genuine, frauds)) / (genuine + frauds);
  let prior = rulesAlone;
  for (let step = 0; step < stepsMax; step++) {
    const next = improved(rows, prior, scale);
    const isDone = Math.abs(next.a - prior.a) + Math.abs(next.b - prior.b) < 1e-9;
    prior = next;
    if (isDone) break;
  }
  return { a: Number(prior.a.toPrecision(9)), b: Number(prior.b.toPrecision(9)) };
}

function improved({ labels, weights, ruleLogOdds }: Labelled, { a, b }: Prior, scale: number): Prior {
  let [gradientA, gradientB, curveA, curveB, curveBoth] = [pull * a, pull * (b - 1), pull, pull, 0];
  for (let row = 0; row < labels.length; row++) {
    const x = ruleLogOdds[row] ?? 0;
    const weight = scale * (weights[row] ?? 0);
    const chance = probabilityOf(a + b * x);
    const error = weight * (chance - (labels[row] ?? 0));
    const curve = weight * chance * (1 - chance);
    gradientA += error;
    gradientB += error * x;
    curveA += curve;
    curveB += curve * x * x;
    curveBoth += curve * x;
  }
  const determinant = curveA * curveB - curveBoth * curveBoth;
  return {
    a: within(a - bounded((curveB * gradientA - curveBoth * gradientB) / determinant), -limit.a, limit.a),
    // The rules never count against themselves.
    b: within(b - bounded((curveA * gradientB - curveBoth * gradientA) / determinant), 0, limit.b),
  };
}

// A longer Newton step can overshoot and never return.
function bounded(step: number): number {
  return within(step, -1, 1);
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
