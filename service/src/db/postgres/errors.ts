import { DatabaseError } from "pg";
import { Failure } from "../../domain/failure.ts";
import { silenceMessage } from "./wire.ts";

// A unique violation is also a race: run again, the transaction sees the row that it lost to.
export const contendedCodes = new Set(["40001", "40P01", "23505"]);
export const lockTimeoutCode = "55P03";
export const statementTimeoutCode = "57014";
export const readOnlyCode = "25006";
// An earlier statement of the transaction failed.
export const abortedCode = "25P02";
const idleTimeoutCode = "25P03";
// Connection exceptions, insufficient resources (too many connections, disk full), an operator's shutdown, and a read-only
// server.
const awayCodes = /^(08|53|57P|58|25P03|25006)/;
// Errors without a code: the connection was closed, or none could be opened.
const awayMessages = /connection|timeout expired|client was closed|not queryable/i;

// The server may or may not have committed before the connection was lost, so only 500 is correct.
export function uncertain(cause: unknown): Failure {
  return new Failure(
    "internal-error",
    "The connection to the database was lost while the change was being committed. Retry with the same key to learn the outcome.",
    { cause },
  );
}

export function busy(cause: unknown): Failure {
  const headers = { "retry-after": "1" };
  return new Failure("rate-limited", "Too many changes are waiting. Nothing was applied: retry after a short delay.", {
    headers,
    cause,
  });
}

export function contended(cause?: unknown): Failure {
  return new Failure("transaction-contended", "A concurrent change won. Nothing was applied: read again and retry.", { cause });
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

// Whether the connection was lost or cannot be opened now.
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (error instanceof DatabaseError) return awayCodes.test(code);
  return /^E[A-Z]+$/.test(code) || awayMessages.test(error.message);
}

export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === lockTimeoutCode) return contended(error);
  const isSilent = error instanceof Error && error.message === silenceMessage;
  if (code === statementTimeoutCode || isSilent)
    return new Failure("bad-gateway", "The database took too long. Retry after a short delay.", { cause: error });
  if (code === idleTimeoutCode)
    return new Failure("bad-gateway", "The database ended a transaction that was idle for too long. Retry after a short delay.", {
      cause: error,
    });
  if (isAway(error))
    return new Failure("bad-gateway", "The database cannot be reached. Retry after a short delay.", { cause: error });
  return error;
}
