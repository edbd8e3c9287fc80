import { unknownAccount } from "./account.ts";
import type { CaseDocument } from "./case.ts";
import type { Finding } from "./finding.ts";

const repeatMs = 10 * 60 * 1000;

// The same reasons in the same session, a moment later and no stronger, tell an investigator nothing: a case under attack
// would change its version with every event, and nobody could close it. An attack's source may take a new session for every try.
export function isRepeat(open: CaseDocument, finding: Finding, nowMs: number): boolean {
  if (finding.isReport) return false;
  const reasons = reasonsOf(finding.explanation);
  return Object.values(open.fraud_occurrences).some(
    (known) =>
      (open.website_account_id === unknownAccount || known.session_id === (finding.session_id ?? "")) &&
      known.risk_score >= finding.score &&
      nowMs - Date.parse(known.generated_at) < repeatMs &&
      reasonsOf(known.explanation) === reasons,
  );
}

function reasonsOf({ model_behaviour: models }: Finding["explanation"]): string {
  return (models ?? [])
    .map((model) => model.model_name)
    .toSorted()
    .join(" ");
}
