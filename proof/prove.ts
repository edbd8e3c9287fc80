import { expect } from "vitest";
import { Random } from "@casehound/simulator/random";
import type { Findings, Part } from "./part.ts";

// Runs a part's short form in a test. The seed is new every time, and a failure prints it.
export async function proveShort(part: Part): Promise<Findings["figures"]> {
  const seed = process.env["PROOF_SEED"] ?? String(Date.now());
  const random = new Random(`${seed}/${part.name}`);
  const { figures, violations } = await part.run({ scale: "short", seed, random, progress: () => {} });
  expect(violations, `PROOF_SEED=${seed}`).toEqual([]);
  return figures;
}
