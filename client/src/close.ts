import type { CallOptions } from "./call.ts";
import type { Case, CaseChange } from "./types.ts";
import { ProblemError } from "./problem.ts";

// What to close the case with, or null to leave it open.
export type Closing = Omit<CaseChange, "status" | "case_version">;
export type Decide = (fresh: Case) => Closing | null | Promise<Closing | null>;

// `closed` means closed by this call. `case` is the case as last read.
export type CloseOutcome = { closed: boolean; case: Case };

type Closer = {
  getCase: (case_id: string, options: CallOptions) => Promise<Case>;
  updateCase: (case_id: string, body: CaseChange, options: CallOptions) => Promise<Case>;
};

// Limits the loop if somebody changes the case after every read.
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
      // Another decision is another intended change, so each has its own key.
      return { closed: true, case: await client.updateCase(case_id, change, options) };
    } catch (error) {
      if (!(error instanceof ProblemError) || !error.hasMoved || decisions >= decisionsMax) throw error;
    }
  }
}
