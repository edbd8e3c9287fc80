import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { insertRun } from "../src/db/model-runs.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { Model } from "../src/domain/model.ts";
import type { RandomChecks } from "../src/domain/random-check.ts";
import type { StoredThresholds } from "../src/domain/rule.ts";
import { drawDay } from "../src/engine/random-checks.ts";
import { dayBefore, insertDecided, noonBefore } from "./decided.ts";
import { dieEverywhere } from "./dying.ts";
import { snapshot } from "./engine-lab.ts";
import { TestTenant, expectProblem, useOwnDatabase, useService } from "./harness.ts";
import { daysAgo, importAll, pastOf, scoreHistory } from "./import-lab.ts";
import { amountModel, insertTestModel } from "./models-lab.ts";

// What a client that may change models, random checks and thresholds could try. No engine runs here.
const url = useOwnDatabase("models_attacks");
const service = useService({ databaseUrl: url, roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);

type Event = { type: string; resource: { id: string }; data?: Record<string, unknown> };
async function eventsOf(tenant: TestTenant): Promise<Event[]> {
  const { events }: { events: Event[] } = (await tenant.call("GET", "/events?limit=1000")).json.data;
  return events;
}

test("models: promotions and retirements at the same time leave at most one champion, and the events lead to the stored states", async () => {
  const tenant = await newTenant();
  const ids = await Promise.all(
    [1, 2, 3].map((limit) => insertTestModel(tenant, { model: amountModel({ limit }), state: "RETIRED" })),
  );
  const calls = ids.flatMap((id) => [`/models/${id}/promote`, `/models/${id}/retire`, `/models/${id.slice(0, 12)}/promote`]);
  const answers = await Promise.all([...calls, ...calls.toReversed()].map((path) => tenant.call("POST", path)));
  for (const { status, text } of answers) expect([200, 409], text).toContain(status);
  const { models }: { models: Model[] } = (await tenant.call("GET", "/models")).json.data;
  const told = new Map(ids.map((id) => [id, "RETIRED"]));
  for (const { type, resource } of await eventsOf(tenant))
    told.set(resource.id, type === "model.promoted" ? "CHAMPION" : "RETIRED");
  expect(new Map(models.map(({ model_id, state }) => [model_id, state]))).toEqual(told);
  expect(models.filter(({ state }) => state === "CHAMPION").length).toBeLessThanOrEqual(1);
});

const odd = [
  "%2e%2e",
  "..%2fmodels",
  "a%00",
  "%ff",
  "f".repeat(11),
  "F".repeat(12),
  "0".repeat(13),
  "0".repeat(600),
  "%25",
  "'--",
];

test("models: an odd id finds nothing, and changes nothing", async () => {
  const tenant = await newTenant();
  const model = await insertTestModel(tenant);
  const calls = [
    ["GET", ""],
    ["GET", "/download"],
    ["POST", "/promote"],
    ["POST", "/retire"],
  ] as const;
  for (const id of odd)
    for (const [method, path] of calls) {
      const answer = await tenant.call(method, `/models/${id}${path}`);
      expect([400, 404], `${method} ${id}${path}: ${answer.text}`).toContain(answer.status);
    }
  expect((await tenant.call("GET", `/models/${model}`)).json.data).toMatchObject({ state: "CHAMPION" });
});

test("POST models 202: eight requests at once queue one run for each moment", async () => {
  const tenant = await newTenant();
  const answers = await Promise.all(Array.from({ length: 8 }, () => tenant.call("POST", "/models", { body: {} })));
  const runs = answers.map(({ status, json }) => {
    expect(status).toBe(202);
    return JSON.stringify(json.data);
  });
  expect(new Set(runs).size).toBe(1);
});

const added = () => ({ run_id: randomUUID(), moment: "value" as const, created_at: clock.now(), created_by: "shop" });

test("models: a run that ends while another one is requested is returned, and the next request queues another", async () => {
  const { tenantId } = await newTenant();
  const { database } = service.current;
  const first = await insertRun(database, tenantId, added());
  const racing: Queryable = {
    query: async (statement) => {
      const rows = await database.query(statement);
      await database.query(sql`update model_runs set status = 'DONE' where tenant_id = ${tenantId} and run_id = ${first.run_id}`);
      return rows as never;
    },
  };
  expect((await insertRun(racing, tenantId, added())).run_id).toBe(first.run_id);
  expect((await insertRun(racing, tenantId, added())).run_id).not.toBe(first.run_id);
});

test("PUT model settings: eight at once leave what one of them set, with one event for each change", async () => {
  const tenant = await newTenant();
  const rules = Array.from({ length: 8 }, (_, index) => [`rule_${index}`, `rule_${index}`]);
  const answers = await Promise.all(
    rules.map((released_rules) => tenant.call("PUT", "/models/settings", { body: { released_rules } })),
  );
  for (const { status, text } of answers) expect(status, text).toBe(200);
  const { settings }: { settings: { released_rules: string[] } } = (await tenant.call("GET", "/models")).json.data;
  const events = await eventsOf(tenant);
  expect(events).toHaveLength(8);
  expect(events.at(-1)?.data).toEqual(settings);
});

test("PUT random checks 422: a number that is out of range or no number changes nothing", async () => {
  const tenant = await newTenant();
  for (const per_day of [-1, 0.5, 101, 1e308, "5", null, [5], true])
    expectProblem(await tenant.call("PUT", "/random-checks", { body: { per_day } }), 422, "validation-error");
  expect(await eventsOf(tenant)).toEqual([]);
});

// As if the setting had been made two days earlier.
const setEarlier = ({ tenantId }: TestTenant) =>
  service.current.database.query(sql`
    update detection_settings
    set random_checked_on = random_checked_on - 2
    where tenant_id = ${tenantId}`);

const paid = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    return { type: "payment", website_account_id: `a-${index}`, received_at: noonBefore(1), decision: { v: 1, l: 0, f: {} } };
  });

test("random checks: turned off and on again, a day is not chosen from twice", async () => {
  const tenant = await newTenant();
  await insertDecided(tenant, paid(40));
  const set = (per_day: number) => tenant.call("PUT", "/random-checks", { body: { per_day } });
  await set(3);
  const { database } = service.current;
  await setEarlier(tenant);
  const draw = () => drawDay({ database, clock }, tenant.tenantId, dayBefore(1));
  expect(await draw()).toBe(3);
  for (const per_day of [0, 100, 0, 100]) {
    expect(((await set(per_day)).json.data as RandomChecks).per_day).toBe(per_day);
    expect(await draw()).toBe(0);
  }
});

test("random checks: imported history opens no case", async () => {
  const tenant = await newTenant();
  await tenant.call("PUT", "/random-checks", { body: { per_day: 5 } });
  const past = Array.from({ length: 10 }, (_, index) =>
    pastOf({ type: "payment", occurred_at: daysAgo(1, index), website_account_id: `a-${index}` }),
  );
  await importAll(tenant, past);
  await scoreHistory(tenant);
  const { database } = service.current;
  await setEarlier(tenant);
  expect(await drawDay({ database, clock }, tenant.tenantId, daysAgo(1).slice(0, 10))).toBe(0);
  expect(await tenant.list()).toEqual([]);
});

const decided = (logOdds: number[]) =>
  logOdds.map((l, index) => ({ received_at: noonBefore(1), website_account_id: `a-${index}`, decision: { v: 1, l, f: {} } }));

test("PUT thresholds 200: a budget is shown as it was sent, a repeat changes nothing, and what it gave can be sent back", async () => {
  const tenant = await newTenant();
  await insertDecided(tenant, decided([1, 2, 3, 50, 99, 100, 250]));
  const put = async (body: unknown): Promise<StoredThresholds> => {
    const answer = await tenant.call("PUT", "/thresholds", { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.json.data;
  };
  for (const cases_per_day of [0.1, 33.333333, 99_999.99999999999]) {
    const first = await put({ cases_per_day });
    expect(await put({ cases_per_day })).toEqual(first);
    const { score_2, score_3, score_4, score_5, thresholds_version } = first;
    expect((await tenant.call("GET", "/thresholds")).json.data).toMatchObject({ cases_per_day, thresholds_version });
    await put({ score_2, score_3, score_4, score_5, thresholds_version });
  }
});

test("PUT thresholds: a budget that is out of range or no number changes nothing", async () => {
  const tenant = await newTenant();
  await insertDecided(tenant, decided([3]));
  for (const text of ["0", "0.09", "-1", "1e400", "100001", '"4"', "null", "[4]", "true"]) {
    const answer = await tenant.call("PUT", "/thresholds", { rawBody: `{"cases_per_day":${text}}` });
    expect([400, 422], `${text}: ${answer.text}`).toContain(answer.status);
  }
  expect(await eventsOf(tenant)).toEqual([]);
});

test("crash: choosing activities that dies at any statement changes nothing, and the next one chooses one activity once", async () => {
  const tenant = await newTenant();
  const { database } = service.current;
  await insertDecided(tenant, paid(20));
  await tenant.call("PUT", "/random-checks", { body: { per_day: 1 } });
  await setEarlier(tenant);
  const before = await snapshot({ url, database }, tenant.tenantId);
  const { steps } = await dieEverywhere(
    database,
    (dying) => drawDay({ database: dying, clock }, tenant.tenantId, dayBefore(1)),
    async () => expect(await snapshot({ url, database }, tenant.tenantId)).toEqual(before),
  );
  expect(steps).toBeGreaterThan(6);
  expect(await tenant.list()).toHaveLength(1);
});
