import { Type, type Static } from "typebox";
import type { Finding, Label } from "./finding.ts";
import type { Moment } from "./label.ts";
import { momentNames } from "./moment.ts";

const checksPerDayMax = 100;
export const checkedDays = 90;

const Recall = Type.Object(
  {
    moment: Type.Enum(momentNames),
    checks: Type.Integer({ description: "How many activities were chosen at random." }),
    decided: Type.Integer({ description: "How many of their cases were closed as confirmed fraud or as false positive." }),
    frauds: Type.Integer({ description: "How many of their cases were closed as confirmed fraud." }),
    found: Type.Integer({
      description: "How many activities since the first check had a score of 3 or more and are known frauds.",
    }),
    missed: Type.Union([Type.Number(), Type.Null()], {
      description: "The estimated number of frauds with a lower score. Null if no check is decided.",
    }),
    recall: Type.Union([Type.Number(), Type.Null()], {
      description:
        "The estimated share of all frauds that have a score of 3 or more. Null if no check is decided, or if no fraud is known.",
    }),
    recall_low: Type.Union([Type.Number(), Type.Null()], {
      description: "A lower bound of the recall, with a confidence of about 95 %.",
    }),
  },
  { additionalProperties: false, $id: "EstimatedRecall" },
);
export type Recall = Static<typeof Recall>;

const perDay = Type.Integer({ minimum: 0, maximum: checksPerDayMax });

export const RandomChecks = Type.Object(
  {
    per_day: { ...perDay, description: "How many activities are chosen each day. 0 if random checks are off." },
    recall: Type.Array(Recall, { description: `One estimate for each moment, over the last ${checkedDays} days.` }),
  },
  { additionalProperties: false, $id: "RandomChecks" },
);
export type RandomChecks = Static<typeof RandomChecks>;

export const RandomChecksChange = Type.Object(
  { per_day: { ...perDay, description: "How many activities to choose each day. 0 turns random checks off." } },
  { additionalProperties: false, $id: "RandomChecksChange" },
);
export type RandomChecksChange = Static<typeof RandomChecksChange>;

// `weightAll`: how many activities all checks stand for. `weightDecided` and `weightFrauds`: the same for the decided checks and
// for those that were frauds.
export type CheckCounts = Pick<Recall, "checks" | "decided" | "frauds" | "found"> & {
  weightAll: number;
  weightDecided: number;
  weightFrauds: number;
};

// Returns which part of the sum of all shares one check stands for. An account with more than that is always chosen, and its
// check stands only for its own activities. The other checks stand for the rest.
export function sharePerCheck(ofAccounts: readonly number[], total: number): number {
  let [rest, checks] = [total, ofAccounts.length];
  for (const own of ofAccounts.toSorted((one, other) => other - one)) {
    if (own * checks <= rest || checks === 1) break;
    rest -= own;
    checks--;
  }
  return rest / Math.max(checks, 1);
}

// A check's weight is the number of activities that it stands for. Checks that nobody has decided are assumed to be like the
// others.
export function recallOf(counts: CheckCounts): Omit<Recall, "moment"> {
  const { checks, decided, frauds, found, weightAll, weightDecided, weightFrauds } = counts;
  const known = { checks, decided, frauds, found };
  if (decided === 0) return { ...known, missed: null, recall: null, recall_low: null };
  const missed = weightAll * (weightFrauds / weightDecided);
  // With few frauds, the true number may be much higher. If no check was a fraud, all checks are taken to have the same weight.
  const most = frauds === 0 ? (weightAll * highOf(0)) / decided : (missed * highOf(frauds)) / frauds;
  const recall = found + missed === 0 ? null : short(found / (found + missed));
  return { ...known, missed: short(missed), recall, recall_low: found === 0 ? null : short(found / (found + most)) };
}

// Returns the upper 95 % confidence limit of a Poisson count (Wilson-Hilferty approximation): with that mean, a count this low
// has a probability of 5 %.
function highOf(count: number): number {
  const n = count + 1;
  return n * (1 - 1 / (9 * n) + 1.645 / (3 * Math.sqrt(n))) ** 3;
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}

const labelOf: Record<Moment, Label> = { entry: "Account Takeover", signup: "Synthetic", value: "Organic" };

// The finding of a case that was opened for a random check. It accuses nobody.
export function checkFinding({ moment, score, session_id }: { moment: Moment; score: 1 | 2; session_id?: string }): Finding {
  const summary = "This activity was chosen at random, to estimate how many frauds are missed. Nothing suspicious was found.";
  return {
    score,
    label: labelOf[moment],
    action: "MONITOR",
    summary,
    highlights: [summary],
    source: "server",
    session_id,
    session_status: "FINISHED",
    isRandomCheck: true,
    explanation: {
      fraud_reason: "Random check",
      fraud_reason_description: summary,
      fraud_types: [],
      model_behaviour: [],
    },
  };
}
