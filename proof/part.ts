import type { Random } from "@casehound/simulator/random";

// Short: takes seconds, inside `npm run test:slow`. Full: what `npm run proof` runs.
export type Scale = "short" | "full";

export type Proof = {
  scale: Scale;
  seed: string;
  // All randomness comes from here, so a run can be repeated. The scheduler's choices cannot.
  random: Random;
  progress: (done: number, total: number, what: string) => void;
};

// A violation says what was promised, what was seen and where, so it can be investigated.
export type Findings = { figures: Record<string, string | number>; violations: string[] };

export type Part = { name: string; title: string; claim: string; run: (proof: Proof) => Promise<Findings> };
