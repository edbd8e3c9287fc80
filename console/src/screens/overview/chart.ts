import type { QueueFilter } from "../queue/search.ts";

// The drawing and the table come from this one description, so they cannot disagree.
export type Cell = {
  value: number;
  // The text beside the bar, or instead of it.
  shown: string;
  // The accessible name of the bar.
  words: string;
  leadsTo: QueueFilter;
};

type ChartRow = { key: string; name: string; note?: string; cells: Cell[] };

export type Chart = {
  title: string;
  // The heading of the first column, such as the day or the rule.
  rowTitle: string;
  series: { name: string; look: string }[];
  noteTitle?: string;
  rows: ChartRow[];
  // The chart runs from left to right. The table lists the latest row first.
  isOverTime?: true;
  // The top of the scale. The default is the largest value.
  highest?: number;
};

const steps = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];

// The top of a scale: a round number that can be halved.
export function roundUp(value: number): number {
  if (value <= 2) return 2;
  const unit = 10 ** Math.floor(Math.log10(value));
  const ends = steps.map((step) => Math.round(step * unit));
  return ends.find((end) => end >= value && end % 2 === 0) ?? 10 * unit;
}

export const count = new Intl.NumberFormat();
export const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });
