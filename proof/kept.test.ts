import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findOutcome, keepOutcome, type Run } from "./kept.ts";
import type { Part } from "./part.ts";

const part: Part = { name: "crashes", title: "Crashes", claim: "Nothing is lost.", run: async () => found([]) };
const found = (violations: string[]) => ({ figures: { kills: 210, "seconds until ready": "0.4" }, violations });

function newRun(commit = "a".repeat(40)): Run {
  const folder = mkdtempSync(join(tmpdir(), "kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder: join(folder, "proof"), commit, seed: "7/up" };
}

test("proof: a resumed run takes over a part that finished at the same commit with the same seed", () => {
  const run = newRun();
  expect(findOutcome(run, part)).toBeNull();
  keepOutcome(run, { part, findings: found([]), seconds: 370 });
  expect(findOutcome(run, part)).toEqual({ part, findings: found([]), seconds: 370 });
  expect(findOutcome({ ...run, seed: "8" }, part)).toBeNull();
  expect(findOutcome({ ...run, commit: "b".repeat(40) }, part)).toBeNull();
  expect(findOutcome(run, { ...part, name: "cuts" })).toBeNull();
});

test("proof: a resumed run repeats a part that found violations", () => {
  const run = newRun();
  keepOutcome(run, { part, findings: found(["a version was lost"]), seconds: 370 });
  expect(findOutcome(run, part)).toBeNull();
});

test("proof: nothing is taken over while there are uncommitted changes", () => {
  const run = newRun(`${"a".repeat(40)}, with uncommitted changes`);
  keepOutcome(run, { part, findings: found([]), seconds: 370 });
  expect(findOutcome(run, part)).toBeNull();
});
