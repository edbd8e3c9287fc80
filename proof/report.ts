import { cpus } from "node:os";
import { commit } from "../scripts/runs.ts";
import type { Findings, Part } from "./part.ts";

export type Outcome = { part: Part; findings: Findings; seconds: number };

function section({ part, findings, seconds }: Outcome): string {
  const rows = Object.entries(findings.figures).map(([name, value]) => `| ${name} | ${value.toLocaleString("en")} |`);
  const violations = findings.violations.map((violation) => `- ${violation.replaceAll("\n", " ")}`);
  const heading = `## ${part.title}\n\n${part.claim}\n\n| | |\n|---|---:|`;
  return [heading, ...rows, `| violations | ${findings.violations.length} |`, `| seconds | ${seconds} |`, "", ...violations]
    .join("\n")
    .trim();
}

// The complete docs/PROOF.md. It is never edited by hand.
export function report(outcomes: Outcome[], seed: string): string {
  const violations = outcomes.reduce((sum, { findings }) => sum + findings.violations.length, 0);
  const minutes = Math.round(outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const head = `# Proof

Tests of what the service promises under races, crashes, cut connections and bad input. \`npm run proof\` writes this page in about
${minutes} minutes. \`npm run test:slow\` runs a short form of each part.

**${violations} violations.** Seed \`${seed}\` (\`npm run proof -- --seed ${seed}\` makes the same random choices again; the machine's
scheduler still acts differently every time). Commit \`${commit()}\`. ${new Date().toISOString().slice(0, 10)}, Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores.`;
  return `${[head, ...outcomes.map(section)].join("\n\n")}\n`;
}
