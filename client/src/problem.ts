export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors: { field: string; message: string }[] | null;
  current_version?: number;
};

// What the service refused, and why. Branch on `type`.
export class ProblemError extends Error implements Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors: Problem["errors"];
  readonly current_version?: number;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
    this.type = problem.type;
    this.title = problem.title;
    this.status = problem.status;
    this.detail = problem.detail;
    this.errors = problem.errors;
    if (problem.current_version !== undefined) this.current_version = problem.current_version;
  }
}

// An answer that is not the service's own, as a proxy's page is.
export class UnexpectedAnswer extends Error {
  readonly status: number;

  constructor(status: number, words: string, options?: ErrorOptions) {
    super(words, options);
    this.name = "UnexpectedAnswer";
    this.status = status;
  }
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "type" in value && "status" in value && "detail" in value;
}
