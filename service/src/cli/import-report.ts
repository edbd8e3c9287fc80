import { setTimeout as sleep } from "node:timers/promises";
import type { CasehoundClient, Model, ModelRun } from "@casehound/client";

const spanDays = 31;
const dayMs = 24 * 60 * 60 * 1000;
const pollMs = 2_000;

type Moment = ModelRun["moment"];
type Found = { frauds: number; found: number };
type Trained = { moment: Moment; reason: string | null; model: Model | null };
export type ImportReport = {
  from: string;
  until: string;
  days: number;
  activities: number;
  frauds: number;
  found: number;
  cases: number;
  models: Trained[];
};

const momentWords: Record<Moment, string> = {
  entry: "log-ins and account changes",
  signup: "sign-ups",
  value: "payments and transfers",
};

// Reports what the rules and a first model would find in the user's own data. The model becomes a challenger. It is not promoted
// here.
export async function reportOn(
  client: CasehoundClient,
  { from, until }: { from: string; until: string },
  onProgress: (percent: number) => void,
): Promise<ImportReport> {
  const all = { activities: 0, cases: 0 };
  const moments: Record<Moment, Found> = {
    entry: { frauds: 0, found: 0 },
    signup: { frauds: 0, found: 0 },
    value: { frauds: 0, found: 0 },
  };
  const end = Date.parse(until) + 1;
  for (let at = Date.parse(from); at < end; at += spanDays * dayMs) {
    const span = { from: new Date(at).toISOString(), until: new Date(Math.min(at + spanDays * dayMs, end)).toISOString() };
    const part = await client.getImportReport(span);
    all.activities += part.activities;
    all.cases += part.cases;
    for (const moment of momentsOf(moments)) {
      moments[moment].frauds += part.moments[moment]?.frauds ?? 0;
      moments[moment].found += part.moments[moment]?.found ?? 0;
    }
  }
  const taught = momentsOf(moments).filter((moment) => moments[moment].frauds > 0);
  const sum = (pick: (each: Found) => number) => Object.values(moments).reduce((total, each) => total + pick(each), 0);
  return {
    from,
    until,
    days: daysBetween(from, until),
    ...all,
    frauds: sum((each) => each.frauds),
    found: sum((each) => each.found),
    models: await train(client, taught, onProgress),
  };
}

// The cast is safe, because these are the keys of the record.
const momentsOf = (record: Record<Moment, unknown>) => Object.keys(record) as Moment[];

const dayOf = (time: string) => Date.parse(`${time.slice(0, 10)}T00:00:00Z`);

function daysBetween(from: string, until: string): number {
  return Math.round((dayOf(until) - dayOf(from)) / dayMs) + 1;
}

async function train(client: CasehoundClient, moments: Moment[], onProgress: (percent: number) => void): Promise<Trained[]> {
  const ids: string[] = [];
  for (const moment of moments) ids.push(...(await client.trainModels({ moment })).runs.map(({ run_id }) => run_id));
  for (;;) {
    const { runs, models } = await client.listModels();
    const own = runs.filter(({ run_id }) => ids.includes(run_id));
    const done = own.filter(({ status }) => status === "DONE" || status === "FAILED");
    if (done.length >= ids.length || own.length < ids.length)
      return done.map(({ moment, reason, model_id }) => ({
        moment,
        reason: reason ?? null,
        model: models.find((each) => each.model_id === model_id) ?? null,
      }));
    onProgress(own.reduce((total, { progress }) => total + progress.percent, 0) / own.length);
    await sleep(pollMs);
  }
}

const count = (number: number) => number.toLocaleString("en");
const percent = (share: number | null) => (share === null ? "-" : `${Math.round(100 * share)} %`);
const perDay = (cases: number) => `${cases.toLocaleString("en", { maximumFractionDigits: 1 })} cases a day`;

export function reportText(report: ImportReport): string {
  const { from, until, days, activities, frauds, found, cases, models } = report;
  const head = `Your history, ${from.slice(0, 10)} to ${until.slice(0, 10)}: ${count(days)} days, ${count(activities)} activities, ${count(frauds)} known frauds`;
  const none = "  It contains no known frauds, so it is not known what share of frauds would be found.";
  const rules = `  Today's rules would find ${count(found)} of ${count(frauds)} known frauds (${percent(found / frauds)}) and open ${perDay(cases / days)}.`;
  const quiet = `  Today's rules would open ${perDay(cases / days)}.`;
  return [head, ...(frauds === 0 ? [none, quiet] : [rules]), ...models.flatMap(modelLines)].join("\n");
}

function modelLines({ moment, reason, model }: Trained): string[] {
  const what = `A first model for ${momentWords[moment]}`;
  if (!model) return [`${what} was not trained. ${reason ?? ""}`.trimEnd()];
  const { held_out: measured, rows, frauds } = model.figures;
  const state = `  It is model ${model.model_id.slice(0, 12)}, trained on ${count(rows)} activities with ${count(frauds)} frauds. Its state is ${model.state.toLowerCase()}.`;
  if (!measured)
    return [
      `${what} was trained, but could not be measured. To measure it, 10 known frauds in the last days and 50 before them are needed.`,
      state,
    ];
  const days = measured.days.length;
  return [
    `${what}, measured on ${count(days)} days that it was not trained on, with ${count(measured.frauds)} known frauds:`,
    // The shares are those at the same number of alerts. The cases are those at the threshold, which is another point.
    `  With the same number of alerts a day, ${percent(measured.before.recall)} of the frauds are found without the model, and ${percent(measured.model.recall)} with it.`,
    `  With today's thresholds, there are ${perDay(measured.before.cases_per_day)} without the model, and ${perDay(measured.model.cases_per_day)} with it.`,
    state,
  ];
}
