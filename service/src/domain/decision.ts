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

export const CountedIn = Type.Optional(
  Type.Array(Type.Object({ case_id: Type.String(), score: Score }, { additionalProperties: false }), {
    description:
      "The cases that the activity counts in, with its score in each, the strongest first. They include cases in which it only repeats known evidence. Absent if there are none.",
  }),
);

// `caseId` is the case that is stored with the activity.
export function casesIn({ k }: StoredDecision, caseId: string | null, score: number): { cases?: Static<typeof CountedIn> } {
  const counted = k ?? (caseId === null ? [] : [[caseId, score] as const]);
  return counted.length === 0 ? {} : { cases: counted.map(([case_id, there]) => ({ case_id, score: there })) };
}

// Adds the cases to a decision's text. They are known only after the decision is made. The fields stay last, because readers cut
// them off.
export function withCases(text: string, cases: NonNullable<StoredDecision["k"]>): string {
  const end = text.lastIndexOf(',"f":"');
  return end === -1 ? text : `${text.slice(0, end)},"k":${JSON.stringify(cases)}${text.slice(end)}`;
}

export const Decision = Type.Object(
  {
    prediction_id: Type.String(),
    case_id: Type.Optional(
      Type.String({
        description: "If the activity is in several cases, the one in which it weighs most. The score is that case's.",
      }),
    ),
    cases: CountedIn,
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
    rules: Type.Array(FiredRule, {
      description: "The rules that fired and count here, in their versions at that time, largest weight first.",
    }),
    other_rules: Type.Array(FiredRule, {
      description:
        "The rules that fired, but are about another subject, such as the address instead of the account. They count in that subject's case.",
    }),
    lists: Type.Array(Type.String(), {
      description:
        "The lists that the activity hit: those that contain one of its own values, and those in which a rule found one.",
    }),
    lists_revision: Type.Optional(
      Type.Integer({ description: "The revision of the tenant's lists at that time. Absent if no list was hit." }),
    ),
    shadow_rules: Type.Array(FiredRule, { description: "The shadow rules that matched. They do not affect the score." }),
    contributions: Type.Array(
      Type.Object({ name: Type.String(), plain_name: Type.String(), log_odds: LogOdds }, { additionalProperties: false }),
      {
        description:
          "What the comparison with the account's earlier log-ins added to or subtracted from the log-odds. `damped.<rule_id>` is what earlier false positives subtracted from the rule's weight. `quiet.<rule_id>` is the subtracted weight of a rule that is quiet about this subject. `list.<name>` is what a block list added or an allow list subtracted.",
      },
    ),
    model: Type.Optional(
      Type.Object(
        {
          model_id: Type.String({ description: "The first 12 characters of its id." }),
          log_odds: { ...LogOdds, description: "What the model added to or subtracted from the log-odds." },
          contributions: Type.Array(
            Type.Object({ name: Type.String(), plain_name: Type.String(), log_odds: LogOdds }, { additionalProperties: false }),
            {
              description:
                "The fields with the largest parts, and the rest. They sum to the model's log-odds. If the model is no longer stored, only the sum is shown.",
            },
          ),
        },
        {
          additionalProperties: false,
          description: "Absent if no model rated the activity, or if its rating counts in another case.",
        },
      ),
    ),
    recomputed: Type.Object(
      { log_odds: LogOdds, score: Score },
      {
        additionalProperties: false,
        description:
          "Recomputed from the rules' weights, the contributions and the model's part. A fraud report always has score 5, whatever the recomputed score is.",
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
  // `times` is given only for what acts after the model. For damping it is the number of earlier false positives. For a
  // quiet rule and for a list it is 0.
  c?: [name: string, logOdds: number, times?: number][];
  // `m`: the champion and its part of the log-odds. `n`: the challenger and the log-odds that it would have given.
  m?: [model: string, part: number];
  n?: [model: string, logOdds: number];
  // Given if something does not count here, because it is about another subject: the sum of all rules and the log-in ratio, which
  // the model reads, and the ids of the rules that do not count. The id `model.<moment>` means that the model's part does not
  // count.
  o?: [rules: number, elsewhere: string[]];
  // The revision of the tenant's lists, and the names of those that the event hit.
  b?: [revision: number, ...names: string[]];
  // The cases that the activity counts in and its scores there, the strongest first. Left out if `case_id` is the only one.
  k?: [caseId: string, score: number][];
  f?: string;
};
