import { array, assert, property } from "fast-check";
import { expect, test } from "vitest";
import { labelledRows, modelOf, rowFields, sampleOf, someTree, someVector } from "../../../test/labelled-rows.ts";
import { explain, explainerOf, type Explanation } from "./explain.ts";
import { forestOf, sumOfTrees, vectorOf } from "./predict.ts";
import { coverOf, isSplit, type Tree } from "./trees.ts";

function total({ base, parts }: Explanation): number {
  return parts.reduce((sum, [, part]) => sum + part, base);
}

// The tree's value if only some fields are known.
function expectation(tree: Tree, known: Map<string, number>): number {
  if (!isSplit(tree)) return tree.value;
  const value = known.get(tree.field);
  if (value === undefined) {
    const [left, right] = [coverOf(tree.left), coverOf(tree.right)];
    return (left * expectation(tree.left, known) + right * expectation(tree.right, known)) / (left + right);
  }
  const side = Number.isNaN(value) ? tree.missing : value <= tree.threshold ? "left" : "right";
  return expectation(tree[side], known);
}

function ordersOf(codes: string[]): string[][] {
  if (codes.length < 2) return [codes];
  return codes.flatMap((first) => ordersOf(codes.filter((code) => code !== first)).map((rest) => [first, ...rest]));
}

// Shapley values by their definition: the mean, over all orders of the fields, of what each adds when its turn comes.
function byDefinition(tree: Tree, values: Map<string, number>): Map<string, number> {
  const parts = new Map(rowFields.map((code) => [code, 0]));
  const orders = ordersOf(rowFields);
  for (const order of orders) {
    const known = new Map<string, number>();
    for (const code of order) {
      const before = expectation(tree, known);
      known.set(code, values.get(code) ?? NaN);
      parts.set(code, (parts.get(code) ?? 0) + (expectation(tree, known) - before) / orders.length);
    }
  }
  return parts;
}

test("explain: the parts are the Shapley values of the fields", () => {
  assert(
    property(someTree(4), someVector, (tree, vector) => {
      const values = new Map(rowFields.map((code, index) => [code, vector[index] ?? NaN]));
      const explainer = explainerOf([tree]);
      const { parts, base } = explain(
        explainer,
        vectorOf(explainer, (code) => values.get(code)),
      );
      const expected = byDefinition(tree, values);
      expect(base).toBeCloseTo(expectation(tree, new Map()), 9);
      for (const [code, part] of parts) expect(part).toBeCloseTo(expected.get(code) ?? NaN, 9);
    }),
  );
});

function expectSum(trees: readonly Tree[], vector: ArrayLike<number>): void {
  const forest = forestOf(trees);
  const values = vectorOf(forest, (code) => vector[rowFields.indexOf(code)]);
  expect(Math.abs(total(explain(explainerOf(trees), values)) - sumOfTrees(forest, values))).toBeLessThan(1e-9);
}

test("explain: the base and the parts sum to what the trees say", () => {
  const { trees: learned } = modelOf(sampleOf(labelledRows(1000)), { treesMax: 50 });
  for (const { values } of labelledRows(20, 2)) expectSum(learned, values);
  assert(property(array(someTree(5), { minLength: 1, maxLength: 3 }), someVector, expectSum));
});

test("explain: a field that no tree reads has no part", () => {
  const { fields } = explainerOf([
    { field: "b1", threshold: 1, missing: "left", left: { value: 1, cover: 1 }, right: { value: 2, cover: 1 } },
  ]);
  expect(fields).toEqual(["b1"]);
});
