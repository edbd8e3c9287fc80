import { Type, type Static } from "typebox";
import { Activity } from "./activity.ts";
import type { FieldError } from "./failure.ts";
import { Time } from "./field.ts";
import { parseTime } from "./text.ts";
import { ratedTypes } from "./label.ts";
import { momentNames } from "./moment.ts";

// Habits are kept for 400 days, and models learn from 90. Each day is a table that all tenants share: with 1,600 of them, requests of
// every tenant failed for lack of locks.
export const historyDaysMax = 400;

// Counting millions of rows takes too long for a status that is read twice a second.
export const countedMax = 1_000_000;
// If too much is waiting, only scoring makes room. A client that waits would wait in vain while nothing is being scored, so this is
// longer than the client library waits.
export const fullRetrySeconds = 300;

// An activity from before the tenant used Casehound. Only the import operation accepts it, because it opens no case.
export const PastActivity = Type.Object(
  {
    ...Activity.properties,
    fraudulent: Type.Optional(
      Type.Boolean({ description: "`true` if you now know that it was a fraud. It becomes a label with the source `api`." }),
    ),
    known_at: Type.Optional({ ...Time, description: "When you learned of the fraud. Default: the time of the request." }),
  },
  { additionalProperties: false, $id: "PastActivity" },
);
export type PastActivity = Static<typeof PastActivity>;

export const HistoryBatch = Type.Object(
  { activities: Type.Array(PastActivity, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false, $id: "HistoryBatch" },
);
export type HistoryBatch = Static<typeof HistoryBatch>;

export const HistoryBatchResult = Type.Object(
  {
    accepted: Type.Integer({ description: "How many activities were new." }),
    duplicates: Type.Integer({ description: "How many activities were already stored, from an import or as live activity." }),
    reused: Type.Integer({
      description: "How many of the duplicates have the id of an activity with different content. They were not stored.",
    }),
    too_old: Type.Integer({ description: "How many activities are from before `kept_from`. They were not stored." }),
    unlabelled: Type.Integer({
      description:
        "How many of the duplicates are marked as frauds but could not be labelled, because they are live activity that has not been scored yet, or because they are no longer kept. Send them again later.",
    }),
  },
  { additionalProperties: false, $id: "HistoryBatchResult" },
);
export type HistoryBatchResult = Static<typeof HistoryBatchResult>;

export const HistoryStatus = Type.Object(
  {
    waiting: Type.Integer({
      description: `How many activities are waiting to be scored. At most ${countedMax.toLocaleString("en")} are counted.`,
    }),
    is_running: Type.Boolean({ description: "Whether the waiting activities are being scored." }),
    oldest_at: Type.Optional({ ...Time, description: "The time of the oldest waiting activity, which is scored next." }),
    kept_from: {
      ...Time,
      description: `Activity before this time is not accepted: it is too old to be kept, or older than ${historyDaysMax} days.`,
    },
  },
  { additionalProperties: false, $id: "HistoryStatus" },
);
export type HistoryStatus = Static<typeof HistoryStatus>;

const Found = Type.Object(
  {
    frauds: Type.Integer({ description: "Known frauds." }),
    found: Type.Integer({ description: "Known frauds with a score of 3 or more, which opens or joins a case." }),
  },
  { additionalProperties: false },
);

export const HistoryReport = Type.Object(
  {
    activities: Type.Integer(),
    cases: Type.Integer({
      description: "How many cases would have been opened, if an account or a source gets at most one case a day.",
    }),
    moments: Type.Object(Object.fromEntries(momentNames.map((moment) => [moment, Found])), { additionalProperties: false }),
  },
  { additionalProperties: false, $id: "HistoryReport" },
);
export type HistoryReport = {
  activities: number;
  cases: number;
  moments: Record<(typeof momentNames)[number], Static<typeof Found>>;
};

const dayMs = 24 * 60 * 60 * 1000;

// Returns the start of the first day that is accepted. The day that expires next is left out, so that nothing expires during its
// import.
export function keptFrom(now: string, retentionDays: number): string {
  const today = Date.parse(`${now.slice(0, 10)}T00:00:00.000Z`);
  return new Date(today - (Math.min(retentionDays, historyDaysMax) - 1) * dayMs).toISOString();
}

// Checks that a schema cannot express. The times must be valid.
export function pastFaults(past: PastActivity, nowMs: number): FieldError[] {
  const { type, occurred_at, fraudulent, known_at } = past;
  const at = parseTime(occurred_at) ?? 0;
  const known = known_at === undefined ? null : parseTime(known_at);
  return [
    ...(at > nowMs ? [{ field: "occurred_at", message: "must not be in the future" }] : []),
    ...(fraudulent === true && !ratedTypes.includes(type)
      ? [{ field: "fraudulent", message: `must not be true for ${type}: only ${ratedTypes.join(", ")} can be labelled` }]
      : []),
    ...(known !== null && known > nowMs ? [{ field: "known_at", message: "must not be in the future" }] : []),
    ...(known !== null && known < at ? [{ field: "known_at", message: "must not be before occurred_at" }] : []),
  ];
}
