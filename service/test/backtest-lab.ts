import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { clock } from "../src/clock.ts";
import { insertBacktest, type ClaimedBacktest } from "../src/db/backtests.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { requestOf, type Backtest, type NewBacktest } from "../src/domain/backtest.ts";
import { BacktestRunner } from "../src/engine/backtest.ts";
import { openLog } from "../src/log.ts";
import type { Service } from "../src/service.ts";
import type { TestTenant } from "./harness.ts";

// Starts a backtest runner for the tests of a file. Runners of other files on the same database may claim its work; this is
// harmless.
export function useRunner(service: { current: Service }): void {
  let runner: BacktestRunner;
  beforeAll(() => {
    runner = new BacktestRunner({ database: service.current.database, clock, log: openLog("silent") });
    runner.start();
  });
  afterAll(() => runner.stop());
}

export async function startBacktest(tenant: TestTenant, body: NewBacktest): Promise<Backtest> {
  const answer = await tenant.call("POST", "/backtests", { body });
  expect(answer.status, answer.text).toBe(202);
  return answer.json.data;
}

export async function readBacktest(tenant: TestTenant, id: string): Promise<Backtest> {
  const answer = await tenant.call("GET", `/backtests/${id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

export function ended(tenant: TestTenant, id: string): Promise<Backtest> {
  const isEnded = async () => {
    const found = await readBacktest(tenant, id);
    expect(["QUEUED", "RUNNING"]).not.toContain(found.status);
    return found;
  };
  return vi.waitFor(isEnded, { timeout: 25_000, interval: 50 });
}

export async function tryDraft(tenant: TestTenant, body: NewBacktest): Promise<NonNullable<Backtest["result"]>> {
  const { backtest_id: id } = await startBacktest(tenant, body);
  const { status, result, fault } = await ended(tenant, id);
  expect({ status, fault }).toEqual({ status: "DONE" });
  if (!result) throw new Error("done, and without a result");
  return result;
}

// Returns a backtest that the test itself holds as running, so no runner claims it.
export async function holdBacktest(
  tenant: TestTenant,
  body: NewBacktest,
  { leaseSeconds = 600, begun = 1 } = {},
): Promise<ClaimedBacktest> {
  const now = clock.now();
  const request = requestOf(body, now);
  const id = clock.newId(now);
  const { database } = tenant.service;
  const text = `
    update backtests
    set status = 'RUNNING', lease_until = now() + make_interval(secs => $3),
      progress = progress || ('{"begun":' || $4::int::text || '}')::jsonb
    where tenant_id = $1 and backtest_id = $2
    returning tenant_id, backtest_id, lease_until, request`;
  return database.transaction(async (tx) => {
    await insertBacktest(tx, tenant.tenantId, { backtest_id: id, request, created_at: now, created_by: randomUUID() });
    const [row] = await tx.query<Omit<ClaimedBacktest, "begun">>(statement(text, [tenant.tenantId, id, leaseSeconds, begun]));
    if (!row) throw new Error("it was inserted just now");
    return { ...row, begun };
  });
}
