import { DatabaseError } from "pg";
import { Failure } from "../../domain/failure.ts";
import { UnconfirmedCommit, silenceMessage } from "./wire.ts";

// A unique violation is also a race: run again, the transaction sees the row that it lost to.
const contendedCodes = new Set(["40001", "40P01", "23505"]);
export const lockTimeoutCode = "55P03";
export const statementTimeoutCode = "57014";
export const readOnlyCode = "25006";
// An earlier statement of the transaction failed.
export const abortedCode = "25P02";
const idleTimeoutCode = "25P03";
// Connection exceptions, insufficient resources (too many connections, disk full), an operator's shutdown, and a read-only
// server.
const awayCodes = /^(08|53|57P|58|25P03|25006)/;
// What a cluster's coordinator reports if one of its nodes is away, besides those codes.
const internalCode = "XX000";
const awayNodes = /remote node|connection to the|failed to assign|placement|postmaster was shut down/i;
// Errors without a code: the connection was closed, or none could be opened.
const awayMessages = /connection|timeout expired|timeout exceeded|another server|client was closed|not queryable/i;
// Of the system or of the name service, such as ECONNREFUSED or EAI_AGAIN. Node's own begin with ERR_.
const systemCode = /^E(?!RR_)[A-Z_]+$/;
const shutdownCodes = /^(08|57P0[123])/;
const lostMessages = /timeout expired|terminated|another server/i;

// The connection waited too long in this process, which says nothing about the server.
export class NoTurn extends Error {
  constructor() {
    super("timeout expired");
  }
}

// The server is a standby, or only reads for another reason.
export class ReadOnlyServer extends Error {
  readonly code = readOnlyCode;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

export function isContended(error: unknown): boolean {
  return contendedCodes.has(codeOf(error));
}

// Whether the connection was lost or cannot be opened now.
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (error instanceof DatabaseError || error instanceof ReadOnlyServer)
    return awayCodes.test(code) || (code === internalCode && awayNodes.test(error.message));
  return systemCode.test(code) || awayMessages.test(error.message);
}

// Whether a failure to connect says that this server cannot be used, and not only that it refuses this connection.
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code === readOnlyCode || shutdownCodes.test(code)) return true;
  return !(error instanceof DatabaseError) && (systemCode.test(code) || lostMessages.test(error.message));
}

export function contended(cause?: unknown): Failure {
  return new Failure("transaction-contended", "A concurrent change won. Nothing was applied: read again and retry.", { cause });
}

export function busy(cause: unknown): Failure {
  const headers = { "retry-after": "1" };
  return new Failure("rate-limited", "Too many changes are waiting. Nothing was applied: retry after a short delay.", {
    headers,
    cause,
  });
}

// The server may or may not have committed before the connection was lost, so only 500 is correct.
export function uncertain(cause: unknown): Failure {
  return new Failure(
    "internal-error",
    "The connection to the database was lost while the change was being committed. Retry with the same key to learn the outcome.",
    { cause },
  );
}

// Why a commit was not confirmed.
export function notCommitted(cause: unknown): Failure {
  return cause instanceof UnconfirmedCommit ? unconfirmed(cause) : uncertain(cause);
}

function unconfirmed(cause: unknown): Failure {
  const text = "A standby or a node that must confirm the change has not done so. Retry with the same key to learn the outcome.";
  return new Failure("internal-error", text, { cause });
}

export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  if (error instanceof UnconfirmedCommit) return unconfirmed(error);
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

export function throwFailure(error: unknown): never {
  throw toFailure(error);
}
