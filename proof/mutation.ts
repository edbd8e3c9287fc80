import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fileURLToPath } from "node:url";
import { createDatabase } from "../service/test/launch.ts";
import { plant, type Fault } from "./mutation/fault.ts";
import { requestFaults } from "./mutation/faults-requests.ts";
import { writeFaults } from "./mutation/faults-writes.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

export const faults = [...requestFaults, ...writeFaults];

const repository = fileURLToPath(new URL("..", import.meta.url));
const folders = ["node_modules", "service/node_modules", "console/node_modules", "console/dist"];
const copies = { short: 1, full: 2 };
const chosenMax = { short: 2, full: Infinity };

// Copies the sources, and links the installed packages of the original.
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "casehound-mutants-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
    encoding: "utf8",
  });
  for (const file of listed.split("\0").filter(Boolean)) {
    cpSync(join(repository, file), join(copy, file), { recursive: true });
  }
  for (const folder of folders) symlinkSync(join(repository, folder), join(copy, folder));
  return copy;
}

type Run = { hasPassed: boolean; output: string };

async function runTests(copy: string, files: string[], serverUrl: string): Promise<Run> {
  const databaseUrl = await createDatabase(serverUrl);
  const { PATH = "", HOME = "" } = process.env;
  const vitest = join(copy, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "--bail=1", "--retry=0", "--reporter=dot", ...files];
  const child = spawn(process.execPath, args, { cwd: copy, env: { PATH, HOME, TEST_DATABASE_URL: databaseUrl, NO_COLOR: "1" } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { hasPassed: code === 0, output };
}

// Whether the tests detected the fault: tests ran, and the run failed. A file that cannot be loaded runs no test, so it detects
// nothing. The number of failures is not checked, because vitest does not always print it if the first failure ends the run.
async function isCaught(copy: string, fault: Fault, serverUrl: string): Promise<boolean> {
  const path = join(copy, fault.file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, plant(original, fault));
  try {
    const { hasPassed, output } = await runTests(copy, [fault.test], serverUrl);
    return !hasPassed && /^ *Tests +\d/m.test(output);
  } finally {
    writeFileSync(path, original);
  }
}

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const stand = await Stand.open();
  const trees = Array.from({ length: copies[scale] }, copyTree);
  const violations: string[] = [];
  const shuffled = faults.map((fault) => ({ fault, at: random.unit() })).toSorted((a, b) => a.at - b.at);
  const waiting = shuffled.slice(0, chosenMax[scale]).map(({ fault }) => fault);
  const planted = waiting.length;
  let caught = 0;
  try {
    const files = [...new Set(waiting.map(({ test }) => test))];
    const work = async (tree: string) => {
      for (let fault = waiting.pop(); fault !== undefined; fault = waiting.pop()) {
        if (await isCaught(tree, fault, stand.databaseUrl)) caught++;
        else violations.push(`${fault.test} did not detect this fault: ${fault.name} (${fault.file})`);
        progress(planted - waiting.length, planted, "faults planted");
      }
    };
    // Uses the first copy, while the others already start.
    const check = async (tree: string) => {
      const control = await runTests(tree, files, stand.databaseUrl);
      if (!control.hasPassed) violations.push(`without a fault the tests fail: ${control.output.slice(-2000)}`);
    };
    await Promise.all(trees.map((tree, index) => (index === 0 ? check(tree).then(() => work(tree)) : work(tree))));
  } finally {
    for (const tree of trees) rmSync(tree, { recursive: true, force: true });
    await stand.close();
  }
  const score = `${Math.round((caught / planted) * 100)} %`;
  return {
    figures: {
      "faults planted": planted,
      "detected by the tests": caught,
      score,
      "test files": new Set(faults.map(({ test }) => test)).size,
    },
    violations,
  };
}

export const mutation: Part = {
  name: "mutation",
  title: "Planted faults",
  claim:
    "Faults are planted one at a time in a copy of the sources: in the order of checks, fingerprints, predicates, tenants in statements, locks, retries and escapes. The test file named for a fault must fail, and without a fault all of these files must pass.",
  run,
};
