import type { Finding } from "../domain/finding.ts";
import { never, zeroOf, type FeatureValue, type Field } from "./catalogue.ts";
import { listOfRead } from "./list-view.ts";
import { findPlace, type RuleContext } from "./vector.ts";

export type ModelBehaviour = NonNullable<Finding["explanation"]["model_behaviour"]>[number];
export type Contributor = ModelBehaviour["top_contributors"][number];

const usualWords = "How usual it is for this account, compared with all accounts.";

export function contributor(
  field: Field | undefined,
  { name, value, logOdds }: { name: string; value: FeatureValue; logOdds: number },
): Contributor {
  const size = Math.abs(logOdds);
  return {
    feature: name,
    plain_name: field?.plain ?? listWords(name) ?? name,
    feature_value: shownValue(field, value),
    shap_value: rounded(logOdds),
    direction: logOdds >= 0 ? "toward_fraud" : "toward_safe",
    impact_level: size >= 2 ? "HIGH" : size >= 0.75 ? "MEDIUM" : "LOW",
    description: field?.description ?? (listOfRead(name) === null ? usualWords : "Whether a list contains the value."),
  };
}

// What investigators read instead of `lists.<name>`.
export function listWords(name: string): string | null {
  const list = listOfRead(name);
  return list === null ? null : `On the list ${list}`;
}

export function shownValue(field: Field | undefined, value: FeatureValue): FeatureValue {
  return value === never && field && zeroOf(field) === never ? "never" : value;
}

export function rounded(logOdds: number): number {
  return Math.round(logOdds * 1000) / 1000;
}

export function valueOf(context: RuleContext, name: string): FeatureValue {
  const list = listOfRead(name);
  if (list !== null) return context.lists?.names.has(list) ?? false;
  const place = findPlace(name);
  const value = place && context[place.group][place.key];
  return typeof value === "object" || value === undefined ? "" : value;
}
