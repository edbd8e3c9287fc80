import type { Assessment, AssessmentRequest } from "./types.ts";
import { isPassing } from "./retries.ts";

export type AssessOptions = {
  // How long the caller waits, in milliseconds, from 25 to 2,000. The default is 150.
  deadlineMs?: number;
  // The action if there is no verdict in time. The default is ALLOW.
  otherwise?: Assessment["action"];
  signal?: AbortSignal;
};

// `answered_by`: `service`, or the reason why the service gave no verdict: `timeout` or `unreachable`. In these two cases the
// action is `otherwise`, `prediction_id` is null, and it is unknown whether the activity is stored. Sending it again is harmless.
export type Assessed = Omit<Assessment, "prediction_id"> & {
  prediction_id: string | null;
  answered_by: "service" | "timeout" | "unreachable";
  error?: unknown;
};

export type AssessedActivity = Omit<AssessmentRequest, "deadline_ms" | "otherwise">;
type Send = (body: AssessmentRequest, limits: { signal: AbortSignal; timeoutMs: number }) => Promise<Assessment>;

const deadlines = { min: 25, max: 2_000, fallback: 150 };
// The service gets this share of the time. The rest is for the network.
const serviceShare = 0.8;

// Never throws because the service is slow or unreachable. Throws if the service rejects the request, because that is a mistake
// in the caller's code or configuration, and if the caller's own signal is aborted.
export async function assessWith(
  send: Send,
  activity: AssessedActivity,
  { deadlineMs = deadlines.fallback, otherwise = "ALLOW", signal }: AssessOptions,
): Promise<Assessed> {
  if (!(deadlineMs >= deadlines.min && deadlineMs <= deadlines.max))
    throw new RangeError(`deadlineMs must be between ${deadlines.min} and ${deadlines.max}`);
  const beganMs = performance.now();
  const limit = AbortSignal.timeout(deadlineMs);
  const limits = { signal: signal ? AbortSignal.any([signal, limit]) : limit, timeoutMs: deadlineMs };
  const body = { ...activity, deadline_ms: Math.floor(deadlineMs * serviceShare), otherwise };
  try {
    return { ...(await sendTwice(send, body, limits)), answered_by: "service" };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (!limit.aborted && !isPassing(error)) throw error;
    return {
      activity_id: activity.activity_id,
      prediction_id: null,
      action: otherwise,
      score: null,
      log_odds: null,
      is_final: false,
      verdict_from: "otherwise",
      reasons: [],
      case_id: null,
      lists: [],
      took_ms: Math.round(performance.now() - beganMs),
      is_stored: false,
      answered_by: limit.aborted ? "timeout" : "unreachable",
      error,
    };
  }
}

// Retries once, because the service may have closed a connection that the client wanted to reuse. The activity is stored once,
// however often it is sent.
async function sendTwice(send: Send, body: AssessmentRequest, limits: Parameters<Send>[1]): Promise<Assessment> {
  try {
    return await send(body, limits);
  } catch (error) {
    if (!(error instanceof TypeError) || limits.signal.aborted) throw error;
    return send(body, limits);
  }
}
