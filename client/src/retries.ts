import { ProblemError, TimedOut, WrongBaseAddress } from "./problem.ts";

// `isRepeatable` means that sending the request twice has the same effect as sending it once.
export type Attempt = { attempt: number; isRepeatable: boolean };

const firstPauseMs = 200;
const longestPauseMs = 30_000;
// If the service asks for a longer wait, throw instead of waiting. A timer of more than some weeks overflows and fires at once.
const longestRetryAfterMs = 120_000;

// Whether the same call may succeed later: the service or a proxy failed or was overloaded, or nothing answered.
export function isPassing(error: unknown): boolean {
  if (error instanceof ProblemError || error instanceof WrongBaseAddress) return error.status >= 500 || error.status === 429;
  return error instanceof TypeError || error instanceof TimedOut;
}

// How long to wait before the next attempt, or null if there must be none.
//
// | response                      | repeatable             | not repeatable                   |
// | none, timeout, 500 and above  | retried, same key      | thrown: it may have been applied |
// | 429                           | retried after the wait | retried after the wait           |
// | 429 for more than two minutes | thrown                 | thrown                           |
// | transaction-contended         | retried                | retried                          |
// | everything else               | thrown                 | thrown                           |
export function pauseMs(error: unknown, { attempt, isRepeatable }: Attempt): number | null {
  const backOff = Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs) * (0.5 + Math.random());
  if (error instanceof ProblemError && error.status === 429) {
    const { retryAfterMs = 0 } = error;
    return retryAfterMs > longestRetryAfterMs ? null : Math.max(backOff, retryAfterMs);
  }
  // A contended transaction was not applied.
  if (error instanceof ProblemError && error.type === "transaction-contended") return backOff;
  if (error !== null && !isPassing(error)) return null;
  return isRepeatable ? backOff : null;
}
