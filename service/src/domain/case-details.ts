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

// The score and the recommendation only rise. `isLeading`: the new evidence is the strongest of the case. Otherwise the summary
// stays, and what is new comes last.
export function joinedDetails(before: CaseDetails, finding: Finding, isLeading: boolean): CaseDetails {
  const isAction = actions.indexOf(finding.action) > actions.indexOf(before.recommended_action);
  const [first, second] = isLeading ? [finding.highlights, before.highlights] : [before.highlights, finding.highlights];
  return {
    ...before,
    overall_risk_score: Math.max(before.overall_risk_score, finding.score),
    primary_fraud_label: isLeading ? finding.label : before.primary_fraud_label,
    fraud_labels: [...new Set([...before.fraud_labels, finding.label])],
    summary: isLeading ? finding.summary : before.summary,
    highlights: joinedHighlights(before, first, second),
    recommended_action: isAction ? finding.action : before.recommended_action,
    ...claimedAccounts(before.claimed_accounts, finding),
  };
}

// A number that is a word of its own, and not part of an id, an address or a version.
const count = /(?<![\w.:-])\d[\d,]*(?![\w.:-]*\w)/g;
const withoutCounts = (sentence: string): string => sentence.replaceAll(count, "#");

// In a case about a source, the counts grow with the attack. So a sentence that differs from an earlier one only in its counts
// says nothing new.
function joinedHighlights({ subject }: CaseDetails, first: string[], second: string[]): string[] {
  const told = new Set(first.map(withoutCounts));
  const added = subject === undefined ? second : second.filter((each) => !told.has(withoutCounts(each)));
  return [...new Set([...first, ...added])].slice(0, highlightsMax);
}
