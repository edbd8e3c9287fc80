import { Type, type Static } from "typebox";
import type { CaseDocument } from "./case.ts";
import { judgedIn, ratioId } from "./snooze.ts";

// Figures about closed cases, for those who lead a team.

export const figureDaysMax = 92;
export const figureDaysDefault = 30;
// Reopening a case sooner than this is the correction of a slip.
export const undoMinutes = 10;

const Count = Type.Integer({ minimum: 0 });
const outcomes = {
  closed: Type.Integer({ minimum: 0, description: "Cases that are still closed, counted by their last close." }),
  confirmed: Count,
  false_positives: Count,
  inconclusive: Count,
  none: Type.Integer({ minimum: 0, description: "Closed without a disposition." }),
  median_seconds: Type.Integer({ description: "The median time from opening to closing." }),
  p90_seconds: Type.Integer({ description: "Nine of ten cases took at most this long." }),
};
const ClosedBy = Type.String({ description: "The person or client, as the filter `closed_by` of the case list takes it." });

export const PersonDay = Type.Object(
  { day: Type.String({ description: "In UTC." }), closed_by: ClosedBy, ...outcomes },
  { additionalProperties: false, $id: "PersonDay" },
);
export type PersonDay = Static<typeof PersonDay>;

export const PersonFigures = Type.Object(
  {
    closed_by: ClosedBy,
    ...outcomes,
    overturned: Type.Integer({
      minimum: 0,
      description: `Closes of the period that were undone by reopening the case at least ${undoMinutes} minutes later.`,
    }),
    overturned_share: Type.Number({
      description: "The share of overturned closes among all closes of the period, overturned or not.",
    }),
  },
  { additionalProperties: false, $id: "PersonFigures" },
);
export type PersonFigures = Static<typeof PersonFigures>;

const kinds = ["rule", "model", "likelihood_ratio"] as const;

export const JudgedPrecision = Type.Object(
  {
    kind: Type.Enum([...kinds], { description: "`likelihood_ratio` is the comparison of a log-in with the account's habits." }),
    id: Type.String({ description: "The rule's id, or the moment that the model is for." }),
    confirmed: Count,
    false_positives: Count,
    inconclusive: Count,
    precision: Type.Union([Type.Number(), Type.Null()], {
      description: "Confirmed frauds among confirmed frauds and false positives; null if there are none.",
    }),
  },
  { additionalProperties: false, $id: "JudgedPrecision" },
);
export type JudgedPrecision = Static<typeof JudgedPrecision>;

export const MoneyFigures = Type.Object(
  {
    currency: Type.String({ description: "ISO 4217. `XXX` for payments without a currency." }),
    cases: Count,
    payments: Count,
    amount: Type.Number({ description: "The sum of the payments and transfers, without declined ones." }),
  },
  { additionalProperties: false, $id: "MoneyFigures" },
);
export type MoneyFigures = Static<typeof MoneyFigures>;

// The ids of the rules and models behind a closed case, or null while it is open.
export function judgedText({ status, fraud_occurrences: occurrences }: CaseDocument): string | null {
  return status === "CLOSED" ? judgedIn(Object.values(occurrences), "").rules.join(" ") : null;
}

const modelPrefix = "model.";

export function judgedOf(id: string): Pick<JudgedPrecision, "kind" | "id"> {
  if (id.startsWith(modelPrefix)) return { kind: "model", id: id.slice(modelPrefix.length) };
  return { kind: id === ratioId ? "likelihood_ratio" : "rule", id };
}

export function shareOf(part: number, others: number): number | null {
  return part + others === 0 ? null : Math.round((part / (part + others)) * 10_000) / 10_000;
}
