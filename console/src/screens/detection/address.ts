import { labels, ruleStates } from "@casehound/client";
import type { Reason } from "./queries.ts";
import { reasonNames } from "./reasons.ts";

const tabs = ["lists", "thresholds", "policy", "due", "quiet", "models", "closing", "not-accepted"] as const;
const sorts = ["hits", "precision", "weight"] as const;
export const reportDays = [7, 30, 90] as const;

export type RuleState = (typeof ruleStates)[number];
export type Tab = (typeof tabs)[number];

// An absent parameter means the default: the rules tab, all rules, sorted by name.
export type DetectionSearch = {
  tab?: Tab;
  state?: RuleState;
  label?: (typeof labels)[number];
  text?: string;
  sort?: (typeof sorts)[number];
  reason?: Reason;
  // The list whose entries are shown.
  list?: string;
};

export type RuleSearch = {
  edit?: true;
  // The backtest that is shown. It is in the address, so it survives a reload and can be sent to a colleague.
  backtest?: string;
  days?: (typeof reportDays)[number];
};

export function readDetectionSearch(raw: Record<string, unknown>): DetectionSearch {
  const tab = oneOf(tabs, raw["tab"]);
  const state = oneOf(ruleStates, raw["state"]);
  const label = oneOf(labels, raw["label"]);
  const sort = oneOf(sorts, raw["sort"]);
  const reason = oneOf(Object.keys(reasonNames) as Reason[], raw["reason"]);
  const { text, list } = raw;
  return {
    ...(tab && { tab }),
    ...(state && { state }),
    ...(label && { label }),
    ...((typeof text === "string" || typeof text === "number") && text !== "" && { text: String(text) }),
    ...(sort && { sort }),
    ...(reason && { reason }),
    ...(tab === "lists" && typeof list === "string" && list !== "" && { list }),
  };
}

export function readRuleSearch(raw: Record<string, unknown>): RuleSearch {
  const { edit, backtest } = raw;
  const days = reportDays.find((each) => each === raw["days"]);
  return {
    ...(edit === true && { edit }),
    ...(typeof backtest === "string" && backtest !== "" && { backtest }),
    ...(days && days !== 7 && { days }),
  };
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((each) => each === value);
}
