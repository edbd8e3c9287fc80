import { keptDays } from "../domain/metric.ts";
import { daysKept as quarantineDays } from "../domain/quarantine.ts";
import { deleteActivitiesOfAccount } from "./activities.ts";
import type { Database, Queryable, Row } from "./database.ts";
import { eraseFromInbox } from "./inbox.ts";
import { eraseAccountFromOutcomes } from "./outcomes.ts";
import { eraseAccountFromRules } from "./rule-report.ts";
import { sql, statement, type Statement } from "./sql.ts";
import { entityKey } from "./states.ts";

// Any number, the same in every process.
const expiryLock = 4_812_205;
// Nothing here is so urgent that others should stand in line behind it.
const lockTimeoutMs = 2_000;

// Runs the work on a connection of its own, while no other process does; null where one does.
export async function holdExpiry<T>(database: Database, work: (held: Queryable) => Promise<T>): Promise<T | null> {
  const client = await database.connect();
  const held: Queryable = { query: async <R extends Row>(given: Statement) => (await client.query<R>(given)).rows };
  try {
    await held.query(sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, false)`);
    const [row] = await held.query<{ got: boolean }>(sql`select pg_try_advisory_lock(${expiryLock}) as got`);
    return row?.got === true ? await work(held) : null;
  } finally {
    // The lock ends with the connection, also where that one is broken already.
    await client.end().catch(() => {});
  }
}

export type DayTable = { name: string; day: string; state: "attached" | "detaching" | "detached" };

// Those of `activities` that were taken out of it and not yet dropped, too. One that is being taken out comes first: there
// can only be one at a time.
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

// Takes a day out concurrently: it waits for whoever reads or writes activity at that moment, but nobody waits for it.
// Dropped in place, a partition would need all of `activities` for itself. Where the wait is too long the day is left half
// taken out, which only shows in its state, and is finished the next time.
export async function dropDayTable(held: Queryable, { name, state }: DayTable): Promise<void> {
  if (!/^activities_\d{8}$/.test(name)) throw new Error(`${name} is no day's table`);
  const how = { attached: "concurrently", detaching: "finalize", detached: null }[state];
  if (how !== null) await held.query(unprepared(`alter table activities detach partition ${name} ${how}`));
  await held.query(unprepared(`drop table if exists ${name}`));
}

function unprepared(text: string): Statement {
  return { name: "", text, values: [] };
}

// What is deleted where it lies, by the day since which it is kept: $3. Each with how many days that is.
export type Sweep = { table: string; isOld: string; keptDays: number | "retention" };

export const sweeps: readonly Sweep[] = [
  { table: "activity_ids", isOld: "received_on < $3::date", keptDays: "retention" },
  { table: "unscorable", isOld: "received_at < $3::timestamptz", keptDays: "retention" },
  { table: "sessions", isOld: "last_at < $3::timestamptz", keptDays: "retention" },
  { table: "links", isOld: "last_seen < $3::timestamptz", keptDays: "retention" },
  { table: "rule_subjects", isOld: "last_at < $3::timestamptz", keptDays: "retention" },
  { table: "rule_hits", isOld: "day < $3::date", keptDays: 400 },
  { table: "entity_states", isOld: "touched_on < $3::date", keptDays: 30 },
  { table: "metric_buckets", isOld: "level = 'minute' and bucket < $3::timestamptz", keptDays: keptDays.minute },
  { table: "metric_buckets", isOld: "level = 'hour' and bucket < $3::timestamptz", keptDays: keptDays.hour },
  { table: "quarantine", isOld: "received_at < $3::timestamptz", keptDays: quarantineDays },
  { table: "quarantine_counts", isOld: "day < $3::date", keptDays: quarantineDays },
  { table: "identity_counts", isOld: "day < $3::date", keptDays: 90 },
  { table: "identity_secrets", isOld: "expires_at < $3::timestamptz", keptDays: 1 },
  { table: "backtests", isOld: "created_at < $3::timestamptz", keptDays: 90 },
  { table: "web_sessions", isOld: "expires_at < $3::timestamptz", keptDays: 1 },
  { table: "user_links", isOld: "expires_at < $3::timestamptz", keptDays: 30 },
  { table: "webhook_deliveries", isOld: "state <> 'WAITING' and next_at < $3::timestamptz", keptDays: 30 },
  { table: "sign_in_attempts", isOld: "last_at < $3::timestamptz", keptDays: 1 },
  // Those without a case are of bulk closes. To run one again is harmless: its versions are of long ago.
  { table: "idempotency_keys", isOld: "case_id is null and created_at < $3::timestamptz", keptDays: 30 },
];

export async function countPages(held: Queryable, table: string): Promise<number> {
  const [row] = await held.query<{ pages: number }>(sql`
    select pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint as pages`);
  return row?.pages ?? 0;
}

export type PageWindow = { from: number; to: number };

// Of the pages from `from` to before `to`. By place and not by an index on the time: that index would be paid for with every
// event. What an engine holds at that moment is in use, and stays.
export async function deleteOld(
  held: Queryable,
  { table, isOld }: Sweep,
  { before, window }: { before: string; window: PageWindow },
): Promise<number> {
  const text = `
    with gone as (
      delete from ${table}
      where ctid = any(array(
        select ctid
        from ${table}
        where ctid >= $1::tid and ctid < $2::tid and ${isOld}
        for update skip locked
      ))
      returning 1
    )
    select count(*) as gone
    from gone`;
  const [row] = await held.query<{ gone: number }>(statement(text, [`(${window.from},0)`, `(${window.to},0)`, before]));
  return row?.gone ?? 0;
}

// All that leads from what is kept of activity to the account. Its cases, its events and the account itself are others' part.
// The caller has the tenant's turn, for an engine would write again what it holds in memory.
export async function eraseAccountTraces(
  tx: Queryable,
  tenantId: string,
  erased: { id: string; pseudonym: string },
): Promise<void> {
  await eraseFromInbox(tx, tenantId, erased.id);
  await deleteActivitiesOfAccount(tx, tenantId, erased.id);
  // What the account's sessions did before it signed in.
  await tx.query(sql`
    delete from activities
    where tenant_id = ${tenantId}
      and website_account_id is null
      and session_id = any(array(
        select session_id
        from sessions
        where tenant_id = ${tenantId} and website_account_id = ${erased.id}
      ))`);
  await tx.query(sql`
    delete from sessions
    where tenant_id = ${tenantId} and website_account_id = ${erased.id}`);
  await tx.query(sql`
    delete from links
    where tenant_id = ${tenantId} and kind = any(array['account-device', 'account-ip']) and a = ${erased.id}`);
  await tx.query(sql`
    delete from entity_states
    where tenant_id = ${tenantId} and kind = 'account' and key = ${entityKey("account", erased.id)}`);
  await eraseAccountFromRules(tx, tenantId, erased);
  await eraseAccountFromOutcomes(tx, tenantId, erased);
}
