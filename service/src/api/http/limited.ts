import { Failure } from "../../domain/failure.ts";

export type LimitName = "client" | "tenant" | "collector" | "waiting" | "guesses" | "exports";

// Rejected because of what the sender sent before, not because of this request. Nothing was attempted.
export class Limited extends Failure {
  readonly limit: LimitName;

  constructor(limit: LimitName, detail: string, headers: Record<string, string>) {
    super("rate-limited", detail, { headers });
    this.limit = limit;
  }
}
