import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { Score } from "./finding.ts";
import { RuleVersion, Thresholds } from "./rule.ts";
import { ClaimedAccount, SourceName } from "./source.ts";

const FeatureScalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

// A field of `GET /features` with its value at that time.
export const ReadValue = Type.Object(
  { name: Type.String(), plain_name: Type.String(), value: FeatureScalar },
  { additionalProperties: false, $id: "FeatureValue" },
);
export type ReadValue = Static<typeof ReadValue>;

const { rule_id, rule_version, name, label, weight, expression } = RuleVersion.properties;

const FiredRule = Type.Object(
  {
    rule_id,
    rule_version,
    name,
    label,
    weight,
    expression,
    sentence: Type.String({ description: "The rule's sentence with the stored values." }),
    values: Type.Array(ReadValue, { description: "The fields that the expression read." }),
  },
  { additionalProperties: false, $id: "FiredRule" },
);
export type FiredRule = Static<typeof FiredRule>;

const LogOdds = Type.Number();

export const Decision = Type.Object(
  {
    prediction_id: Type.String(),
    case_id: Type.Optional(Type.String()),
    activity: Type.Object(
      {
        activity_id: Type.String(),
        type: Type.String(),
        origin: Type.String({ description: "`server` or `browser`." }),
        source: SourceName,
        occurred_at: Time,
        received_at: Time,
        website_account_id: Type.Optional(Type.String()),
        claimed_account_id: ClaimedAccount,
        session_id: Type.Optional(Type.String()),
        device_id: Type.Optional(Type.String()),
        ip: Type.Optional(Type.String({ description: "As stored under the tenant's ip_policy." })),
      },
      { additionalProperties: false },
    ),
    score: Score,
    log_odds: LogOdds,
    thresholds: Type.Object(Thresholds.properties, {
      additionalProperties: false,
      description: "The thresholds at that time.",
    }),
    revision: Type.Integer({
      description: "The revision of the rules and thresholds. Every change to any of them increases it.",
    }),
    features: Type.Array(ReadValue, {
      description:
        "The fields of `GET /features`, except those with their usual value, which is mostly 0, false, empty or never.",
    }),
    rules: Type.Array(FiredRule, { description: "The rules that fired, in their versions at that time, largest weight first." }),
    shadow_rules: Type.Array(FiredRule, { description: "The shadow rules that matched. They do not affect the score." }),
    contributions: Type.Array(
      Type.Object({ name: Type.String(), plain_name: Type.String(), log_odds: LogOdds }, { additionalProperties: false }),
      { description: "What the comparison with the account's earlier log-ins added to or subtracted from the log-odds." },
    ),
    recomputed: Type.Object(
      { log_odds: LogOdds, score: Score },
      {
        additionalProperties: false,
        description:
          "Recomputed from the rules' weights and the contributions. A fraud report always has score 5, whatever the recomputed score is.",
      },
    ),
  },
  { additionalProperties: false, $id: "Decision" },
);
export type Decision = Static<typeof Decision>;

// The decision as it is stored in the log. Empty members are left out. Decisions from before rules existed are completely empty.
export type StoredDecision = {
  v?: number;
  l?: number;
  t?: Thresholds;
  r?: Record<string, number>;
  s?: Record<string, number>;
  c?: [name: string, logOdds: number][];
  f?: string;
};
