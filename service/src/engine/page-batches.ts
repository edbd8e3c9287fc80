// How long page activity may be scored before the engine looks for server activity again.
export const pagesMs = 250;
export const pageBatchMax = 1_000;
const pageBatchMin = 50;
// Before anything was measured.
export const pagesMaxFirst = 250;

// How many page activities the next batch may take, so that it lasts about `pagesMs`. On an idle machine a full batch takes less.
// On a loaded one it can take many seconds, and server activity that arrives meanwhile has to wait for its end.
export function nextPagesMax(pagesMax: number, { scored, tookMs }: { scored: number; tookMs: number }): number {
  // A batch that was neither full nor slow says nothing about a full one.
  if (tookMs <= pagesMs && scored < pagesMax) return pagesMax;
  const fitting = Math.round((scored * pagesMs) / Math.max(tookMs, 1));
  return Math.min(pageBatchMax, Math.max(pageBatchMin, fitting));
}
