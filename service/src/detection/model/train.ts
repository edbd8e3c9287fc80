import { binRows } from "./bins.ts";
import { Grower, type Boosting, type TreeLimits } from "./grow.ts";
import { fitPrior, probabilityOf, startOf } from "./prior.ts";
import type { TrainingRows, TrainingSample } from "./sample.ts";
import type { Model, Tree } from "./trees.ts";

export type Progress = { trees: number; treesMax: number; loss: number };
export type Trained = { model: Model } | { reason: string };
export type TrainingLimits = TreeLimits & { treesMax: number };

export const trainingLimits: TrainingLimits = {
  treesMax: 200,
  leavesMax: 15,
  depthMax: 6,
  rate: 0.06,
  l2: 1,
  childWeightMin: 1,
};

const childWeightMax = 30;

// With many frauds, a leaf needs a thousandth of their weight, so that a few wrong labels do not make a leaf of their own.
export function limitsFor(frauds: number): TrainingLimits {
  const childWeightMin = Math.min(Math.max(frauds / 1000, trainingLimits.childWeightMin), childWeightMax);
  return { ...trainingLimits, childWeightMin };
}

// Gradient boosting of the log-loss. Stops after each tree, so the caller can report the progress, do other work, or end it. The
// same rows give the same model to the last bit, whatever their order was.
export function* train(sample: TrainingSample, limits = trainingLimits): Generator<Progress, Trained> {
  const rows = sample.rows();
  const frauds = rows.labels.reduce((sum, label) => sum + label, 0);
  if (rows.count === 0) return { reason: "There are no labels." };
  if (frauds === 0) return { reason: "No label says fraud." };
  if (frauds === rows.count) return { reason: "All labels say fraud." };
  const binned = binRows(rows);
  if (binned.fields.length === 0) return { reason: "Every field has the same value in all rows." };
  const prior = fitPrior(rows);
  const boosting = boostingOf(rows, (ruleLogOdds) => startOf(prior, ruleLogOdds));
  const grower = new Grower(binned, rows.count, limits);
  const trees: Tree[] = [];
  while (trees.length < limits.treesMax) {
    const loss = setGradients(rows, boosting);
    yield { trees: trees.length, treesMax: limits.treesMax, loss };
    const tree = grower.grow(boosting);
    if (!tree) break;
    trees.push(tree);
  }
  if (trees.length === 0) return { reason: "No field separates frauds from honest activity better than the rules do." };
  return { model: { prior, trees, trained: { rows: sample.seen, frauds: sample.frauds, seed: sample.seed } } };
}

// Beyond this the logarithm of the odds is certainty, and its curve vanishes.
const startMax = 15;

function boostingOf({ count, ruleLogOdds, weights }: TrainingRows, start: (ruleLogOdds: number) => number): Boosting {
  return {
    gradients: new Float64Array(count),
    hessians: new Float64Array(count),
    weights,
    scores: ruleLogOdds.map((value) => Math.min(Math.max(start(value), -startMax), startMax)),
  };
}

// Returns the mean loss.
function setGradients({ labels }: TrainingRows, { gradients, hessians, weights, scores }: Boosting): number {
  let loss = 0;
  let total = 0;
  for (let row = 0; row < labels.length; row++) {
    const [label, weight] = [labels[row] ?? 0, weights[row] ?? 0];
    const chance = probabilityOf(scores[row] ?? 0);
    gradients[row] = weight * (chance - label);
    hessians[row] = weight * Math.max(chance * (1 - chance), 1e-9);
    loss -= weight * Math.log(Math.max(label === 1 ? chance : 1 - chance, 1e-300));
    total += weight;
  }
  return loss / total;
}
