// How long the engine scores page activity before it looks for server activity again.
export const pagesMs = 250;
export const pageBatchMax = 1_000;
const pageBatchMin = 50;
// Used until a batch has been measured.
export const pagesMaxFirst = 250;

// Returns how many page activities the next batch may take, so that it takes about `pagesMs`. On an idle machine, a full batch is
// faster than that. On a loaded one it can take many seconds, and server activity that arrives meanwhile has to wait.
export function nextPagesMax(pagesMax: number, { scored, tookMs }: { scored: number; tookMs: number }): number {
  // A batch that was neither full nor slow does not show how long a full one takes.
  if (tookMs <= pagesMs && scored < pagesMax) return pagesMax;
  const fitting = Math.round((scored * pagesMs) / Math.max(tookMs, 1));
  return Math.min(pageBatchMax, Math.max(pageBatchMin, fitting));
}
