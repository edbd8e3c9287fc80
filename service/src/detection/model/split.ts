import { fieldsPacked, type BinnedField, type BinnedRows } from "./bins.ts";

export type SplitLimits = { l2: number; childWeightMin: number };
export type Sums = { gradient: number; hessian: number };
export type BestSplit = { place: number; bin: number; missing: "left" | "right"; gain: number; left: Sums };

// A smaller gain is rounding error.
const gainMin = 1e-6;

// The sums per bin: of each field 256 of the gradients, then 256 of the hessians.
const sumsOfField = 512;
const toHessian = 256;

export function emptyHistogram({ packed }: BinnedRows): Float64Array {
  return new Float64Array(packed.length * fieldsPacked * sumsOfField);
}

export type Slopes = { gradients: Float64Array; hessians: Float64Array };

// The slopes are in the order of `rows`. They are added in this order, so the same rows give the same sums to the last bit. Takes
// 2.6 ns for a row and a field.
export function fillHistogram({ packed }: BinnedRows, rows: Uint32Array, slopes: Slopes, histogram: Float64Array): void {
  histogram.fill(0);
  const size = sumsOfField;
  packed.forEach((bins, index) => {
    const [first, second, third, fourth] = [0, 1, 2, 3].map((place) => {
      const from = (index * fieldsPacked + place) * size;
      return histogram.subarray(from, from + size);
    });
    if (first && second && third && fourth) addFour(bins, rows, slopes, [first, second, third, fourth]);
  });
}

type Four = [Float64Array, Float64Array, Float64Array, Float64Array];

function addFour(bins: Uint32Array, rows: Uint32Array, { gradients, hessians }: Slopes, [a, b, c, d]: Four): void {
  for (let index = 0; index < rows.length; index++) {
    const four = bins[rows[index] ?? 0] ?? 0;
    const gradient = gradients[index] ?? 0;
    const hessian = hessians[index] ?? 0;
    const inA = four & 255;
    const inB = (four >>> 8) & 255;
    const inC = (four >>> 16) & 255;
    const inD = four >>> 24;
    a[inA] = (a[inA] ?? 0) + gradient;
    a[inA + toHessian] = (a[inA + toHessian] ?? 0) + hessian;
    b[inB] = (b[inB] ?? 0) + gradient;
    b[inB + toHessian] = (b[inB + toHessian] ?? 0) + hessian;
    c[inC] = (c[inC] ?? 0) + gradient;
    c[inC + toHessian] = (c[inC + toHessian] ?? 0) + hessian;
    d[inD] = (d[inD] ?? 0) + gradient;
    d[inD + toHessian] = (d[inD + toHessian] ?? 0) + hessian;
  }
}

// Turns the histogram of a parent into that of the child whose sibling is given.
export function subtract(parent: Float64Array, sibling: Float64Array): void {
  for (let at = 0; at < parent.length; at++) parent[at] = (parent[at] ?? 0) - (sibling[at] ?? 0);
}

// Of equal gains, the first wins.
export function bestSplit({ fields }: BinnedRows, histogram: Float64Array, total: Sums, limits: SplitLimits): BestSplit | null {
  let best: BestSplit | null = null;
  fields.forEach((field, place) => {
    const from = place * sumsOfField;
    const found = bestOfField(field, histogram.subarray(from, from + sumsOfField), total, limits);
    if (found && found.gain > (best?.gain ?? gainMin)) best = { place, ...found };
  });
  return best;
}

function bestOfField(
  { thresholds, hasMissing }: BinnedField,
  sums: Float64Array,
  total: Sums,
  { l2, childWeightMin }: SplitLimits,
): Omit<BestSplit, "place"> | null {
  const missing: Sums = { gradient: sums[thresholds.length] ?? 0, hessian: sums[thresholds.length + toHessian] ?? 0 };
  // Subtracted histograms have rounding errors instead of zeros.
  const nothing = 1e-10 * total.hessian;
  const isMissing = missing.hessian > nothing;
  const hessianMin = Math.max(childWeightMin, nothing);
  const parent = worth(total.gradient, total.hessian, l2);
  let [gradient, hessian, bestGain, bestBin, isLeft] = [0, 0, 0, -1, false];
  let [bestGradient, bestHessian] = [0, 0];
  const lastBin = thresholds.length - (hasMissing ? 0 : 1);
  for (let bin = 0; bin < lastBin; bin++) {
    gradient += sums[bin] ?? 0;
    hessian += sums[bin + toHessian] ?? 0;
    for (let side = 0; side < (isMissing ? 2 : 1); side++) {
      const leftGradient = side === 1 ? gradient + missing.gradient : gradient;
      const leftHessian = side === 1 ? hessian + missing.hessian : hessian;
      const rightHessian = total.hessian - leftHessian;
      if (leftHessian < hessianMin || rightHessian < hessianMin) continue;
      const gain = worth(leftGradient, leftHessian, l2) + worth(total.gradient - leftGradient, rightHessian, l2) - parent;
      if (gain <= bestGain) continue;
      [bestGain, bestBin, isLeft, bestGradient, bestHessian] = [gain, bin, side === 1, leftGradient, leftHessian];
    }
  }
  if (bestBin < 0) return null;
  // If training saw no missing value here, a missing value goes where most rows went.
  const goesLeft = isMissing ? isLeft : 2 * bestHessian >= total.hessian;
  return {
    bin: bestBin,
    missing: goesLeft ? "left" : "right",
    gain: bestGain,
    left: { gradient: bestGradient, hessian: bestHessian },
  };
}

function worth(gradient: number, hessian: number, l2: number): number {
  return (gradient * gradient) / (hessian + l2);
}
