import type { CallOptions } from "./call.ts";
import type { Case, CaseChange } from "./operations.ts";
import { ProblemError } from "./problem.ts";

// What to close it with, or null to leave it as it is.
export type Closing = Pick<CaseChange, "reason" | "disposition">;
export type Decide = (fresh: Case) => Closing | null | Promise<Closing | null>;

// `closed`: by this very call. The case is as it was last seen.
export type CloseOutcome = { closed: boolean; case: Case };

type Closer = {
  getCase: (case_id: string, options: CallOptions) => Promise<Case>;
  updateCase: (case_id: string, body: CaseChange, options: CallOptions) => Promise<Case>;
};

// Somebody who changes a case each time that it was read would keep us here for ever.
const decisionsMax = 10;

export async function closeByDecision(
  client: Closer,
  case_id: string,
  decide: Decide,
  options: CallOptions,
): Promise<CloseOutcome> {
  for (let decisions = 1; ; decisions++) {
    const fresh = await client.getCase(case_id, options);
    if (fresh.status === "CLOSED") return { closed: false, case: fresh };
    const closing = await decide(fresh);
    if (closing === null) return { closed: false, case: fresh };
    const change: CaseChange = { ...closing, status: "CLOSED", case_version: fresh.case_version };
    try {
      // Another decision is another intended change: each has a key of its own.
      return { closed: true, case: await client.updateCase(case_id, change, options) };
    } catch (error) {
      if (!(error instanceof ProblemError) || !error.hasMoved || decisions >= decisionsMax) throw error;
    }
  }
}
