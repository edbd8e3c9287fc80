import type { Bench } from "../machine.ts";
import type { Driver } from "./drive.ts";

// Quick: everything in under four minutes, to see that it works. Full: the source of docs/BENCHMARK.md.
export type Scale = "quick" | "full";

export type Context = {
  scale: Scale;
  driver: Driver;
  // One migrated PostgreSQL for all parts, as the service would run it.
  bench: Bench;
  progress: (done: number, total: number, what: string) => void;
  // Registers what to stop after all parts, in reverse order.
  atEnd: (stop: () => Promise<void>) => void;
};

// A goal of the project. `isReached` is null if it could not be measured here.
export type Target = { name: string; wanted: string; measured: string; isReached: boolean | null };

// The first column is text, the others are figures.
export type Table = { title: string; note?: string; columns: string[]; rows: string[][] };

// One bar of the chart: how many times as fast as something else, and the target.
export type Bar = { label: string; against: string; ratio: number; wanted?: number };

// A separate drawing, docs/pictures/benchmark-<name>.svg, with logarithmic axes.
export type Plot = {
  name: string;
  title: string;
  x: string;
  y: string;
  lines: { name: string; points: { x: number; y: number }[] }[];
};

// A separate page in Markdown, by its path in the repository.
export type Page = { path: string; text: string };

export type Findings = { targets?: Target[]; tables: Table[]; bars?: Bar[]; plots?: Plot[]; pages?: Page[]; notes?: string[] };

export type Part = { name: string; title: string; run: (context: Context) => Promise<Findings> };
