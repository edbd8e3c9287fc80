import { Type, type Static } from "typebox";
import { Activity } from "./activity.ts";
import type { DomainEvent } from "./event.ts";
import { Score } from "./finding.ts";
import { policyActions } from "./policy.ts";

export const deadlineMs = { min: 20, max: 2_000, fallback: 150 };

const Action = Type.Enum([...policyActions]);

export const AssessmentRequest = Type.Object(
  {
    ...Activity.properties,
    deadline_ms: Type.Optional(
      Type.Integer({
        minimum: deadlineMs.min,
        maximum: deadlineMs.max,
        description: `The time to answer, in milliseconds, measured by the service. The default is ${deadlineMs.fallback}.`,
      }),
    ),
    otherwise: Type.Optional(
      Type.Enum([...policyActions], {
        description: "The action to answer if there is no verdict in time. The default is ALLOW.",
      }),
    ),
  },
  { additionalProperties: false, $id: "AssessmentRequest" },
);
export type AssessmentRequest = Static<typeof AssessmentRequest>;

const Reason = Type.Object(
  {
    fraud_reason: Type.String({ description: "A short title." }),
    description: Type.String({ description: "One sentence." }),
    contribution: Type.Number({ description: "In log-odds." }),
  },
  { additionalProperties: false, $id: "AssessmentReason" },
);
type Reason = Static<typeof Reason>;

export const Assessment = Type.Object(
  {
    activity_id: Type.String(),
    prediction_id: Type.String({ description: "The id of the decision, which can be read once the activity is scored." }),
    action: Action,
    would_be: Type.Optional(
      Type.Enum([...policyActions], { description: "What the policy would have answered. Only in shadow mode." }),
    ),
    score: Type.Union([Score, Type.Null()], { description: "Null if verdict_from is `otherwise`." }),
    log_odds: Type.Union([Type.Number(), Type.Null()], { description: "Null if verdict_from is `otherwise`." }),
    is_final: Type.Boolean({
      description:
        "Whether this is the decision that `GET /decisions/{prediction_id}` and the case show. If this is false and the decision differs, the event `activity.decided` follows.",
    }),
    verdict_from: Type.Enum(["engine", "snapshot", "otherwise"], {
      description:
        "`engine`: the engine's decision. `snapshot`: judged shortly before the deadline from what was stored, without activity that was still waiting. `otherwise`: there was no verdict in time. The action is the request's `otherwise`, or BLOCK if the account is known to be blocked.",
    }),
    reasons: Type.Array(Reason, { description: "Strongest first." }),
    case_id: Type.Union([Type.String(), Type.Null()], {
      description: "The case that the activity opened or joined. Null if there is none, or if the verdict is not final.",
    }),
    lists: Type.Array(Type.String(), { description: "The names of the lists that the activity is on." }),
    took_ms: Type.Integer({ minimum: 0, description: "Milliseconds from the receipt of the request to the verdict." }),
    is_stored: Type.Boolean({
      description:
        "False if the database did not confirm in time that the activity and this answer are stored. In that case the activity may be lost, so send it again.",
    }),
  },
  { additionalProperties: false, $id: "Assessment" },
);
export type Assessment = Static<typeof Assessment>;

// Where an answer comes from, for the operator's metrics.
export type AnswerKind = Assessment["verdict_from"] | "replay" | "not_stored";

type Unanswered = Pick<Assessment, "activity_id" | "prediction_id" | "took_ms"> & { action: Assessment["action"] };

// Returns the answer for when there is no verdict in time.
export function withoutVerdict({ activity_id, prediction_id, action, took_ms }: Unanswered, is_stored: boolean): Assessment {
  return {
    activity_id,
    prediction_id,
    action,
    score: null,
    log_odds: null,
    is_final: false,
    verdict_from: "otherwise",
    reasons: [],
    case_id: null,
    lists: [],
    took_ms,
    is_stored,
  };
}

// Returns the event that follows an answer that was not final, or null if the decision is the same as the answer.
export function decidedEvent(answered: Assessment, decided: Assessment, now: string): DomainEvent | null {
  const { activity_id, prediction_id, action, score, log_odds, case_id } = decided;
  const isSame = answered.action === action && answered.score === score && answered.log_odds === log_odds;
  if (answered.is_final || isSame) return null;
  return {
    type: "activity.decided",
    occurred_at: now,
    actor: "system",
    resource: { type: "activity", id: activity_id },
    data: {
      prediction_id,
      action,
      score,
      log_odds,
      case_id,
      answered: { action: answered.action, score: answered.score, verdict_from: answered.verdict_from },
    },
  };
}
