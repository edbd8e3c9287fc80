// Measures what a model costs: the CPU time to rate an event, the time to train on as many rows as training keeps, and how much
// slower requests are while the same process trains.
import { randomUUID } from "node:crypto";
import { makePartition } from "../../service/src/db/activities.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import { modelFields } from "../../service/src/detection/model/dataset.ts";
import { TrainingSample } from "../../service/src/detection/model/sample.ts";
import { partsOf, rate, serve } from "../../service/src/detection/model/serving.ts";
import { train } from "../../service/src/detection/model/train.ts";
import type { Model } from "../../service/src/detection/model/trees.ts";
import { contextOf, findPlaceOf, packed, type RuleContext } from "../../service/src/detection/vector.ts";
import type { ModelRun } from "../../service/src/domain/model.ts";
import { Random } from "@casehound/simulator/random";
import type { Driven } from "./drive.ts";
import type { Context, Findings, Part } from "./part.ts";
import { standOf, type Stand } from "./stand.ts";
import { readShots } from "./work.ts";

const scales = {
  quick: { rows: 4_000, seconds: 3, ratings: 20_000 },
  full: { rows: 150_000, seconds: 15, ratings: 200_000 },
};
const fraudShare = 0.02;
const fieldsRead = 60;
const fieldsFilled = 12;
const connections = 16;
const requestsPerSecond = 400;
const days = 40;
const dayMs = 24 * 60 * 60 * 1000;
const runSecondsMax = 300;
const limits = { ratingMicros: 100, trainingSeconds: 30 };

type Synthetic = { context: RuleContext; isFraud: boolean };

const names = modelFields.slice(0, fieldsRead).map((code) => findPlaceOf(code)?.name ?? "");

// As in most real events, only a few fields are not zero. Frauds have higher values in some of them.
function makeRow(random: Random): Synthetic {
  const isFraud = random.chance(fraudShare);
  const filled = Array.from({ length: fieldsFilled }, () => {
    const index = random.whole(0, names.length - 1);
    const value = random.whole(0, 40) + (isFraud && index % 4 === 0 ? 15 : 0);
    return [names[index] ?? "", value] as const;
  });
  return { context: contextOf({ "event.type": "payment", ...Object.fromEntries(filled) }, {}), isFraud };
}

const micros = (value: number) => `${value.toFixed(1)} µs`;
const ms = (value: number) => `${value.toFixed(1)} ms`;

export const models: Part = { name: "models", title: "Models", run };

async function run(context: Context): Promise<Findings> {
  const { rows, ratings } = scales[context.scale];
  context.progress(0, 3, "steps: training alone");
  const { model, seconds } = trainAlone(rows);
  const { rated, explained } = measureRating(model, ratings);
  const beside = await trainBeside(context, rows);
  return {
    targets: [
      {
        name: "CPU to rate an event with a model",
        wanted: `< ${limits.ratingMicros} µs`,
        measured: micros(rated),
        isReached: rated < limits.ratingMicros,
      },
      {
        name: `Training on ${rows.toLocaleString("en")} rows`,
        wanted: `< ${limits.trainingSeconds} s`,
        measured: `${seconds.toFixed(1)} s`,
        isReached: context.scale === "full" ? seconds < limits.trainingSeconds : null,
      },
    ],
    tables: [
      {
        title: "Models",
        note: `${model.trees.length} trees, ${rows.toLocaleString("en")} synthetic rows of ${fieldsRead} fields. The run reads, measures and trains twice. ${requestsPerSecond} GET case a second.`,
        columns: ["what", "value"],
        rows: [
          ["CPU to rate an event", micros(rated)],
          ["CPU to explain one", micros(explained)],
          ["training alone", `${seconds.toFixed(1)} s`],
          ["a whole run beside requests", `${beside.runSeconds.toFixed(1)} s`],
          ["p99 of GET case before", ms(beside.before.p99)],
          ["p99 of GET case while it trains", ms(beside.during.p99)],
        ],
      },
    ],
  };
}

export function trainAlone(rows: number): { model: Model; seconds: number } {
  const random = new Random("models");
  const sample = new TrainingSample({ fields: modelFields.slice(0, fieldsRead) });
  const slots = modelFields.slice(0, fieldsRead).map(findPlaceOf);
  for (let index = 0; index < rows; index++) {
    const { context, isFraud } = makeRow(random);
    const values = slots.map((slot) => (slot ? Number(context[slot.group][slot.key]) : NaN));
    sample.add({ key: `row ${index}`, isFraud, weight: 1, ruleLogOdds: 0, values });
  }
  const began = performance.now();
  const training = train(sample);
  for (;;) {
    const step = training.next();
    if (!step.done) continue;
    if ("reason" in step.value) throw new Error(step.value.reason);
    return { model: step.value.model, seconds: (performance.now() - began) / 1000 };
  }
}

// In microseconds of CPU.
function measureRating(model: Model, ratings: number): { rated: number; explained: number } {
  const random = new Random("ratings");
  const contexts = Array.from({ length: 500 }, () => makeRow(random).context);
  const served = serve(model, "value");
  const cpuOf = (count: number, work: (context: RuleContext) => unknown) => {
    const cycle = (times: number) => {
      for (let index = 0; index < times; index++) work(contexts[index % contexts.length] ?? contextOf({}, {}));
    };
    cycle(count / 4);
    const before = process.cpuUsage();
    cycle(count);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  };
  return {
    rated: cpuOf(ratings, (context) => rate(served, context, 1)),
    explained: cpuOf(ratings / 100, (context) => partsOf(served, context, { rules: 1, part: 1 })),
  };
}

type Beside = { before: Driven; during: Driven; runSeconds: number };

// Trains in the service that answers the requests, as in an installation of one process.
async function trainBeside(context: Context, rows: number): Promise<Beside> {
  const stand = await standOf(context);
  context.progress(1, 3, "steps: stored decisions");
  await insertRows(stand, rows);
  try {
    context.progress(2, 3, "steps: training beside requests");
    const before = await driveReads(context, stand);
    const queued = await call<{ runs: ModelRun[] }>(stand, "POST", { moment: "value" });
    const [run] = queued.runs;
    const during = await driveReads(context, stand);
    const ended = await untilEnded(stand, run?.run_id ?? "");
    if (ended.model_id === undefined) throw new Error(`no model was trained: ${ended.reason}`);
    const runSeconds = (Date.parse(ended.finished_at ?? "") - Date.parse(ended.created_at)) / 1000;
    return { before, during, runSeconds };
  } finally {
    await deleteRows(stand);
    await stand.stop();
  }
}

async function driveReads({ driver, scale }: Context, stand: Stand): Promise<Driven> {
  const { seconds } = scales[scale];
  const shots = readShots(stand);
  const { headers, ours } = stand;
  const driven = await driver.run({ url: ours.url, headers, connections, seconds, rate: requestsPerSecond, shots });
  if (driven.failed > 0) throw new Error(`${driven.failed} of ${driven.requests} requests failed: ${driver.failure}`);
  return driven;
}

async function call<T>({ ours, headers, tenant }: Stand, method: "GET" | "POST", body?: unknown): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const url = `${ours.url}/v2/${tenant.slug}/models`;
  const answer = await fetch(url, { method, headers: { ...headers, "content-type": "application/json" }, ...sent });
  if (!answer.ok) throw new Error(`${method} /models returned ${answer.status}: ${await answer.text()}`);
  // The response comes from our own service.
  return ((await answer.json()) as { data: T }).data;
}

async function untilEnded(stand: Stand, runId: string): Promise<ModelRun> {
  for (let left = runSecondsMax; left > 0; left--) {
    const { runs } = await call<{ runs: ModelRun[] }>(stand, "GET");
    const found = runs.find(({ run_id }) => run_id === runId);
    if (found?.status === "DONE" || found?.status === "FAILED") return found;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error(`the training did not end in ${runSecondsMax} s`);
}

const chunkRows = 2_000;

// Payments of the last weeks with their decisions. Frauds became known two days later.
async function insertRows({ bench, tenant }: Stand, rows: number): Promise<void> {
  const { database } = bench;
  const random = new Random("stored");
  const until = Date.now() - 3 * dayMs;
  for (let back = 0; back <= days + 3; back++)
    await database.transaction((tx) => makePartition(tx, new Date(Date.now() - back * dayMs).toISOString().slice(0, 10)));
  for (let from = 0; from < rows; from += chunkRows) {
    const chunk = Array.from({ length: Math.min(chunkRows, rows - from) }, (_, index) => {
      const { context, isFraud } = makeRow(random);
      const at = new Date(until - ((from + index) / rows) * days * dayMs).toISOString();
      return { key: randomUUID(), at, isFraud, decision: `{"v":1,"l":0,"f":"${packed(context)}"}` };
    });
    const columns = [chunk.map(({ key }) => key), chunk.map(({ at }) => at), chunk.map(({ decision }) => decision)];
    await database.query(
      statement(
        `insert into activities (
           tenant_id, received_at, id_key, occurred_at, score, origin, type, activity_id, website_account_id, document, decision
         )
         select $1, r.at, r.key, r.at, 1, 'server', 'payment', 'model-' || r.key, 'model-' || r.key, '{}', r.decision
         from unnest($2::uuid[], $3::timestamptz[], $4::text[]) as r (key, at, decision)`,
        [tenant.tenant_id, ...columns],
      ),
    );
    const frauds = chunk.filter(({ isFraud }) => isFraud);
    await database.query(
      statement(
        `insert into labels (
           tenant_id, id_key, source, case_id, received_at, y, applied_y, weight, event_at, labelled_at, known_at, actor
         )
         select $1, r.key, 'api', '00000000-0000-0000-0000-000000000000', r.at, 1, 1, 1, r.at, r.at + interval '2 days',
           r.at + interval '2 days', 'bench'
         from unnest($2::uuid[], $3::timestamptz[]) as r (key, at)`,
        [tenant.tenant_id, frauds.map(({ key }) => key), frauds.map(({ at }) => at)],
      ),
    );
  }
  await database.query(statement("vacuum analyze activities, labels", []));
}

async function deleteRows({ bench: { database }, tenant: { tenant_id } }: Stand): Promise<void> {
  for (const text of [
    "delete from activities where tenant_id = $1 and activity_id like 'model-%'",
    "delete from labels where tenant_id = $1 and actor = 'bench'",
    "delete from models where tenant_id = $1",
    "update detection_settings set models_revision = models_revision + 1 where tenant_id = $1",
  ])
    await database.query(statement(text, [tenant_id]));
  await database.query(statement("vacuum analyze activities, labels", []));
}
