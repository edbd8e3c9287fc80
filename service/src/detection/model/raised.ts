import type { StoredDecision } from "../../domain/decision.ts";
import { defaultThresholds } from "../../domain/rule.ts";
import { modelFields, readDecision } from "./dataset.ts";
import { findPlace } from "../vector.ts";

export type Raised = { account: string; decision: string };

const establishedMinutes = 7 * 24 * 60;
// Of accounts that are younger than a week, one in this many counts.
const newAccountsPerCase = 5;
const agePlace = modelFields.indexOf(findPlace("account.age_minutes")?.code ?? "");

// Counts the cases that a model has caused: the accounts with activity that the rules alone would not have found. Anybody can
// open accounts and make them look fraudulent. So five new accounts count as one: otherwise a dozen of them could get the model
// retired.
export function countRaised(rows: readonly Raised[]): number {
  const accounts = new Map<string, boolean>();
  for (const { account, decision } of rows) {
    // Written by the engine.
    const { t: thresholds = defaultThresholds } = JSON.parse(decision) as StoredDecision;
    const { rules, values } = readDecision(decision);
    if (rules >= thresholds.score_3) continue;
    const isEstablished = (values[agePlace] ?? 0) >= establishedMinutes;
    accounts.set(account, isEstablished || accounts.get(account) === true);
  }
  const established = [...accounts.values()].filter(Boolean).length;
  return established + Math.floor((accounts.size - established) / newAccountsPerCase);
}
