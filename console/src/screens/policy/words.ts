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
  return most === 5 ? `${least} or more` : `${least} to ${most}`;
}

type Outcome = PolicyOutcome["moments"][number];
type Count = Outcome["all"];

// "Would have challenged 212 of 18,400 log-ins, 31 of them confirmed fraud."
export function trialWords({ moment, all, challenged, blocked }: Outcome): string {
  const { plural } = momentWords[moment];
  const deeds = [`challenged ${countWords(challenged)}`, ...(blocked.activities > 0 ? [`blocked ${countWords(blocked)}`] : [])];
  return `Would have ${deeds.join(", and ")}, of ${all.activities.toLocaleString()} ${plural}.`;
}

function countWords({ activities, frauds }: Count): string {
  if (activities === 0) return "none";
  return `${activities.toLocaleString()} (${frauds.toLocaleString()} confirmed fraud)`;
}
