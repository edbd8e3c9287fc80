import type { BacktestListItem, BacktestProgress, BacktestRequest, StoredResult } from "../domain/backtest.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Database, Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type StoredBacktest = BacktestListItem & { result?: StoredResult };

// `begun` counts how often a backtest was started, because one that crashes its process must not be retried forever.
type StoredProgress = BacktestProgress & { begun: number };

type BacktestRow = Row & {
  backtest_id: string;
  status: BacktestListItem["status"];
  request: BacktestRequest;
  progress: StoredProgress;
  result: StoredResult | null;
  fault: string | null;
  created_at: string;
  created_by: string;
  finished_at: string | null;
};

function toBacktest({ request, progress, result, fault, finished_at, ...row }: BacktestRow): StoredBacktest {
  const { begun: _begun, ...shown } = progress;
  const { expression, label, about, days, from, until } = request;
  return {
    backtest_id: row.backtest_id,
    status: row.status,
    expression,
    ...(label !== undefined && { label }),
    about,
    days,
    from,
    until,
    progress: shown,
    ...(fault !== null && { fault }),
    created_at: row.created_at,
    created_by: row.created_by,
    ...(finished_at !== null && { finished_at }),
    ...(result && { result }),
  };
}

export async function countWaiting(tx: Queryable, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*) as count
    from backtests
    where tenant_id = ${tenantId} and status in ('QUEUED', 'RUNNING')`);
  return row?.count ?? 0;
}

type NewRow = { backtest_id: string; request: BacktestRequest; created_at: string; created_by: string };

export async function insertBacktest(tx: Queryable, tenantId: string, added: NewRow): Promise<StoredBacktest> {
  const progress: StoredProgress = { done: 0, total: 0, percent: 0, begun: 0 };
  const [row] = await tx.query<BacktestRow>(sql`
    insert into backtests (tenant_id, backtest_id, status, request, progress, created_at, created_by)
    values (
      ${tenantId}, ${added.backtest_id}, 'QUEUED', ${JSON.stringify(added.request)}, ${JSON.stringify(progress)},
      ${added.created_at}, ${added.created_by}
    )
    returning backtest_id, status, request, progress, result, fault, created_at, created_by, finished_at`);
  if (!row) throw new Error("the insert into backtests returned no row");
  return toBacktest(row);
}

export async function deleteBacktestsBeyond(tx: Queryable, tenantId: string, keptMax: number): Promise<void> {
  await tx.query(sql`
    delete from backtests
    where tenant_id = ${tenantId}
      and status not in ('QUEUED', 'RUNNING')
      and backtest_id < (
        select backtest_id
        from backtests
        where tenant_id = ${tenantId}
        order by backtest_id desc
        offset ${keptMax - 1}
        limit 1
      )`);
}

// Newest first. The ids are time-ordered.
export async function listBacktests(database: Queryable, tenantId: string, limit: number): Promise<BacktestListItem[]> {
  const rows = await database.query<BacktestRow>(sql`
    select backtest_id, status, request, progress, null as result, fault, created_at, created_by, finished_at
    from backtests
    where tenant_id = ${tenantId}
    order by backtest_id desc
    limit ${limit}`);
  return rows.map(toBacktest);
}

export async function findBacktest(database: Queryable, tenantId: string, id: string): Promise<StoredBacktest | undefined> {
  if (!isCanonicalUuid(id)) return undefined;
  const [row] = await database.query<BacktestRow>(sql`
    select backtest_id, status, request, progress, result, fault, created_at, created_by, finished_at
    from backtests
    where tenant_id = ${tenantId} and backtest_id = ${id}`);
  return row && toBacktest(row);
}

// A backtest that has ended stays unchanged.
export async function cancelBacktest(tx: Queryable, tenantId: string, cancelled: { id: string; now: string }): Promise<void> {
  await tx.query(sql`
    update backtests
    set status = 'CANCELLED', finished_at = ${cancelled.now}, lease_until = null
    where tenant_id = ${tenantId} and backtest_id = ${cancelled.id} and status in ('QUEUED', 'RUNNING')`);
}

// The end of the lease also identifies it: a process that takes over an abandoned backtest gets a later one.
export type Lease = { tenant_id: string; backtest_id: string; lease_until: string };
export type ClaimedBacktest = Lease & { request: BacktestRequest; begun: number };

type BacktestDue = Pick<Lease, "tenant_id" | "backtest_id"> & { begun: number };
const dueMax = 100;

// Backtests that are queued or whose process is gone, oldest first. Uses the database's clock, because all processes share it.
export async function listBacktestsDue(database: Queryable): Promise<BacktestDue[]> {
  const rows = await askTenants<Row & BacktestDue>(
    database,
    sql`
    select tenant_id, backtest_id, (progress ->> 'begun')::int as begun
    from backtests
    where status in ('QUEUED', 'RUNNING') and (lease_until is null or lease_until < now())
    order by backtest_id
    limit ${dueMax}::int`,
  );
  return rows.toSorted((a, b) => (a.backtest_id < b.backtest_id ? -1 : 1));
}

// Claims the oldest one that no other process claims at this moment.
export async function claimBacktest(database: Database, leaseSeconds: number): Promise<ClaimedBacktest | undefined> {
  for (const key of await listBacktestsDue(database)) {
    const claimed = await database.transaction((tx) => tryBacktest(tx, key, leaseSeconds));
    if (claimed) return claimed;
  }
  return undefined;
}

// Returns undefined if another process has claimed it meanwhile.
async function tryBacktest(
  tx: Queryable,
  { tenant_id, backtest_id, begun }: BacktestDue,
  leaseSeconds: number,
): Promise<ClaimedBacktest | undefined> {
  const progress: StoredProgress = { done: 0, total: 0, percent: 0, begun: begun + 1 };
  const [row] = await tx.query<Row & ClaimedBacktest>(sql`
    update backtests
    set status = 'RUNNING',
      lease_until = now() + make_interval(secs => ${leaseSeconds}),
      progress = ${JSON.stringify(progress)}::jsonb
    where tenant_id = ${tenant_id} and backtest_id = ${backtest_id}
      and status in ('QUEUED', 'RUNNING') and (lease_until is null or lease_until < now())
    returning tenant_id, backtest_id, lease_until, request, (progress ->> 'begun')::int as begun`);
  return row;
}

// Returns null if the backtest was cancelled or another process has taken it over.
export async function saveProgress(
  tx: Queryable,
  lease: Lease,
  saved: { progress: BacktestProgress; leaseSeconds: number },
): Promise<Lease | null> {
  const [row] = await tx.query<Row & Lease>(sql`
    update backtests
    set progress = progress || ${JSON.stringify(saved.progress)}::jsonb,
      lease_until = now() + make_interval(secs => ${saved.leaseSeconds})
    where tenant_id = ${lease.tenant_id}
      and backtest_id = ${lease.backtest_id}
      and status = 'RUNNING'
      and lease_until = ${lease.lease_until}
    returning tenant_id, backtest_id, lease_until`);
  return row ?? null;
}

export type Ending =
  | { status: "DONE"; result: StoredResult; now: string }
  | { status: "FAILED"; fault: string; now: string }
  | { status: "QUEUED"; begun: number };

// `QUEUED` returns a backtest to the queue because its process stops or its run failed. The next run starts from the beginning.
export async function saveEnding(tx: Queryable, lease: Lease, ending: Ending): Promise<void> {
  const result = ending.status === "DONE" ? ending.result : null;
  await tx.query(sql`
    update backtests
    set status = ${ending.status},
      result = ${result && JSON.stringify(result)},
      fault = ${ending.status === "FAILED" ? ending.fault : null},
      progress = progress || ${JSON.stringify(lastProgress(ending))}::jsonb,
      finished_at = ${ending.status === "QUEUED" ? null : ending.now},
      lease_until = null
    where tenant_id = ${lease.tenant_id}
      and backtest_id = ${lease.backtest_id}
      and status = 'RUNNING'
      and lease_until = ${lease.lease_until}`);
}

function lastProgress(ending: Ending): Partial<StoredProgress> {
  if (ending.status === "QUEUED") return { done: 0, total: 0, percent: 0, begun: ending.begun };
  if (ending.status === "FAILED") return {};
  return { done: ending.result.decisions, total: ending.result.decisions, percent: 100 };
}
