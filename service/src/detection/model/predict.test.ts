import { array, assert, property } from "fast-check";
import { expect, test } from "vitest";
import { rowFields, someTree, someVector } from "../../../test/labelled-rows.ts";
import { forestOf, sumOfTrees, vectorOf } from "./predict.ts";
import { isSplit, type Tree } from "./trees.ts";

function valueOf(tree: Tree, values: Map<string, number>): number {
  if (!isSplit(tree)) return tree.value;
  const value = values.get(tree.field) ?? NaN;
  const side = Number.isNaN(value) ? tree.missing : value <= tree.threshold ? "left" : "right";
  return valueOf(tree[side], values);
}

test("predict: the result is the sum of one leaf per tree", () => {
  assert(
    property(array(someTree(4), { minLength: 1, maxLength: 3 }), someVector, (trees, vector) => {
      const values = new Map(rowFields.map((code, index) => [code, vector[index] ?? NaN]));
      const forest = forestOf(trees);
      const expected = trees.reduce((sum, tree) => sum + valueOf(tree, values), 0);
      expect(
        sumOfTrees(
          forest,
          vectorOf(forest, (code) => values.get(code)),
        ),
      ).toBe(expected);
    }),
  );
});

const leaf = (value: number): Tree => ({ value, cover: 1 });
const onGoneField: Tree = { field: "zz", threshold: 5, missing: "right", left: leaf(1), right: leaf(2) };

test("predict: a field that is not in the catalogue counts as missing", () => {
  const forest = forestOf([onGoneField]);
  const known = new Map([["a0", 1]]);
  expect(
    sumOfTrees(
      forest,
      vectorOf(forest, (code) => known.get(code)),
    ),
  ).toBe(2);
});

test("predict: a value that is not finite counts as missing", () => {
  const forest = forestOf([onGoneField]);
  for (const value of [NaN, Infinity, -Infinity, -1e300])
    expect(
      sumOfTrees(
        forest,
        vectorOf(forest, () => value),
      ),
    ).toBe(2);
});

test("predict: a value is compared in the precision of training", () => {
  const forest = forestOf([{ ...onGoneField, threshold: Math.fround(0.1) }]);
  expect(
    sumOfTrees(
      forest,
      vectorOf(forest, () => 0.1),
    ),
  ).toBe(1);
});
