import type { Label } from "../domain/finding.ts";
import type { Moment } from "../domain/label.ts";
import { contributor, shownValue, valueOf, type ModelBehaviour } from "./contributor.ts";
import { findField } from "./field-name.ts";
import { partNames, partsOf } from "./model/serving.ts";
import type { RatedByModel } from "./score.ts";
import type { RuleContext } from "./vector.ts";

// The texts that a case shows about the model's part of its score.

export const partWords: Record<string, string> = {
  [partNames.base]: "Usual risk of this kind of activity",
  [partNames.rules]: "Adjustment of the rules' weight",
  [partNames.other]: "All other fields",
  [partNames.held]: "Held back, because a rule fired",
};

const partTexts: Record<string, string> = {
  [partNames.base]: "The average risk of the activities that the model was trained on.",
  [partNames.rules]:
    "How much more or less weight the model gives to the rules and to an unusual log-in, depending on how often they were right.",
  [partNames.other]: "The sum of all fields with a smaller part.",
  [partNames.held]: "The model would have lowered the score, but a rule fired that a model may not overrule.",
};

// A model predicts fraud, but not which kind. So these labels are used only if no rule fired.
const labelOf: Record<Moment, Label> = { entry: "Account Takeover", signup: "Synthetic", value: "Account Takeover" };

export function momentLabel(moment: Moment): Label {
  return labelOf[moment];
}

export function modelLabel(model: RatedByModel | null): Label {
  return momentLabel(model?.served.moment ?? "entry");
}

export function modelBehaviour(model: RatedByModel | null, context: RuleContext): ModelBehaviour[] {
  if (!model || model.part === 0) return [];
  const top_contributors = partsOf(model.served, context, model).map(([name, logOdds]) => {
    const words = partWords[name];
    if (words === undefined) return contributor(findField(name), { name, value: valueOf(context, name), logOdds });
    const part = contributor(undefined, { name, value: "", logOdds });
    return { ...part, plain_name: words, description: partTexts[name] ?? words };
  });
  const { moment, shortId } = model.served;
  return [{ type: "gradient-boosted-trees", model_name: `${moment}_${shortId}`, top_contributors }];
}

const fieldsTold = 3;

// The model's reason in words, if the model raised the score.
export function modelReason(
  model: RatedByModel | null,
  context: RuleContext,
): { name: string; sentence: string; weight: number }[] {
  if (!model || model.part <= 0) return [];
  const told = partsOf(model.served, context, model)
    .filter(([name, logOdds]) => partWords[name] === undefined && logOdds > 0)
    .slice(0, fieldsTold)
    .map(([name]) => `${findField(name)?.plain ?? name}: ${plainValue(context, name)}`);
  const sentence = `It resembles earlier frauds${told.length === 0 ? "" : ` (${told.join("; ")})`}.`;
  return [{ name: "Resembles earlier frauds", sentence, weight: model.part }];
}

function plainValue(context: RuleContext, name: string): string {
  const value = shownValue(findField(name), valueOf(context, name));
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}
