// The templates for the cases of a large store: a few that detection opened itself, closed by the service's own rules, with every
// label and score.
import { changeStatus, type CaseDocument } from "../../service/src/domain/case.ts";
import { hasNewEvidence } from "../../service/src/domain/case-digest.ts";
import { actions, type Label } from "../../service/src/domain/finding.ts";

// `document` is a format string for PostgreSQL's format(): case, tenant, account, creation time, time of the last change.
export type Template = {
  place: number;
  status: string;
  case_version: number;
  overall_risk_score: number;
  primary_fraud_label: string;
  recommended_action: string;
  has_new_evidence: boolean;
  is_changed: boolean;
  document: string;
};

// The choices are independent, so every kind of case exists, each with its proper share. Detection opens cases from score 3 on;
// lower ones come from older rules. Kinds are shares of the newer half only, because all cases in the older half are closed.
export const kinds: [name: "closed" | "open" | "fresh", share: number][] = [
  ["closed", 0.6],
  ["open", 0.28],
  ["fresh", 0.12],
];
export const labelShares: [Label, number][] = [
  ["Account Takeover", 0.4],
  ["Bot", 0.3],
  ["Synthetic", 0.2],
  ["Organic", 0.1],
];
export const scoreShares: [number, number][] = [
  [3, 0.5],
  [4, 0.27],
  [5, 0.13],
  [2, 0.06],
  [1, 0.04],
];
export const variants = 4;

// In the order of kind, label, score and variant, which determines a template's place.
export function makeTemplates(detected: CaseDocument[]): Template[] {
  const plain = typical(detected.filter((each) => each.status === "OPEN" && each.state_history.length === 0));
  const fresh = typical(detected.filter(hasNewEvidence));
  const made: Template[] = [];
  for (const [kind] of kinds) {
    for (const [label] of labelShares) {
      for (const [score] of scoreShares) {
        for (let variant = 0; variant < variants; variant++) {
          const of = kind === "fresh" ? fresh : plain;
          const base = of[(made.length + variant) % of.length];
          if (!base) throw new Error("detection has opened too few cases to copy");
          const found = withFinding(base, label, score);
          made.push({ place: made.length, ...toTemplate(kind === "closed" ? closed(found, variant) : found) });
        }
      }
    }
  }
  return made;
}

// Excludes the smallest cases, and those of long attacks, which contain hundreds of occurrences.
function typical(documents: CaseDocument[]): CaseDocument[] {
  const sorted = documents.toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length);
  return sorted.slice(Math.floor(sorted.length * 0.2), Math.ceil(sorted.length * 0.8));
}

function withFinding(document: CaseDocument, label: Label, score: number): CaseDocument {
  const recommended_action = actions[Math.min(score, actions.length) - 1] ?? "MONITOR";
  const details = { overall_risk_score: score, primary_fraud_label: label, fraud_labels: [label], recommended_action };
  return {
    ...document,
    current_state: { ...document.current_state, score },
    details: { ...document.details, ...details },
  };
}

function closed(open: CaseDocument, variant: number): CaseDocument {
  const now = new Date(Date.parse(open.updated_at ?? open.created_at) + 60_000).toISOString();
  const disposition = (["CONFIRMED_FRAUD", "FALSE_POSITIVE", "INCONCLUSIVE"] as const)[variant % 3] ?? "INCONCLUSIVE";
  const change = { status: "CLOSED" as const, case_version: open.case_version, disposition, reason: "The customer was called." };
  return changeStatus(open, change, { name: "ada@example.org", now, state_id: open.case_id }).document;
}

function toTemplate(document: CaseDocument): Omit<Template, "place"> {
  const { details, updated_at, current_state: state } = document;
  const isChanged = updated_at !== null;
  // Evidence added in the batch that opened the case has the case's own time.
  const changed = { updated_at: "\u0001changed", current_state: { ...state, changed_at: "\u0001changed" } };
  const marked = { ...document, website_account_id: "\u0001account", ...(isChanged && changed) };
  const text = JSON.stringify(marked)
    .replaceAll("%", "%%")
    .replaceAll(String.raw`\u0001account`, "%3$s")
    .replaceAll(String.raw`\u0001changed`, "%5$s")
    .replaceAll(document.case_id, "%1$s")
    .replaceAll(document.tenant_id, "%2$s")
    .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, (time) =>
      time === JSON.stringify(document.created_at) ? '"%4$s"' : '"%5$s"',
    );
  return {
    status: document.status,
    case_version: document.case_version,
    overall_risk_score: details.overall_risk_score,
    primary_fraud_label: details.primary_fraud_label,
    recommended_action: details.recommended_action,
    has_new_evidence: hasNewEvidence(document),
    is_changed: isChanged,
    document: text,
  };
}
