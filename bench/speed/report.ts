import { cpus, totalmem } from "node:os";
import { commit } from "../../scripts/runs.ts";
import { sql } from "../../service/src/db/postgres/sql.ts";
import type { Bench } from "../machine.ts";
import { drawBars } from "./chart.ts";
import type { Findings, Part, Table, Target } from "./part.ts";
import { drawPlot } from "./plot.ts";

// `fault` is set if the part did not finish.
export type Outcome = { part: Part; findings: Findings; seconds: number; fault: string | null };

export async function tellMachine({ database }: Bench): Promise<string[]> {
  const [row] = await database.query<{ version: string }>(sql`select current_setting('server_version') as version`);
  const [cpu] = cpus();
  return [
    `Machine: ${cpus().length} cores (${cpu?.model ?? "unknown"}), ${(totalmem() / 2 ** 30).toFixed(0)} GB of memory, ${process.platform} ${process.arch}`,
    `Node.js ${process.version}, PostgreSQL ${row?.version ?? "unknown"} (embedded, with its default settings)`,
    `Commit ${commit()}, ${new Date().toISOString().slice(0, 10)}`,
  ];
}

const stateOf = ({ isReached }: Target) => (isReached === null ? "not measured" : isReached ? "reached" : "not reached");

// For the terminal, with aligned columns.
export function tableText({ title, columns, rows }: Table): string {
  const widths = columns.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: string[]) =>
    `   ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  ")}`;
  return [`\n   ${title}`, line(columns), ...rows.map(line)].join("\n");
}

export function toText({ part, findings, seconds, fault }: Outcome): string {
  const targets = (findings.targets ?? []).map(
    (target) => `   ${stateOf(target).toUpperCase()}: ${target.name}: ${target.measured} (wanted: ${target.wanted})`,
  );
  const notes = (findings.notes ?? []).map((note) => `   ${note}`);
  const told = fault === null ? `${seconds} s` : `FAILED after ${seconds} s: ${fault}`;
  return [...targets, ...findings.tables.map(tableText), ...notes, `== ${part.name}: ${told}`].join("\n");
}

const row = (cells: string[]) => `| ${cells.join(" | ")} |`;

function tableMarkdown({ title, columns, rows, note }: Table): string {
  const rule = row(columns.map((_name, at) => (at === 0 ? "---" : "---:")));
  const table = [row(columns), rule, ...rows.map(row)].join("\n");
  return [`### ${title}`, ...(note === undefined ? [] : [note]), table].join("\n\n");
}

function section({ part, findings }: Outcome): string {
  const plots = (findings.plots ?? []).map(({ name, title }) => `![${title}](pictures/benchmark-${name}.svg)`);
  return [`## ${part.title}`, ...plots, ...findings.tables.map(tableMarkdown), ...(findings.notes ?? [])].join("\n\n");
}

// Keyed by file name.
export function pictures(outcomes: Outcome[]): Map<string, string> {
  const bars = outcomes.flatMap(({ findings }) => findings.bars ?? []);
  const plots = outcomes.flatMap(({ findings }) => findings.plots ?? []);
  return new Map([
    ["benchmark.svg", drawBars(bars)] as const,
    ...plots.map((plot) => [`benchmark-${plot.name}.svg`, drawPlot(plot)] as const),
  ]);
}

// The complete docs/BENCHMARK.md. It is never edited by hand.
export function report(outcomes: Outcome[], machine: string[]): string {
  const targets = outcomes.flatMap(({ findings }) => findings.targets ?? []);
  const reached = targets.filter(({ isReached }) => isReached === true).length;
  const minutes = Math.round(outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const head = `# Benchmark

How fast the service is compared with its limits and with a plain implementation, measured in one run on one machine. The service,
PostgreSQL and the load generator share its cores. \`npm run bench\` writes this page in about ${minutes} minutes.
\`npm run bench -- --quick\` checks in four minutes that the benchmark works.

${machine.map((line) => `- ${line}`).join("\n")}

**${reached} of ${targets.length} targets reached.**

| target | wanted | measured | |
|---|---|---|---|
${targets.map((target) => `| ${target.name} | ${target.wanted} | ${target.measured} | ${stateOf(target)} |`).join("\n")}

![Speed relative to its limits and to a plain implementation](pictures/benchmark.svg)

How to read it: contenders take turns in rounds, and each round reverses the order. Ratios are computed per round, and shown as the
median with the minimum and the maximum. For throughput and latency, each connection sends its next request as soon as it has a
response. If a rate is given, latency counts from the time when a request was due. _ours_ is the service as \`npm start\` runs it, on a
PostgreSQL that flushes every write, without rate limits (\`RATE_LIMIT_CLIENT\`, \`RATE_LIMIT_TENANT\` and \`RATE_LIMIT_COLLECTOR\` are off).
_bare_ is \`node:http\` that returns the same bytes from memory. _plain_ is Fastify with a pool, one prepared query per request, the token
verified each time, and a change in several round trips (\`bench/plain\`). _pgbench_ runs the service's own statements on the same
tables. CPU is the CPU time that the contender's process and PostgreSQL used, divided by the number of requests.`;
  return `${[head, ...outcomes.map(section)].join("\n\n")}\n`;
}
