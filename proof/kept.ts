// The findings of finished parts, so that an interrupted run can be resumed, and parts can run in several processes.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "./report.ts";
import type { Part } from "./part.ts";

// All outcomes on one page belong to the same commit and the same seed.
export type Run = { folder: string; commit: string; seed: string };

const cleanCommit = /^[0-9a-f]{40}$/;

const fileOf = ({ folder, commit, seed }: Run, part: Part) =>
  join(folder, `${commit}-${encodeURIComponent(seed)}-${part.name}.json`);

export function keepOutcome(run: Run, { part, findings, seconds }: Outcome): void {
  // With uncommitted changes, the commit does not say what was tested.
  if (!cleanCommit.test(run.commit)) return;
  mkdirSync(run.folder, { recursive: true });
  writeFileSync(fileOf(run, part), JSON.stringify({ findings, seconds }));
}

// Returns null if the part has not finished in this run. A part with violations must run again.
export function findOutcome(run: Run, part: Part): Outcome | null {
  if (!cleanCommit.test(run.commit)) return null;
  try {
    // The cast is safe: these files are only written above.
    const kept = JSON.parse(readFileSync(fileOf(run, part), "utf8")) as Omit<Outcome, "part">;
    return kept.findings.violations.length === 0 ? { part, ...kept } : null;
  } catch {
    return null;
  }
}
