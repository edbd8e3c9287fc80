import { Failure } from "../../domain/failure.ts";

export type LimitName = "client" | "tenant" | "collector" | "waiting" | "guesses";

// Refused for what its sender has sent before, not for what it is. Nothing was tried.
export class Limited extends Failure {
  readonly limit: LimitName;

  constructor(limit: LimitName, detail: string, headers: Record<string, string>) {
    super("rate-limited", detail, { headers });
    this.limit = limit;
  }
}
