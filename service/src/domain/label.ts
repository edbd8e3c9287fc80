import { Type, type Static } from "typebox";
import { Activity, clockToleranceMs } from "./activity.ts";
import type { FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { parseTime } from "./text.ts";

// The activities that can be labelled, by the moment that a model is trained for.
export const moments = {
  entry: ["login_succeeded", "password_changed", "email_changed", "mfa_changed", "payee_added"],
  signup: ["signup"],
  value: ["payment", "transfer"],
} as const;
export type Moment = keyof typeof moments;
export const ratedTypes: readonly string[] = Object.values(moments).flat();

type SourceFacts = { weight: number; isCounted: boolean };

// Who says whether an activity was a fraud. If several do, the first of them in this order decides. `isCounted`: the label counts
// as a known fraud of the activity's account, device, payee and instrument. A report that names only the account does not say
// which of its payments was the fraud, so its labels are guesses: they weigh less and accuse no payee.
export const labelSources = {
  case: { weight: 1, isCounted: true },
  api: { weight: 1, isCounted: true },
  report: { weight: 1, isCounted: true },
  account_report: { weight: 0.5, isCounted: false },
} as const satisfies Record<string, SourceFacts>;
export type LabelSource = keyof typeof labelSources;
// The cast is safe, because these are the keys of the table above.
export const sourcesByRank = Object.keys(labelSources) as LabelSource[];

export type Vote = { source: LabelSource; y: 0 | 1 | null };

// Whether the activity is a known fraud. The source of the highest rank decides. If an activity is evidence in several cases, one
// confirmed fraud is enough. The result does not depend on the order or the times of the votes, so it can be computed again for
// votes that were counted earlier.
export function isKnownFraud(votes: readonly Vote[]): boolean {
  const cast = votes.filter(({ source, y }) => y !== null && labelSources[source].isCounted);
  const first = sourcesByRank.find((source) => cast.some((vote) => vote.source === source));
  return cast.some(({ source, y }) => source === first && y === 1);
}

// What is known about activities of the last days.
export const labelDays = 90;
export type LabelCount = { type: string; score: number; labels: number; frauds: number };
export type LabelSums = Pick<LabelCount, "labels" | "frauds">;

export function labelSums<K>(counts: readonly LabelCount[], keyOf: (each: LabelCount) => K): Map<K, LabelSums> {
  const sums = new Map<K, LabelSums>();
  for (const each of counts) {
    const { labels, frauds } = sums.get(keyOf(each)) ?? { labels: 0, frauds: 0 };
    sums.set(keyOf(each), { labels: labels + each.labels, frauds: frauds + each.frauds });
  }
  return sums;
}

const activityId = Type.String({ minLength: 1, maxLength: 64, description: "The id under which a server sent the activity." });
const orderId = Type.String({ minLength: 1, maxLength: 128, description: "Labels the payments and transfers of this order." });

export const NewLabel = Type.Object(
  {
    activity_id: Type.Optional(activityId),
    order_id: Type.Optional(orderId),
    fraudulent: Type.Boolean(),
    known_at: Type.Optional({ ...Time, description: "When you learned it. Without it, the time of the request." }),
  },
  { additionalProperties: false, $id: "NewLabel", description: "Exactly one of `activity_id` and `order_id` is required." },
);
export type NewLabel = Static<typeof NewLabel>;

export const LabelBatch = Type.Object(
  { labels: Type.Array(NewLabel, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false, $id: "LabelBatch" },
);
export type LabelBatch = Static<typeof LabelBatch>;

export const LabelBatchResult = Type.Object(
  {
    stored: Type.Integer({ description: "How many labels are new or changed." }),
    unchanged: Type.Integer({ description: "How many changed nothing." }),
    not_found: Type.Array(Type.Integer(), {
      description: "The labels whose activity or order is unknown, by their index in the request.",
    }),
  },
  { additionalProperties: false, $id: "LabelBatchResult" },
);
export type LabelBatchResult = Static<typeof LabelBatchResult>;

export const Label = Type.Object(
  {
    activity_id: Activity.properties.activity_id,
    order_id: Type.Optional(orderId),
    source: Type.Enum(sourcesByRank, {
      description:
        "`case`: a closed case. `api`: this API. `report`: a fraud_report that named the activity or its order. `account_report`: a fraud_report that named only the account.",
    }),
    fraudulent: Type.Boolean(),
    weight: Type.Number({
      description:
        "How much the label counts: usually 1, less if it is a guess, and more if it is from a random check, because that stands for other activities too.",
    }),
    event_at: { ...Time, description: "When the activity happened." },
    labelled_at: { ...Time, description: "When the label was stored." },
    known_at: Time,
    case_id: Type.Optional(Uuid),
    actor: Type.String(),
  },
  { additionalProperties: false, $id: "Label" },
);
export type Label = Static<typeof Label>;

// The label that decides, if an activity has several.
export const ActivityLabel = Type.Object(
  {
    fraudulent: Label.properties.fraudulent,
    source: Label.properties.source,
    known_at: Label.properties.known_at,
    case_id: Label.properties.case_id,
  },
  {
    additionalProperties: false,
    description:
      "Whether the activity was a fraud, according to the source that decides. Only callers with the scope `read:labels` see it.",
  },
);
export type ActivityLabel = Static<typeof ActivityLabel>;

// Checks that a schema cannot express.
export function labelFaults({ labels }: LabelBatch, nowMs: number): FieldError[] {
  return labels.flatMap(({ activity_id, order_id, known_at }, index): FieldError[] => {
    const place = `labels[${index}]`;
    const knownMs = known_at === undefined ? null : parseTime(known_at);
    return [
      ...(activity_id === undefined && order_id === undefined
        ? [{ field: `${place}.activity_id`, message: "is required, unless there is an order_id" }]
        : []),
      ...(activity_id !== undefined && order_id !== undefined
        ? [{ field: `${place}.order_id`, message: "is not allowed together with activity_id" }]
        : []),
      ...(knownMs !== null && knownMs > nowMs + clockToleranceMs
        ? [{ field: `${place}.known_at`, message: "must not be in the future" }]
        : []),
    ];
  });
}
