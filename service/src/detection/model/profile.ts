import type { TrainingRows } from "./sample.ts";

// How the values of a field were spread when a model was trained: the upper limits of its bins, and the share of rows in each
// bin. The last two shares are those above the last limit and of missing values.
type FieldProfile = { limits: number[]; shares: number[] };
export type Profile = Record<string, FieldProfile>;

const binCount = 10;
// A share of 0 would make the index infinite.
const shareMin = 1e-3;

export function profileOf(rows: TrainingRows, fields: readonly string[]): Profile {
  return Object.fromEntries(
    fields.map((code) => {
      const column = rows.columns[rows.fields.indexOf(code)] ?? new Float32Array();
      const limits = limitsOf(column);
      return [code, { limits, shares: sharesOf(column, rows.weights, limits) }];
    }),
  );
}

function limitsOf(column: Float32Array): number[] {
  const sorted = column.filter((value) => !Number.isNaN(value)).toSorted();
  const at = Array.from({ length: binCount - 1 }, (_, bin) => sorted[Math.floor(((bin + 1) * sorted.length) / binCount)]);
  return [...new Set(at.flatMap((value) => (value === undefined ? [] : [value])))];
}

function sharesOf(values: ArrayLike<number>, weights: ArrayLike<number>, limits: readonly number[]): number[] {
  const sums = Array.from({ length: limits.length + 2 }, () => 0);
  let total = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? NaN;
    const found = limits.findIndex((limit) => value <= limit);
    const bin = Number.isNaN(value) ? limits.length + 1 : found < 0 ? limits.length : found;
    sums[bin] = (sums[bin] ?? 0) + (weights[row] ?? 0);
    total += weights[row] ?? 0;
  }
  return sums.map((sum) => (total === 0 ? 0 : Number((sum / total).toPrecision(4))));
}

// The population stability index of each field. Below 0.1 is usual. Above 0.25, the population has changed.
export function stabilityOf(profile: Profile, valuesOf: (code: string) => Float32Array): Record<string, number> {
  return Object.fromEntries(
    Object.entries(profile).map(([code, { limits, shares }]) => {
      const values = valuesOf(code);
      const now = sharesOf(
        values,
        values.map(() => 1),
        limits,
      );
      const index = shares.reduce((sum, share, bin) => {
        const [one, other] = [Math.max(share, shareMin), Math.max(now[bin] ?? 0, shareMin)];
        return sum + (other - one) * Math.log(other / one);
      }, 0);
      return [code, Number(index.toFixed(3))];
    }),
  );
}
