import { hash } from "node:crypto";
import type { Prior } from "./prior.ts";
import { fieldsMax } from "./sample.ts";
import { fieldsIn, isSplit, type Model, type Tree } from "./trees.ts";

// A model is stored as JSON. Its id is the SHA-256 of the text, so the text is canonical: a model has exactly one text. A leaf is
// `[value, cover]`, a split is `[field, threshold, missing side, left, right]`.
export type StoredModel = { id: string; text: string };

export class ModelFault extends Error {
  override readonly name = "ModelFault";
}

const formatVersion = 1;
export const modelLimits = {
  characters: 4_000_000,
  trees: 1000,
  leavesOfTree: 64,
  depth: 12,
  value: 1000,
  coverMin: 1e-6,
  coverMax: 1e18,
};
const codePattern = /^[0-9a-z]{2}$/;

export function encodeModel(model: Model): StoredModel {
  const text = textOf(model);
  return { id: hash("sha256", text), text };
}

// Refuses everything that `encodeModel` does not write.
export function parseModel(text: string): Model {
  if (text.length > modelLimits.characters) throw new ModelFault(`A model has at most ${modelLimits.characters} characters.`);
  const model = modelOf(jsonOf(text));
  // Catches members and spellings that reading ignores, such as a key that appears twice.
  if (textOf(model) !== text) throw new ModelFault("The model's text is not in its canonical form.");
  return model;
}

function textOf({ prior, trees, trained }: Model): string {
  const { frauds, rows, seed } = trained;
  return JSON.stringify({
    format: formatVersion,
    prior: [prior.a, prior.b],
    trained: { frauds, rows, seed },
    trees: trees.map(listOf),
  });
}

type List = [value: number, cover: number] | [field: string, threshold: number, missing: string, left: List, right: List];

function listOf(tree: Tree): List {
  if (!isSplit(tree)) return [tree.value, tree.cover];
  return [tree.field, tree.threshold, tree.missing, listOf(tree.left), listOf(tree.right)];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ModelFault("The model is not JSON.", { cause });
  }
}

function modelOf(json: unknown): Model {
  if (!isRecord(json)) throw new ModelFault("A model is a JSON object.");
  if (json["format"] !== formatVersion) throw new ModelFault(`The model's format is not ${formatVersion}.`);
  const { prior, trained, trees } = json;
  if (!Array.isArray(trees)) throw new ModelFault("`trees` is not an array.");
  if (trees.length === 0 || trees.length > modelLimits.trees)
    throw new ModelFault(`A model has 1 to ${modelLimits.trees} trees.`);
  const read = trees.map((tree, index) => treeOf(tree, `trees[${index}]`));
  if (fieldsIn(read).length > fieldsMax) throw new ModelFault(`A model reads at most ${fieldsMax} fields.`);
  return { prior: priorOf(prior), trees: read, trained: trainedOf(trained) };
}

function priorOf(json: unknown): Prior {
  if (!Array.isArray(json) || json.length !== 2) throw new ModelFault("`prior` is not an array of two numbers.");
  const [a, b] = json.map((value) => numberOf(value, "prior", modelLimits.value));
  return { a: a ?? 0, b: b ?? 0 };
}

function trainedOf(json: unknown): Model["trained"] {
  if (!isRecord(json)) throw new ModelFault("`trained` is not an object.");
  const [rows = 0, frauds = 0, seed = 0] = ["rows", "frauds", "seed"].map((name) => {
    const value = numberOf(json[name], `trained.${name}`, Number.MAX_SAFE_INTEGER);
    if (!Number.isInteger(value) || value < 0) throw new ModelFault(`\`trained.${name}\` is not a whole number.`);
    return value;
  });
  return { rows, frauds, seed };
}

function treeOf(json: unknown, where: string): Tree {
  let leaves = 0;
  const read = (node: unknown, depth: number): Tree => {
    if (!Array.isArray(node)) throw new ModelFault(`\`${where}\` has a node that is not an array.`);
    const list: readonly unknown[] = node;
    if (list.length === 2) {
      if (++leaves > modelLimits.leavesOfTree)
        throw new ModelFault(`\`${where}\` has more than ${modelLimits.leavesOfTree} leaves.`);
      return leafOf(list, where);
    }
    if (list.length !== 5) throw new ModelFault(`\`${where}\` has a node that is neither a split nor a leaf.`);
    if (depth === modelLimits.depth) throw new ModelFault(`\`${where}\` is deeper than ${modelLimits.depth}.`);
    const [field, threshold, missing, left, right] = list;
    if (typeof field !== "string" || !codePattern.test(field)) throw new ModelFault(`\`${where}\` names a field without a code.`);
    if (missing !== "left" && missing !== "right")
      throw new ModelFault(`\`${where}\` has a split without a side for missing values.`);
    const limit = numberOf(threshold, where, Number.MAX_VALUE);
    return { field, threshold: limit, missing, left: read(left, depth + 1), right: read(right, depth + 1) };
  };
  return read(json, 0);
}

function leafOf([value, cover]: readonly unknown[], where: string): Tree {
  const weight = numberOf(cover, where, modelLimits.coverMax);
  // The explanation divides by shares of the cover.
  if (weight < modelLimits.coverMin) throw new ModelFault(`\`${where}\` has a leaf without cover.`);
  return { value: numberOf(value, where, modelLimits.value), cover: weight };
}

function numberOf(value: unknown, where: string, most: number): number {
  if (typeof value !== "number" || !(Math.abs(value) <= most))
    throw new ModelFault(`\`${where}\` has a number that is not allowed.`);
  return value;
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
