import { firstCharacters } from "./text.ts";

// The closed list of failures. The interface layer maps each to a status, so a code without one does not compile.
export type FailureCode =
  | "bad-request"
  | "invalid-operation-id"
  | "unauthorized"
  | "access-denied"
  | "item-not-found"
  | "method-not-allowed"
  | "item-already-exists"
  | "item-version-conflict"
  | "operation-idempotency-conflict"
  | "transaction-contended"
  | "payload-too-large"
  | "unsupported-media-type"
  | "validation-error"
  | "precondition-required"
  | "rate-limited"
  | "headers-too-large"
  | "internal-error"
  | "bad-gateway"
  | "service-unavailable";

export type FieldError = { field: string; message: string };

// RFC 7644's `scimType`. Only responses to SCIM requests contain it.
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "tooMany"
  | "uniqueness";

type FailureExtra = {
  errors?: FieldError[];
  scimType?: ScimType;
  current_version?: number;
  headers?: Record<string, string>;
  cause?: unknown;
};

// A failure that a caller can act on. Anything else that is thrown is a bug.
export class Failure extends Error {
  readonly code: FailureCode;
  readonly errors: FieldError[] | null;
  readonly currentVersion: number | undefined;
  readonly headers: Record<string, string>;
  readonly scimType: ScimType | undefined;

  constructor(code: FailureCode, detail: string, extra: FailureExtra = {}) {
    super(detail, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = "Failure";
    this.code = code;
    this.errors = extra.errors ?? null;
    this.currentVersion = extra.current_version;
    this.headers = extra.headers ?? {};
    this.scimType = extra.scimType;
  }
}

const shownIdMax = 100;

export function versionConflict(what: string, current: number): Failure {
  return new Failure(
    "item-version-conflict",
    `${what} is at version ${current}, which is not the version that was sent. Read it again before you change it.`,
    { current_version: current },
  );
}

export function notFound(noun: string, id: string): Failure {
  return new Failure("item-not-found", `${noun} not found: ${firstCharacters(id, shownIdMax)}`);
}
