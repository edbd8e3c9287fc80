import { modelLimits } from "./format.ts";
import { coverOf, fieldsIn, isSplit, type Split, type Tree } from "./trees.ts";

// How much each field moved the score away from the mean of the training rows: exact Shapley values of the trees, where a field
// that is not taken into account follows both sides of a split by their cover. The base and the parts sum to what the trees say.
export type Explanation = { base: number; parts: [field: string, logOdds: number][] };

// All splits on the way to a leaf that read one field, taken together.
type Condition = { field: number; low: number; high: number; isMissingAllowed: boolean; share: number };
type Path = { value: number; conditions: Condition[] };
export type Explainer = { fields: readonly string[]; base: number; paths: Path[] };

export function explainerOf(trees: readonly Tree[]): Explainer {
  const fields = fieldsIn(trees);
  const places = new Map(fields.map((code, index) => [code, index]));
  const paths: Path[] = [];
  const visit = (tree: Tree, conditions: Condition[]): void => {
    if (!isSplit(tree)) {
      paths.push({ value: tree.value, conditions });
      return;
    }
    const whole = coverOf(tree);
    for (const side of ["left", "right"] as const) {
      visit(
        tree[side],
        narrowed(conditions, tree, { side, field: places.get(tree.field) ?? 0, share: coverOf(tree[side]) / whole }),
      );
    }
  };
  trees.forEach((tree) => visit(tree, []));
  const base = paths.reduce((sum, { value, conditions }) => sum + value * shareOf(conditions), 0);
  return { fields, base, paths };
}

function shareOf(conditions: Condition[]): number {
  return conditions.reduce((product, { share }) => product * share, 1);
}

type Branch = { side: "left" | "right"; field: number; share: number };

function narrowed(conditions: Condition[], { threshold, missing }: Split, { side, field, share }: Branch): Condition[] {
  const before = conditions.find((each) => each.field === field);
  const {
    low,
    high,
    isMissingAllowed,
    share: shareBefore,
  } = before ?? { low: -Infinity, high: Infinity, isMissingAllowed: true, share: 1 };
  const now: Condition = {
    field,
    low: side === "right" ? Math.max(low, threshold) : low,
    high: side === "left" ? Math.min(high, threshold) : high,
    isMissingAllowed: isMissingAllowed && missing === side,
    share: shareBefore * share,
  };
  return [...conditions.filter((each) => each !== before), now];
}

// Takes 0.8 ms for 200 trees.
export function explain({ fields, base, paths }: Explainer, vector: Float32Array): Explanation {
  const parts = new Float64Array(fields.length);
  const polynomial = new Float64Array(modelLimits.depth + 1);
  for (const path of paths) addPath(path, vector, parts, polynomial);
  return { base, parts: fields.map((code, index) => [code, parts[index] ?? 0]) };
}

// In the polynomial, the coefficient of degree n is the sum, over all ways to take n fields into account, of the share of rows
// that reach the leaf.
function addPath({ value, conditions }: Path, vector: Float32Array, parts: Float64Array, polynomial: Float64Array): void {
  const count = conditions.length;
  const weights = weightsOf[count] ?? [];
  polynomial[0] = 1;
  for (let degree = 1; degree <= count; degree++) {
    const condition = conditions[degree - 1];
    if (!condition) continue;
    const met = isMet(condition, vector) ? 1 : 0;
    polynomial[degree] = 0;
    for (let at = degree; at > 0; at--) {
      polynomial[at] = (polynomial[at] ?? 0) * condition.share + (polynomial[at - 1] ?? 0) * met;
    }
    polynomial[0] *= condition.share;
  }
  for (const own of conditions) {
    const met = isMet(own, vector);
    // Dividing by the field's own factor leaves the polynomial of the others.
    let sum = 0;
    let rest = 0;
    for (let taken = count - 1; taken >= 0; taken--) {
      rest = met ? (polynomial[taken + 1] ?? 0) - own.share * rest : (polynomial[taken] ?? 0) / own.share;
      sum += (weights[taken] ?? 0) * rest;
    }
    parts[own.field] = (parts[own.field] ?? 0) + value * ((met ? 1 : 0) - own.share) * sum;
  }
}

// By the number of fields, then by the number of others that come before one field: the share of all orders in which exactly a
// given choice of others comes before it.
const weightsOf = Array.from({ length: modelLimits.depth + 1 }, (_, count) => {
  let weight = 1 / count;
  return Array.from({ length: count }, (_, taken) => (weight *= taken === 0 ? 1 : taken / (count - taken)));
});

function isMet({ field, low, high, isMissingAllowed }: Condition, vector: Float32Array): boolean {
  const value = vector[field] ?? NaN;
  return Number.isNaN(value) ? isMissingAllowed : low < value && value <= high;
}
