import type { Label } from "../domain/finding.ts";
import type { Moment } from "../domain/label.ts";
import { ratioId } from "../domain/snooze.ts";
import { ratioOf } from "./leads.ts";
import { momentLabel } from "./model-finding.ts";
import { modelRecordId, type Verdict } from "./score.ts";

type Evidence = {
  // The labels of the rules that count.
  rules: readonly Label[];
  // Whether the log-in is unusual for its account.
  isUnusual: boolean;
  // The model's moment, if the model raised the log-odds.
  raisedBy: Moment | null;
};

// Returns the labels that a policy can ask for. A model does not say which kind of fraud it predicts, so its label counts only if
// there is no other evidence.
export function evidenceLabels({ rules, isUnusual, raisedBy }: Evidence): Label[] {
  const found = new Set<Label>(rules);
  if (isUnusual) found.add("Account Takeover");
  if (found.size === 0 && raisedBy !== null) found.add(momentLabel(raisedBy));
  return [...found];
}

export function labelsOf(verdict: Verdict): Label[] {
  const { fired, model, quiet, ratioParts } = verdict;
  // Most events have no evidence.
  if (fired.length === 0 && ratioParts.length === 0 && !model) return [];
  const isCounting = (id: string) => quiet.every(({ rule_id }) => rule_id !== id);
  return evidenceLabels({
    rules: fired.filter(({ rule }) => isCounting(rule.rule_id)).map(({ rule }) => rule.label),
    isUnusual: ratioOf(verdict) > 0 && isCounting(ratioId),
    raisedBy: model && model.part > 0 && isCounting(modelRecordId(model)) ? model.served.moment : null,
  });
}
