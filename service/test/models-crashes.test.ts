import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { claimRun, insertRun, listRuns } from "../src/db/model-runs.ts";
import { listModels } from "../src/db/models.ts";
import type { Database, Queryable, Row, Transaction } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import { measureDrift, watchChampion } from "../src/engine/drift.ts";
import { compareShadow, measureChallenger } from "../src/engine/promotion.ts";
import type { ThreadMeasurer } from "../src/engine/measuring.ts";
import { trainMoment } from "../src/engine/training-work.ts";
import { workRun } from "../src/engine/training.ts";
import { openLog } from "../src/log.ts";
import { insertDecided } from "./decided.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { amountModel, insertTestModel } from "./models-lab.ts";
import { dayMs, insertPaid, jobFor, labelPaid, paymentsOf } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("models_crashes"), roles: new Set(["api"]) });
const stepsMax = 60;

class Killed extends Error {}

// The same database, seen by a process that dies right after statement number `step`. The end of a transaction, before its
// commit, counts as a statement too. A dead process sends nothing more.
function dyingAt(database: Database, step: number): { database: Database; isDead: () => boolean } {
  let [sent, isDead] = [0, false];
  const die = () => {
    isDead = true;
    throw new Killed(`at ${step}`);
  };
  const transaction = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    if (isDead) throw new Killed("is dead");
    return database.transaction(async (tx) => {
      const query = async <R extends Row>(given: Statement): Promise<R[]> => {
        if (isDead) throw new Killed("is dead");
        const rows = await tx.query<R>(given);
        return ++sent === step ? die() : rows;
      };
      const result = await work({ isPatient: tx.isPatient, query });
      return ++sent === step ? die() : result;
    });
  };
  const get = (target: Database, name: string | symbol): unknown => {
    if (name === "transaction") return transaction;
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return { database: new Proxy(database, { get }), isDead: () => isDead };
}

// Everything that training and promotion change.
async function stateOf({ tenantId }: TestTenant): Promise<unknown> {
  const { database } = service.current;
  const read = (text: string) => database.query(statement(text, [tenantId]));
  return {
    models: await read("select model_id, state, figures, promoted_at, retired_at from models where tenant_id = $1 order by 1"),
    settings: await read("select models_revision from detection_settings where tenant_id = $1"),
    events: await read("select type from events where tenant_id = $1 and type like 'model.%' order by event_id"),
    runs: await read("select status, model_id, finished_at from model_runs where tenant_id = $1"),
  };
}

// Kills the work at its first statement, then at its second, and so on, until it completes. After each kill, nothing may have
// changed.
async function killAtEachStep(tenant: TestTenant, work: (database: Database) => Promise<unknown>): Promise<number> {
  for (let step = 1; step <= stepsMax; step++) {
    const before = await stateOf(tenant);
    const dying = dyingAt(service.current.database, step);
    await work(dying.database).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
    if (!dying.isDead()) return step - 1;
    expect(await stateOf(tenant)).toEqual(before);
  }
  throw new Error(`did not complete within ${stepsMax} statements`);
}

const eventsOf = async (tenant: TestTenant) => {
  const answer = await tenant.call("GET", "/events");
  const { events } = answer.json.data as { events: { type: string }[] };
  return events.map(({ type }) => type).filter((type) => type.startsWith("model."));
};

test("crash: a process that dies while it stores a model leaves a run that another finishes, with one model and one event", async () => {
  const tenant = await TestTenant.create(service.current);
  const { tenantId } = tenant;
  const { database } = service.current;
  await insertPaid(tenant, paymentsOf({ count: 400, fraudShare: 0.2 }));
  const now = clock.now();
  const added = { run_id: clock.newId(now), moment: "value" as const, created_at: now, created_by: "somebody" };
  await database.transaction((tx) => insertRun(tx, tenantId, added));
  // As if the lease had expired, and as if the run had never been started before.
  const text = `update model_runs set lease_until = now() - interval '1 s', status = 'RUNNING',
    progress = progress || '{"begun": 0}' where tenant_id = $1`;
  await database.query(statement(text, [tenantId]));
  const steps = await killAtEachStep(tenant, async (dying) => {
    await database.query(statement(text, [tenantId]));
    const claimed = await claimRun(database, 30);
    if (!claimed) throw new Error("no run could be claimed");
    await workRun({ database: dying, clock, log: openLog("silent") }, claimed, new AbortController().signal);
  });
  expect(steps).toBeGreaterThan(7);
  expect((await listModels(database, tenantId)).map(({ state }) => state)).toEqual(["CHALLENGER"]);
  expect((await listRuns(database, tenantId, 9)).map(({ status }) => status)).toEqual(["DONE"]);
  expect(await eventsOf(tenant)).toEqual(["model.trained"]);
}, 120_000);

test("crash: training that loses its connection in any phase stores nothing, and the next one gives the same model", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  await insertPaid(tenant, paymentsOf({ count: 900, fraudShare: 0.15 }));
  const job = jobFor(tenant, { chunkRows: 300 });
  const phases = new Set<string>();
  const readUntil = (last: number): Queryable => {
    let read = 0;
    return {
      query: <R extends Row>(given: Statement) =>
        ++read > last ? Promise.reject(new Killed(`after ${last}`)) : database.query<R>(given),
    };
  };
  const before = await stateOf(tenant);
  const ids = new Set<string>();
  for (let last = 0; ids.size === 0; last++) {
    let phase = "reading";
    const trained = await trainMoment(readUntil(last), job, (progress) => ({ phase } = progress)).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      phases.add(phase);
      return null;
    });
    if (trained && "model_id" in trained) ids.add(trained.model_id);
    expect(await stateOf(tenant)).toEqual(before);
  }
  const whole = await trainMoment(database, job, () => {});
  expect(whole).toMatchObject({ model_id: [...ids][0] });
  expect(phases.size).toBeGreaterThan(1);
}, 120_000);

// A challenger that finds everything that the rules find, and more.
async function withChallenger(): Promise<{ tenant: TestTenant; id: string }> {
  const tenant = await TestTenant.create(service.current);
  await insertTestModel(tenant, { model: amountModel({ limit: 5 }) });
  const at = new Date(Date.now() - 16 * dayMs).toISOString();
  const id = await insertTestModel(tenant, { model: amountModel({ limit: 9 }), state: "CHALLENGER", at });
  const paid = paymentsOf({ count: 600, days: 15, fraudShare: 0.1 });
  await insertDecided(
    tenant,
    paid.map(({ key, account, at: ms, isFraud, features }) => {
      const received_at = new Date(ms).toISOString();
      const [served, said] = Number(features["event.value"]) > 280 && isFraud ? [3, 6] : [0, -6];
      const decision = { v: 1, l: served, n: [id.slice(0, 12), said] as [string, number], f: features };
      return { activity_id: key, type: "payment", received_at, decision, website_account_id: account ?? key };
    }),
  );
  await labelPaid(tenant, paid);
  return { tenant, id };
}

// Measures in this thread.
const measurer: Pick<ThreadMeasurer, "compare" | "watch"> = {
  compare: (job) => compareShadow(service.current.database, job),
  watch: (job) => measureDrift(service.current.database, job),
};

test("crash: a process that dies while it promotes a model leaves the previous champion in place, and the next process promotes the model once", async () => {
  const { tenant, id } = await withChallenger();
  const now = new Date().toISOString();
  const steps = await killAtEachStep(tenant, (database) => measureChallenger({ database, measurer, now }, tenant.tenantId, id));
  expect(steps).toBeGreaterThan(5);
  const models = await listModels(service.current.database, tenant.tenantId);
  expect(new Set(models.map(({ model_id, state }) => `${model_id === id} ${state}`))).toEqual(
    new Set(["false RETIRED", "true CHAMPION"]),
  );
  expect(await eventsOf(tenant)).toEqual(["model.retired", "model.promoted"]);
});

test("crash: two engines that measure the same challenger promote it once", async () => {
  const { tenant, id } = await withChallenger();
  const { database } = service.current;
  const measuring = { database, measurer, now: new Date().toISOString() };
  await Promise.all([1, 2, 3].map(() => measureChallenger(measuring, tenant.tenantId, id)));
  expect(await eventsOf(tenant)).toEqual(["model.retired", "model.promoted"]);
});

test("crash: a process that dies while it retires a model leaves the model in use, and the next process retires it once", async () => {
  const tenant = await TestTenant.create(service.current);
  const id = await insertTestModel(tenant);
  await insertDecided(
    tenant,
    Array.from({ length: 12 }, (_, index) => ({
      type: "payment",
      website_account_id: `a-${index}`,
      score: 4,
      decision: { v: 1, l: 5, m: [id.slice(0, 12), 5] as [string, number], f: { "account.age_minutes": 20_000 } },
    })),
  );
  const now = new Date().toISOString();
  const watched = { tenantId: tenant.tenantId, modelId: id, now };
  const steps = await killAtEachStep(tenant, (database) => watchChampion({ database, measurer }, watched));
  expect(steps).toBeGreaterThan(5);
  expect(await eventsOf(tenant)).toEqual(["model.retired"]);
});
