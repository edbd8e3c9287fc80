const dayMs = 24 * 60 * 60 * 1000;
const daysDefault = 30;
const delaysMin = 50;
// Training looks back 90 days, so at least 30 days must be left. If labels for a long time arrive all at once, their delays say
// little.
const daysMax = 60;
// From this score on, an activity opens or joins a case.
const caseScore = 3;

// How long it takes until a fraud is reported: the number of known delays, and their 95th percentile.
export type ReportDelays = { count: number; p95Ms: number };

// After this time, an activity that nobody has reported counts as honest. It is the tenant's own 95th percentile, once enough
// delays are known. At least a day, so that a tenant that reports at once does not call today's frauds honest.
export function maturityMs({ count, p95Ms }: ReportDelays): number {
  if (count < delaysMin) return daysDefault * dayMs;
  return Math.min(Math.max(p95Ms, dayMs), daysMax * dayMs);
}

export type UnlabelledActivity = { at: number; score: number; hasCase: boolean; isDeclined: boolean; isImported: boolean };

// The label of an activity that nobody has labelled: 0 if it is mature, otherwise null. A payment that was stopped could not
// become a fraud. What belongs to a case, or is suspicious enough for one, is left to a person: if the case is decided, its
// activities have labels, and if it is open or inconclusive, nothing is known. Nobody acted on the score of imported activity,
// and the import says which of it was a fraud.
export function maturedLabel(each: UnlabelledActivity, { now, matureMs }: { now: number; matureMs: number }): 0 | null {
  const { at, score, hasCase, isDeclined, isImported } = each;
  const isLeft = isDeclined || hasCase || (score >= caseScore && !isImported);
  return at <= now - matureMs && !isLeft ? 0 : null;
}
