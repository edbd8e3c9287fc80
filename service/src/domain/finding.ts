import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { sources, sourceWords, type Source } from "./source.ts";

export const labels = ["Account Takeover", "Bot", "Synthetic", "Organic"] as const;
export type Label = (typeof labels)[number];

// In rising order. Evidence that joins a case never lowers the recommendation.
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

// Evidence that was stored by an earlier version does not have these members. Filling them in would rewrite every case during the
// upgrade.
const sinceNote = "Absent in evidence that was stored by an earlier version.";

const Explanation = Type.Object(
  {
    fraud_reason: Type.String({ description: "A few words." }),
    fraud_reason_description: Type.String({ description: "A sentence." }),
    evidence_source: Type.Optional(
      Type.Enum([...sources], {
        description: `The source of the evidence. While all evidence of a case is \`page\`, its score is at most 3 and its action is MONITOR. ${sinceNote}`,
      }),
    ),
    evidence: Type.Optional(Type.Enum(Object.values(sourceWords), { description: `The source in words. ${sinceNote}` })),
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
    session_id: Type.String({ description: "Empty if there was no session." }),
    activity_type: Type.Optional(Type.String({ description: `The type of the activity. ${sinceNote}` })),
    is_attempt: Type.Optional(
      Type.Literal(true, { description: "The activity did not succeed: a failed log-in, or a payment that was declined." }),
    ),
    generated_at: Time,
    risk_score: Score,
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `How often the evidence was seen. Repeats are counted here and do not change the case's version. ${sinceNote}`,
      }),
    ),
    first_at: Type.Optional({
      ...Time,
      description: `When it was first seen: the event's time if a server sent it, the time of receipt if a page sent it. ${sinceNote}`,
    }),
    last_at: Type.Optional({ ...Time, description: `When it was last seen, measured like first_at. ${sinceNote}` }),
    explanation: Explanation,
  },
  { additionalProperties: false, $id: "FraudOccurrence" },
);
export type Occurrence = Static<typeof Occurrence>;

// What detection hands over: enough to open a case or to join one. The engine adds ids and times.
export type Finding = {
  score: 1 | 2 | 3 | 4 | 5;
  label: Label;
  action: Action;
  summary: string;
  highlights: string[];
  // The words in `evidence` are derived from the source.
  explanation: Omit<Static<typeof Explanation>, "evidence_source" | "evidence">;
  source: Source;
  // The account that the unverified page named, if the case is about the source.
  claimed?: string;
  session_id: string | undefined;
  session_status: "ACTIVE" | "FINISHED";
  activity_type?: string;
  // The activity did not succeed.
  isAttempt?: true;
  // Somebody reported it, and each report is evidence of its own.
  isReport?: true;
  // Nothing was found. The activity was chosen at random.
  isRandomCheck?: true;
};

// `seen_at`: when the evidence was seen. If absent, the time at which it was found is used.
export type FindingIds = {
  case_id: string;
  state_id: string;
  occurrence_id: string;
  prediction_id: string;
  seen_at?: string;
};
