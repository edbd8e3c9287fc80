import type { Logger } from "pino";
import { changeModel } from "../db/model-changes.ts";
import { findModel, listChallengers, saveFigures } from "../db/models.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { findDetection, lockSettings } from "../db/rules.ts";
import { findReportDelays, readTrainingRows } from "../db/training.ts";
import { compare, type Compared } from "../detection/model/comparison.ts";
import { readDecision, Thinned } from "../detection/model/dataset.ts";
import { probabilityOf } from "../detection/model/prior.ts";
import { shortIdOf } from "../detection/model/serving.ts";
import { maturityMs } from "../domain/maturity.ts";
import { promotionObstacles, shadowDays, type Comparison, type Model } from "../domain/model.ts";
import { ThreadMeasurer, type ShadowJob } from "./measuring.ts";

const dayMs = 24 * 60 * 60 * 1000;
const comparedMax = 100_000;

type Options = { database: Database; clock: { now: () => string }; log: Logger; signal: AbortSignal };

// Compares challengers with what was served meanwhile, and promotes those without an obstacle. The others wait for a person.
export async function measureChallengers({ database, clock, log, signal }: Options): Promise<void> {
  const now = clock.now();
  const since = new Date(Date.parse(now) - shadowDays * dayMs).toISOString();
  const measurer = new ThreadMeasurer(database, signal);
  for (const { tenant_id, model_id } of await listChallengers(database, since)) {
    if (signal.aborted) return;
    await measureChallenger({ database, measurer, now }, tenant_id, model_id).catch((error: unknown) => {
      if (signal.aborted) return;
      log.error({ err: error, tenant_id, model_id }, "a challenger could not be measured; it will be retried");
    });
  }
}

type Measuring = { database: Database; measurer: Pick<ThreadMeasurer, "compare">; now: string };

export async function measureChallenger(
  { database, measurer, now }: Measuring,
  tenantId: string,
  modelId: string,
): Promise<void> {
  const found = await findModel(database, tenantId, modelId);
  const job = found && (await dueJob(database, tenantId, { model: found.model, now }));
  if (!job) return;
  const shadow = await measurer.compare(job);
  const isBetter = promotionObstacles(shadow).length === 0;
  await database.transaction(async (tx) => {
    // A person may have retired the challenger meanwhile, or another engine may have promoted it.
    await lockSettings(tx, tenantId, now);
    const model = (await findModel(tx, tenantId, modelId))?.model;
    if (model?.state !== "CHALLENGER") return;
    await saveFigures(tx, tenantId, { model_id: modelId, figures: { ...model.figures, shadow } });
    if (!isBetter) return;
    await changeModel(tx, tenantId, { model_id: modelId, to: "CHAMPION", actor: "system", now });
  });
}

// Returns a comparison over all mature activity since the challenger was created. Null until there are 7 days of it, and until
// there is one more day than last time, because each comparison reads all of it.
async function dueJob(
  database: Queryable,
  tenantId: string,
  { model, now }: { model: Model; now: string },
): Promise<ShadowJob | null> {
  const { model_id, moment, created_at: from, figures } = model;
  const until = new Date(Date.parse(now) - maturityMs(await findReportDelays(database, tenantId, now))).toISOString();
  if (Date.parse(until) - Date.parse(from) < shadowDays * dayMs) return null;
  if (figures.shadow && Date.parse(until) - Date.parse(figures.shadow.until) < dayMs) return null;
  const { thresholds } = await findDetection(database, tenantId);
  const span = { from, until, asOf: now };
  return { tenantId, model: { model_id, moment, offset: figures.offset }, span, threshold: thresholds.score_3 };
}

// Compares the challenger's ratings with what was served.
export async function compareShadow(reader: Queryable, { tenantId, model, span, threshold }: ShadowJob): Promise<Comparison> {
  const [genuine, frauds] = [0, 1].map(() => new Thinned<Compared & { key: string }>(comparedMax, ({ key }) => key));
  for await (const rows of readTrainingRows(reader, tenantId, model.moment, span)) {
    for (const { id_key: key, website_account_id, decision, y, weight, event_at } of rows) {
      const { logOdds, fired, challenger } = readDecision(decision);
      if (challenger?.[0] !== shortIdOf(model.model_id)) continue;
      const [, said] = challenger;
      // If a rule fired, the stored log-odds may be those of the rules, without the model's part.
      const chance = fired.length === 0 ? probabilityOf(said - model.offset) : null;
      const of = { key, day: event_at.slice(0, 10), account: website_account_id ?? key, isFraud: y === 1, weight };
      (y === 1 ? frauds : genuine)?.add({ ...of, chance, model: said, before: logOdds });
    }
  }
  const rows = [genuine, frauds].flatMap((each) => each?.kept.map((row) => ({ ...row, weight: row.weight * each.stride })) ?? []);
  return compare(rows, { from: span.from, until: span.until, threshold });
}
