import { array, constant, constantFrom, double, integer, oneof, record, type Arbitrary } from "fast-check";
import { TrainingSample, type Row } from "../src/detection/model/sample.ts";
import { train, trainingLimits, type Progress, type Trained, type TrainingLimits } from "../src/detection/model/train.ts";
import type { Model, Tree } from "../src/detection/model/trees.ts";

export const rowFields = ["a0", "b1", "c2", "d3"];

// Not for secrets. The same seed gives the same numbers.
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

// Fraud depends on the first two fields together and on whether the third is missing. The fourth says nothing.
export function labelledRows(count: number, seed = 1): Row[] {
  const next = numbersFrom(seed);
  return Array.from({ length: count }, (_, index) => {
    const [amount, visits, age] = [Math.round(next() * 1000) / 10, Math.floor(next() * 8), next() < 0.2 ? NaN : next() * 30];
    const logOdds = (amount > 70 && visits < 3 ? 3 : -2.5) + (Number.isNaN(age) ? 1.5 : 0);
    const values = [amount, visits, age, next()];
    return { key: `row ${index}`, isFraud: next() < 1 / (1 + Math.exp(-logOdds)), weight: 1, ruleLogOdds: 0, values };
  });
}

export function sampleOf(
  rows: readonly Row[],
  options: { fields?: readonly string[]; rowsMax?: number; seed?: number } = {},
): TrainingSample {
  const sample = new TrainingSample({ fields: rowFields, ...options });
  for (const row of rows) sample.add(row);
  return sample;
}

export function trainOn(
  sample: TrainingSample,
  limits: Partial<TrainingLimits> = {},
): { trained: Trained; progress: Progress[] } {
  const training = train(sample, { ...trainingLimits, ...limits });
  const progress: Progress[] = [];
  for (;;) {
    const step = training.next();
    if (step.done) return { trained: step.value, progress };
    progress.push(step.value);
  }
}

export function modelOf(sample: TrainingSample, limits: Partial<TrainingLimits> = {}): Model {
  const { trained } = trainOn(sample, limits);
  if ("reason" in trained) throw new Error(trained.reason);
  return trained.model;
}

const leaf = record({ value: double({ min: -3, max: 3, noNaN: true }), cover: integer({ min: 1, max: 1000 }) }).map(
  ({ value, cover }): Tree => ({ value: value === 0 ? 0 : value, cover }),
);

// Values of -3 to 3 meet its thresholds.
export function someTree(depthMax: number): Arbitrary<Tree> {
  if (depthMax === 0) return leaf;
  const below = someTree(depthMax - 1);
  const split: Arbitrary<Tree> = record({
    field: constantFrom(...rowFields),
    threshold: integer({ min: -3, max: 3 }),
    missing: constantFrom("left" as const, "right" as const),
    left: below,
    right: below,
  });
  return oneof({ arbitrary: leaf, weight: 1 }, { arbitrary: split, weight: 4 });
}

// In the order of `rowFields`; NaN is missing.
export const someVector: Arbitrary<number[]> = array(oneof(integer({ min: -4, max: 4 }), constant(NaN)), {
  minLength: rowFields.length,
  maxLength: rowFields.length,
});
