import { Type, type Static } from "typebox";
import { ReadValue } from "./decision.ts";
import type { FieldError } from "./failure.ts";
import { Score } from "./finding.ts";
import { Time, Uuid } from "./field.ts";
import { Day } from "./rule-report.ts";
import { Precision, RuleDefinition } from "./rule.ts";

const backtestDaysMax = 90;
export const backtestsWaitingMax = 3;
export const backtestsShownMax = 50;
export const backtestExamplesMax = 10;
// Limited, because distinct accounts are held in memory while a backtest runs.
export const backtestAccountsMax = 100_000;

const dayMs = 24 * 60 * 60 * 1000;

const Expression = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: "The draft rule: a CEL expression over the fields of `GET /features`.",
});
const Label = Type.String({ minLength: 1, maxLength: 100, description: "A short name for the backtest." });
const { about: About } = RuleDefinition.properties;
const Days = Type.Integer({ minimum: 1, maximum: backtestDaysMax, default: 30 });

export const NewBacktest = Type.Object(
  {
    expression: Expression,
    label: Type.Optional(Label),
    about: Type.Optional(About),
    days: Type.Optional(Days),
    from: Type.Optional(Type.String({ ...Day, description: "The first day, in UTC. If it is absent, the period ends today." })),
  },
  { additionalProperties: false, $id: "NewBacktest" },
);
export type NewBacktest = Static<typeof NewBacktest>;

// What is stored: the draft, and the period in which activity must have been received. `until` is never later than the request,
// so every run over it gives the same result.
export type BacktestRequest = {
  expression: string;
  label?: string;
  about: RuleDefinition["about"];
  days: number;
  from: string;
  until: string;
};

export function backtestFaults({ from }: { from?: unknown }): FieldError[] {
  if (typeof from !== "string" || isDay(from)) return [];
  return [{ field: "from", message: `must be a date in the form YYYY-MM-DD, not before ${firstDay}` }];
}

// No activity is older, and PostgreSQL has no year 0.
const firstDay = "2000-01-01";

function isDay(text: string): boolean {
  if (text < firstDay) return false;
  const ms = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(ms) && dayOf(ms) === text;
}

export function requestOf({ expression, label, about = "account", days = 30, from }: NewBacktest, now: string): BacktestRequest {
  const first = from === undefined ? Date.parse(now.slice(0, 10)) - (days - 1) * dayMs : Date.parse(from);
  const until = new Date(Math.min(first + days * dayMs, Date.parse(now))).toISOString();
  return { expression, ...(label !== undefined && { label }), about, days, from: dayOf(first), until };
}

// Returns the days, newest first, each with the bounds of its part of the request. Days in the future are left out.
export function daysOf({ days, from, until }: BacktestRequest): { day: string; from: string; until: string }[] {
  const first = Date.parse(from);
  const end = Date.parse(until);
  return Array.from({ length: days }, (_, index) => first + index * dayMs)
    .filter((start) => start < end)
    .map((start) => ({
      day: dayOf(start),
      from: new Date(start).toISOString(),
      until: new Date(Math.min(start + dayMs, end)).toISOString(),
    }))
    .toReversed();
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

const BacktestProgress = Type.Object(
  {
    done: Type.Integer({ description: "The number of decisions examined so far." }),
    total: Type.Integer({ description: "The estimated number of decisions to examine." }),
    percent: Type.Integer({ minimum: 0, maximum: 100 }),
  },
  { additionalProperties: false },
);
export type BacktestProgress = Static<typeof BacktestProgress>;

// Stays below 100 until the backtest is done, because the total is an estimate.
export function progressOf(done: number, estimate: number): BacktestProgress {
  const total = Math.max(done, estimate);
  return { done, total, percent: total === 0 ? 0 : Math.min(99, Math.floor((100 * done) / total)) };
}

const BacktestExample = Type.Object(
  {
    activity_id: Type.String(),
    type: Type.String(),
    occurred_at: Time,
    website_account_id: Type.Optional(Type.String()),
    score: Score,
    values: Type.Array(ReadValue, { description: "The fields that the draft reads, with their values at that time." }),
  },
  { additionalProperties: false },
);
export type BacktestExample = Static<typeof BacktestExample>;

const measured = {
  decisions: Type.Integer({ description: "The number of stored decisions that the draft was tested on." }),
  hits: Type.Integer(),
  hits_per_day: Type.Array(
    Type.Object({ day: Day, hits: Type.Integer(), decisions: Type.Integer() }, { additionalProperties: false }),
    { description: "By day of receipt, oldest first. Days without decisions are included." },
  ),
  accounts: Type.Integer({ description: `The number of distinct accounts that were hit, counted up to ${backtestAccountsMax}.` }),
  overlap: Type.Array(Type.Object({ rule_id: Type.String(), hits: Type.Integer() }, { additionalProperties: false }), {
    description: "For each rule that was on at the time: how many of the same activities it hit.",
  }),
  caught_already: Type.Union([Type.Number(), Type.Null()], {
    description: "The share of the hits that had a score of 3 or more without the draft; null if there was no hit.",
  }),
  precision: Precision,
};

const BacktestResult = Type.Object(
  {
    ...measured,
    examples: Type.Array(BacktestExample, {
      description: `The latest hit of each of up to ${backtestExamplesMax} subjects. Activity that has been erased since is not included.`,
    }),
  },
  { additionalProperties: false, $id: "BacktestResult" },
);
type BacktestResult = Static<typeof BacktestResult>;

// The position of an example in the log of activity.
export type ExampleKey = { received_at: string; id_key: string };
export type StoredResult = Omit<BacktestResult, "examples"> & { examples: ExampleKey[] };

const backtestStatuses = ["QUEUED", "RUNNING", "DONE", "CANCELLED", "FAILED"] as const;

const listed = {
  backtest_id: Uuid,
  status: Type.Enum([...backtestStatuses]),
  expression: Expression,
  label: Type.Optional(Label),
  about: About,
  days: Days,
  from: Day,
  until: Type.String({ ...Time, description: "Only activity received before this time is examined." }),
  progress: BacktestProgress,
  fault: Type.Optional(Type.String({ description: "Why the backtest failed." })),
  created_at: Time,
  created_by: Type.String(),
  finished_at: Type.Optional(Time),
};

export const BacktestListItem = Type.Object(listed, { additionalProperties: false, $id: "BacktestListItem" });
export type BacktestListItem = Static<typeof BacktestListItem>;

export const Backtest = Type.Object(
  { ...listed, result: Type.Optional(BacktestResult) },
  { additionalProperties: false, $id: "Backtest" },
);
export type Backtest = Static<typeof Backtest>;
