import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { claimRun, insertRun, listRuns } from "../src/db/model-runs.ts";
import { saveReleasedRules } from "../src/db/models.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { findRuleVersions } from "../src/db/rules.ts";
import { attributesOf } from "../src/detection/draft.ts";
import { explain } from "../src/detection/explanation.ts";
import { serve } from "../src/detection/model/serving.ts";
import type { Model, Tree } from "../src/detection/model/trees.ts";
import { findPlace } from "../src/detection/vector.ts";
import type { StoredDecision } from "../src/domain/decision.ts";
import { momentNames, momentOf } from "../src/domain/moment.ts";
import { workRun } from "../src/engine/training.ts";
import { openLog } from "../src/log.ts";
import { drain, labDetector, newTenant, store, useLab } from "./engine-lab.ts";
import { landEnrichment, tellStory } from "./engine-story.ts";
import { insertTestModel } from "./models-lab.ts";
import { numbersFrom } from "./labelled-rows.ts";

const lab = useLab();
const story = tellStory("models", 4);
const enrichment = landEnrichment();

type Row = { activity_id: string; type: string; score: number; decision: string; document: string };

async function play(tenantId: string): Promise<Row[]> {
  await store(lab.current, tenantId, story);
  expect(await drain(labDetector(lab.current.database, { enrichment }), tenantId)).toBe(story.length);
  return lab.current.database.query<Row>(sql`
    select activity_id, type, score, decision, document
    from activities
    where tenant_id = ${tenantId}
    order by activity_id`);
}

// Without the ids of cases, which are random.
const textsOf = async (tenantId: string) =>
  (await play(tenantId)).map(({ activity_id, decision }) => [activity_id, decision?.replaceAll(/\["[0-9a-f-]{36}",/g, "[")]);

const names = [
  "event.value",
  "account.age_minutes",
  "account.device_is_new",
  "login.ratio",
  "ip.accounts_1h",
  "account.events_1h",
];

// Trees with random splits, whose parts have many digits.
function someModel(seed: number): Model {
  const next = numbersFrom(seed);
  const grow = (depth: number): Tree => {
    if (depth === 0) return { value: 2 * next() - 0.9, cover: 1 + Math.floor(50 * next()) };
    const field = findPlace(names[Math.floor(next() * names.length)] ?? "")?.code ?? "";
    const [left, right] = [grow(depth - 1), grow(depth - 1)];
    return { field, threshold: Math.floor(12 * next()), missing: next() < 0.5 ? "left" : "right", left, right };
  };
  const trees = Array.from({ length: 12 }, () => grow(3));
  return { prior: { a: -0.123456, b: 1.234567 }, trees, trained: { rows: 2, frauds: 1, seed: 1 } };
}

test("models: for every stored decision of a run, the shown parts sum to the log-odds, and recomputing gives the same", async () => {
  const { database } = lab.current;
  const tenantId = await newTenant(lab.current);
  const models = new Map<string, Model>();
  for (const [index, moment] of momentNames.entries()) {
    const champion = await insertTestModel({ tenantId, service: { database } }, { model: someModel(index), moment });
    models.set(champion.slice(0, 12), someModel(index));
    await insertTestModel({ tenantId, service: { database } }, { model: someModel(9 + index), moment, state: "CHALLENGER" });
  }
  await database.transaction((tx) => saveReleasedRules(tx, tenantId, ["success_after_failures", "dormant_account"]));
  const rows = await play(tenantId);
  const rated = new Set<string>();
  for (const { type, score, decision: text, document } of rows) {
    const decision = JSON.parse(text) as StoredDecision;
    const named = Object.entries(decision.r ?? {}).map(([rule_id, rule_version]) => ({ rule_id, rule_version }));
    const versions = await findRuleVersions(database, tenantId, named);
    const moment = momentOf(type);
    const model = models.get(decision.m?.[0] ?? "");
    const served = model && moment ? serve(model, moment) : undefined;
    if (served) rated.add(`${moment} ${(decision.m?.[1] ?? 0) < 0 ? "lowered" : "raised or held"}`);
    const shown = explain({ decision, attributes: attributesOf(document), type, versions, ...(served && { model: served }) });
    const parts = [
      ...shown.rules.map(({ weight }) => weight),
      ...shown.contributions.map(({ log_odds }) => log_odds),
      ...(shown.model?.contributions ?? []).map(({ log_odds }) => log_odds),
    ];
    const sum = parts.reduce((total, part) => total + part, 0);
    expect(Math.abs(sum - (decision.l ?? 0))).toBeLessThan(1e-9);
    expect(shown.recomputed).toEqual({ log_odds: decision.l ?? 0, score });
  }
  expect(new Set([...rated].map((each) => each.split(" ")[0]))).toEqual(new Set(momentNames));
  expect(rated.size).toBeGreaterThan(3);
});

test("models: without labels, training gives no model, and every decision has the same bytes as with rules alone", async () => {
  const { database } = lab.current;
  const [plain, trained, retired] = [await newTenant(lab.current), await newTenant(lab.current), await newTenant(lab.current)];
  for (const moment of momentNames) {
    const now = clock.now();
    const added = { run_id: clock.newId(now), moment, created_at: now, created_by: "somebody" };
    await database.transaction((tx) => insertRun(tx, trained, added));
    const claimed = await claimRun(database, 30);
    if (!claimed) throw new Error("no run could be claimed");
    await workRun({ database, clock, log: openLog("silent") }, claimed, new AbortController().signal);
  }
  const runs = await listRuns(database, trained, 9);
  expect(runs.map(({ status, model_id }) => [status, model_id])).toEqual(momentNames.map(() => ["DONE", undefined]));
  await insertTestModel({ tenantId: retired, service: { database } }, { state: "RETIRED" });
  const wanted = await textsOf(plain);
  expect(wanted.every(([, decision]) => !/"[mn]":/.test(decision ?? ""))).toBe(true);
  expect(await textsOf(trained)).toEqual(wanted);
  // The revision of a rule set is the same, although the tenant has had a model.
  expect(await textsOf(retired)).toEqual(wanted);
}, 60_000);
