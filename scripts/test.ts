// Runs the checks and the fast tests, or the slow tests with --slow, or those on a Citus cluster with --citus. After a failure,
// nothing else starts.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NoBrowser, ensureChromium } from "./browser.ts";
import { NoMailServer, ensureMailServer } from "./mail-server.ts";
import { NoPooler, ensurePooler } from "./pooler.ts";
import type { Suite } from "./suites.ts";

type Step = { name: string; file: string; args: string[]; env?: NodeJS.ProcessEnv };

const isSlow = process.argv[2] === "--slow";
const isCitus = process.argv[2] === "--citus";
const given = process.argv.slice(isSlow || isCitus ? 3 : 2);
// The fastest check comes first. Then the longest start first, because two run at a time.
const checks: Step[] = [
  { name: "format", file: "oxfmt", args: ["--check"] },
  { name: "lint", file: "oxlint", args: ["--type-aware", "--max-warnings=0"] },
  { name: "types", file: "tsc", args: [] },
  { name: "dead code", file: "knip", args: ["--treat-config-hints-as-errors"] },
  { name: "types of the console", file: "tsc", args: ["--project", "console"] },
  { name: "types of the tag", file: "tsc", args: ["--project", "tag/src/browser"] },
];

function testsOf(suite: Suite, args: string[], more: NodeJS.ProcessEnv = {}): Step {
  return { name: `tests (${suite})`, file: "vitest", args: ["run", ...args], env: { CASEHOUND_SUITE: suite, ...more } };
}

// What the first step sends is planned by the second.
function stepsOnCluster(): Step[] {
  const CASEHOUND_RECORD = join(mkdtempSync(join(tmpdir(), "casehound-statements-")), "statements.jsonl");
  return [testsOf("citus", isCitus ? given : [], { CASEHOUND_RECORD }), testsOf("citus-plans", [], { CASEHOUND_RECORD })];
}

// Returns whether the step passed. The output of a check is shown when it has ended, so that the output of two checks does not
// mix.
async function run({ name, file, args, env }: Step, isShownAtOnce: boolean): Promise<boolean> {
  const began = Date.now();
  const title = `\n== ${name}: ${[file, ...args].join(" ")}`;
  if (isShownAtOnce) console.log(title);
  const child = spawn(file, args, {
    stdio: isShownAtOnce ? "inherit" : ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const status = await new Promise((resolve) => child.on("close", resolve).on("error", resolve));
  if (!isShownAtOnce) console.log(`${title}\n${output}`.trimEnd());
  console.log(`== ${name}: ${status === 0 ? "passed" : "FAILED"} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
  return status === 0;
}

// Runs the checks, two at a time. Returns whether all passed.
async function runChecks(): Promise<boolean> {
  const waiting = [...checks];
  let isPassed = true;
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); isPassed && next !== undefined; next = waiting.shift()) {
      if (!(await run(next, false))) isPassed = false;
    }
  };
  await Promise.all([lane(), lane()]);
  return isPassed;
}

try {
  ensureChromium();
  if (isSlow) {
    ensureMailServer();
    ensurePooler();
  }
} catch (error) {
  if (![NoBrowser, NoMailServer, NoPooler].some((kind) => error instanceof kind)) throw error;
  console.error(`casehound: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(2);
}

let isPassed = isSlow || isCitus || (await runChecks());
const steps = isCitus ? [] : [testsOf(isSlow ? "slow" : "gate", given)];
const hasCluster = process.env["CITUS_DATABASE_URL"] !== undefined;
if (hasCluster && (isSlow || isCitus)) steps.push(...stepsOnCluster());
for (const step of steps) isPassed &&= await run(step, true);
if (!hasCluster && (isSlow || isCitus))
  console.log("\n== tests (citus): not run, because CITUS_DATABASE_URL names no coordinator");
console.log(`\n${isPassed ? "passed" : "FAILED"} in ${process.uptime().toFixed(1)} s`);
process.exitCode = isPassed ? 0 : 1;
