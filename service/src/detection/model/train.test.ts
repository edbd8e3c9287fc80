import { assert, integer, nat, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { labelledRows, modelOf, numbersFrom, rowFields, sampleOf, trainOn } from "../../../test/labelled-rows.ts";
import { encodeModel } from "./format.ts";
import { rocAuc } from "./metrics.ts";
import { forestOf, sumOfTrees, vectorOf } from "./predict.ts";
import { probabilityOf } from "./prior.ts";
import type { Row } from "./sample.ts";
import { limitsFor, train, trainingLimits } from "./train.ts";
import { isSplit, type Model, type Tree } from "./trees.ts";

function shuffled<T>(given: readonly T[], seed: number): T[] {
  const next = numbersFrom(seed);
  return given
    .map((each) => ({ each, at: next() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ each }) => each);
}

function logOddsOf({ prior, trees }: Model): (values: ArrayLike<number>) => number {
  const forest = forestOf(trees);
  return (values) =>
    prior.a +
    sumOfTrees(
      forest,
      vectorOf(forest, (code) => values[rowFields.indexOf(code)]),
    );
}

function leavesOf(tree: Tree): number {
  return isSplit(tree) ? leavesOf(tree.left) + leavesOf(tree.right) : 1;
}

function depthOf(tree: Tree): number {
  return isSplit(tree) ? 1 + Math.max(depthOf(tree.left), depthOf(tree.right)) : 0;
}

test("train: the order of rows and fields does not change a byte of the model, even if rows are dropped", () => {
  const rows = labelledRows(500);
  const limits = { treesMax: 5 };
  assert(
    property(nat(), integer({ min: 100, max: 600 }), (seed, rowsMax) => {
      const expected = encodeModel(modelOf(sampleOf(rows, { rowsMax }), limits));
      const fields = shuffled(rowFields, seed);
      const moved = shuffled(rows, seed).map((row) => ({
        ...row,
        values: fields.map((code) => row.values[rowFields.indexOf(code)] ?? NaN),
      }));
      expect(encodeModel(modelOf(sampleOf(moved, { fields, rowsMax }), limits))).toEqual(expected);
    }),
    { numRuns: 10 },
  );
});

test("train: another seed keeps other rows", () => {
  const rows = labelledRows(500);
  const idOf = (seed: number): string => encodeModel(modelOf(sampleOf(rows, { rowsMax: 100, seed }), { treesMax: 3 })).id;
  expect(idOf(1)).not.toBe(idOf(2));
});

test("train: the loss falls with every tree", () => {
  const { progress } = trainOn(sampleOf(labelledRows(1000)), { treesMax: 60 });
  const losses = progress.map(({ loss }) => loss);
  expect(losses).toHaveLength(60);
  losses.slice(1).forEach((loss, index) => expect(loss).toBeLessThan(losses[index] ?? 0));
});

test("train: the model also works on rows that it was not trained on", () => {
  const logOdds = logOddsOf(modelOf(sampleOf(labelledRows(3000)), { treesMax: 50 }));
  const unseen = labelledRows(3000, 2).map(({ values, ...row }) => ({ ...row, score: logOdds(values) }));
  // Knowing the true chances gives 0.82.
  expect(rocAuc(unseen)).toBeGreaterThan(0.8);
});

test("train: trees stay within their limits", () => {
  const { trees } = modelOf(sampleOf(labelledRows(1000)), { treesMax: 10, leavesMax: 9, depthMax: 4 });
  expect(trees).toHaveLength(10);
  expect(Math.max(...trees.map(leavesOf))).toBe(9);
  expect(Math.max(...trees.map(depthOf))).toBeLessThanOrEqual(4);
});

// So that each value has its own bin: quantiles count rows and not weights.
function rounded({ values, ...row }: Row): Row {
  return { ...row, values: Array.from(values, (value) => Math.round(value)) };
}

test("train: a row of weight 3 counts as three rows", () => {
  const rows = labelledRows(600);
  const heavy = rows.map((row, index) => ({ ...row, weight: index % 2 === 0 ? 3 : 1 }));
  const tripled = rows.flatMap((row, index) =>
    Array.from({ length: index % 2 === 0 ? 3 : 1 }, (_, copy): Row => ({ ...row, key: `${row.key} ${copy}` })),
  );
  const [one, other] = [heavy, tripled].map((each) => logOddsOf(modelOf(sampleOf(each.map(rounded)), { treesMax: 40 })));
  for (const row of rows.slice(0, 100)) expect(one?.(row.values)).toBeCloseTo(other?.(row.values) ?? NaN, 6);
});

function rowsByMissing(isFraudIfMissing: boolean): Row[] {
  return labelledRows(1000).map((row, index) => {
    const isMissing = index % 4 === 0;
    return { ...row, isFraud: isMissing === isFraudIfMissing, values: [isMissing ? NaN : index % 50, 0, 0, 0] };
  });
}

describe("train: missing values", () => {
  test.each([true, false])("go to the side of the rows that they resemble: fraud %s", (isFraudIfMissing) => {
    const logOdds = logOddsOf(modelOf(sampleOf(rowsByMissing(isFraudIfMissing)), { treesMax: 20 }));
    expect(logOdds([NaN, 0, 0, 0]) > 0).toBe(isFraudIfMissing);
    expect(logOdds([20, 0, 0, 0]) > 0).toBe(!isFraudIfMissing);
  });

  test("go with most rows if training saw none", () => {
    const rows = labelledRows(1000).map((row, index): Row => ({
      ...row,
      isFraud: index % 10 > 6,
      values: [index % 10, 0, 0, 0],
    }));
    const logOdds = logOddsOf(modelOf(sampleOf(rows), { treesMax: 20 }));
    expect(logOdds([NaN, 0, 0, 0])).toBe(logOdds([0, 0, 0, 0]));
  });
});

test("train: if most genuine rows are dropped, the chances remain those of all rows", () => {
  const rows = labelledRows(6000);
  const logOdds = logOddsOf(modelOf(sampleOf(rows, { rowsMax: 2000 }), { treesMax: 30 }));
  const frauds = rows.filter(({ isFraud }) => isFraud).length;
  const expected = rows.reduce((sum, { values }) => sum + probabilityOf(logOdds(values)), 0);
  expect(expected / frauds).toBeGreaterThan(0.95);
  expect(expected / frauds).toBeLessThan(1.05);
});

test("train: boosting starts from the rules, so trees add nothing to rules that are right", () => {
  const rows = labelledRows(4000).map((row, index): Row => {
    const ruleLogOdds = (index % 9) - 4;
    return { ...row, ruleLogOdds, isFraud: numbersFrom(index)() < probabilityOf(ruleLogOdds) };
  });
  const { prior, trees } = modelOf(sampleOf(rows), { treesMax: 20 });
  expect(prior.a).toBeCloseTo(0, 0);
  expect(prior.b).toBeCloseTo(1, 0);
  const forest = forestOf(trees);
  const added = rows.map(({ values }) =>
    Math.abs(
      sumOfTrees(
        forest,
        vectorOf(forest, (code) => values[rowFields.indexOf(code)]),
      ),
    ),
  );
  expect(added.reduce((sum, each) => sum + each, 0) / added.length).toBeLessThan(0.3);
});

test("train: the caller can stop after any tree", () => {
  const seen: number[] = [];
  for (const { trees } of train(sampleOf(labelledRows(500)))) if (seen.push(trees) === 3) break;
  expect(seen).toEqual([0, 1, 2]);
});

test.each([
  ["no rows", [], "There are no labels."],
  ["genuine rows only", labelledRows(50).map((row) => ({ ...row, isFraud: false })), "No label says fraud."],
  ["frauds only", labelledRows(50).map((row) => ({ ...row, isFraud: true })), "All labels say fraud."],
  [
    "equal rows",
    labelledRows(50).map((row) => ({ ...row, values: [1, 2, 3, NaN] })),
    "Every field has the same value in all rows.",
  ],
  ["too few rows", labelledRows(4), "No field separates frauds from honest activity better than the rules do."],
])("train: %s give no model, with the reason", (_, rows, reason) => {
  const some = rows.map((row, index) =>
    reason.startsWith("No field") || reason.startsWith("Every") ? { ...row, isFraud: index === 0 } : row,
  );
  expect(trainOn(sampleOf(some)).trained).toEqual({ reason });
});

test("train: values that are not finite, huge, tiny or equal do no harm", () => {
  const odd = [NaN, Infinity, -Infinity, 1e300, -1e300, 3e38, 5e-324, -0, 0, 1e-45];
  const next = numbersFrom(7);
  const pick = (): number => odd[Math.floor(next() * odd.length)] ?? 0;
  const rows = labelledRows(500).map((row, index): Row => {
    return {
      ...row,
      weight: 10 ** (index % 7) / 1000,
      ruleLogOdds: index % 3 === 0 ? 1e6 : -1e6,
      values: [pick(), pick(), index, 1],
    };
  });
  const logOdds = logOddsOf(modelOf(sampleOf(rows)));
  for (const { values } of rows) expect(Math.abs(logOdds(values))).toBeLessThan(1000);
});

test("train: the more frauds there are, the more of them a leaf needs", () => {
  expect(limitsFor(200)).toEqual(trainingLimits);
  expect([8_000, 1_000_000].map((frauds) => limitsFor(frauds).childWeightMin)).toEqual([8, 30]);
});
