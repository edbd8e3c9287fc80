// Measures contenders one after the other, over several rounds with alternating order, so a noisy machine affects all alike.
import { cpuSeconds, postgresCpuSeconds } from "../machine.ts";
import type { Contender } from "./contender.ts";
import type { Drive, Driver } from "./drive.ts";
import type { Bar, Context, Scale, Table, Target } from "./part.ts";
import type { Stand } from "./stand.ts";

// Latencies in milliseconds, CPU in microseconds per request. NaN if it could not be measured.
export type Sample = {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
  p999: number;
  ownCpu: number;
  databaseCpu: number;
  // The CPU of the load generator.
  driverCpu: number;
};

export type Runner = { name: string; run: () => Promise<Sample> };

export type Cell = { work: string; connections: number; samples: Map<string, Sample[]> };

export type Spread = { median: number; least: number; most: number };

export const connectionCounts: Record<Scale, number[]> = { quick: [100], full: [1, 16, 100] };

export function spreadOf(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { median, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN };
}

type Asked = Omit<Drive, "url" | "headers">;

// One run of the load generator, and what it cost every process. A failed request has not been served, so it ends the benchmark.
export async function drive(driver: Driver, stand: Stand, contender: Contender, asked: Asked): Promise<Sample> {
  const before = { own: cpuSeconds(contender.pid), database: postgresCpuSeconds(stand.bench.folder) };
  const driven = await driver.run({ ...asked, url: contender.url, headers: stand.headers });
  const { requests, failed, perSecond, p50, p99, p999 } = driven;
  if (failed > 0)
    throw new Error(`${contender.name}: ${failed} of ${requests} requests failed, the first with: ${driver.failure}`);
  const each = (seconds: number) => (seconds / requests) * 1e6;
  const ownCpu = each(cpuSeconds(contender.pid) - before.own);
  const databaseCpu = each(postgresCpuSeconds(stand.bench.folder) - before.database);
  return { requests, perSecond, p50, p99, p999, ownCpu, databaseCpu, driverCpu: each(driven.cpuSeconds) };
}

// For contenders that report only a count.
export function countOnly(requests: number, perSecond: number): Sample {
  const none = Number.NaN;
  return { requests, perSecond, p50: none, p99: none, p999: none, ownCpu: none, databaseCpu: none, driverCpu: none };
}

type Comparison = { work: string; connections: number; runners: Runner[]; rounds: number };

export async function compare({ progress }: Context, { work, connections, runners, rounds }: Comparison): Promise<Cell> {
  const samples = new Map<string, Sample[]>(runners.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? runners : runners.toReversed()) {
      progress(round * runners.length, rounds * runners.length, `runs of ${work} at ${connections} connections, ${name}`);
      samples.get(name)?.push(await run());
    }
  }
  return { work, connections, samples };
}

// Computed round by round, so a slow second of the machine affects both or neither.
function ratioOf({ samples }: Cell, to: string): Spread | null {
  const others = samples.get(to);
  const own = samples.get("ours") ?? [];
  if (!others || others.length !== own.length || own.length === 0) return null;
  return spreadOf(own.map((sample, round) => sample.perSecond / (others[round]?.perSecond ?? Number.NaN)));
}

const whole = (value: number) => (Number.isNaN(value) ? "–" : Math.round(value).toLocaleString("en"));
const short = (value: number) => (Number.isNaN(value) ? "–" : value.toPrecision(value >= 1000 ? 4 : 3));

function ratioText(ratio: Spread | null): string {
  if (!ratio) return "–";
  return `${ratio.median.toFixed(2)} (${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)})`;
}

const columns = [
  "connections",
  "contender",
  "ours relative to it",
  "requests/s",
  "min to max",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "own CPU µs",
  "database CPU µs",
  "generator CPU µs",
];

// The rows of one kind of work. The figures are medians of the rounds.
export function tableOf(title: string, cells: Cell[], note?: string): Table {
  const rows = cells.flatMap((cell) =>
    [...cell.samples].map(([name, samples]) => {
      const of = (member: keyof Sample) => spreadOf(samples.map((sample) => sample[member]));
      const { median, least, most } = of("perSecond");
      const times = (["p50", "p99", "p999"] as const).map((member) => short(of(member).median));
      const cpu = (["ownCpu", "databaseCpu", "driverCpu"] as const).map((member) => whole(of(member).median));
      const ratio = name === "ours" ? "" : ratioText(ratioOf(cell, name));
      return [String(cell.connections), name, ratio, whole(median), `${whole(least)} to ${whole(most)}`, ...times, ...cpu];
    }),
  );
  return { title, columns, rows, ...(note !== undefined && { note }) };
}

// The lowest acceptable ratio, by number of connections.
export type Goals = Record<number, number>;

export function barsOf(label: string, cells: Cell[], wanted: Record<string, Goals> = {}): Bar[] {
  return cells.flatMap((cell) =>
    [...cell.samples.keys()].flatMap((name): Bar[] => {
      const ratio = ratioOf(cell, name);
      if (name === "ours" || !ratio) return [];
      const goal = wanted[name]?.[cell.connections];
      const of = `${label}, ${cell.connections} connections`;
      return [{ label: of, against: name, ratio: ratio.median, ...(goal !== undefined && { wanted: goal }) }];
    }),
  );
}

// Reached if every measured ratio that has a goal reaches it. Ratios without a goal are shown too.
export function ratioTarget(name: string, cells: Cell[], { to, least }: { to: string; least: Goals }): Target {
  const found = cells.map((cell) => ({ at: cell.connections, ratio: ratioOf(cell, to), goal: least[cell.connections] }));
  const aimed = found.filter(({ ratio, goal }) => ratio !== null && goal !== undefined);
  return {
    name,
    wanted: `at least ${Object.entries(least)
      .map(([at, goal]) => `${goal.toFixed(2)} at ${at}`)
      .join(", ")}`,
    measured: aimed.length === 0 ? "not measured" : found.map(({ at, ratio }) => `${ratioText(ratio)} at ${at}`).join(", "),
    isReached: aimed.length === 0 ? null : aimed.every(({ ratio, goal }) => (ratio?.median ?? 0) >= (goal ?? 0)),
  };
}
