import { fieldsPacked, shiftOf, type BinnedRows } from "./bins.ts";
import { bestSplit, emptyHistogram, fillHistogram, subtract, type BestSplit, type SplitLimits, type Sums } from "./split.ts";
import type { Tree } from "./trees.ts";

export type TreeLimits = SplitLimits & { leavesMax: number; depthMax: number; rate: number };
// Per row. Growing a tree adds its leaves to the scores.
export type Boosting = { gradients: Float64Array; hessians: Float64Array; weights: Float64Array; scores: Float64Array };

// A node owns a range of the grower's row numbers.
type Node = {
  from: number;
  to: number;
  depth: number;
  sums: Sums;
  histogram: Float64Array;
  best: BestSplit | null;
  children: Children;
};
type Children = { left: Node; right: Node; split: BestSplit } | null;

// A leaf of few rows that the prior was very wrong about would otherwise jump too far.
const stepMax = 5;

export class Grower {
  readonly #binned: BinnedRows;
  readonly #limits: TreeLimits;
  readonly #rows: Uint32Array;
  readonly #spare: Uint32Array;
  readonly #gradients: Float64Array;
  readonly #hessians: Float64Array;
  readonly #histograms: Float64Array[] = [];

  constructor(binned: BinnedRows, count: number, limits: TreeLimits) {
    this.#binned = binned;
    this.#limits = limits;
    this.#rows = new Uint32Array(count);
    this.#spare = new Uint32Array(count);
    this.#gradients = new Float64Array(count);
    this.#hessians = new Float64Array(count);
  }

  // Always splits the leaf that gains most. Returns null if no split gains anything.
  grow(boosting: Boosting): Tree | null {
    this.#rows.forEach((_, row, rows) => (rows[row] = row));
    const root = this.#node({ from: 0, to: this.#rows.length, depth: 0 }, this.#sumsOf(boosting));
    this.#fill(root, boosting);
    this.#search(root);
    const leaves = [root];
    while (leaves.length < this.#limits.leavesMax) {
      const next = leaves.reduce((best, leaf) => ((leaf.best?.gain ?? 0) > (best.best?.gain ?? 0) ? leaf : best));
      if (!next.best) break;
      const { left, right } = this.#split(next, next.best, boosting);
      leaves.splice(leaves.indexOf(next), 1, left, right);
    }
    this.#histograms.push(...leaves.map(({ histogram }) => histogram));
    return leaves.length > 1 ? this.#finish(root, boosting) : null;
  }

  #split(node: Node, split: BestSplit, boosting: Boosting): { left: Node; right: Node } {
    const { from, to, depth, sums } = node;
    const middle = this.#partition(node, split);
    const rest: Sums = { gradient: sums.gradient - split.left.gradient, hessian: sums.hessian - split.left.hessian };
    // The larger child takes over the parent's histogram, less the smaller child's. So only the smaller child reads its rows.
    const isLeftSmaller = middle - from <= to - middle;
    const fresh = this.#histogram();
    const left = this.#node({ from, to: middle, depth: depth + 1 }, split.left, isLeftSmaller ? fresh : node.histogram);
    const right = this.#node({ from: middle, to, depth: depth + 1 }, rest, isLeftSmaller ? node.histogram : fresh);
    this.#fill(isLeftSmaller ? left : right, boosting);
    subtract(node.histogram, fresh);
    this.#search(left);
    this.#search(right);
    node.children = { left, right, split };
    return { left, right };
  }

  #search(node: Node): void {
    if (node.depth < this.#limits.depthMax) node.best = bestSplit(this.#binned, node.histogram, node.sums, this.#limits);
  }

  // Keeps the order of the rows on both sides.
  #partition({ from, to }: Node, { place, bin, missing }: BestSplit): number {
    const packed = this.#binned.packed[Math.floor(place / fieldsPacked)] ?? new Uint32Array(0);
    const shift = shiftOf(place);
    const missingBin = missing === "left" ? this.#binned.fields[place]?.thresholds.length : -1;
    const rows = this.#rows;
    let left = from;
    let right = 0;
    for (let at = from; at < to; at++) {
      const row = rows[at] ?? 0;
      const own = ((packed[row] ?? 0) >>> shift) & 255;
      if (own <= bin || own === missingBin) rows[left++] = row;
      else this.#spare[right++] = row;
    }
    rows.set(this.#spare.subarray(0, right), left);
    return left;
  }

  #fill({ from, to, histogram }: Node, boosting: Boosting): void {
    // Copied side by side, because every field reads them again.
    for (let at = from; at < to; at++) {
      const row = this.#rows[at] ?? 0;
      this.#gradients[at - from] = boosting.gradients[row] ?? 0;
      this.#hessians[at - from] = boosting.hessians[row] ?? 0;
    }
    const sums = { gradients: this.#gradients, hessians: this.#hessians };
    fillHistogram(this.#binned, this.#rows.subarray(from, to), sums, histogram);
  }

  #finish(node: Node, boosting: Boosting): Tree {
    if (!node.children) return this.#leaf(node, boosting);
    const { left, right, split } = node.children;
    const { field = "", thresholds = [] } = this.#binned.fields[split.place] ?? {};
    return {
      field,
      threshold: thresholds[split.bin] ?? 0,
      missing: split.missing,
      left: this.#finish(left, boosting),
      right: this.#finish(right, boosting),
    };
  }

  #leaf({ from, to, sums }: Node, { weights, scores }: Boosting): Tree {
    const { rate, l2 } = this.#limits;
    const step = Math.min(Math.max(-sums.gradient / (sums.hessian + l2), -stepMax), stepMax);
    // Nine digits are more than the data can tell, and less to store.
    const value = Number((rate * step).toPrecision(9));
    let cover = 0;
    for (let at = from; at < to; at++) {
      const row = this.#rows[at] ?? 0;
      scores[row] = (scores[row] ?? 0) + value;
      cover += weights[row] ?? 0;
    }
    return { value: value === 0 ? 0 : value, cover: Number(cover.toPrecision(9)) };
  }

  #sumsOf({ gradients, hessians }: Boosting): Sums {
    let [gradient, hessian] = [0, 0];
    for (let row = 0; row < this.#rows.length; row++) {
      gradient += gradients[row] ?? 0;
      hessian += hessians[row] ?? 0;
    }
    return { gradient, hessian };
  }

  #node(range: Pick<Node, "from" | "to" | "depth">, sums: Sums, histogram = this.#histogram()): Node {
    return { ...range, sums, histogram, best: null, children: null };
  }

  #histogram(): Float64Array {
    return this.#histograms.pop() ?? emptyHistogram(this.#binned);
  }
}
