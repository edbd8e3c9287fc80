import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Findings, Proof } from "../part.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

type Run = { code: number | null; output: string };

// Adds up the closing lines of the test runs, such as "Tests  3 failed | 812 passed (815)".
export function countTests(output: string): { files: number; tests: number; failed: number } {
  const counts = { files: 0, tests: 0, failed: 0 };
  for (const [, kind, line = ""] of output.matchAll(/^ *(Test Files|Tests) +(.+)$/gm)) {
    const numberOf = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
    const all = numberOf("passed") + numberOf("failed");
    if (kind === "Test Files") counts.files += all;
    else counts.tests += all;
    if (kind === "Tests") counts.failed += numberOf("failed");
  }
  return counts;
}

async function runOn(url: string, onLine: (line: string) => void): Promise<Run> {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, ["scripts/test.ts", "--citus"], {
    cwd: repository,
    env: { PATH, HOME, CITUS_DATABASE_URL: url, NO_COLOR: "1" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      onLine(text);
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output };
}

// Runs the tests of the contract, races, isolation, the collector and the engine on the cluster, and plans every statement that
// they sent.
export async function runSuites({ progress }: Pick<Proof, "progress">, url: string): Promise<Findings> {
  let files = 0;
  const { code, output } = await runOn(url, (text) => {
    files += [...text.matchAll(/^ *[✓❯×] .*\.test\.ts/gm)].length;
    progress(files, files, "files of tests on the cluster");
  });
  const counts = countTests(output);
  const violations = code === 0 && counts.failed === 0 ? [] : [`the tests did not pass on the cluster: ${output.slice(-2_000)}`];
  return {
    figures: { "tests run on the cluster": counts.tests, "in files": counts.files, "tests that failed": counts.failed },
    violations,
  };
}
