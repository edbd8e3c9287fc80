import { Type, type Static } from "typebox";
import { versionConflict, type FieldError } from "./failure.ts";
import { Time } from "./field.ts";
import { notBefore } from "./text.ts";
import { Score, labels, type Label } from "./finding.ts";
import { listNamePattern } from "./list.ts";

// The moments at which a tenant's server asks what to do. Every other type of activity is `other`.
const typesByMoment = {
  login: ["login_succeeded", "login_failed"],
  signup: ["signup"],
  change: ["password_changed", "email_changed", "mfa_changed", "payee_added"],
  payment: ["payment", "transfer"],
} as const;

const moments = ["login", "signup", "change", "payment", "other"] as const;
export type Moment = (typeof moments)[number];

const momentByType = new Map<string, Moment>(
  Object.entries(typesByMoment).flatMap(([moment, types]) => types.map((type) => [type, moment as Moment] as const)),
);

export function momentOf({ type }: { type: string }): Moment {
  return momentByType.get(type) ?? "other";
}

export const policyActions = ["ALLOW", "CHALLENGE", "BLOCK"] as const;
export type PolicyAction = (typeof policyActions)[number];

export const policyRowsMax = 50;
const listsMax = 10;

const PolicyRow = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "A short name for people." })),
    moments: Type.Optional(
      Type.Array(Type.Enum([...moments]), {
        minItems: 1,
        maxItems: moments.length,
        description:
          "`login`: login_succeeded and login_failed. `signup`. `change`: password_changed, email_changed, mfa_changed and payee_added. `payment`: payment and transfer. `other`: everything else. Without this condition, all moments match.",
      }),
    ),
    min_score: Type.Optional({ ...Score, description: "The default is 1." }),
    max_score: Type.Optional({ ...Score, description: "The default is 5." }),
    labels: Type.Optional(
      Type.Array(Type.Enum([...labels]), {
        minItems: 1,
        maxItems: labels.length,
        description: "The evidence has at least one of these labels. Without this condition, any evidence or none matches.",
      }),
    ),
    lists: Type.Optional(
      Type.Array(Type.String({ pattern: listNamePattern }), {
        minItems: 1,
        maxItems: listsMax,
        description: "The activity is on at least one of these lists. Without this condition, any lists or none match.",
      }),
    ),
    action: Type.Enum([...policyActions]),
    set_quarantined: Type.Optional(
      Type.Boolean({
        description:
          "Whether to quarantine the account too. This applies to every activity that a server or a verified page sends, not only to assessments. A failed log-in never quarantines an account, because anybody can cause one. Nor does evidence about somebody else, such as the payee, except at a sign-up.",
      }),
    ),
  },
  { additionalProperties: false, $id: "PolicyRow", description: "A row matches if all of its conditions match." },
);
export type PolicyRow = Static<typeof PolicyRow>;

const definition = {
  mode: Type.Enum(["on", "shadow"], {
    description:
      "`on`: the policy's answers count. `shadow`: every answer is ALLOW, except for a blocked account. `would_be` is what the policy would have answered, and no account is quarantined.",
  }),
  rows: Type.Array(PolicyRow, {
    maxItems: policyRowsMax,
    description: "The first row that matches decides. If none does, the answer is ALLOW.",
  }),
};

export const PolicyDefinition = Type.Object(definition, { additionalProperties: false, $id: "PolicyDefinition" });
export type PolicyDefinition = Static<typeof PolicyDefinition>;

const policyVersion = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const PolicyChange = Type.Object(
  { ...definition, policy_version: { ...policyVersion, description: "The version that was read." } },
  { additionalProperties: false, $id: "PolicyChange" },
);
export type PolicyChange = Static<typeof PolicyChange>;

export const Policy = Type.Object(
  {
    ...definition,
    policy_version: policyVersion,
    updated_at: Time,
    updated_by: Type.String({ description: "`system` for the default policy." }),
  },
  { additionalProperties: false, $id: "Policy" },
);
export type Policy = Static<typeof Policy>;

// The same scores as in the recommended actions of cases.
export const defaultPolicy: PolicyDefinition = {
  mode: "on",
  rows: [
    { name: "Almost certainly fraud", min_score: 5, action: "BLOCK" },
    { name: "Probably fraud", min_score: 4, action: "CHALLENGE" },
    { name: "Perhaps a stranger", min_score: 3, labels: ["Account Takeover"], action: "CHALLENGE" },
  ],
};

export type Situation = {
  moment: Moment;
  score: number;
  labels: readonly Label[];
  lists: readonly string[];
  isBlocked: boolean;
};

export type PolicyAnswer = {
  action: PolicyAction;
  // Only in shadow mode: the action of the row that matched, or ALLOW.
  would_be?: PolicyAction;
  set_quarantined: boolean;
  // The index of the row that decided. Null if no row matched or the account is blocked.
  matched: number | null;
};

// A blocked account gets BLOCK whatever the policy says, because a person blocked it.
export function actionOf({ mode, rows }: PolicyDefinition, situation: Situation): PolicyAnswer {
  if (situation.isBlocked) return { action: "BLOCK", set_quarantined: false, matched: null };
  const index = rows.findIndex((row) => isMatch(row, situation));
  const row = rows[index];
  const matched = row ? index : null;
  const action = row?.action ?? "ALLOW";
  if (mode === "shadow") return { action: "ALLOW", would_be: action, set_quarantined: false, matched };
  return { action, set_quarantined: row?.set_quarantined ?? false, matched };
}

type Conditions = Omit<Situation, "isBlocked">;

export function scoresOf({ min_score: least = 1, max_score: most = 5 }: PolicyRow): { least: number; most: number } {
  return { least, most };
}

function isMatch(row: PolicyRow, { moment, score, labels: found, lists }: Conditions): boolean {
  const { least, most } = scoresOf(row);
  return (
    (row.moments?.includes(moment) ?? true) &&
    score >= least &&
    score <= most &&
    (row.labels?.some((label) => found.includes(label)) ?? true) &&
    (row.lists?.some((list) => lists.includes(list)) ?? true)
  );
}

// Returns what is wrong with the rows. A row that can never match is rejected, because its author expects it to do something.
// `lists` are the names of all lists.
export function policyFaults({ rows }: Pick<PolicyDefinition, "rows">, lists: readonly string[]): FieldError[] {
  return rows.flatMap((row, index): FieldError[] => {
    const unknown = (row.lists ?? []).flatMap((name, place) =>
      lists.includes(name) ? [] : [{ field: `rows[${index}].lists[${place}]`, message: "is not the name of a list" }],
    );
    if (unknown.length > 0) return unknown;
    const { least, most } = scoresOf(row);
    const repeated = repeatedIn(row).map((field) => ({ field: `rows[${index}].${field}`, message: "appears more than once" }));
    if (repeated.length > 0) return repeated;
    if (least > most) return [{ field: `rows[${index}].max_score`, message: "must not be less than min_score" }];
    const earlier = rows.slice(0, index);
    const isReached = simplestMatches(row).some((situation) => !earlier.some((each) => isMatch(each, situation)));
    return isReached ? [] : [{ field: `rows[${index}]`, message: "can never match, because the rows before it match first" }];
  });
}

function repeatedIn({ moments: at, labels: of, lists }: PolicyRow): string[] {
  return Object.entries({ moments: at, labels: of, lists }).flatMap(([name, values = []]) =>
    values.flatMap((value: string, index) =>
      values.some((each, earlier) => each === value && earlier < index) ? [`${name}[${index}]`] : [],
    ),
  );
}

// Returns the situations that the row matches, each with as few labels and lists as possible. With more of them, a situation
// matches the same earlier rows, and perhaps more of them.
function simplestMatches(row: PolicyRow): Conditions[] {
  const { least, most } = scoresOf(row);
  const scores = [1, 2, 3, 4, 5].filter((score) => score >= least && score <= most);
  const labelSets = row.labels?.map((label) => [label]) ?? [[]];
  const listSets = row.lists?.map((list) => [list]) ?? [[]];
  return (row.moments ?? [...moments]).flatMap((moment) =>
    scores.flatMap((score) => labelSets.flatMap((found) => listSets.map((lists) => ({ moment, score, labels: found, lists })))),
  );
}

type Actor = { name: string; now: string };

// Returns the next version, or the same policy if nothing differs.
export function changePolicy(found: Policy, wanted: PolicyChange, actor: Actor): Policy {
  const { policy_version: current } = found;
  if (wanted.policy_version !== current) throw versionConflict("The policy", current);
  const { mode } = wanted;
  const rows = wanted.rows.map(orderedRow);
  if (mode === found.mode && JSON.stringify(rows) === JSON.stringify(found.rows)) return found;
  return { mode, rows, policy_version: current + 1, updated_at: notBefore(found.updated_at, actor.now), updated_by: actor.name };
}

// Puts the members into the order in which people read them.
export function orderedRow({ name, moments: at, min_score, max_score, labels: of, lists, action, ...row }: PolicyRow): PolicyRow {
  return {
    ...(name !== undefined && { name }),
    ...(at && { moments: at }),
    ...(min_score !== undefined && { min_score }),
    ...(max_score !== undefined && { max_score }),
    ...(of && { labels: of }),
    ...(lists && { lists }),
    action,
    ...row,
  };
}

export const trialDays = 30;
// Servers do not ask what to do about these, and most activity is page views.
export const untriedTypes = ["page_view", "logout", "fraud_report"] as const;

const Count = Type.Object(
  { activities: Type.Integer(), frauds: Type.Integer({ description: "How many of them are known frauds." }) },
  { additionalProperties: false },
);
type Count = Static<typeof Count>;

const PolicyOutcome = Type.Object(
  {
    moments: Type.Array(
      Type.Object(
        { moment: Type.Enum([...moments]), all: Count, allowed: Count, challenged: Count, blocked: Count },
        { additionalProperties: false },
      ),
    ),
    rows: Type.Array(Count, { description: "How many activities each row decided, in the order of the rows." }),
  },
  { additionalProperties: false, $id: "PolicyOutcome" },
);
export type PolicyOutcome = Static<typeof PolicyOutcome>;

export const PolicyTrial = Type.Object(
  {
    from: Time,
    until: Time,
    tried: { ...PolicyOutcome, description: "With the policy in the request." },
    current: { ...PolicyOutcome, description: "With the current policy." },
  },
  { additionalProperties: false, $id: "PolicyTrial" },
);
export type PolicyTrial = Static<typeof PolicyTrial>;

export type Tried = Omit<Situation, "isBlocked"> & { activities: number; isFraud: boolean };

const outcomeOf = { ALLOW: "allowed", CHALLENGE: "challenged", BLOCK: "blocked" } as const;

function none(): Count {
  return { activities: 0, frauds: 0 };
}

// Returns what the policy would have answered if it were on. Treats no account as blocked, because the flags at that time are not
// known.
export function tryPolicy(policy: PolicyDefinition, situations: readonly Tried[]): PolicyOutcome {
  const ofMoments = moments.map((moment) => ({
    moment,
    all: none(),
    allowed: none(),
    challenged: none(),
    blocked: none(),
  }));
  const rows = policy.rows.map(none);
  for (const { activities, isFraud, ...situation } of situations) {
    const { action, would_be = action, matched } = actionOf(policy, { ...situation, isBlocked: false });
    const ofMoment = ofMoments.find(({ moment }) => moment === situation.moment);
    for (const count of [ofMoment?.all, ofMoment?.[outcomeOf[would_be]], matched === null ? undefined : rows[matched]]) {
      if (!count) continue;
      count.activities += activities;
      count.frauds += isFraud ? activities : 0;
    }
  }
  return { moments: ofMoments, rows };
}
