import type { Case } from "@casehound/client";

export type Difference = {
  versions: { from: number; to: number };
  scores: { from: number; to: number } | null;
  changed_at: string;
  changed_by: string;
  evidence: string[];
};

const evidenceMax = 3;

// Summarizes what happened to a case since somebody looked at it.
export function differenceOf(seen: Pick<Case, "case_version"> & Partial<Case>, now: Case): Difference {
  const before = seen.details?.overall_risk_score;
  const after = now.details.overall_risk_score;
  const known = new Set(Object.keys(seen.fraud_occurrences ?? now.fraud_occurrences));
  const added = Object.values(now.fraud_occurrences).filter((each) => !known.has(each.occurrence_id));
  return {
    versions: { from: seen.case_version, to: now.case_version },
    scores: before === undefined || before === after ? null : { from: before, to: after },
    changed_at: now.current_state.changed_at,
    changed_by: now.current_state.changed_by,
    evidence: [...new Set(added.map((each) => each.explanation.fraud_reason))].slice(-evidenceMax),
  };
}
