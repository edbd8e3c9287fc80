import { expect, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import { claimRun, insertRun, listRuns, type ClaimedRun } from "../src/db/model-runs.ts";
import { listModels } from "../src/db/models.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import { queueDueRuns } from "../src/engine/training-schedule.ts";
import { TrainingRunner, workRun } from "../src/engine/training.ts";
import { openLog } from "../src/log.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { insertTestModel } from "./models-lab.ts";
import { insertPaid, paymentsOf } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("training_runner"), roles: new Set(["api"]) });
const log = openLog("silent");
const options = () => ({ database: service.current.database, clock, log });
const never = new AbortController().signal;

async function queue({ tenantId }: TestTenant): Promise<string> {
  const now = clock.now();
  // A claim takes the oldest run of any tenant, so runs that other tests left are deleted first.
  await service.current.database.query(statement("delete from model_runs where tenant_id <> $1", [tenantId]));
  const added = { run_id: clock.newId(now), moment: "value" as const, created_at: now, created_by: "somebody" };
  return (await service.current.database.transaction((tx) => insertRun(tx, tenantId, added))).run_id;
}

async function claim(): Promise<ClaimedRun> {
  const claimed = await claimRun(service.current.database, 30);
  if (!claimed) throw new Error("no run could be claimed");
  return claimed;
}

const stateOf = async ({ tenantId }: TestTenant) => {
  const { database } = service.current;
  const [runs, models] = [await listRuns(database, tenantId, 10), await listModels(database, tenantId)];
  return { runs: runs.map(({ status }) => status), models: models.map(({ state }) => state) };
};

async function expire({ tenantId }: TestTenant): Promise<void> {
  const text = "update model_runs set lease_until = now() - interval '1 s' where tenant_id = $1";
  await service.current.database.query(statement(text, [tenantId]));
}

test("training: two runners at once train one challenger, in a thread, and the previous challenger is retired with an event", async () => {
  const tenant = await TestTenant.create(service.current);
  const earlier = await insertTestModel(tenant, { state: "CHALLENGER" });
  await insertPaid(tenant, paymentsOf({ count: 1500, fraudShare: 0.08 }));
  expect(await queue(tenant)).toBe(await queue(tenant));
  const runners = [new TrainingRunner(options()), new TrainingRunner(options())];
  for (const runner of runners) runner.start();
  await vi.waitFor(async () => expect((await stateOf(tenant)).runs).toEqual(["DONE"]), { timeout: 120_000, interval: 100 });
  await Promise.all(runners.map((runner) => runner.stop()));
  const { runs, models } = await stateOf(tenant);
  expect([runs, models.toSorted()]).toEqual([["DONE"], ["CHALLENGER", "RETIRED"]]);
  const [run] = await listRuns(service.current.database, tenant.tenantId, 1);
  expect(run).toMatchObject({ progress: { phase: "done", percent: 100 }, model_id: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: unknown[] };
  expect(events.slice(-2)).toMatchObject([
    { type: "model.retired", actor: "system", resource: { type: "model", id: earlier }, data: { moment: "value" } },
    { type: "model.trained", actor: "somebody", resource: { type: "model", id: run?.model_id } },
  ]);
}, 180_000);

test("training: a run that its process abandons is taken over, and a late result of the first process is discarded", async () => {
  const tenant = await TestTenant.create(service.current);
  await queue(tenant);
  const first = await claim();
  await expire(tenant);
  const second = await claim();
  expect([second.run_id, second.begun]).toEqual([first.run_id, 2]);
  await workRun(options(), first, never);
  expect((await stateOf(tenant)).runs).toEqual(["RUNNING"]);
  await workRun(options(), second, never);
  expect(await stateOf(tenant)).toEqual({ runs: ["DONE"], models: [] });
  const [run] = await listRuns(service.current.database, tenant.tenantId, 1);
  expect(run?.reason).toBe("A model needs at least 50 known frauds; there are 0.");
}, 60_000);

test("training: stopping the process puts the run back, and a run that never ends is given up after three attempts", async () => {
  const tenant = await TestTenant.create(service.current);
  await queue(tenant);
  const stopped = AbortSignal.abort();
  expect(await workRun(options(), await claim(), stopped)).toBe(true);
  expect(await stateOf(tenant)).toEqual({ runs: ["QUEUED"], models: [] });
  for (let times = 0; times < 3; times++) {
    await claim();
    await expire(tenant);
  }
  await workRun(options(), await claim(), never);
  const [run] = await listRuns(service.current.database, tenant.tenantId, 1);
  expect(run).toMatchObject({ status: "FAILED", reason: "Training was started 3 times and never finished." });
}, 60_000);

const at = (hour: string) => ({
  ...options(),
  clock: { ...clock, now: () => `${clock.now().slice(0, 10)}T${hour}:15:00.000Z` },
});

test("training: in the tenant's quietest hour, a run is queued once if there are fifty frauds, and otherwise none", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  await insertPaid(tenant, paymentsOf({ count: 120, fraudShare: 0.6, days: 3 }));
  await insertPaid(other, paymentsOf({ count: 60, fraudShare: 0.3, days: 3 }));
  await queueDueRuns(at("14"));
  expect((await stateOf(tenant)).runs).toEqual([]);
  await Promise.all([queueDueRuns(at("03")), queueDueRuns(at("03"))]);
  expect([(await stateOf(tenant)).runs, (await stateOf(other)).runs]).toEqual([["QUEUED"], []]);
  const text = "delete from model_runs where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
});

// The same database, in which every query for another tenant fails.
function readableOnlyFor({ tenantId }: TestTenant, database: Database): Database {
  const query = async (given: Statement) => {
    if (given.values.length > 0 && !given.values.includes(tenantId)) throw new Error("is broken");
    return database.query(given);
  };
  const get = (target: Database, name: string | symbol): unknown => {
    if (name === "query") return query;
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return new Proxy(database, { get });
}

test("training: a tenant whose labels cannot be read does not hold up the training of another", async () => {
  const [broken, tenant] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  for (const each of [broken, tenant]) await insertPaid(each, paymentsOf({ count: 120, fraudShare: 0.6, days: 3 }));
  await queueDueRuns({ ...at("03"), database: readableOnlyFor(tenant, service.current.database) });
  expect([(await stateOf(broken)).runs, (await stateOf(tenant)).runs]).toEqual([[], ["QUEUED"]]);
  await service.current.database.query(statement("delete from model_runs where tenant_id = $1", [tenant.tenantId]));
});
