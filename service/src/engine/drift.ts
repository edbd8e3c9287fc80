import type { Logger } from "pino";
import { findBudget } from "../db/budget.ts";
import { countKnownFrauds, listChampions, listLatestDecisions, listRaised } from "../db/drift.ts";
import { appendEvents } from "../db/events.ts";
import { changeModel } from "../db/model-changes.ts";
import { findModel, saveFigures } from "../db/models.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { countChecks } from "../db/random-checks.ts";
import { lockSettings } from "../db/rules.ts";
import { modelFields, readDecision } from "../detection/model/dataset.ts";
import { stabilityOf } from "../detection/model/profile.ts";
import { countRaised } from "../detection/model/raised.ts";
import { findPlaceOf } from "../detection/vector.ts";
import { moments } from "../domain/label.ts";
import { casesLimit, isDrifted, type Drift, type Model } from "../domain/model.ts";
import { checkedDays, recallOf } from "../domain/random-check.ts";
import { ThreadMeasurer, type DriftJob } from "./measuring.ts";

const dayMs = 24 * 60 * 60 * 1000;
const decisionsRead = 5_000;
const decisionsMin = 200;
const raisedRead = 20_000;

type Options = { database: Database; clock: { now: () => string }; log: Logger; signal: AbortSignal };

// Checks what the champions rated in the last 24 hours. A champion that causes far too many cases is retired, so that the rules
// alone decide. A champion is reported if its fields differ from what it learned, or if the number of known frauds has changed a
// lot.
export async function watchChampions({ database, clock, log, signal }: Options): Promise<void> {
  const measurer = new ThreadMeasurer(database, signal);
  for (const { tenant_id, model_id } of await listChampions(database)) {
    if (signal.aborted) return;
    const watched = { tenantId: tenant_id, modelId: model_id, now: clock.now() };
    await watchChampion({ database, measurer }, watched).catch((error: unknown) => {
      if (signal.aborted) return;
      log.error({ err: error, tenant_id, model_id }, "the drift of a model could not be measured; it will be retried");
    });
  }
}

type Watching = { database: Database; measurer: Pick<ThreadMeasurer, "watch"> };
type Watched = { tenantId: string; modelId: string; now: string };

export async function watchChampion({ database, measurer }: Watching, { tenantId, modelId, now }: Watched): Promise<void> {
  const found = await findModel(database, tenantId, modelId);
  if (!found) return;
  const drift = await measurer.watch({ tenantId, model: found.model, now });
  await database.transaction(async (tx) => {
    // Another engine may have done the same, or a person may have retired the model meanwhile.
    await lockSettings(tx, tenantId, now);
    const model = (await findModel(tx, tenantId, modelId))?.model;
    if (model?.state !== "CHAMPION") return;
    const limit = casesLimit(model.figures, await findBudget(tx, tenantId));
    await saveFigures(tx, tenantId, { model_id: modelId, figures: { ...model.figures, drift } });
    if (drift.cases_per_day > limit) {
      const data = { reason: "too-many-cases", cases_per_day: drift.cases_per_day, limit };
      await changeModel(tx, tenantId, { model_id: modelId, to: "RETIRED", actor: "system", now, data });
    } else if (drift.is_drifted === true && model.figures.drift?.is_drifted !== true) {
      const resource = { type: "model" as const, id: modelId };
      const { fields, frauds_per_day } = drift;
      const data = { moment: model.moment, fields, frauds_per_day };
      await appendEvents(tx, tenantId, [{ type: "model.drifted", occurred_at: now, actor: "system", resource, data }]);
    }
  });
}

export async function measureDrift(reader: Queryable, { tenantId, model, now }: DriftJob): Promise<Drift> {
  const rated = { types: moments[model.moment], since: daysBefore(now, 1) };
  const raised = await listRaised(reader, tenantId, { ...rated, model_id: model.model_id, limit: raisedRead });
  const frauds = await countKnownFrauds(reader, tenantId, { types: rated.types, now });
  const frauds_per_day = { last_7_days: short(frauds.last_7_days), before: short(frauds.before) };
  const texts = await listLatestDecisions(reader, tenantId, { ...rated, limit: decisionsRead });
  const fields = texts.length < decisionsMin ? {} : movedFields(model, texts);
  const is_drifted = isDrifted({ fields, frauds_per_day });
  const { recall } = recallOf(await countChecks(reader, tenantId, { moment: model.moment, since: daysBefore(now, checkedDays) }));
  return { measured_at: now, is_drifted, cases_per_day: countRaised(raised), frauds_per_day, recall, fields };
}

const fieldsShown = 10;

function movedFields({ figures: { profile = {} } }: Model, texts: string[]): Drift["fields"] {
  const rows = texts.map((text) => readDecision(text).values);
  const columnOf = (code: string) => {
    const place = modelFields.indexOf(code);
    return Float32Array.from(rows, (values) => values[place] ?? NaN);
  };
  const moved = Object.entries(stabilityOf(profile, columnOf)).toSorted(([, one], [, other]) => other - one);
  return Object.fromEntries(moved.slice(0, fieldsShown).map(([code, index]) => [findPlaceOf(code)?.name ?? code, index]));
}

function daysBefore(now: string, days: number): string {
  return new Date(Date.parse(now) - days * dayMs).toISOString();
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}
