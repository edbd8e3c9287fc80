import { sessionIdleMs, type Activity } from "../domain/activity.ts";
import { firstCharacters, parseTime } from "../domain/text.ts";
import { fraudTypeOf, labels, type Finding, type Label } from "../domain/finding.ts";

const noteCharactersShown = 300;
export const reportName = "reported_fraud";
// In log-odds. A report alone determines the score, whatever else is known.
export const reportWeight = 6;

// A report is a chargeback, a customer's call or a partner's list. It always gets the highest score and is always left for a
// person to decide.
export function scoreReport(activity: Activity, nowMs: number): Finding | null {
  if (activity.type !== "fraud_report") return null;
  const reported = activity.attributes?.["label"];
  // Most reports without a label are payments that the true owner disputes.
  const label: Label = labels.find((known) => known.toLowerCase() === String(reported).toLowerCase()) ?? "Organic";
  const note = activity.attributes?.["note"];
  const who = activity.website_account_id === undefined ? "activity without a known account" : "this account";
  const description = `Fraud was reported for ${who} at ${activity.occurred_at}.`;
  const highlights = [description];
  if (reported !== undefined) highlights.push(`Reported as: ${shown(reported)}`);
  if (note !== undefined) highlights.push(`Note: ${shown(note)}`);
  return {
    score: 5,
    label,
    action: "ESCALATE",
    summary: `Fraud was reported for ${who} (${label}).`,
    highlights,
    session_id: activity.session_id,
    session_status: isSessionActive(activity, nowMs) ? "ACTIVE" : "FINISHED",
    activity_type: activity.type,
    isReport: true,
    source: "server",
    explanation: {
      fraud_reason: "Reported fraud",
      fraud_reason_description: description,
      fraud_types: [fraudTypeOf[label]],
      model_behaviour: [
        {
          type: "rule",
          model_name: reportName,
          top_contributors: [
            {
              feature: "fraud_report",
              plain_name: "Fraud report",
              feature_value: note === undefined ? true : shown(note),
              shap_value: reportWeight,
              direction: "toward_fraud",
              impact_level: "HIGH",
              description: "Somebody reported this as fraud.",
            },
          ],
        },
      ],
    },
  };
}

function shown(value: string | number | boolean): string {
  return firstCharacters(String(value), noteCharactersShown);
}

function isSessionActive(activity: Activity, nowMs: number): boolean {
  const occurredMs = parseTime(activity.occurred_at);
  return activity.session_id !== undefined && occurredMs !== null && nowMs - occurredMs < sessionIdleMs;
}
