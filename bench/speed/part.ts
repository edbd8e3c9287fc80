import type { Bench } from "../machine.ts";
import type { Driver } from "./drive.ts";

// Quick: all of it in under three minutes, to see that it works. Full: what docs/BENCHMARK.md is written from.
export type Scale = "quick" | "full";

export type Context = {
  scale: Scale;
  driver: Driver;
  // One PostgreSQL for all parts, as the service would run it; migrated.
  bench: Bench;
  progress: (done: number, total: number, what: string) => void;
  // What has to be stopped when all parts are through; the last is the first.
  atEnd: (stop: () => Promise<void>) => void;
};

// What the project set out to reach. Null: it could not be measured here.
export type Target = { name: string; wanted: string; measured: string; isReached: boolean | null };

// The first column is text, the others are figures.
export type Table = { title: string; note?: string; columns: string[]; rows: string[][] };

// One bar of the chart: how many times as fast as something else, and what was wanted.
export type Bar = { label: string; against: string; ratio: number; wanted?: number };

// A drawing of its own, docs/pictures/benchmark-<name>.svg, with both axes logarithmic.
export type Plot = {
  name: string;
  title: string;
  x: string;
  y: string;
  lines: { name: string; points: { x: number; y: number }[] }[];
};

// A page of its own, in Markdown, by its path in the repository.
export type Page = { path: string; text: string };

export type Findings = { targets?: Target[]; tables: Table[]; bars?: Bar[]; plots?: Plot[]; pages?: Page[]; notes?: string[] };

export type Part = { name: string; title: string; run: (context: Context) => Promise<Findings> };
