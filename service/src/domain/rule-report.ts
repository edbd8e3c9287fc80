import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { Precision } from "./rule.ts";

export const reportDaysMax = 90;
export const examplesShownMax = 20;
// Examining more subjects would cost time and hardly change the overlap.
export const overlapSubjectsMax = 10_000;

export const Day = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description: "A day in UTC.", examples: ["2026-11-15"] });

const HitsOfDay = Type.Object(
  { day: Day, hits: Type.Integer({ description: "Hits while the rule was on." }), shadow_hits: Type.Integer() },
  { additionalProperties: false },
);

const Example = Type.Object(
  {
    subject: Type.String({
      description:
        "The subject of the case that would be opened: `account:`, `device:`, `session:`, `ip:`, `network:` or `activity:`, followed by an id.",
    }),
    is_shadow: Type.Boolean(),
    hits: Type.Integer({ description: "All hits of the rule on that subject, at any time." }),
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
    hits_per_day: Type.Array(HitsOfDay, { description: "All days, oldest first. Days without a hit are included." }),
    subjects: Type.Integer({ description: "The number of subjects that were hit in this period while the rule was on." }),
    shadow_subjects: Type.Integer({
      description: "The number of subjects that were hit in this period while the rule was in shadow.",
    }),
    precision: Precision,
    shadow_precision: Precision,
    examples: Type.Array(Example, {
      description: `The latest hit of each of the ${examplesShownMax} subjects that were hit most recently.`,
    }),
    overlap: Type.Array(Type.Object({ rule_id: Type.String(), subjects: Type.Integer() }, { additionalProperties: false }), {
      description: `For each other rule, on or in shadow: how many of this rule's subjects it also hit in this period. Only the latest ${overlapSubjectsMax} subjects are examined.`,
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
