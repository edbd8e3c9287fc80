import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { Precision } from "./rule.ts";

export const reportDaysMax = 90;
export const examplesShownMax = 20;
// Above this number, an overlap says nothing more and costs more.
export const overlapSubjectsMax = 10_000;

export const Day = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description: "A day in UTC.", examples: ["2026-11-15"] });

const HitsOfDay = Type.Object(
  { day: Day, hits: Type.Integer({ description: "While the rule was on." }), shadow_hits: Type.Integer() },
  { additionalProperties: false },
);

const Example = Type.Object(
  {
    subject: Type.String({
      description: "Whom the case would be about: `account:`, `device:`, `session:`, `ip:` or `activity:` and an id.",
    }),
    is_shadow: Type.Boolean(),
    hits: Type.Integer({ description: "Of the rule on that subject, ever." }),
    activity_id: Type.String(),
    website_account_id: Type.Optional(Type.String()),
    occurred_at: Time,
    sentence: Type.String({ description: "The rule's sentence with the values of that activity." }),
  },
  { additionalProperties: false },
);
export type RuleExample = Static<typeof Example>;

export const RuleReport = Type.Object(
  {
    rule_id: Type.String(),
    days: Type.Integer({ minimum: 1, maximum: reportDaysMax }),
    hits_per_day: Type.Array(HitsOfDay, { description: "Every day, oldest first, those without a hit included." }),
    subjects: Type.Integer({ description: "Hit in these days while the rule was on." }),
    shadow_subjects: Type.Integer({ description: "Hit in these days while it was in shadow." }),
    precision: Precision,
    shadow_precision: Precision,
    examples: Type.Array(Example, { description: `The latest activity of the ${examplesShownMax} subjects that were hit last.` }),
    overlap: Type.Array(Type.Object({ rule_id: Type.String(), subjects: Type.Integer() }, { additionalProperties: false }), {
      description: `How many of its subjects another rule hit in these days too, on or in shadow. Over the latest ${overlapSubjectsMax} subjects.`,
    }),
  },
  { additionalProperties: false, $id: "RuleReport" },
);
export type RuleReport = Static<typeof RuleReport>;

const dayMs = 24 * 60 * 60 * 1000;

// Returns the UTC days up to the day of `now`, oldest first.
export function daysUpTo(now: string, count: number): string[] {
  const today = Date.parse(now.slice(0, 10));
  return Array.from({ length: count }, (_, index) => dayOf(today - (count - 1 - index) * dayMs));
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
