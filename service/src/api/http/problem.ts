import type { ServerResponse } from "node:http";
import { Failure, type FailureCode } from "../../domain/failure.ts";

// The only table that maps codes to statuses.
export const problems: Record<FailureCode, { status: number; title: string }> = {
  "bad-request": { status: 400, title: "Bad request" },
  "invalid-operation-id": { status: 400, title: "Invalid operation id" },
  unauthorized: { status: 401, title: "Unauthorized" },
  "access-denied": { status: 403, title: "Access denied" },
  "item-not-found": { status: 404, title: "Item not found" },
  "method-not-allowed": { status: 405, title: "Method not allowed" },
  "item-already-exists": { status: 409, title: "Item already exists" },
  "item-version-conflict": { status: 409, title: "Item version conflict" },
  "operation-idempotency-conflict": { status: 409, title: "Operation idempotency conflict" },
  "transaction-contended": { status: 409, title: "Transaction contended" },
  "payload-too-large": { status: 413, title: "Payload too large" },
  "unsupported-media-type": { status: 415, title: "Unsupported media type" },
  "validation-error": { status: 422, title: "Validation error" },
  "precondition-required": { status: 428, title: "Precondition required" },
  "rate-limited": { status: 429, title: "Too many requests" },
  "headers-too-large": { status: 431, title: "Request headers too large" },
  "internal-error": { status: 500, title: "Internal error" },
  "bad-gateway": { status: 502, title: "Bad gateway" },
  "service-unavailable": { status: 503, title: "Service unavailable" },
};

// `bytes` is sent instead of `body` if the response is not text. `stream` keeps writing after the headers, until it or the client
// ends the response.
export type Reply = {
  status: number;
  body: string;
  bytes?: Buffer;
  headers: Record<string, string>;
  cookies?: string[];
  fault?: Failure;
  stream?: (to: ServerResponse) => void;
};

export const problemMediaType = "application/problem+json";

export function problemReply(failure: Failure): Reply {
  const { status } = problems[failure.code];
  return {
    status,
    body: JSON.stringify(problemMembers(failure)),
    headers: { "content-type": problemMediaType, ...failure.headers },
  };
}

export function problemMembers(failure: Failure) {
  const { status, title } = problems[failure.code];
  return {
    type: failure.code,
    title,
    status,
    detail: failure.message,
    errors: failure.errors,
    ...(failure.currentVersion !== undefined && { current_version: failure.currentVersion }),
  };
}

// Anything else thrown is a bug. The caller gets a generic message, and the log gets the whole error.
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure("internal-error", "Something went wrong on our side. Retry with exponential backoff.", { cause: error });
}
