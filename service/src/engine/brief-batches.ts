import type { Turn } from "../db/activities.ts";
import { nextMax } from "./page-batches.ts";

// How long batches stay small after an assessment.
const assessingMs = 10_000;
const limits = { wantedMs: 25, min: 50, max: 500 };

// Whether the tenant's servers are sending assessments now. With a share, only this share of the time counts.
export function isAssessing({ assessed_at: at }: Pick<Turn, "assessed_at">, now: string, share = 1): boolean {
  return at !== null && Date.parse(now) - Date.parse(at) < assessingMs * share;
}

// How many activities a batch may take while an assessment may arrive and wait for it.
export class BriefBatches {
  max = 200;

  measure(measured: { scored: number; tookMs: number }): void {
    this.max = nextMax(this.max, measured, limits);
  }
}
