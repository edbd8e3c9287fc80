import type { ProblemType } from "./types.ts";

export type Problem = {
  // Later versions may add types.
  type: ProblemType | (string & {});
  title: string;
  status: number;
  detail: string;
  errors: { field: string; message: string }[] | null;
  current_version?: number;
};

// Why the service rejected a request. Branch on `type`.
export class ProblemError extends Error implements Problem {
  override readonly name = "ProblemError";
  readonly type: Problem["type"];
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors: Problem["errors"];
  readonly current_version?: number;
  // How long the service asks the client to wait.
  readonly retryAfterMs?: number;

  constructor(problem: Problem, { retryAfterMs }: { retryAfterMs?: number } = {}) {
    super(problem.detail);
    this.type = problem.type;
    this.title = problem.title;
    this.status = problem.status;
    this.detail = problem.detail;
    this.errors = problem.errors;
    if (problem.current_version !== undefined) this.current_version = problem.current_version;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }

  // Whether the case has changed since the decision. Read it and decide again.
  get hasMoved(): boolean {
    return this.type === "item-version-conflict" || (this.type === "transaction-contended" && this.current_version !== undefined);
  }

  at(version: number): ProblemError {
    const { type, title, status, detail, errors } = this;
    return new ProblemError({ type, title, status, detail, errors, current_version: version });
  }
}

// A response that is not from the service, such as a proxy's error page or another website.
export class WrongBaseAddress extends Error {
  override readonly name = "WrongBaseAddress";
  readonly status: number;

  constructor(status: number, words: string, options?: ErrorOptions) {
    super(words, options);
    this.status = status;
  }
}

// No response in time. A change may have been applied; the same call with the same key finds out.
export class TimedOut extends Error {
  override readonly name = "TimedOut";
}

// The caller's signal aborted the call. Its reason is the cause.
export class Aborted extends Error {
  override readonly name = "Aborted";

  constructor(cause: unknown) {
    super("the call was aborted", { cause });
  }
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "type" in value && "status" in value && "detail" in value;
}
