import type { EstimatedRecall } from "@casehound/client";
import { figure, shareWords } from "../detection/Outcomes.tsx";
import { activitiesOf, momentNames } from "./words.ts";

export function noRecallWords(perDay: number): string {
  return perDay === 0
    ? "Not known, because there were no random checks."
    : "Not known yet. The first cases are opened the day after random checks were turned on.";
}

// Says in words what share of a moment's frauds is found, according to its random checks.
export function recallWords(of: EstimatedRecall): string {
  const { moment, checks, decided, recall, recall_low: low, missed } = of;
  const waiting = checks - decided;
  if (decided === 0) return `${momentNames[moment]}: not known yet. ${checksOf(checks)} waiting for a decision.`;
  const rest = waiting === 0 ? "" : ` ${checksOf(waiting, "more ")} waiting for a decision.`;
  const kind = `fraudulent ${activitiesOf(moment)}`;
  if (recall === null || missed === null)
    return `No ${kind} are known, and ${decided === 1 ? "the first check found none" : `${figure.format(decided)} checks found none`}.${rest}`;
  // Rounded down, because it is a lower bound.
  const bound = low === null ? "" : ` (at least ${shareWords(Math.floor(low * 100) / 100)} with ${shareWords(0.95)} confidence)`;
  const basis = `from ${decided === 1 ? "1 check" : `${figure.format(decided)} checks`}`;
  return `Of all ${kind}, about ${shareWords(recall)} are found${bound}, ${basis}. ${missedWords(missed)}${rest}`;
}

function checksOf(count: number, more = ""): string {
  return count === 1 ? `1 ${more}check is` : `${figure.format(count)} ${more}checks are`;
}

function missedWords(missed: number): string {
  if (missed === 0) return "None of the checks was a fraud.";
  const count = Math.max(1, Math.round(missed));
  return `About ${figure.format(count)} ${count === 1 ? "was" : "were"} missed.`;
}
