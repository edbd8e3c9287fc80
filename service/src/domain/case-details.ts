import { Type, type Static } from "typebox";
import { claimedAccounts } from "./evidence.ts";
import { Score, actions, labels, type Finding } from "./finding.ts";
import { CaseMembers } from "./member.ts";
import { CaseSubject } from "./subject.ts";

const highlightsMax = 20;

export const CaseDetails = Type.Object(
  {
    overall_risk_score: Score,
    primary_fraud_label: Type.Enum([...labels]),
    fraud_labels: Type.Array(Type.Enum([...labels])),
    summary: Type.String(),
    highlights: Type.Array(Type.String()),
    recommended_action: Type.Enum([...actions], { description: "A recommendation to the investigator. It is not enforced." }),
    claimed_accounts: Type.Optional(
      Type.Array(Type.String(), {
        description: "In a case about a source: the accounts that its pages named, at most 100. They are claimed, not verified.",
      }),
    ),
    subject: Type.Optional(CaseSubject),
    members: Type.Optional(CaseMembers),
    campaign_case_id: Type.Optional(
      Type.String({
        description:
          "The case about the source or the campaign, if an attack on many accounts opened this case about an account.",
      }),
    ),
    random_check: Type.Optional(
      Type.Literal(true, {
        description:
          "The case was opened for an activity with a low score that was chosen at random, to estimate how many frauds are missed.",
      }),
    ),
  },
  { additionalProperties: false, $id: "CaseDetails" },
);
export type CaseDetails = Static<typeof CaseDetails>;

export function newDetails(finding: Finding): CaseDetails {
  return {
    overall_risk_score: finding.score,
    primary_fraud_label: finding.label,
    fraud_labels: [finding.label],
    summary: finding.summary,
    highlights: finding.highlights.slice(0, highlightsMax),
    recommended_action: finding.action,
    ...claimedAccounts(undefined, finding),
    ...(finding.isRandomCheck && { random_check: true as const }),
  };
}

// Scores, labels and the recommendation only rise. `areClaims`: all evidence of the case so far is claimed by pages. A page's
// claim ranks below evidence from other sources.
export function joinedDetails(before: CaseDetails, finding: Finding, areClaims: boolean): CaseDetails {
  const isClaim = finding.source === "page";
  const isEqual = finding.score === before.overall_risk_score;
  const isStronger = finding.score > before.overall_risk_score || (isEqual && areClaims && !isClaim);
  const isBehind = isClaim && !areClaims;
  const isAction = actions.indexOf(finding.action) > actions.indexOf(before.recommended_action);
  return {
    ...before,
    overall_risk_score: Math.max(before.overall_risk_score, finding.score),
    primary_fraud_label: isStronger ? finding.label : before.primary_fraud_label,
    fraud_labels: [...new Set([...before.fraud_labels, finding.label])],
    // The summary of the strongest evidence, or of the latest among equals.
    summary: isStronger || (isEqual && !isBehind) ? finding.summary : before.summary,
    highlights: [
      ...new Set(isBehind ? [...before.highlights, ...finding.highlights] : [...finding.highlights, ...before.highlights]),
    ].slice(0, highlightsMax),
    recommended_action: isAction ? finding.action : before.recommended_action,
    ...claimedAccounts(before.claimed_accounts, finding),
  };
}
