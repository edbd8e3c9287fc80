import type { PolicyOutcome, PolicyRow } from "@casehound/client";

export const momentWords: Record<NonNullable<PolicyRow["moments"]>[number], { name: string; plural: string }> = {
  login: { name: "Log-in", plural: "log-ins" },
  signup: { name: "Sign-up", plural: "sign-ups" },
  change: { name: "Change", plural: "changes" },
  payment: { name: "Payment", plural: "payments" },
  other: { name: "Other", plural: "other activities" },
};

export const policyActionWords: Record<PolicyRow["action"], { name: string; done: string; look: string }> = {
  ALLOW: { name: "Allow", done: "allowed", look: "bg-good-soft text-good" },
  CHALLENGE: { name: "Challenge", done: "challenged", look: "bg-warn-soft text-warn" },
  BLOCK: { name: "Block", done: "blocked", look: "bg-bad-soft text-bad" },
};

export function momentsOf({ moments }: PolicyRow): string {
  return moments ? moments.map((each) => momentWords[each].name).join(", ") : "Any";
}

export function scoresOf({ min_score: least = 1, max_score: most = 5 }: PolicyRow): string {
  if (least === 1 && most === 5) return "Any";
  if (least === most) return String(least);
  return most === 5 ? `${least} or higher` : `${least} to ${most}`;
}

type Outcome = PolicyOutcome["moments"][number];
type Count = Outcome["all"];

// "Would have challenged 212 of 18,400 log-ins, 31 of them known to be fraud."
export function trialWords({ moment, all, challenged, blocked }: Outcome): string {
  const of = `${all.activities.toLocaleString()} ${momentWords[moment].plural}`;
  const first = `Would have challenged ${challenged.activities.toLocaleString()} of ${of}${fraudWords(challenged)}.`;
  if (blocked.activities === 0) return first;
  return `${first} Would have blocked ${blocked.activities.toLocaleString()}${fraudWords(blocked)}.`;
}

function fraudWords({ activities, frauds }: Count): string {
  return activities === 0 ? "" : `, ${frauds.toLocaleString()} of them known to be fraud`;
}
