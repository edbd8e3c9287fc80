import { Type, type Static } from "typebox";
import { isOfSource, sourceOf, subjectOf, type Activity } from "./activity.ts";
import { notFound, versionConflict, type FieldError } from "./failure.ts";
import { siteOf } from "./address.ts";
import { Time } from "./field.ts";
import { labels } from "./finding.ts";
import { instrumentSubject, payeeSubject } from "./subject.ts";

export const ruleIdPattern = "^[a-z][a-z0-9_]{0,63}$";
export const ruleStates = ["on", "shadow", "off"] as const;
export const rulesMax = 200;

const definition = {
  name: Type.String({ minLength: 1, maxLength: 100, description: "A few words. Cases show them as the reason." }),
  expression: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: "A CEL expression over the fields of `GET /features`. True means suspicious.",
  }),
  sentence: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "The sentence that investigators read. `{device.accounts_1h}` is replaced by that field's value.",
  }),
  label: Type.Enum([...labels]),
  weight: Type.Number({
    minimum: 0.1,
    maximum: 10,
    description:
      "What the rule adds to the log-odds of fraud. With the default thresholds, a weight of 2.5 is enough for a case.",
  }),
  about: Type.Enum(["account", "device", "address", "network", "campaign", "payee", "instrument"], {
    description:
      "What the case is about if a failed log-in or a sign-up matches: the named account, or the source (then the case has no account), so that one attack on many accounts is one case. For IPv6 an address is the /48. A `campaign` is one attack from many sources: all findings of the rule until 12 hours pass without one. If other activity matches and names an account, the case is about the account. `payee` and `instrument` apply to any activity that names one: the case is about the payee or instrument and lists the accounts.",
  }),
  state: Type.Enum([...ruleStates], { description: "`shadow` records hits but does not affect scores or cases." }),
};

export const RuleDefinition = Type.Object(definition, { additionalProperties: false });
export type RuleDefinition = Static<typeof RuleDefinition>;

export const RuleChange = Type.Object(
  {
    ...definition,
    rule_version: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The version that was read. 0 creates a new rule.",
    }),
  },
  { additionalProperties: false, $id: "RuleChange" },
);
export type RuleChange = Static<typeof RuleChange>;

const versioned = {
  rule_id: Type.String({ pattern: ruleIdPattern }),
  ...definition,
  rule_version: Type.Integer({ minimum: 1 }),
  updated_at: Time,
  updated_by: Type.String({ description: "`system` for default rules." }),
};

export const RuleVersion = Type.Object(versioned, { additionalProperties: false, $id: "RuleVersion" });
export type RuleVersion = Static<typeof RuleVersion>;
export type Rule = RuleVersion;

// Returns the subject of a rule's hit, which is also the subject of the case that detection would open. The outcome that
// investigators give to that subject counts for the hit.
export function hitSubject(
  activity: Activity,
  about: RuleDefinition["about"],
  { address, network, campaign }: HitOrigin,
): string {
  if (about === "payee") return payeeSubject(activity) ?? subjectOf(activity);
  if (about === "instrument") return instrumentSubject(activity) ?? subjectOf(activity);
  if (about === "account" || !isOfSource(activity)) return subjectOf(activity);
  if (about === "campaign") return campaign;
  if (about === "network" && network !== "") return `network:${network}`;
  return about === "address" && address !== null ? address : sourceOf(activity);
}

// Where an activity came from, in the form that the tenant's ip_policy allows.
export type Origin = {
  // The subject of a case about the address; null without an address.
  address: string | null;
  // The autonomous system or the block of addresses. Empty without an address.
  network: string;
};
type HitOrigin = Origin & { campaign: string };

// Somebody who has an IPv6 /48 can use a new address for each try, so the case is about the whole /48.
export function addressSubject(ip: string | undefined, keepIp = (kept: string) => kept): string | null {
  if (ip === undefined) return null;
  return ip.includes(":") ? `network:${keepIp(siteOf(ip))}` : `ip:${keepIp(ip)}`;
}

export const Precision = Type.Object(
  {
    confirmed: Type.Integer({ description: "Subjects whose last outcome after the first hit was confirmed fraud." }),
    false_positives: Type.Integer(),
    inconclusive: Type.Integer(),
    precision: Type.Union([Type.Number(), Type.Null()], {
      description: "confirmed / (confirmed + false_positives); null if both are 0.",
    }),
  },
  { additionalProperties: false, $id: "Precision" },
);
export type Precision = Static<typeof Precision>;
export type Outcomes = Omit<Precision, "precision">;

export const noOutcomes: Outcomes = { confirmed: 0, false_positives: 0, inconclusive: 0 };

export function precisionOf(outcomes: Outcomes): Precision {
  const decided = outcomes.confirmed + outcomes.false_positives;
  return { ...outcomes, precision: decided === 0 ? null : outcomes.confirmed / decided };
}

// A rule with its measurements.
export const MeasuredRule = Type.Object(
  {
    ...versioned,
    is_limited: Type.Boolean({
      description:
        "Whether the rule is paused at the moment, because its patterns and the tenant's others take too long together.",
    }),
    limited_until: Type.Optional(Type.String({ ...Time, description: "When the rule resumes automatically." })),
    hits_7d: Type.Integer({ description: "Hits today and on the 6 days before, in UTC, while the rule was on." }),
    shadow_hits_7d: Type.Integer({ description: "Hits in the same period, while the rule was in shadow." }),
    outcomes_7d: Precision,
    precision: Precision,
  },
  { additionalProperties: false, $id: "Rule" },
);
export type MeasuredRule = Static<typeof MeasuredRule>;

type Actor = { name: string; now: string };

const members = ["name", "expression", "sentence", "label", "weight", "about", "state"] as const;

// Returns the next version, or the same rule if nothing differs. Only version 0 creates a rule that does not exist.
export function changeRule(found: Rule | undefined, wanted: RuleChange & { rule_id: string }, actor: Actor): RuleVersion {
  const current = found?.rule_version ?? 0;
  if (!found && wanted.rule_version !== 0) throw notFound("Rule", wanted.rule_id);
  if (wanted.rule_version !== current) throw versionConflict(`Rule ${wanted.rule_id}`, current);
  if (found && changedMembers(found, wanted).length === 0) return found;
  return { ...wanted, rule_version: current + 1, updated_at: actor.now, updated_by: actor.name };
}

export function changedMembers(before: RuleDefinition, after: RuleDefinition): string[] {
  return members.filter((member) => before[member] !== after[member]);
}

// Thresholds in log-odds for each score. Below the first, the score is 1.
export const Thresholds = Type.Object(
  {
    score_2: Type.Number({ minimum: 0, maximum: 100 }),
    score_3: Type.Number({ minimum: 0, maximum: 100, description: "From this value on, a case is opened." }),
    score_4: Type.Number({ minimum: 0, maximum: 100 }),
    score_5: Type.Number({ minimum: 0, maximum: 100 }),
  },
  { additionalProperties: false },
);
export type Thresholds = Static<typeof Thresholds>;

export const defaultThresholds: Thresholds = { score_2: 1, score_3: 2.5, score_4: 4, score_5: 6 };

const scores = ["score_2", "score_3", "score_4", "score_5"] as const;
const thresholdsVersion = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const casesPerDay = Type.Number({ minimum: 0.1, maximum: 100_000 });

export const ThresholdsChange = Type.Object(
  {
    ...Type.Partial(Thresholds).properties,
    cases_per_day: Type.Optional({
      ...casesPerDay,
      description:
        "Instead of thresholds: the number of cases a day that you can work on. The thresholds are computed from the last 28 days.",
    }),
    thresholds_version: Type.Optional(
      Type.Integer({ ...thresholdsVersion, description: "The version that was read. Required with thresholds." }),
    ),
  },
  { additionalProperties: false, $id: "ThresholdsChange" },
);
export type ThresholdsChange = Static<typeof ThresholdsChange>;
type WantedThresholds = Thresholds & { thresholds_version: number; cases_per_day?: number };

export const StoredThresholds = Type.Object(
  {
    ...Thresholds.properties,
    thresholds_version: thresholdsVersion,
    updated_at: Time,
    updated_by: Type.String(),
    cases_per_day: Type.Optional({ ...casesPerDay, description: "The number that the thresholds were computed for." }),
    expected_cases_per_day: Type.Optional(
      Type.Number({
        description:
          "How many cases a day the computed thresholds would have given in the last 28 days. Only present in the response to a change and in a preview.",
      }),
    ),
    frauds_of_100: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description:
          "How many of 100 labelled activities with this score were frauds. Scores with fewer than 20 labels are left out, and so are scores below 3, whose honest activities get no labels.",
      }),
    ),
    labels_by_score: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description:
          "How many activities of the last 90 days with this score have a label. At most the latest 20,000 labels are counted. The response to a change does not contain it.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Thresholds" },
);
export type StoredThresholds = Static<typeof StoredThresholds>;

// Accepts any object, because the schema rejects members that are not numbers.
export function thresholdsChangeFaults(body: ThresholdsChange): FieldError[] {
  if (body.cases_per_day === undefined) {
    const missing = [...scores, "thresholds_version" as const].filter((name) => body[name] === undefined);
    const lacking = missing.map((field) => ({ field, message: "is required unless cases_per_day is given" }));
    return [...lacking, ...thresholdFaults(body)];
  }
  const given = scores.filter((score) => body[score] !== undefined);
  return given.map((field) => ({ field, message: "is not allowed together with cases_per_day" }));
}

export function thresholdFaults(body: Partial<Thresholds>): FieldError[] {
  return scores.flatMap((score, index): FieldError[] => {
    const lower = scores[index - 1];
    const [from, to] = [lower && body[lower], body[score]];
    if (typeof from !== "number" || typeof to !== "number" || to > from) return [];
    return [{ field: score, message: `must be more than ${lower}` }];
  });
}

export function changeThresholds(found: StoredThresholds, wanted: WantedThresholds, actor: Actor): StoredThresholds {
  if (wanted.thresholds_version !== found.thresholds_version) throw versionConflict("The thresholds", found.thresholds_version);
  if ([...scores, "cases_per_day" as const].every((name) => found[name] === wanted[name])) return found;
  return { ...wanted, thresholds_version: found.thresholds_version + 1, updated_at: actor.now, updated_by: actor.name };
}
