import type { FraudOccurrence } from "@casehound/client";
import { array, assert, constant, constantFrom, integer, property, record, type Arbitrary } from "fast-check";
import { expect, test } from "vitest";
import { partsOf, shownParts, totalOf } from "../src/screens/case/parts.ts";

type Behaviour = NonNullable<FraudOccurrence["explanation"]["model_behaviour"]>[number];

const contributor = record({
  feature: constantFrom("event.value", "closed_as_false", "model.base", "model.other", "login.country"),
  plain_name: constantFrom("Amount", "Country"),
  feature_value: constant(1),
  // The service stores thousandths.
  shap_value: integer({ min: -9000, max: 9000 }).map((value) => value / 1000),
  direction: constant("toward_fraud" as const),
  impact_level: constant("LOW" as const),
  description: constant("Words."),
});
const behaviour: Arbitrary<Behaviour> = record({
  type: constantFrom("rule", "likelihood_ratio", "gradient-boosted-trees"),
  model_name: constantFrom("one", "two"),
  top_contributors: array(contributor, { minLength: 1, maxLength: 9 }),
});

function occurrenceOf(model_behaviour: Behaviour[]): FraudOccurrence {
  const explanation = { fraud_reason: "", fraud_reason_description: "", fraud_types: [], model_behaviour };
  const ids = { occurrence_id: "o", prediction_id: "p", session_id: "" };
  return { ...ids, generated_at: "2026-05-01T00:00:00.000Z", risk_score: 3, explanation };
}

test("score breakdown: for any evidence, the shown parts add up to the shown total, to the last digit", () => {
  assert(
    property(array(behaviour, { maxLength: 5 }), (behaviours) => {
      const occurrence = occurrenceOf(behaviours);
      const shown = shownParts(partsOf(occurrence, null));
      expect(shown.reduce((sum, each) => sum + each, 0)).toBe(totalOf(occurrence));
    }),
  );
});
