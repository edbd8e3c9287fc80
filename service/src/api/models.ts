import { Type } from "typebox";
import { countLabels } from "../db/budget.ts";
import { appendEvents } from "../db/events.ts";
import { changeModel } from "../db/model-changes.ts";
import { insertRun, listRuns } from "../db/model-runs.ts";
import { findModel, findReleasedRules, listModels, saveReleasedRules, type StoredModel } from "../db/models.ts";
import { lockSettings } from "../db/rules.ts";
import { notFound } from "../domain/failure.ts";
import { labelDays, labelSums, type LabelCount } from "../domain/label.ts";
import {
  Model,
  ModelLabels,
  ModelRun,
  ModelSettings,
  NewModelRun,
  fraudsMin,
  modelsKeptMax,
  withObstacles,
} from "../domain/model.ts";
import { momentNames, momentOf } from "../domain/moment.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const runsShown = 20;
const dayMs = 24 * 60 * 60 * 1000;

async function list(services: Services, { caller }: Call): Promise<Reply> {
  const { database } = services;
  const since = new Date(Date.parse(services.now()) - labelDays * dayMs).toISOString();
  const [models, runs, released_rules, counts] = await Promise.all([
    listModels(database, caller.tenant_id),
    listRuns(database, caller.tenant_id, runsShown),
    findReleasedRules(database, caller.tenant_id),
    countLabels(database, caller.tenant_id, { since }),
  ]);
  return dataReply({ models: models.map(withObstacles), runs, settings: { released_rules }, labels: labelsOf(counts) });
}

function labelsOf(counts: LabelCount[]): ModelLabels[] {
  const sums = labelSums(counts, ({ type }) => momentOf(type));
  return momentNames.map((moment) => ({
    moment,
    ...(sums.get(moment) ?? { labels: 0, frauds: 0 }),
    frauds_needed: fraudsMin.small,
  }));
}

async function train(services: Services, { caller, body }: Call<NewModelRun>): Promise<Reply> {
  const now = services.now();
  const wanted = body.moment === undefined ? momentNames : [body.moment];
  return services.database.transaction(async (tx) => {
    const runs: ModelRun[] = [];
    for (const moment of wanted) {
      const added = { run_id: services.newId(now), moment, created_at: now, created_by: caller.actor };
      runs.push(await insertRun(tx, caller.tenant_id, added));
    }
    return dataReply({ runs }, 202);
  });
}

async function require(services: Services, tenantId: string, id: string): Promise<StoredModel> {
  const found = await findModel(services.database, tenantId, id);
  if (!found) throw notFound("Model", id);
  return found;
}

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const { model } = await require(services, caller.tenant_id, params["model_id"] ?? "");
  return dataReply(withObstacles(model));
}

async function download(services: Services, { caller, params }: Call): Promise<Reply> {
  const { text } = await require(services, caller.tenant_id, params["model_id"] ?? "");
  // The SHA-256 of the text is the model's id, so it is sent unchanged, as a string.
  return dataReply({ text });
}

function changeTo(to: "CHAMPION" | "RETIRED") {
  return async (services: Services, { caller, params }: Call): Promise<Reply> => {
    const wanted = { model_id: params["model_id"] ?? "", to, actor: caller.actor, now: services.now() };
    return dataReply(withObstacles(await services.database.transaction((tx) => changeModel(tx, caller.tenant_id, wanted))));
  };
}

type Asked = { a?: string; b?: string };

async function compare(services: Services, { caller, query }: Call<unknown, Asked>): Promise<Reply> {
  const models = (await listModels(services.database, caller.tenant_id)).map(withObstacles);
  if (query.a === undefined && query.b === undefined)
    return dataReply({ models: models.filter(({ state }) => state !== "RETIRED") });
  const wanted = [query.a, query.b].flatMap((id) => (id === undefined ? [] : [requireIn(models, id)]));
  return dataReply({ models: wanted });
}

function requireIn(models: Model[], id: string): Model {
  const found = models.find(({ model_id }) => model_id.startsWith(id));
  if (!found) throw notFound("Model", id);
  return found;
}

async function updateSettings(services: Services, { caller, body }: Call<ModelSettings>): Promise<Reply> {
  const now = services.now();
  const released_rules = [...new Set(body.released_rules)].toSorted();
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    const before = await findReleasedRules(tx, caller.tenant_id);
    if (before.join() === released_rules.join()) return dataReply({ released_rules });
    await saveReleasedRules(tx, caller.tenant_id, released_rules);
    const resource = { type: "tenant" as const, id: caller.tenant_id };
    const event = { type: "model.settings_updated" as const, occurred_at: now, actor: caller.actor, resource };
    await appendEvents(tx, caller.tenant_id, [{ ...event, data: { released_rules } }]);
    return dataReply({ released_rules });
  });
}

const tag = "Models";
const success = (schema: typeof Model) => ({ status: 200, description: "The model", schema });
const Id = Type.String({ pattern: "^[0-9a-f]{12}([0-9a-f]{52})?$", description: "A model's id, or its first 12 characters." });

export const modelOperations: Operation[] = [
  operation({
    id: "listModels",
    method: "GET",
    path: "/models",
    scope: "read:models",
    tag,
    summary: "List models and training runs",
    description: `Newest first. The latest ${modelsKeptMax} models of each moment are kept, and runs for 90 days. \`figures.profile\` is left out; \`GET /models/{model_id}\` returns it.`,
    success: {
      status: 200,
      description: "The models, the latest runs with their progress, the settings, and the labels of each moment",
      schema: Type.Object(
        { models: Type.Array(Model), runs: Type.Array(ModelRun), settings: ModelSettings, labels: Type.Array(ModelLabels) },
        { additionalProperties: false },
      ),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "trainModels",
    method: "POST",
    path: "/models",
    scope: "manage:models",
    tag,
    summary: "Train a model on the labels",
    description:
      "Queues a run, or returns the run that is already queued or running. The new model is a challenger: its ratings are stored, but do not count until it is promoted.",
    body: NewModelRun,
    success: {
      status: 202,
      description: "The runs",
      schema: Type.Object({ runs: Type.Array(ModelRun) }, { additionalProperties: false }),
    },
    problems: ["transaction-contended"],
    example: { moment: "value" },
    handle: train,
  }),
  operation({
    id: "compareModels",
    method: "GET",
    path: "/models/compare",
    scope: "read:models",
    tag,
    summary: "Compare two models",
    description: "Without parameters, the response contains all champions and challengers.",
    query: Type.Object({ a: Type.Optional(Id), b: Type.Optional(Id) }, { additionalProperties: false }),
    success: {
      status: 200,
      description: "Both models with their figures",
      schema: Type.Object({ models: Type.Array(Model) }, { additionalProperties: false }),
    },
    problems: ["item-not-found"],
    handle: compare,
  }),
  operation({
    id: "updateModelSettings",
    method: "PUT",
    path: "/models/settings",
    scope: "manage:models",
    tag,
    summary: "Set which rules a model may overrule",
    description:
      "A model may raise a score even if no rule fired. It may lower the score that rules give only if every rule that fired is released.",
    body: ModelSettings,
    success: { status: 200, description: "The settings after the change", schema: ModelSettings },
    problems: ["transaction-contended"],
    example: { released_rules: ["new_device"] },
    handle: updateSettings,
  }),
  operation({
    id: "getModel",
    method: "GET",
    path: "/models/{model_id}",
    scope: "read:models",
    tag,
    summary: "Read a model's figures",
    success: success(Model),
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    id: "downloadModel",
    method: "GET",
    path: "/models/{model_id}/download",
    scope: "read:models",
    tag,
    summary: "Download a model",
    description:
      "Returns the model's trees as JSON. The SHA-256 of the text is the model's id. The text contains no ids of accounts or activities.",
    success: {
      status: 200,
      description: "The model's text",
      schema: Type.Object({ text: Type.String() }, { additionalProperties: false }),
    },
    problems: ["bad-request", "item-not-found"],
    handle: download,
  }),
  operation({
    id: "promoteModel",
    method: "POST",
    path: "/models/{model_id}/promote",
    scope: "manage:models",
    tag,
    summary: "Make a model the champion of its moment",
    description: "The previous champion is retired. To go back, promote it again.",
    success: success(Model),
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: changeTo("CHAMPION"),
  }),
  operation({
    id: "retireModel",
    method: "POST",
    path: "/models/{model_id}/retire",
    scope: "manage:models",
    tag,
    summary: "Retire a model",
    description: "Without a champion, the rules alone decide.",
    success: success(Model),
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: changeTo("RETIRED"),
  }),
];
