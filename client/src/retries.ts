import { ProblemError, TimedOut, WrongBaseAddress } from "./problem.ts";

// `isRepeatable`: to send it twice is to have sent it once.
export type Attempt = { attempt: number; isRepeatable: boolean };

const firstPauseMs = 200;
const longestPauseMs = 30_000;
// Who is asked to stay away for longer is told so, instead of being kept. Timers know no time beyond some weeks, and fire at once.
const longestRetryAfterMs = 120_000;

// Whether the same call may well succeed later: the service or what stands before it failed or had too much to do, or nothing
// answered.
export function isPassing(error: unknown): boolean {
  if (error instanceof ProblemError || error instanceof WrongBaseAddress) return error.status >= 500 || error.status === 429;
  return error instanceof TypeError || error instanceof TimedOut;
}

// How long to wait before the next attempt, or null where there must be none.
//
// | what came back                     | repeatable           | not repeatable       |
// | no answer, too late, 500 and above | again, the same key  | thrown: it may have been applied |
// | 429                                | again when it says   | again when it says   |
// | 429 for more than two minutes      | thrown               | thrown               |
// | transaction-contended              | again                | again                |
// | everything else                    | thrown               | thrown               |
export function pauseMs(error: unknown, { attempt, isRepeatable }: Attempt): number | null {
  const backOff = Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs) * (0.5 + Math.random());
  if (error instanceof ProblemError && error.status === 429) {
    const { retryAfterMs = 0 } = error;
    return retryAfterMs > longestRetryAfterMs ? null : Math.max(backOff, retryAfterMs);
  }
  // Neither was applied.
  if (error instanceof ProblemError && error.type === "transaction-contended") return backOff;
  if (error !== null && !isPassing(error)) return null;
  return isRepeatable ? backOff : null;
}
