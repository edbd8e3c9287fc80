import type { Prior } from "./prior.ts";

// A value up to the threshold goes left. A missing value goes to the side that training chose. A field is identified by its code in
// the catalogue, so a model outlives changes to the catalogue.
export type Split = { field: string; threshold: number; missing: "left" | "right"; left: Tree; right: Tree };
// The cover is the weight of the training rows in the leaf.
type Leaf = { value: number; cover: number };
export type Tree = Split | Leaf;

// The log-odds of fraud are those of the prior plus one leaf of each tree.
export type Model = { prior: Prior; trees: readonly Tree[]; trained: { rows: number; frauds: number; seed: number } };

export const isSplit = (tree: Tree): tree is Split => "left" in tree;

export function coverOf(tree: Tree): number {
  return isSplit(tree) ? coverOf(tree.left) + coverOf(tree.right) : tree.cover;
}

export function fieldsIn(trees: readonly Tree[]): string[] {
  const found = new Set<string>();
  const visit = (tree: Tree): void => {
    if (!isSplit(tree)) return;
    found.add(tree.field);
    visit(tree.left);
    visit(tree.right);
  };
  trees.forEach(visit);
  return [...found].toSorted();
}

// Training and prediction compare values in single precision, which halves the memory of training. What is not a finite number is
// missing.
export function readable(value: number | undefined): number {
  const single = Math.fround(value ?? NaN);
  return Number.isFinite(single) ? single : NaN;
}
