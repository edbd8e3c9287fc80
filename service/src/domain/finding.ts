import { Type, type Static } from "typebox";
import { Time } from "./field.ts";

export const labels = ["Account Takeover", "Bot", "Synthetic", "Organic"] as const;
export type Label = (typeof labels)[number];

// In rising order: evidence that joins a case never lowers the recommendation.
export const actions = ["MONITOR", "CHALLENGE", "BLOCK", "ESCALATE"] as const;
type Action = (typeof actions)[number];

export const Score = Type.Integer({ minimum: 1, maximum: 5 });

const fraudTypes = ["Account Takeover", "Bot Creation", "Synthetic Fraud", "Organic Fraud"] as const;

export const fraudTypeOf: Record<Label, (typeof fraudTypes)[number]> = {
  "Account Takeover": "Account Takeover",
  Bot: "Bot Creation",
  Synthetic: "Synthetic Fraud",
  Organic: "Organic Fraud",
};

const Contributor = Type.Object(
  {
    feature: Type.String(),
    plain_name: Type.String(),
    feature_value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
    shap_value: Type.Number(),
    direction: Type.Enum(["toward_fraud", "toward_safe"]),
    impact_level: Type.Enum(["LOW", "MEDIUM", "HIGH"]),
    description: Type.String(),
  },
  { additionalProperties: false },
);

const Explanation = Type.Object(
  {
    fraud_reason: Type.String({ description: "A few words." }),
    fraud_reason_description: Type.String({ description: "A sentence." }),
    fraud_types: Type.Array(Type.Enum([...fraudTypes])),
    model_behaviour: Type.Union([
      Type.Array(
        Type.Object(
          { type: Type.String(), model_name: Type.String(), top_contributors: Type.Array(Contributor) },
          { additionalProperties: false },
        ),
      ),
      Type.Null(),
    ]),
  },
  { additionalProperties: false },
);

export const Occurrence = Type.Object(
  {
    occurrence_id: Type.String(),
    prediction_id: Type.String(),
    session_id: Type.String({ description: "Empty if there was none." }),
    generated_at: Time,
    risk_score: Score,
    explanation: Explanation,
  },
  { additionalProperties: false, $id: "FraudOccurrence" },
);
export type Occurrence = Static<typeof Occurrence>;

// What detection hands over: enough to open a case, or to join one. Ids and times are added by the engine.
export type Finding = {
  score: 1 | 2 | 3 | 4 | 5;
  label: Label;
  action: Action;
  summary: string;
  highlights: string[];
  explanation: Static<typeof Explanation>;
  session_id: string | undefined;
  session_status: "ACTIVE" | "FINISHED";
  // Somebody said so: each report is evidence of its own.
  isReport?: true;
};

export type FindingIds = { case_id: string; state_id: string; occurrence_id: string; prediction_id: string };
