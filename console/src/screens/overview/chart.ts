import type { QueueFilter } from "../queue/search.ts";

// One description of a chart, from which its drawing and its table are made: they cannot disagree.
export type Cell = {
  value: number;
  // As it is written beside or instead of the bar.
  shown: string;
  // As it is said of the bar alone.
  words: string;
  leadsTo: QueueFilter;
};

type ChartRow = { key: string; name: string; note?: string; cells: Cell[] };

export type Chart = {
  title: string;
  // What stands before the values: a day, a rule.
  rowTitle: string;
  series: { name: string; look: string }[];
  noteTitle?: string;
  rows: ChartRow[];
  // Drawn from left to right; as a table the latest stands first.
  isOverTime?: true;
  // Of the scale; by itself the greatest value.
  highest?: number;
};

const steps = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];

// The end of a scale: a round number that can be halved.
export function roundUp(value: number): number {
  if (value <= 2) return 2;
  const unit = 10 ** Math.floor(Math.log10(value));
  const ends = steps.map((step) => Math.round(step * unit));
  return ends.find((end) => end >= value && end % 2 === 0) ?? 10 * unit;
}

export const count = new Intl.NumberFormat();
export const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });
