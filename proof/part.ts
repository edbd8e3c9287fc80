import type { Random } from "@casehound/simulator/random";

// Short: seconds, inside of `npm test`. Full: what `npm run proof` does.
export type Scale = "short" | "full";

export type Proof = {
  scale: Scale;
  seed: string;
  // All chance comes from here, so that a run can be made again. What the scheduler does cannot.
  random: Random;
  progress: (done: number, total: number, what: string) => void;
};

// A violation says what was promised, what was seen and where, so that somebody can look for it.
export type Findings = { figures: Record<string, string | number>; violations: string[] };

export type Part = { name: string; title: string; claim: string; run: (proof: Proof) => Promise<Findings> };
