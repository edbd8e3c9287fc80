// Measures how fast the service is, compared with its limits and with a plain implementation: `npm run bench`.
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chooseParts } from "../../scripts/runs.ts";
import { Progress } from "../../service/src/cli/progress.ts";
import { migrate } from "../../service/src/db/postgres/migrate.ts";
import { openBench } from "../machine.ts";
import { Driver } from "./drive.ts";
import type { Context, Findings, Part, Scale } from "./part.ts";
import { parts } from "./parts.ts";
import { pictures, report, tellMachine, toText, type Outcome } from "./report.ts";

const usage = `npm run bench [-- --quick] [--only <part,part>]

  --quick  fewer and shorter runs, in under four minutes in total: shows that the benchmark works, not how fast the service is
  --only   some of the parts: ${parts.map(({ name }) => name).join(", ")}

Only a full run of every part writes docs/BENCHMARK.md and its pictures. The exit code is 1 if a part did not finish, and 2 for wrong
options. A missed target is reported, but is not a failure.`;

type Wanted = { chosen: Part[]; scale: Scale };

function readOptions(): Wanted {
  const { values } = parseArgs({
    options: { quick: { type: "boolean" }, only: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help === true) {
    console.log(usage);
    process.exit(0);
  }
  const chosen = chooseParts(parts, values.only);
  return { chosen, scale: values.quick === true ? "quick" : "full" };
}

async function runPart(part: Part, context: Omit<Context, "progress">): Promise<Outcome> {
  console.log(`\n== ${part.name}: ${part.title}`);
  const began = Date.now();
  const line = new Progress();
  const progress = (done: number, total: number, what: string) =>
    line.show(() => `   ${part.name}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${what}`);
  let fault: string | null = null;
  const findings = await part.run({ ...context, progress }).catch((error: unknown): Findings => {
    fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { tables: [] };
  });
  line.clear();
  const seconds = Math.round((Date.now() - began) / 1000);
  const outcome = { part, findings, seconds, fault };
  console.log(toText(outcome));
  return outcome;
}

async function measure({ chosen, scale }: Wanted): Promise<Outcome[]> {
  const stops: (() => Promise<void>)[] = [];
  const atEnd = (stop: () => Promise<void>) => void stops.unshift(stop);
  const stopAll = async () => {
    for (const stop of stops.splice(0)) await stop();
  };
  // PostgreSQL does not receive the signal and would keep running.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stopAll().finally(() => process.exit(130)));
  try {
    const bench = await openBench("speed");
    atEnd(bench.stop);
    await migrate(bench.database);
    const driver = await Driver.start();
    atEnd(() => driver.stop());
    const machine = await tellMachine(bench);
    console.log(machine.join("\n"));
    const outcomes: Outcome[] = [];
    for (const part of chosen) outcomes.push(await runPart(part, { scale, driver, bench, atEnd }));
    const isWhole = chosen.length === parts.length && outcomes.every(({ fault }) => fault === null);
    if (scale === "full" && isWhole) write(outcomes, machine);
    return outcomes;
  } finally {
    await stopAll();
  }
}

function write(outcomes: Outcome[], machine: string[]): void {
  const docs = new URL("../../docs/", import.meta.url);
  mkdirSync(new URL("pictures", docs), { recursive: true });
  for (const [name, drawing] of pictures(outcomes)) writeFileSync(new URL(`pictures/${name}`, docs), drawing);
  for (const { path, text } of outcomes.flatMap(({ findings }) => findings.pages ?? []))
    writeFileSync(new URL(`../../${path}`, import.meta.url), text);
  writeFileSync(new URL("BENCHMARK.md", docs), report(outcomes, machine));
  console.log("wrote docs/BENCHMARK.md");
}

try {
  const outcomes = await measure(readOptions());
  process.exitCode = outcomes.some(({ fault }) => fault !== null) ? 1 : 0;
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`bench: ${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
