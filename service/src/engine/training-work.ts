import { findReportDelays, readTrainingRows, type TrainingRow, type TrainingSpan } from "../db/training.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { compare, offsetFor, type Compared } from "../detection/model/comparison.ts";
import { Dataset, modelFields, readDecision, Thinned } from "../detection/model/dataset.ts";
import { offsetMax } from "../detection/model/evidence.ts";
import { encodeModel } from "../detection/model/format.ts";
import { forestOf, sumOfTrees, type Forest } from "../detection/model/predict.ts";
import { heldPart } from "../detection/model/serving.ts";
import { profileOf } from "../detection/model/profile.ts";
import type { TrainingSample } from "../detection/model/sample.ts";
import { probabilityOf, startOf } from "../detection/model/prior.ts";
import { limitsFor, train, trainingLimits, type TrainingLimits } from "../detection/model/train.ts";
import { fieldsIn, type Model } from "../detection/model/trees.ts";
import { hashOf } from "../detection/sketch.ts";
import type { Moment } from "../domain/label.ts";
import { maturityMs } from "../domain/maturity.ts";
import type { Thresholds } from "../domain/rule.ts";
import { fraudsMin, type Comparison, type Figures, type RunProgress } from "../domain/model.ts";

export type TrainingJob = {
  tenantId: string;
  moment: Moment;
  asOf: string;
  thresholds: Thresholds;
  released: string[];
  chunkRows?: number;
};
export type Trained = { model_id: string; text: string; figures: Figures; trained_from: string; trained_until: string };
export type Untrained = { reason: string };
export type OnProgress = (progress: RunProgress) => void;

const dayMs = 24 * 60 * 60 * 1000;
const spanDays = 90;
const heldOutDays = { min: 3, max: 14, share: 0.25 };
const heldOutFraudsMin = 10;
const comparedMax = 200_000;
const small: TrainingLimits = { ...trainingLimits, treesMax: 40, leavesMax: 7 };

// Trains a model on what was known at a given time. First it trains a model without the last days and measures it on them. Then
// it trains the model that is stored, on all days. Only mature activity is used, because newer activity is labelled only if it is
// a fraud.
export async function trainMoment(reader: Queryable, job: TrainingJob, onProgress: OnProgress): Promise<Trained | Untrained> {
  const { asOf } = job;
  const from = before(asOf, spanDays * dayMs);
  const until = before(asOf, maturityMs(await findReportDelays(reader, job.tenantId, asOf)));
  const all = await collect(reader, job, { from, until, asOf });
  onProgress({ phase: "reading", percent: 10 });
  const reason = lacking(all);
  if (reason !== null) return { reason };
  const measured = await measure(reader, job, { from, until }, onProgress);
  const trained = run(all, (percent) => onProgress({ phase: "training", percent: 50 + Math.floor(percent * 0.3) }));
  if ("reason" in trained) return trained;
  const placed = await place(reader, job, { measured, limits: limitsOf(all), span: { from, until, asOf } }, (percent) =>
    onProgress({ phase: "training", percent: 80 + Math.floor(percent * 0.19) }),
  );
  const model = withOffset(trained.model, placed);
  const { id, text } = encodeModel(model);
  const profile = profileOf(trained.sample.rows(), fieldsIn(model.trees));
  const { rows, frauds } = model.trained;
  const held_out = measured && comparisonOf(measured, placed, job);
  const figures = { trees: model.trees.length, rows, frauds, offset: placed, held_out, profile };
  return { model_id: id, text, figures, trained_from: from, trained_until: until };
}

function before(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString();
}

function lacking(data: Dataset): string | null {
  if (data.frauds >= fraudsMin.small) return null;
  return `A model needs at least ${fraudsMin.small} known frauds; there are ${data.frauds}.`;
}

type IsChosen = (row: TrainingRow) => boolean;

async function collect(
  reader: Queryable,
  { tenantId, moment, chunkRows }: TrainingJob,
  span: TrainingSpan,
  isChosen: IsChosen = () => true,
): Promise<Dataset> {
  const data = new Dataset();
  for await (const rows of readTrainingRows(reader, tenantId, moment, span, chunkRows)) {
    for (const row of rows.filter(isChosen)) data.add({ ...ofRow(row), decision: row.decision });
  }
  return data;
}

function ofRow({ id_key, website_account_id, person, y, weight, event_at }: TrainingRow) {
  return { key: id_key, account: website_account_id, person, isFraud: y === 1, weight, day: event_at.slice(0, 10) };
}

function limitsOf(data: Dataset): TrainingLimits {
  const isFull = data.frauds >= fraudsMin.full && data.fraudSpanDays >= fraudsMin.days;
  return isFull ? limitsFor(data.frauds) : small;
}

type OnPercent = (percent: number) => void;

function run(data: Dataset, onPercent: OnPercent, limits = limitsOf(data)): { model: Model; sample: TrainingSample } | Untrained {
  const sample = data.sample();
  const training = train(sample, limits);
  for (;;) {
    const step = training.next();
    if (step.done) return "reason" in step.value ? step.value : { ...step.value, sample };
    onPercent(Math.floor((100 * step.value.trees) / step.value.treesMax));
  }
}

type Span = { from: string; until: string };
type Measured = Span & { rated: RatedRow[]; limits: TrainingLimits };

// Returns null if the last days, or the days before them, have too few frauds.
async function measure(
  reader: Queryable,
  job: TrainingJob,
  { from, until }: Span,
  onProgress: OnProgress,
): Promise<Measured | null> {
  const split = await splitOf(reader, job, { from, until });
  const matureMs = maturityMs(await findReportDelays(reader, job.tenantId, split));
  const known = await collect(reader, job, { from, until: before(split, matureMs), asOf: split });
  if (lacking(known) !== null) return null;
  const trained = run(known, (percent) => onProgress({ phase: "measuring", percent: 10 + Math.floor(percent * 0.3) }));
  if ("reason" in trained) return null;
  const rated = await rateRows(reader, job, { model: trained.model, span: { from: split, until, asOf: job.asOf } });
  if (rated.filter(({ isFraud }) => isFraud).length < heldOutFraudsMin) return null;
  onProgress({ phase: "measuring", percent: 45 });
  return { from: split, until, rated, limits: limitsOf(known) };
}

function comparisonOf({ rated, from, until }: Measured, offset: number, job: TrainingJob): Comparison {
  return compare(comparedAt(rated, offset, job), { from, until, threshold: job.thresholds.score_3 });
}

type Placing = { measured: Measured | null; limits: TrainingLimits; span: TrainingSpan };

// Returns the offset that gives as many cases a day as there are now, but not more than the model's record supports. The record
// must be of activity that the model was not trained on, because a model knows its own training rows by heart. It must also be of
// a model of the same kind: the log-odds of a large model are further apart than those of a small one.
async function place(
  reader: Queryable,
  job: TrainingJob,
  { measured, limits, span }: Placing,
  onPercent: OnPercent,
): Promise<number> {
  const isLike = measured !== null && measured.limits.treesMax === limits.treesMax;
  const record = isLike ? measured.rated : await rateCrosswise(reader, job, { limits, span }, onPercent);
  return Math.min(placeOf(measured?.rated ?? record, job), offsetMax(record, job.thresholds.score_3));
}

const partCount = 3;

function partOf({ website_account_id, id_key }: TrainingRow): number {
  return (hashOf(website_account_id ?? id_key).lo >>> 0) % partCount;
}

// Rates each part of the accounts by a model that was trained on the other parts.
async function rateCrosswise(
  reader: Queryable,
  job: TrainingJob,
  { limits, span }: Omit<Placing, "measured">,
  onPercent: OnPercent,
): Promise<RatedRow[]> {
  const rated: RatedRow[] = [];
  for (let part = 0; part < partCount; part++) {
    const data = await collect(reader, job, span, (row) => partOf(row) !== part);
    const trained = run(data, (percent) => onPercent(Math.floor((100 * part + percent) / partCount)), limits);
    if ("reason" in trained) continue;
    rated.push(...(await rateRows(reader, job, { model: trained.model, span }, (row) => partOf(row) === part)));
  }
  return rated;
}

// Returns the start of the held-out days: the last quarter of the time since the first fraud, within limits.
async function splitOf(
  reader: Queryable,
  { tenantId, moment, asOf, chunkRows }: TrainingJob,
  { from, until }: Span,
): Promise<string> {
  let first = until;
  for await (const rows of readTrainingRows(reader, tenantId, moment, { from, until, asOf }, chunkRows)) {
    const fraud = rows.find(({ y }) => y === 1);
    if (!fraud) continue;
    first = fraud.event_at;
    break;
  }
  const wanted = (heldOutDays.share * (Date.parse(until) - Date.parse(first))) / dayMs;
  const days = Math.min(Math.max(Math.ceil(wanted), heldOutDays.min), heldOutDays.max);
  return before(until, days * dayMs);
}

type RatedRow = Omit<Compared, "model" | "chance"> & { evidence: number; score: number; isHeld: boolean; rules: number };

async function rateRows(
  reader: Queryable,
  { tenantId, moment, released, chunkRows }: TrainingJob,
  { model, span }: { model: Model; span: TrainingSpan },
  isChosen: IsChosen = () => true,
): Promise<RatedRow[]> {
  const rate = raterOf(model);
  const free = new Set(released);
  const genuine = new Thinned<RatedRow & { key: string }>(comparedMax, ({ key }) => key);
  const frauds = new Thinned<RatedRow & { key: string }>(comparedMax, ({ key }) => key);
  for await (const rows of readTrainingRows(reader, tenantId, moment, span, chunkRows)) {
    for (const row of rows.filter(isChosen)) {
      const { rules, logOdds, fired, values } = readDecision(row.decision);
      const { key, account, isFraud, weight, day } = ofRow(row);
      const isHeld = fired.some((id) => !free.has(id));
      const score = rate(values, rules);
      // A random check stands for many activities, but only one of them was looked at.
      const evidence = Math.min(weight, 1);
      const rated = { key, day, account: account ?? key, isFraud, weight, evidence, before: logOdds, score, isHeld, rules };
      (isFraud ? frauds : genuine).add(rated);
    }
  }
  return [genuine, frauds].flatMap(({ kept, stride }) =>
    kept.map((row) => ({ ...row, weight: row.weight * stride, evidence: row.evidence * stride })),
  );
}

function raterOf({ prior, trees }: Model): (values: Float32Array, rules: number) => number {
  const forest: Forest = forestOf(trees);
  const places = forest.fields.map((code) => modelFields.indexOf(code));
  return (values, rules) => {
    return (
      startOf(prior, rules) +
      sumOfTrees(
        forest,
        Float32Array.from(places, (place) => values[place] ?? NaN),
      )
    );
  };
}

// Returns the offset that gives as many cases a day as there are now.
function placeOf(rated: readonly RatedRow[], { thresholds }: TrainingJob): number {
  const threshold = thresholds.score_3;
  const days = new Set(rated.map(({ day }) => day)).size;
  const alerts = new Map<string, number>();
  for (const row of rated) if (row.before >= threshold) alerts.set(`${row.day} ${row.account}`, row.weight);
  const wantedPerDay = [...alerts.values()].reduce((sum, weight) => sum + weight, 0) / Math.max(days, 1);
  return offsetFor(rated, { wantedPerDay, threshold });
}

function comparedAt(rated: readonly RatedRow[], offset: number, { thresholds }: TrainingJob): Compared[] {
  return rated.map(({ score, isHeld, rules, ...row }) => {
    const placed = score + offset;
    const model = isHeld ? rules + heldPart(placed - rules, rules, thresholds) : placed;
    return { ...row, chance: probabilityOf(score), model };
  });
}

function withOffset({ prior, ...model }: Model, offset: number): Model {
  return { ...model, prior: { ...prior, a: Number((prior.a + offset).toPrecision(12)) } };
}
