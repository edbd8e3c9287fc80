import type { DomainEvent } from "./event.ts";
import { Type, type Static } from "typebox";
import { Time, Uuid } from "./field.ts";
import { labelDays } from "./label.ts";
import { momentNames } from "./moment.ts";
import { ruleIdPattern, rulesMax } from "./rule.ts";

export const modelsKeptMax = 20;
// The known frauds that a model needs. With fewer than `full`, or if they span fewer days, it is a small model.
export const fraudsMin = { full: 200, small: 50, days: 14 };
const modelStates = ["CHALLENGER", "CHAMPION", "RETIRED"] as const;

const MomentName = Type.Enum(momentNames, {
  description: "`entry`: log-ins and account changes. `signup`: sign-ups. `value`: payments and transfers.",
});

const Share = Type.Union([Type.Number(), Type.Null()]);

// How well a score separated frauds from honest activity.
const Measured = Type.Object(
  {
    auc: {
      ...Share,
      description:
        "The probability that a fraud scores higher than an honest activity. Null if there are no frauds, or nothing else.",
    },
    average_precision: Share,
    recall: {
      ...Share,
      description: "The share of all frauds that get an alert, if `model` and `before` get the same number of alerts a day.",
    },
    precision: { ...Share, description: "The share of these alerts that are frauds." },
    cases_per_day: Type.Number({ description: "How many accounts a day reach the threshold of score 3." }),
  },
  { additionalProperties: false },
);
export type Measured = Static<typeof Measured>;

const MeasuredDay = Type.Object(
  {
    day: Type.String({ format: "date" }),
    rows: Type.Integer(),
    frauds: Type.Integer(),
    average_precision: Share,
    average_precision_before: Share,
    found: Type.Integer({ description: "Frauds among the model's alerts." }),
    found_before: Type.Integer({ description: "Frauds among the alerts of the previous champion, or of the rules." }),
  },
  { additionalProperties: false },
);

// The model compared with what decided when it was measured: the champion, or the rules alone.
export const Comparison = Type.Object(
  {
    from: Time,
    until: Time,
    rows: Type.Integer(),
    frauds: Type.Integer(),
    calibration_error: Share,
    model: Measured,
    before: Measured,
    days: Type.Array(MeasuredDay),
  },
  { additionalProperties: false, $id: "ModelComparison" },
);
export type Comparison = Static<typeof Comparison>;

const Drift = Type.Object(
  {
    measured_at: Time,
    is_drifted: Type.Optional(
      Type.Boolean({
        description:
          "Whether the distribution of a field has changed a lot, or the number of known frauds per day is more than three times or less than a third of what it was before.",
      }),
    ),
    cases_per_day: Type.Integer({
      description:
        "How many accounts had an activity in the last 24 hours with a score of 3 or more that the rules alone would not have found. Known frauds do not count. Five accounts that are younger than a week count as one.",
    }),
    frauds_per_day: Type.Optional(
      Type.Object(
        {
          last_7_days: Type.Number(),
          before: Type.Number({ description: "The mean of the 28 days before." }),
        },
        { additionalProperties: false, description: "How many activities of the moment became known as frauds, per day." },
      ),
    ),
    recall: Type.Optional(
      Type.Union([Type.Number(), Type.Null()], {
        description:
          "The share of the moment's frauds that are found, estimated from random checks. `GET /random-checks` has the details.",
      }),
    ),
    fields: Type.Record(Type.String(), Type.Number(), {
      description:
        "The population stability index of the ten fields whose distribution has changed most since the training. Above 0.25, it has changed a lot. Empty if there were fewer than 200 activities.",
    }),
  },
  { additionalProperties: false, description: "The drift of a champion, measured about every ten minutes." },
);
export type Drift = Static<typeof Drift>;

export const stabilityMax = 0.25;
const labelsFactor = 3;
const fraudsExpectedMin = 10;

export function isDrifted({ fields, frauds_per_day }: Pick<Drift, "fields" | "frauds_per_day">): boolean {
  return (
    Object.values(fields).some((index) => index > stabilityMax) || (frauds_per_day !== undefined && haveMoved(frauds_per_day))
  );
}

// Whether frauds become known more than three times as often as before, or less than a third as often. With few frauds, that can
// be chance.
function haveMoved({ last_7_days: now, before }: NonNullable<Drift["frauds_per_day"]>): boolean {
  if (7 * Math.max(now, before) < fraudsExpectedMin || before === 0) return false;
  return now > labelsFactor * before || before > labelsFactor * now;
}

const budgetsMax = 5;
const casesMin = 10;

// A model that causes more cases than this in 24 hours is retired. Without a budget, the limit is based on the number of cases
// before the model.
export function casesLimit({ held_out, shadow }: Figures, budget: number | null): number {
  return Math.max(budgetsMax * (budget ?? (shadow ?? held_out)?.before.cases_per_day ?? 0), casesMin);
}

const Figures = Type.Object(
  {
    trees: Type.Integer(),
    rows: Type.Integer({ description: "How many labelled and mature activities the model was trained on." }),
    frauds: Type.Integer(),
    offset: Type.Number({
      description:
        "A constant that was added to the log-odds of fraud, so that the threshold of score 3 gives the wanted number of cases a day, or fewer if the model's record does not support them. Without it, the log-odds are those of a calibrated probability.",
    }),
    held_out: Type.Union([Comparison, Type.Null()], {
      description:
        "The figures of another model, which was trained only on what was known before the last days and measured on those days. Null if there were too few frauds.",
    }),
    shadow: Type.Optional(Comparison),
    profile: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ limits: Type.Array(Type.Number()), shares: Type.Array(Type.Number()) }, { additionalProperties: false }),
        { description: "The distribution of each field that the model reads, by the field's code." },
      ),
    ),
    drift: Type.Optional(Drift),
  },
  { additionalProperties: false },
);
export type Figures = Static<typeof Figures>;

export const Model = Type.Object(
  {
    model_id: Type.String({ description: "The SHA-256 of the model's text. The same labels give the same id." }),
    moment: MomentName,
    state: Type.Enum([...modelStates], {
      description: "The champion's ratings count. The challenger's ratings are only stored.",
    }),
    figures: Figures,
    trained_from: Time,
    trained_until: Time,
    created_at: Time,
    created_by: Type.String(),
    promoted_at: Type.Optional(Time),
    promoted_by: Type.Optional(Type.String()),
    retired_at: Type.Optional(Time),
    retired_by: Type.Optional(Type.String()),
    obstacles: Type.Optional(
      Type.Array(Type.String(), {
        description: "Why a challenger is not promoted automatically. A person can still promote it.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Model" },
);
export type Model = Static<typeof Model>;

export function withObstacles(model: Model): Model {
  return model.state === "CHALLENGER" ? { ...model, obstacles: promotionObstacles(model.figures.shadow) } : model;
}

const runStatuses = ["QUEUED", "RUNNING", "DONE", "FAILED"] as const;
const phases = ["waiting", "reading", "measuring", "training", "done"] as const;

export const ModelRun = Type.Object(
  {
    run_id: Uuid,
    moment: MomentName,
    status: Type.Enum([...runStatuses]),
    progress: Type.Object(
      { phase: Type.Enum([...phases]), percent: Type.Integer({ minimum: 0, maximum: 100 }) },
      { additionalProperties: false },
    ),
    model_id: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String({ description: "Why the run failed, or gave no new model." })),
    created_at: Time,
    created_by: Type.String({ description: "`system` if the run was started automatically." }),
    finished_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "ModelRun" },
);
export type ModelRun = Static<typeof ModelRun>;
export type RunProgress = ModelRun["progress"];

export const ModelLabels = Type.Object(
  {
    moment: MomentName,
    labels: Type.Integer({
      description: `How many activities of the last ${labelDays} days are labelled. Models do not learn from the newest ones yet. At most the latest 20,000 labels are counted.`,
    }),
    frauds: Type.Integer({ description: "How many of them were frauds." }),
    frauds_needed: Type.Integer({ description: "How many known frauds the first model needs." }),
  },
  { additionalProperties: false, $id: "ModelLabels" },
);
export type ModelLabels = Static<typeof ModelLabels>;

export const NewModelRun = Type.Object(
  { moment: Type.Optional({ ...MomentName, description: "If absent, a model is trained for each moment." }) },
  { additionalProperties: false, $id: "NewModelRun" },
);
export type NewModelRun = Static<typeof NewModelRun>;

// All that these default rules know comes from labels, and a model learns from the same labels in more detail. If it could not
// lower their scores, all payments to a payee with known frauds would have the same score.
export const releasedByDefault = ["instrument_known_fraud", "payee_known_fraud"] as const;

export const ModelSettings = Type.Object(
  {
    released_rules: Type.Array(Type.String({ pattern: ruleIdPattern }), {
      maxItems: rulesMax,
      description:
        "The rules whose scores a model may lower. Scores that other rules give are never lowered. By default, these are the rules that know only labels: `instrument_known_fraud` and `payee_known_fraud`.",
    }),
  },
  { additionalProperties: false, $id: "ModelSettings" },
);
export type ModelSettings = Static<typeof ModelSettings>;

type Actor = { name: string; now: string };
export type StateChange = Pick<Model, "model_id" | "state"> & { by: string; at: string };

// Returns the changes that make a model the champion of its moment. The previous champion is retired. A retired model can become
// the champion again.
export function promote(model: Model, champion: Model | undefined, { name, now }: Actor): StateChange[] {
  if (model.state === "CHAMPION") return [];
  const promoted: StateChange = { model_id: model.model_id, state: "CHAMPION", by: name, at: now };
  const before = champion ? retire(champion, { name, now }) : [];
  return [...before, promoted];
}

export function stateEvents(changes: readonly StateChange[], data: Record<string, unknown>): DomainEvent[] {
  return changes.map(({ model_id, state, by, at }) => ({
    type: state === "CHAMPION" ? "model.promoted" : "model.retired",
    occurred_at: at,
    actor: by,
    resource: { type: "model", id: model_id },
    data,
  }));
}

// Without a champion, the rules alone decide.
export function retire({ model_id, state }: Model, { name, now }: Actor): StateChange[] {
  return state === "RETIRED" ? [] : [{ model_id, state: "RETIRED", by: name, at: now }];
}

export const shadowDays = 7;
export const shadowFraudsMin = 30;
const calibrationErrorMax = 0.02;
const casesChangeMax = 0.25;

// Why a challenger is not promoted automatically. Empty if it may be.
export function promotionObstacles(shadow: Comparison | undefined): string[] {
  if (!shadow) return [`It has not yet rated activity for ${shadowDays} days.`];
  const { frauds, calibration_error: error, model, before, days } = shadow;
  if (frauds < shadowFraudsMin) return [`It has rated ${frauds} known frauds; ${shadowFraudsMin} are needed.`];
  const differences = days.flatMap(({ average_precision: now, average_precision_before: then }) =>
    now === null || then === null ? [] : [now - then],
  );
  const found = days.reduce((sum, day) => sum + day.found - day.found_before, 0);
  const change = before.cases_per_day === 0 ? Infinity : model.cases_per_day / before.cases_per_day - 1;
  return [
    ...(meanOf(differences) < 0 ? ["Its average precision is lower, compared day by day."] : []),
    ...(found < 0 ? ["It finds fewer frauds with the same number of alerts."] : []),
    ...(error === null || error > calibrationErrorMax ? [`Its calibration error is above ${calibrationErrorMax}.`] : []),
    ...(Math.abs(change) > casesChangeMax ? ["The number of cases a day would change by more than 25 %."] : []),
  ];
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
