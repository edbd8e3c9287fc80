import type { Turn } from "../db/activities.ts";
import { nextMax } from "./page-batches.ts";

// For how long batches stay small after the last assessment.
const assessingMs = 10_000;
const limits = { wantedMs: 25, min: 50, max: 500 };

// Whether the tenant's servers ask for assessments now. With a share, whether they did within this share of the time.
export function isAssessing({ assessed_at: at }: Pick<Turn, "assessed_at">, now: string, share = 1): boolean {
  return at !== null && Date.parse(now) - Date.parse(at) < assessingMs * share;
}

// How many activities a batch may take while somebody may be waiting for the next one.
export class BriefBatches {
  max = 200;

  measure(measured: { scored: number; tookMs: number }): void {
    this.max = nextMax(this.max, measured, limits);
  }
}
