import { keptDays } from "../domain/metric.ts";
import { noticeDays } from "../domain/notice.ts";
import { mailDays } from "../domain/notification.ts";
import { daysKept as quarantineDays } from "../domain/quarantine.ts";
import { advisoryLocks } from "./postgres/advisory-locks.ts";
import type { Database, Queryable, Row } from "./postgres/database.ts";
import { sql, unprepared, type Statement } from "./postgres/sql.ts";

// Expiry is never urgent, so it must not make other transactions queue behind its lock requests.
const lockTimeoutMs = 2_000;

// Runs the work on its own connection while no other process does so. Returns null if another one does.
export async function holdExpiry<T>(database: Database, work: (held: Queryable) => Promise<T>): Promise<T | null> {
  const client = await database.connect();
  const held: Queryable = { query: async <R extends Row>(given: Statement) => (await client.query<R>(given)).rows };
  try {
    await held.query(sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, false)`);
    const [row] = await held.query<{ got: boolean }>(sql`select pg_try_advisory_lock(${advisoryLocks.expiry}) as got`);
    return row?.got === true ? await work(held) : null;
  } finally {
    // The lock ends with the connection, even if that is already broken.
    await client.end().catch(() => {});
  }
}

export type DayTable = { name: string; day: string; state: "attached" | "detaching" | "detached" };

// Includes tables that were detached from `activities` but not yet dropped. A table that is being detached comes first, because
// only one can be detached at a time.
export async function listDayTables(database: Queryable): Promise<DayTable[]> {
  return database.query<DayTable>(sql`
    select c.relname as name,
      to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day,
      case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'detaching' else 'attached' end as state
    from pg_class as c
    left join pg_inherits as i on i.inhrelid = c.oid
    where c.relkind = 'r'
      and c.relnamespace = (select relnamespace from pg_class where oid = 'activities'::regclass)
      and c.relname ~ '^activities_[0-9]{8}$'
    order by i.inhdetachpending desc nulls last, c.relname`);
}

// Detaches a day concurrently: this waits for transactions that use activity at that moment, but none waits for it. Dropping an
// attached partition would need an exclusive lock on all of `activities`. If the wait takes too long, the day stays half
// detached, which shows only in its state, and the next run finishes it.
export async function dropDayTable(held: Queryable, { name, state }: DayTable): Promise<void> {
  const table = dayTableName(name);
  const how = { attached: "concurrently", detaching: "finalize", detached: null }[state];
  if (how !== null) await held.query(unprepared(`alter table activities detach partition ${table} ${how}`));
  await held.query(unprepared(`drop table if exists ${table}`));
}

// On a cluster, where a partition cannot be detached without a lock. Waits briefly for the lock, on every node, and fails then.
export async function dropDistributedDay(held: Queryable, { name }: DayTable): Promise<void> {
  await held.query(unprepared("begin"));
  try {
    await held.query(unprepared(`set local lock_timeout = ${lockTimeoutMs}`));
    await held.query(unprepared(`drop table if exists ${dayTableName(name)}`));
    await held.query(unprepared("commit"));
  } catch (error) {
    await held.query(unprepared("rollback"));
    throw error;
  }
}

function dayTableName(name: string): string {
  if (!/^activities_\d{8}$/.test(name)) throw new Error(`${name} is not the table of a day`);
  return name;
}

// Describes which rows of a table are deleted: those whose `column` is before the first day that is kept. With "retention", the
// tenant's retention_days applies, or the process's setting if the tenant has none, but at least `daysMin`.
export type Sweep = { table: string; column: string; only?: string; keptDays: number | "retention"; daysMin?: number };

export const sweeps: readonly Sweep[] = [
  { table: "activity_ids", column: "received_on", keptDays: "retention" },
  { table: "assessments", column: "received_at", keptDays: "retention" },
  { table: "unscorable", column: "received_at", keptDays: "retention" },
  { table: "history", column: "received_at", keptDays: "retention" },
  { table: "sessions", column: "last_at", keptDays: "retention" },
  { table: "labels", column: "received_at", keptDays: "retention" },
  { table: "random_checks", column: "received_at", keptDays: "retention" },
  { table: "links", column: "last_seen", keptDays: "retention" },
  { table: "rule_subjects", column: "last_at", keptDays: "retention" },
  { table: "user_agents", column: "last_seen", keptDays: "retention" },
  { table: "case_members", column: "seen_at", keptDays: "retention" },
  { table: "snoozes", column: "until", keptDays: "retention" },
  { table: "case_leases", column: "expires_at", keptDays: 1 },
  { table: "notification_mails", column: "created_at", only: "state <> 'WAITING'", keptDays: mailDays },
  { table: "approvals", column: "expires_at", keptDays: "retention" },
  { table: "approval_cases", column: "expires_at", keptDays: "retention" },
  { table: "notices", column: "created_at", keptDays: noticeDays },
  // Decisions are remembered for 30 days, and a case may stay open for as long again.
  { table: "case_traits", column: "seen_at", keptDays: 90 },
  // Expired entries are shown for a while. Without an expiry, an entry stays.
  { table: "list_entries", column: "expires_at", keptDays: 30 },
  { table: "list_removals", column: "removed_at", keptDays: 1 },
  { table: "rule_hits", column: "day", keptDays: 400 },
  // Without the account's habits, a takeover of a dormant account looks like a first log-in. Many accounts are used only once a
  // year.
  { table: "entity_states", column: "touched_on", only: "kind = 'account'", keptDays: "retention", daysMin: 400 },
  // States of devices, addresses and values, which anybody can create.
  { table: "entity_states", column: "touched_on", only: "kind <> 'account'", keptDays: 30 },
  { table: "metric_buckets", column: "bucket", only: "level = 'minute'", keptDays: keptDays.minute },
  { table: "metric_buckets", column: "bucket", only: "level = 'hour'", keptDays: keptDays.hour },
  { table: "quarantine", column: "received_at", keptDays: quarantineDays },
  { table: "quarantine_counts", column: "day", keptDays: quarantineDays },
  { table: "identity_counts", column: "day", keptDays: 90 },
  { table: "identity_secrets", column: "expires_at", keptDays: 1 },
  { table: "backtests", column: "created_at", keptDays: 90 },
  { table: "model_runs", column: "created_at", keptDays: 90 },
  { table: "web_sessions", column: "expires_at", keptDays: 1 },
  { table: "user_links", column: "expires_at", keptDays: 30 },
  { table: "webhook_deliveries", column: "next_at", only: "state <> 'WAITING'", keptDays: 30 },
  { table: "sign_in_attempts", column: "last_at", keptDays: 1 },
  // Keys without a case belong to bulk closes. Repeating one later is harmless, because its case versions are long outdated.
  { table: "idempotency_keys", column: "created_at", only: "case_id is null", keptDays: 30 },
];

// Rows in a day's table that belong to tenants with a shorter retention than others.
export function sweepOfDay({ name }: DayTable): Sweep {
  return { table: dayTableName(name), column: "received_at", keptDays: "retention" };
}

export type Limits = { today: string; retentionDays: number };

// The shortest and the longest retention of any tenant.
export async function findRetention(held: Queryable, retentionDays: number): Promise<{ shortest: number; longest: number }> {
  const [row] = await held.query<{ shortest: number; longest: number }>(sql`
    select coalesce(min(coalesce(retention_days, ${retentionDays}::int)), ${retentionDays}::int) as shortest,
      coalesce(max(coalesce(retention_days, ${retentionDays}::int)), ${retentionDays}::int) as longest
    from tenants`);
  return row ?? { shortest: retentionDays, longest: retentionDays };
}

// Whether a day's table holds activity of a tenant that no longer keeps that day. Takes one primary-key lookup per tenant.
export async function hasExpired(held: Queryable, { name, day }: DayTable, { today, retentionDays }: Limits): Promise<boolean> {
  const text = `
    select 1 as found
    from tenants as t
    cross join lateral (select 1 from ${dayTableName(name)} as a where a.tenant_id = t.tenant_id limit 1) as kept
    where $1::date < $2::date - coalesce(t.retention_days, $3::int)
    limit 1`;
  return (await held.query(unprepared(text, [day, today, retentionDays]))).length > 0;
}

export async function countPages(held: Queryable, table: string): Promise<number> {
  const [row] = await held.query<{ pages: number }>(sql`
    select pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint as pages`);
  return row?.pages ?? 0;
}

export type PageWindow = { from: number; to: number };

// Deletes from the pages `from` up to but not including `to`. It scans by page instead of using an index on the time, which every
// event would have to pay for. Rows that an engine has locked at that moment are in use, and stay.
export async function deleteOld(
  held: Queryable,
  { table, column, only = "true", keptDays: kept, daysMin = 0 }: Sweep,
  { today, retentionDays, window }: Limits & { window: PageWindow },
): Promise<number> {
  const isOwn = kept === "retention";
  const tenants = isOwn ? "left join (select tenant_id, retention_days from tenants) as t using (tenant_id)" : "";
  const days = isOwn ? `greatest(coalesce(t.retention_days, $4::int), ${daysMin})` : "$4::int";
  const text = `
    with gone as (
      delete from ${table}
      where ctid = any(array(
        select s.ctid
        from ${table} as s
        ${tenants}
        where s.ctid >= $1::tid and s.ctid < $2::tid and ${only} and ${column} < $3::date - ${days}
        for update of s skip locked
      ))
      returning 1
    )
    select count(*) as gone
    from gone`;
  const values = [`(${window.from},0)`, `(${window.to},0)`, today, isOwn ? retentionDays : kept];
  const [row] = await held.query<{ gone: number }>(unprepared(text, values));
  return row?.gone ?? 0;
}

export type Keeper = { tenant_id: string; retention_days: number | null };

export async function listKeepers(held: Queryable): Promise<Keeper[]> {
  return held.query<Keeper & Row>(sql`
    select tenant_id, retention_days
    from tenants
    order by tenant_id`);
}

const deletedMax = 10_000;

// The same for one tenant, at most some thousand rows. A cluster cannot read the pages of its nodes, and this way a node that is
// down keeps only its own tenants' rows.
export async function deleteOldOf(
  held: Queryable,
  { table, column, only = "true", keptDays: kept, daysMin = 0 }: Sweep,
  { keeper, today, retentionDays }: Limits & { keeper: Keeper },
): Promise<{ gone: number; isWhole: boolean }> {
  const days = kept === "retention" ? Math.max(keeper.retention_days ?? retentionDays, daysMin) : kept;
  const text = `
    delete from ${table}
    where tenant_id = $1 and ctid = any(array(
      select s.ctid
      from ${table} as s
      where s.tenant_id = $1 and ${only} and ${column} < $2::date - $3::int
      limit $4::int
      for update skip locked
    ))
    returning 1 as gone`;
  const rows = await held.query(unprepared(text, [keeper.tenant_id, today, days, deletedMax]));
  return { gone: rows.length, isWhole: rows.length < deletedMax };
}
