// Tests everything that the project promises under races, crashes and bad input: `npm run proof`.
import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chooseParts, commit } from "../scripts/runs.ts";
import { Progress } from "../service/src/cli/progress.ts";
import { Random } from "@casehound/simulator/random";
import { findOutcome, keepOutcome, type Run } from "./kept.ts";
import type { Findings, Part, Scale } from "./part.ts";
import { parts } from "./parts.ts";
import { report, type Outcome } from "./report.ts";

const usage = `npm run proof [-- --only <part,part>] [--seed <text>] [--resume] [--short]

  --only    some of the parts: ${parts.map(({ name }) => name).join(", ")}
  --seed    the seed of an earlier run, to make the same random choices again
  --resume  takes over the parts that finished without a violation at the same commit with the same --seed
  --short   seconds instead of minutes, as in npm run test:slow

Only a full run of every part writes docs/PROOF.md. The exit code is 1 if a promise was broken, and 2 for wrong options.`;

type Wanted = { chosen: Part[]; seed: string; scale: Scale; isResumed: boolean };

const kept = fileURLToPath(new URL("../node_modules/.cache/proof", import.meta.url));

function readOptions(): Wanted {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      seed: { type: "string" },
      resume: { type: "boolean" },
      short: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    console.log(usage);
    process.exit(0);
  }
  const chosen = chooseParts(parts, values.only);
  const { seed = String(randomInt(2 ** 32)), resume: isResumed = false } = values;
  if (isResumed && values.seed === undefined) throw new TypeError("--resume needs the --seed of the run to be resumed");
  return { chosen, seed, scale: values.short === true ? "short" : "full", isResumed };
}

async function runPart(part: Part, scale: Scale, seed: string): Promise<Outcome> {
  console.log(`\n== ${part.name}: ${part.title}`);
  const began = Date.now();
  const progress = new Progress();
  const show = (done: number, total: number, what: string) =>
    progress.show(() => `   ${part.name}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${what}`);
  const random = new Random(`${seed}/${part.name}`);
  const findings = await part.run({ scale, seed, random, progress: show }).catch((error: unknown): Findings => ({
    figures: {},
    violations: [`the part did not finish: ${error instanceof Error ? error.stack : String(error)}`],
  }));
  progress.clear();
  for (const [name, value] of Object.entries(findings.figures)) console.log(`   ${name}: ${value.toLocaleString("en")}`);
  for (const violation of findings.violations.slice(0, 20)) console.log(`   VIOLATION ${violation}`);
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`== ${part.name}: ${findings.violations.length} violations in ${seconds} s`);
  return { part, findings, seconds };
}

// Takes the part over from the run that is resumed, or runs it.
async function findOrRun(part: Part, { seed, scale, isResumed }: Wanted): Promise<Outcome> {
  const run: Run = { folder: kept, commit: commit(), seed };
  const found = isResumed && scale === "full" ? findOutcome(run, part) : null;
  if (found) {
    console.log(`\n== ${part.name}: taken over`);
    return found;
  }
  const outcome = await runPart(part, scale, seed);
  if (scale === "full") keepOutcome(run, outcome);
  return outcome;
}

async function main(wanted: Wanted): Promise<void> {
  const { chosen, seed, scale } = wanted;
  console.log(`seed ${seed}, parts: ${chosen.map(({ name }) => name).join(", ")}`);
  const outcomes: Outcome[] = [];
  for (const part of chosen) outcomes.push(await findOrRun(part, wanted));
  const violations = outcomes.reduce((sum, { findings }) => sum + findings.violations.length, 0);
  console.log(`\n${violations} violations`);
  if (scale === "full" && chosen.length === parts.length) {
    writeFileSync(new URL("../docs/PROOF.md", import.meta.url), report(outcomes, seed));
    console.log("wrote docs/PROOF.md");
  }
  process.exitCode = violations === 0 ? 0 : 1;
}

try {
  await main(readOptions());
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`proof: ${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
