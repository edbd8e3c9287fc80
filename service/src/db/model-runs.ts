import type { Moment } from "../domain/label.ts";
import type { ModelRun, RunProgress } from "../domain/model.ts";
import { advisoryLocks } from "./postgres/advisory-locks.ts";
import { askTenantIds, askTenants } from "./citus/nodes.ts";
import type { Database, Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// `begun` counts how often the run was started, so that a run that crashes its process is not retried forever.
type StoredProgress = RunProgress & { begun: number };
type RunRow = Row &
  Omit<ModelRun, "progress" | "model_id" | "reason" | "finished_at"> & {
    progress: StoredProgress;
    model_id: string | null;
    reason: string | null;
    finished_at: string | null;
  };

function toRun({ progress, model_id, reason, finished_at, ...row }: RunRow): ModelRun {
  return {
    run_id: row.run_id,
    moment: row.moment,
    status: row.status,
    progress: { phase: progress.phase, percent: progress.percent },
    ...(model_id !== null && { model_id }),
    ...(reason !== null && { reason }),
    created_at: row.created_at,
    created_by: row.created_by,
    ...(finished_at !== null && { finished_at }),
  };
}

const dueMax = 100;

export type NewRun = { run_id: string; moment: Moment; created_at: string; created_by: string };
const notBegun: StoredProgress = { phase: "waiting", percent: 0, begun: 0 };

// If a run for this moment is already waiting or running, returns that run. It is one statement, because the run could end before
// a second one.
export async function insertRun(tx: Queryable, tenantId: string, added: NewRun): Promise<ModelRun> {
  const [row] = await tx.query<RunRow>(sql`
    insert into model_runs (tenant_id, run_id, moment, status, progress, created_at, created_by)
    values (
      ${tenantId}, ${added.run_id}, ${added.moment}, 'QUEUED', ${JSON.stringify(notBegun)}, ${added.created_at},
      ${added.created_by}
    )
    on conflict (tenant_id, moment) where status in ('QUEUED', 'RUNNING') do update
    set status = model_runs.status
    returning run_id, moment, status, progress, model_id, reason, created_at, created_by, finished_at`);
  if (!row) throw new Error("the insert into model_runs returned no row");
  return toRun(row);
}

// Newest first. The ids are time-ordered.
export async function listRuns(database: Queryable, tenantId: string, limit: number): Promise<ModelRun[]> {
  const rows = await database.query<RunRow>(sql`
    select run_id, moment, status, progress, model_id, reason, created_at, created_by, finished_at
    from model_runs
    where tenant_id = ${tenantId}
    order by run_id desc
    limit ${limit}`);
  return rows.map(toRun);
}

// The end of the lease also identifies it: a process that takes over an abandoned run gets a later one.
export type RunLease = { tenant_id: string; run_id: string; lease_until: string };
export type ClaimedRun = RunLease & { moment: Moment; created_by: string; begun: number };

type RunDue = Pick<RunLease, "tenant_id" | "run_id"> & { begun: number };

// Runs that are waiting or whose process is gone, oldest first. A tenant has at most one active run at a time.
async function listRunsDue(database: Queryable): Promise<RunDue[]> {
  const rows = await askTenants<Row & RunDue>(
    database,
    sql`
    select tenant_id, run_id, (progress ->> 'begun')::int as begun
    from model_runs as m
    where status in ('QUEUED', 'RUNNING')
      and (lease_until is null or lease_until < now())
      and not exists (
        select 1
        from model_runs as o
        where o.tenant_id = m.tenant_id and o.status = 'RUNNING' and o.lease_until >= now()
      )
    order by run_id
    limit ${dueMax}::int`,
  );
  return rows.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1));
}

// Claims the oldest one that no other process claims at this moment.
export async function claimRun(database: Database, leaseSeconds: number): Promise<ClaimedRun | undefined> {
  for (const key of await listRunsDue(database)) {
    const claimed = await database.transaction((tx) => tryRun(tx, key, leaseSeconds));
    if (claimed) return claimed;
  }
  return undefined;
}

// Returns undefined if another process has claimed it meanwhile.
async function tryRun(
  tx: Queryable,
  { tenant_id, run_id, begun }: RunDue,
  leaseSeconds: number,
): Promise<ClaimedRun | undefined> {
  const progress: StoredProgress = { phase: "reading", percent: 0, begun: begun + 1 };
  const [row] = await tx.query<Row & ClaimedRun>(sql`
    update model_runs
    set status = 'RUNNING',
      lease_until = now() + make_interval(secs => ${leaseSeconds}),
      progress = ${JSON.stringify(progress)}::jsonb
    where tenant_id = ${tenant_id} and run_id = ${run_id}
      and status in ('QUEUED', 'RUNNING') and (lease_until is null or lease_until < now())
    returning tenant_id, run_id, lease_until, moment, created_by, (progress ->> 'begun')::int as begun`);
  return row;
}

// Two runs of one tenant can be claimed at the same time, and a process may have lost its lease without knowing it. This lock
// keeps them from training at once. It ends with the connection.
export async function lockTraining(connection: Queryable, tenantId: string): Promise<boolean> {
  const [row] = await connection.query<{ got: boolean }>(sql`
    select pg_try_advisory_lock(${advisoryLocks.training}::int, hashtext(${tenantId})) as got`);
  return row?.got === true;
}

// Returns null if another process has taken the run over.
export async function saveRunProgress(
  tx: Queryable,
  lease: RunLease,
  saved: { progress: RunProgress; leaseSeconds: number },
): Promise<RunLease | null> {
  const [row] = await tx.query<Row & RunLease>(sql`
    update model_runs
    set progress = progress || ${JSON.stringify(saved.progress)}::jsonb,
      lease_until = now() + make_interval(secs => ${saved.leaseSeconds})
    where tenant_id = ${lease.tenant_id}
      and run_id = ${lease.run_id}
      and status = 'RUNNING'
      and lease_until = ${lease.lease_until}
    returning tenant_id, run_id, lease_until`);
  return row ?? null;
}

export type RunEnding =
  | { status: "DONE"; model_id: string | null; reason: string | null; now: string }
  | { status: "FAILED"; reason: string; now: string }
  | { status: "QUEUED"; begun: number };

// Returns false if another process has taken the run over.
export async function saveRunEnding(tx: Queryable, lease: RunLease, ending: RunEnding): Promise<boolean> {
  const progress: Partial<StoredProgress> =
    ending.status === "QUEUED"
      ? { ...notBegun, begun: ending.begun }
      : ending.status === "DONE"
        ? { phase: "done", percent: 100 }
        : {};
  const rows = await tx.query(sql`
    update model_runs
    set status = ${ending.status},
      model_id = ${ending.status === "DONE" ? ending.model_id : null},
      reason = ${ending.status === "QUEUED" ? null : ending.reason},
      progress = progress || ${JSON.stringify(progress)}::jsonb,
      finished_at = ${ending.status === "QUEUED" ? null : ending.now},
      lease_until = null
    where tenant_id = ${lease.tenant_id}
      and run_id = ${lease.run_id}
      and status = 'RUNNING'
      and lease_until = ${lease.lease_until}
    returning 1 as ended`);
  return rows.length > 0;
}

export async function listLabelledTenants(database: Queryable): Promise<string[]> {
  return askTenantIds(
    database,
    sql`
    select tenant_id
    from event_counters as t
    where exists (select 1 from labels as l where l.tenant_id = t.tenant_id)`,
  );
}

// Returns when the last run for this moment was queued, or null.
export async function findLastRun(database: Queryable, tenantId: string, moment: Moment): Promise<string | null> {
  const [row] = await database.query<{ last: string | null }>(sql`
    select max(created_at) as last
    from model_runs
    where tenant_id = ${tenantId} and moment = ${moment}`);
  return row?.last ?? null;
}

// Only the latest labels are read, so that the cost does not grow with the number of labels.
const labelsMax = 20_000;

// Counts the frauds among activities of these types that were labelled since then.
export async function countFraudsSince(
  database: Queryable,
  tenantId: string,
  { types, since }: { types: readonly string[]; since: string | null },
): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(distinct l.id_key) as count
    from (
      select id_key, received_at
      from labels
      where tenant_id = ${tenantId} and y = 1 and labelled_at > ${since ?? "-infinity"}::timestamptz
      order by labelled_at desc, id_key desc
      limit ${labelsMax}
    ) as l
    join activities as a on a.tenant_id = ${tenantId} and a.received_at = l.received_at and a.id_key = l.id_key
    where a.type = any(${[...types]}::text[])`);
  return row?.count ?? 0;
}

// Returns the hour of the day (UTC) with the fewest events in the last 7 days. An hour without events has no row, and is
// preferred.
export async function findQuietHour(database: Queryable, tenantId: string, now: string): Promise<number> {
  const [row] = await database.query<{ hour: number }>(sql`
    select h.hour
    from generate_series(0, 23) as h (hour)
    left join metric_buckets as b on b.tenant_id = ${tenantId}
      and b.level = 'hour'
      and b.bucket >= ${now}::timestamptz - interval '7 days'
      and extract(hour from b.bucket at time zone 'UTC') = h.hour
    group by h.hour
    order by coalesce(sum(b.total_events), 0), abs(h.hour - 3), h.hour
    limit 1`);
  return row?.hour ?? 3;
}
