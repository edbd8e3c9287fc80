import { Type, type Static } from "typebox";
import { Disposition } from "./case.ts";
import { Time } from "./field.ts";
import { Score } from "./finding.ts";
import { CaseSubject } from "./subject.ts";

// The latest closed cases with the same label that a case is compared with. This bounds the cost, whatever the number of cases.
export const comparedMax = 200;
// With fewer similar cases, the share would be mostly chance.
const similarMin = 5;
const similarShownMax = 20;
// From this similarity on, cases count as similar.
export const similarFrom = 0.8;

const SimilarCase = Type.Object(
  {
    case_id: Type.String(),
    website_account_id: Type.String({ description: "`UNKNOWN` if the case has no account." }),
    subject: Type.Optional(CaseSubject),
    overall_risk_score: Score,
    disposition: Disposition,
    decided_at: Time,
    decided_by: Type.String(),
    similarity: Type.Number({ minimum: 0, maximum: 1, description: "1 if all values that were compared are equal." }),
  },
  { additionalProperties: false, $id: "SimilarCase" },
);
export type SimilarCase = Static<typeof SimilarCase>;

export const SimilarCases = Type.Object(
  {
    compared: Type.Integer({
      description: `How many decided cases were compared: of the latest ${comparedMax} closed cases with the same label, those with an outcome whose evidence is still stored. Each account counts once, by its latest case.`,
    }),
    similar: Type.Integer({ description: "How many of them are similar." }),
    confirmed_frauds: Type.Integer({ description: "How many of the similar cases were closed as CONFIRMED_FRAUD." }),
    false_positives: Type.Integer({ description: "How many of the similar cases were closed as FALSE_POSITIVE." }),
    inconclusive: Type.Integer({ description: "How many of the similar cases were closed as INCONCLUSIVE." }),
    is_enough: Type.Boolean({
      description: `Whether at least ${similarMin} similar cases were decided. With fewer, the figures say little.`,
    }),
    cases: Type.Array(SimilarCase, {
      description: `The similar cases, most similar first, at most ${similarShownMax}.`,
    }),
  },
  { additionalProperties: false, $id: "SimilarCases" },
);
export type SimilarCases = Static<typeof SimilarCases>;

// Counts the similar cases among those that were compared. `compared` is in the order of closing, the latest first.
export function summarize(compared: SimilarCase[]): SimilarCases {
  const similar = compared.filter(({ similarity }) => similarity >= similarFrom);
  const count = (wanted: SimilarCase["disposition"]) => similar.filter(({ disposition }) => disposition === wanted).length;
  return {
    compared: compared.length,
    similar: similar.length,
    confirmed_frauds: count("CONFIRMED_FRAUD"),
    false_positives: count("FALSE_POSITIVE"),
    inconclusive: count("INCONCLUSIVE"),
    is_enough: similar.length >= similarMin,
    cases: similar.toSorted((a, b) => b.similarity - a.similarity).slice(0, similarShownMax),
  };
}
