import { Type } from "typebox";
import { countLabels, findBudget, saveBudget } from "../db/budget.ts";
import { appendEvents } from "../db/events.ts";
import { findSettings, lockSettings, saveThresholds, type Settings } from "../db/rules.ts";
import { fields, ringSize } from "../detection/catalogue.ts";
import {
  StoredThresholds,
  ThresholdsChange,
  casesPerDay,
  changeThresholds,
  defaultThresholds,
  thresholdsChangeFaults,
} from "../domain/rule.ts";
import { Failure } from "../domain/failure.ts";
import { budgetDays, thresholdsFor, type Budgeted } from "../domain/budget.ts";
import { labelDays, labelSums, type LabelCount } from "../domain/label.ts";
import { invalid } from "./http/validate.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const labelsMin = 20;
const caseScore = 3;
const dayMs = 24 * 60 * 60 * 1000;
const unusable = `cannot be used: there was no activity in the last ${budgetDays} days`;

const Feature = Type.Object(
  {
    name: Type.String({ description: "The name to use in an expression and, in braces, in a sentence." }),
    type: Type.Enum(["number", "string", "boolean", "map"]),
    plain_name: Type.String({ description: "The name that an investigator would use." }),
    description: Type.String(),
    maximum: Type.Optional(
      Type.Integer({ description: "Counted among an entity's latest events only, so no rule can ask for more than this." }),
    ),
  },
  { additionalProperties: false, $id: "Feature" },
);

async function listFeatures(): Promise<Reply> {
  const features = fields.map(({ name, type, plain, description, isRing }) => ({
    name,
    type,
    plain_name: plain,
    description,
    ...(isRing && { maximum: ringSize }),
  }));
  return dataReply({ features });
}

function toThresholds({ thresholds, thresholds_version, updated_at, updated_by }: Omit<Settings, "revision">): StoredThresholds {
  const { score_2, score_3, score_4, score_5 } = thresholds;
  return { score_2, score_3, score_4, score_5, thresholds_version, updated_at, updated_by };
}

type Asked = { cases_per_day?: number };

async function read(services: Services, { caller, query }: Call<unknown, Asked>): Promise<Reply> {
  const { database } = services;
  const { cases_per_day: wanted } = query;
  const computed = wanted === undefined ? null : await compute(services, caller.tenant_id, wanted);
  if (computed === "no activity") throw new Failure("bad-request", `The parameter cases_per_day ${unusable}.`);
  const found = await findSettings(database, caller.tenant_id);
  const untouched = { thresholds: defaultThresholds, thresholds_version: 1, updated_at: services.now(), updated_by: "system" };
  const since = new Date(Date.parse(services.now()) - labelDays * dayMs).toISOString();
  const [budget, counts] = await Promise.all([
    findBudget(database, caller.tenant_id),
    countLabels(database, caller.tenant_id, { since }),
  ]);
  const stored = { ...toThresholds(found ?? untouched), ...budgetOf(budget), ...labelledOf(counts) };
  return dataReply({ ...stored, ...(computed && previewOf(computed, wanted ?? null)) });
}

function previewOf({ thresholds, expected }: Budgeted, wanted: number | null): Partial<StoredThresholds> {
  return { ...thresholds, ...budgetOf(wanted), expected_cases_per_day: expected };
}

function budgetOf(budget: number | null): Pick<StoredThresholds, "cases_per_day"> {
  return budget === null ? {} : { cases_per_day: budget };
}

function labelledOf(counts: LabelCount[]): Pick<StoredThresholds, "frauds_of_100" | "labels_by_score"> {
  const sums = [...labelSums(counts, ({ score }) => score)];
  // Activity without a case is labelled only if it is a fraud, because nobody reports honest payments. So lower scores are left
  // out.
  const known = sums.filter(([score, { labels }]) => labels >= labelsMin && score >= caseScore);
  const shares = known.map(([score, { labels, frauds }]) => [score, Math.round((100 * frauds) / labels)]);
  return {
    ...(known.length > 0 && { frauds_of_100: Object.fromEntries(shares) }),
    labels_by_score: Object.fromEntries(sums.map(([score, { labels }]) => [score, labels])),
  };
}

async function update(services: Services, { caller, body }: Call<ThresholdsChange>): Promise<Reply> {
  const { cases_per_day: budget = null } = body;
  const computed = budget === null ? null : await compute(services, caller.tenant_id, budget);
  if (computed === "no activity") throw invalid([{ field: "cases_per_day", message: unusable }]);
  const now = services.now();
  return services.database.transaction(async (tx) => {
    const stored = toThresholds(await lockSettings(tx, caller.tenant_id, now));
    const found = { ...stored, ...budgetOf(await findBudget(tx, caller.tenant_id)) };
    const { thresholds_version: version = found.thresholds_version } = body;
    // Without a budget, the body contains all thresholds.
    const { score_2, score_3, score_4, score_5 } = { ...found, ...body, ...computed?.thresholds };
    const wanted = { score_2, score_3, score_4, score_5, ...budgetOf(budget), thresholds_version: version };
    const changed = changeThresholds(found, wanted, { name: caller.actor, now });
    const reply = { ...changed, ...(computed && { expected_cases_per_day: computed.expected }) };
    if (changed === found) return dataReply(reply);
    const { thresholds_version, updated_at, updated_by, cases_per_day: _budget, ...thresholds } = changed;
    await saveThresholds(tx, caller.tenant_id, { thresholds, thresholds_version, updated_at, updated_by });
    await saveBudget(tx, caller.tenant_id, budget);
    const resource = { type: "tenant" as const, id: caller.tenant_id, version: thresholds_version };
    const data = { ...thresholds, ...budgetOf(budget) };
    const event = { type: "thresholds.updated" as const, occurred_at: now, actor: caller.actor, resource, data };
    await appendEvents(tx, caller.tenant_id, [event]);
    return dataReply(reply);
  });
}

async function compute(services: Services, tenantId: string, casesPerDay: number): Promise<Budgeted | "no activity"> {
  const { cases, days } = await services.budgetCases.find(services, tenantId);
  return days === 0 ? "no activity" : thresholdsFor(cases, { days, casesPerDay });
}

export const thresholdOperations: Operation[] = [
  operation({
    id: "listFeatures",
    method: "GET",
    path: "/features",
    scope: "read:rules",
    tag: "Detection",
    summary: "List what rules can read",
    success: {
      status: 200,
      description: "The fields of an event, and of its account, device, address, network and session at that time",
      schema: Type.Object({ features: Type.Array(Feature) }, { additionalProperties: false }),
    },
    problems: [],
    handle: listFeatures,
  }),
  operation({
    id: "getThresholds",
    method: "GET",
    path: "/thresholds",
    scope: "read:rules",
    tag: "Detection",
    summary: "Read the thresholds",
    description:
      "The lowest log-odds for each score. Below the first threshold the score is 1. If there are labels, the response says how many activities with each score were frauds. With `cases_per_day`, the response previews the thresholds that a change to this number would store. Nothing is stored.",
    query: Type.Object({
      cases_per_day: Type.Optional({ ...casesPerDay, description: "Previews the thresholds for this number of cases a day." }),
    }),
    success: { status: 200, description: "The thresholds", schema: StoredThresholds },
    problems: ["bad-request"],
    handle: read,
  }),
  operation({
    id: "updateThresholds",
    method: "PUT",
    path: "/thresholds",
    scope: "manage:rules",
    tag: "Detection",
    summary: "Change the thresholds",
    description:
      "Each threshold must be higher than the one before it. With `cases_per_day`, they are computed instead, as low as that number allows. Activity that was already scored keeps its score.",
    body: ThresholdsChange,
    faults: thresholdsChangeFaults,
    success: { status: 200, description: "The thresholds after the change", schema: StoredThresholds },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: { ...defaultThresholds, score_5: 6.5, thresholds_version: 1 },
    handle: update,
  }),
];
