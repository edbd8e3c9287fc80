// Runs the checks and the fast tests, the fastest to fail first, or with --slow the tests that take long by nature.
import { spawnSync } from "node:child_process";
import { NoBrowser, ensureChromium } from "./browser.ts";
import type { Suite } from "./suites.ts";

const isSlow = process.argv[2] === "--slow";
const suite: Suite = isSlow ? "slow" : "gate";
const checks = [
  { name: "format", file: "oxfmt", args: ["--check"] },
  { name: "types", file: "tsc", args: [] },
  { name: "types of the tag", file: "tsc", args: ["--project", "tag/src/browser"] },
  { name: "types of the console", file: "tsc", args: ["--project", "console"] },
  { name: "lint", file: "oxlint", args: ["--type-aware", "--max-warnings=0"] },
  { name: "dead code", file: "knip", args: ["--treat-config-hints-as-errors"] },
];
const tests = { name: `tests (${suite})`, file: "vitest", args: ["run", ...process.argv.slice(isSlow ? 3 : 2)] };
const steps = isSlow ? [tests] : [...checks, tests];

try {
  ensureChromium();
} catch (error) {
  if (!(error instanceof NoBrowser)) throw error;
  console.error(`casehound: ${error.message}`);
  process.exit(2);
}

let failed = 0;
for (const { name, file, args } of steps) {
  const began = Date.now();
  console.log(`\n== ${name}: ${[file, ...args].join(" ")}`);
  const { status } = spawnSync(file, args, { stdio: "inherit", env: { ...process.env, CASEHOUND_SUITE: suite } });
  console.log(`== ${name}: ${status === 0 ? "passed" : "FAILED"} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
  if (status !== 0) failed++;
}
console.log(`\n${steps.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
