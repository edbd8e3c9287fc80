import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { listBacktestsDue, saveEnding, saveProgress } from "../src/db/backtests.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { LeaseKeeper, runBacktest } from "../src/engine/backtest.ts";
import { ended, holdBacktest, readBacktest, startBacktest, tryDraft, useRunner } from "./backtest-lab.ts";
import { decisionText, insertDecided, noonBefore } from "./decided.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService();
useRunner(service);
const newTenant = () => TestTenant.create(service.current);
const draft = { expression: "device.accounts_1h >= 8", days: 2 };
const never = new AbortController().signal;

async function tenantWithHits(count: number): Promise<TestTenant> {
  const tenant = await newTenant();
  const hit = { received_at: noonBefore(1), website_account_id: "a", decision: { f: { "device.accounts_1h": 9 } } };
  await insertDecided(
    tenant,
    Array.from({ length: count }, () => hit),
  );
  return tenant;
}

async function execute(text: string, values: unknown[]): Promise<void> {
  await service.current.database.transaction((tx) => tx.query(statement(text, values)));
}

test("cancel: a running backtest notices the cancellation at its next check, and its own end then changes nothing", async () => {
  const tenant = await tenantWithHits(10);
  const { database } = service.current;
  const claimed = await holdBacktest(tenant, draft);
  const answer = await tenant.call("POST", `/backtests/${claimed.backtest_id}/cancel`);
  expect(answer.json.data).toMatchObject({ status: "CANCELLED", finished_at: expect.any(String) });
  const hold = new LeaseKeeper(database, claimed, 0);
  expect(await runBacktest({ database, claimed, hold, signal: never })).toBeNull();
  expect(hold.lease).toBeNull();
  await database.transaction((tx) => saveEnding(tx, claimed, { status: "FAILED", fault: "late", now: clock.now() }));
  expect(await readBacktest(tenant, claimed.backtest_id)).toEqual(answer.json.data);
});

test("cancel: a backtest that has ended stays unchanged", async () => {
  const tenant = await tenantWithHits(3);
  const { backtest_id: id } = await startBacktest(tenant, draft);
  const done = await ended(tenant, id);
  expect(done).toMatchObject({ status: "DONE", result: { hits: 3 } });
  const answer = await tenant.call("POST", `/backtests/${id}/cancel`);
  expect(answer.status).toBe(200);
  expect(answer.json.data).toEqual(done);
});

test("crash: a backtest left by a crashed process is claimed by another when the lease expires, and starts over", async () => {
  const tenant = await tenantWithHits(5);
  const { backtest_id: id } = await holdBacktest(tenant, draft, { leaseSeconds: -1 });
  expect(await ended(tenant, id)).toMatchObject({ status: "DONE", result: { decisions: 5, hits: 5 } });
});

test("lease: nobody else claims the backtest while the lease is valid", async () => {
  const tenant = await newTenant();
  const { backtest_id: id } = await holdBacktest(tenant, draft);
  const due = await listBacktestsDue(service.current.database);
  expect(due.map(({ backtest_id }) => backtest_id)).not.toContain(id);
  expect((await readBacktest(tenant, id)).status).toBe("RUNNING");
});

test("lease: a process that lost its lease can neither continue nor end the backtest", async () => {
  const tenant = await tenantWithHits(1);
  const { database } = service.current;
  const first = await holdBacktest(tenant, draft);
  const progress = { done: 1, total: 9, percent: 11 };
  const second = await database.transaction((tx) => saveProgress(tx, first, { progress, leaseSeconds: 900 }));
  expect(second?.lease_until).not.toBe(first.lease_until);
  expect((await readBacktest(tenant, first.backtest_id)).progress).toEqual(progress);
  const late = { progress: { done: 0, total: 9, percent: 0 }, leaseSeconds: 900 };
  expect(await database.transaction((tx) => saveProgress(tx, first, late))).toBeNull();
  await database.transaction((tx) => saveEnding(tx, first, { status: "QUEUED", begun: 0 }));
  expect(await readBacktest(tenant, first.backtest_id)).toMatchObject({ status: "RUNNING", progress });
});

test("stop: a backtest stopped midway is queued again, starts over, and finishes", async () => {
  const tenant = await tenantWithHits(2_500);
  const { database } = service.current;
  const claimed = await holdBacktest(tenant, draft);
  const stopping = new AbortController();
  const hold = new LeaseKeeper(database, claimed, 0);
  const running = runBacktest({ database, claimed, hold, signal: stopping.signal });
  stopping.abort();
  expect(await running).toBeNull();
  const { lease } = hold;
  if (!lease) throw new Error("nobody cancelled it");
  await database.transaction((tx) => saveEnding(tx, lease, { status: "QUEUED", begun: 0 }));
  expect(await ended(tenant, claimed.backtest_id)).toMatchObject({ status: "DONE", result: { decisions: 2_500, hits: 2_500 } });
});

test("progress: it is saved during the run and stays below 100 until the end", async () => {
  const tenant = await tenantWithHits(2_500);
  const { database } = service.current;
  const claimed = await holdBacktest(tenant, draft);
  const result = await runBacktest({ database, claimed, hold: new LeaseKeeper(database, claimed, 0), signal: never });
  expect(result).toMatchObject({ decisions: 2_500 });
  const { progress, status } = await readBacktest(tenant, claimed.backtest_id);
  expect(status).toBe("RUNNING");
  expect(progress.done).toBe(2_500);
  expect(progress.total).toBeGreaterThanOrEqual(2_500);
  expect(progress.percent).toBeLessThan(100);
});

test("failure: a backtest that cannot run is tried three times and then fails with a clear message; the next one runs", async () => {
  const tenant = await tenantWithHits(2);
  const broken = await newTenant();
  await insertDecided(broken, [{ received_at: noonBefore(1), website_account_id: "a" }]);
  const half = decisionText({ f: { "device.accounts_1h": 9 } }).slice(0, -1);
  await execute("update activities set decision = $2 where tenant_id = $1", [broken.tenantId, half]);
  const { backtest_id: id } = await startBacktest(broken, draft);
  const fine = await tryDraft(tenant, draft);
  expect(fine.hits).toBe(2);
  const failed = await ended(broken, id);
  expect(failed).toMatchObject({
    status: "FAILED",
    fault: "The backtest could not be run. The service's log contains the reason.",
  });
  expect(failed).not.toHaveProperty("result");
  const [row] = await service.current.database.query<{ begun: number }>(
    statement("select (progress ->> 'begun')::int as begun from backtests where backtest_id = $1", [id]),
  );
  expect(row?.begun).toBe(3);
});

test("failure: a draft that is no longer a valid rule, and a backtest that crashed three processes, fail for good", async () => {
  const tenant = await newTenant();
  const old = await holdBacktest(tenant, { expression: "device.gone >= 8" }, { leaseSeconds: -1 });
  expect(await ended(tenant, old.backtest_id)).toMatchObject({
    status: "FAILED",
    fault: "The draft is not a rule: There is no field `device.gone`.",
  });
  const deadly = await holdBacktest(tenant, draft, { leaseSeconds: -1, begun: 3 });
  expect(await ended(tenant, deadly.backtest_id)).toMatchObject({
    status: "FAILED",
    fault: "The backtest was started 3 times and never finished.",
  });
});
