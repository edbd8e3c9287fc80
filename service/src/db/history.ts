import { ratedTypes, sourcesByRank } from "../domain/label.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { countedMax } from "../domain/history.ts";
import { activityKey, findReused, insertIds, newActivity, type ClaimedActivity } from "./inbox.ts";
import { askTenantIds } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// Imported history that waits to be scored. Its time of receipt is the time at which the activity happened.
export type WaitingPast = { activity: RecordedActivity; known_at: string | null };
export type ClaimedPast = ClaimedActivity & { known_at: string | null; actor: string };

// `duplicates` were already stored. `reused` have the id of an activity with different content.
type InsertedHistory = { duplicates: WaitingPast[]; reused: WaitingPast[] };

// Stores each activity once, like insertActivities.
export async function insertHistory(
  tx: Queryable,
  tenantId: string,
  { past, actor }: { past: WaitingPast[]; actor: string },
): Promise<InsertedHistory> {
  const all = past.map((each) => ({ ...newActivity(each.activity), past: each }));
  const first = new Map(all.toReversed().map((each) => [each.key, each]));
  const fresh = await insertIds(tx, tenantId, [...first.values()]);
  const added = [...first.values()].filter(({ key }) => fresh.has(key));
  await tx.query(sql`
    insert into history (tenant_id, received_at, id_key, website_account_id, activity, known_at, actor)
    select ${tenantId}::uuid, n.*, ${actor}
    from unnest(
      ${plainArray(added.map(({ received_at }) => received_at))}::timestamptz[],
      ${plainArray(added.map(({ key }) => key))}::uuid[],
      ${added.map(({ past: { activity } }) => activity.website_account_id ?? null)}::text[],
      ${added.map(({ text }) => text)}::text[],
      ${plainArray(added.map((each) => each.past.known_at))}::timestamptz[]
    ) as n`);
  const isAdded = new Set(added);
  const known = all.filter((each) => !isAdded.has(each));
  const reused = new Set(known.length === 0 ? [] : await findReused(tx, tenantId, known));
  return {
    duplicates: known.filter((each) => !reused.has(each)).map((each) => each.past),
    reused: [...reused].map((each) => each.past),
  };
}

// Marks waiting history as known frauds. Returns the activities that are not waiting. Locked in order, so that two senders
// wait for each other instead of deadlocking.
export async function saveWaitingFrauds(tx: Queryable, tenantId: string, known: WaitingPast[]): Promise<WaitingPast[]> {
  if (known.length === 0) return [];
  const keys = known.map(({ activity }) => activityKey(activity));
  const rows = await tx.query<{ id_key: string }>(sql`
    with waiting as (
      select h.received_at, h.id_key, k.known_at
      from unnest(
        ${plainArray(known.map(({ activity }) => activity.received_at))}::timestamptz[],
        ${plainArray(keys)}::uuid[],
        ${plainArray(known.map(({ known_at }) => known_at))}::timestamptz[]
      ) as k (received_at, id_key, known_at)
      join history as h on h.tenant_id = ${tenantId} and h.received_at = k.received_at and h.id_key = k.id_key
      order by h.received_at, h.id_key
      for update of h
    )
    update history as h
    set known_at = w.known_at
    from waiting as w
    where h.tenant_id = ${tenantId} and h.received_at = w.received_at and h.id_key = w.id_key
    returning h.id_key`);
  const waiting = new Set(rows.map((row) => row.id_key));
  return known.filter((_, index) => !waiting.has(keys[index] ?? ""));
}

// Returns false if nothing is waiting, or if the import is already running. Then its row is locked, so that an engine which is
// about to end the import first sees what was sent before this.
export async function saveImportStart(
  tx: Queryable,
  tenantId: string,
  { now, actor }: { now: string; actor: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into imports (tenant_id, started_at, started_by)
    select ${tenantId}::uuid, ${now}::timestamptz, ${actor}
    where exists (select 1 from history where tenant_id = ${tenantId})
    on conflict (tenant_id) do update
    set started_at = imports.started_at
    where false
    returning 1 as started`);
  return rows.length > 0;
}

// Ends the import if nothing is waiting. The row is locked by a statement of its own: only the next statement sees all that was
// sent before a start that held the lock.
export async function deleteFinishedImport(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query(sql`select 1 as locked from imports where tenant_id = ${tenantId} for update`);
  await tx.query(sql`
    delete from imports
    where tenant_id = ${tenantId} and not exists (select 1 from history where tenant_id = ${tenantId})`);
}

export async function listTenantsImporting(database: Queryable): Promise<string[]> {
  return askTenantIds(database, sql`select tenant_id from imports order by tenant_id`);
}

// Returns the time of the oldest waiting activity while history is being scored, and otherwise null.
export async function findHistoryClock(database: Queryable, tenantId: string): Promise<string | null> {
  const [row] = await database.query<{ received_at: string }>(sql`
    select h.received_at
    from imports as i
    join history as h using (tenant_id)
    where i.tenant_id = ${tenantId}
    order by h.received_at
    limit 1`);
  return row?.received_at ?? null;
}

type ImportRow = { waiting: number; is_running: boolean; oldest_at: string | null };

export async function findImport(database: Queryable, tenantId: string): Promise<ImportRow> {
  const [row] = await database.query<ImportRow>(sql`
    select (
        select count(*)
        from (select 1 from history where tenant_id = ${tenantId} limit ${countedMax}) as counted
      ) as waiting,
      exists (select 1 from imports where tenant_id = ${tenantId}) as is_running,
      (select min(received_at) from history where tenant_id = ${tenantId}) as oldest_at`);
  return row ?? { waiting: 0, is_running: false, oldest_at: null };
}

// Counts waiting activity, up to `max`.
export async function countHistory(database: Queryable, tenantId: string, max: number): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(sql`
    select count(*) as waiting
    from (select 1 from history where tenant_id = ${tenantId} limit ${max}) as counted`);
  return row?.waiting ?? 0;
}

type HistoryRow = Row & { id_key: string; received_at: string; activity: string; known_at: string | null; actor: string };

// Takes the oldest history, at most one UTC day of it, because labels are counted by day and between batches. The caller holds
// the tenant's turn, so no row has to be locked first.
export async function claimHistory(tx: Queryable, tenantId: string, max: number): Promise<ClaimedPast[]> {
  const rows = await tx.query<HistoryRow>(sql`
    with oldest as (
      select received_at
      from history
      where tenant_id = ${tenantId}
      order by received_at
      limit 1
    ),
    next as (
      select h.received_at, h.id_key
      from history as h
      where h.tenant_id = ${tenantId}
        and h.received_at >= (select received_at from oldest)
        and h.received_at < (
          select (date_trunc('day', received_at at time zone 'UTC') + interval '1 day') at time zone 'UTC'
          from oldest
        )
      order by h.received_at, h.id_key
      limit ${max}
    )
    delete from history as h
    using next as n
    where h.tenant_id = ${tenantId} and h.received_at = n.received_at and h.id_key = n.id_key
    returning h.id_key, h.received_at, h.activity, h.known_at, h.actor`);
  return rows
    .map(({ id_key, activity, known_at, actor }) => ({
      id_key,
      // Only insertHistory writes this column, so its type is known.
      activity: JSON.parse(activity) as RecordedActivity,
      known_at,
      actor,
    }))
    .toSorted(inOrder);
}

function inOrder(a: ClaimedPast, b: ClaimedPast): number {
  const [at, other] = [a.activity.received_at, b.activity.received_at];
  return at === other ? (a.id_key < b.id_key ? -1 : 1) : at < other ? -1 : 1;
}

export async function hasHistoryOf(database: Queryable, tenantId: string, websiteAccountId: string): Promise<boolean> {
  const rows = await database.query(sql`
    select 1 as found
    from history
    where tenant_id = ${tenantId} and website_account_id = ${websiteAccountId}
    limit 1`);
  return rows.length > 0;
}

// Returns whether there was any.
export async function eraseFromHistory(tx: Queryable, tenantId: string, websiteAccountId: string): Promise<boolean> {
  const rows = await tx.query(sql`
    delete from history
    where tenant_id = ${tenantId} and website_account_id = ${websiteAccountId}
    returning 1 as erased`);
  return rows.length > 0;
}

type Span = { from: string; until: string };

// Counts the scored activities in a time span, and the cases that they would have opened: one a day for each account or source.
export async function findAlerts(
  database: Queryable,
  tenantId: string,
  { from, until }: Span,
): Promise<{ activities: number; cases: number }> {
  const [row] = await database.query<{ activities: number; cases: number }>(sql`
    select count(*) as activities,
      count(distinct (
        (received_at at time zone 'UTC')::date,
        coalesce(website_account_id, device_id, session_id, ip, id_key::text)
      )) filter (where score >= 3) as cases
    from activities
    where tenant_id = ${tenantId} and received_at >= ${from} and received_at < ${until}`);
  return row ?? { activities: 0, cases: 0 };
}

// Counts the known frauds by type of activity. If several sources label an activity, the one of the highest rank decides. Labels
// that were guessed from a report about an account are left out.
export async function listFrauds(
  database: Queryable,
  tenantId: string,
  { from, until }: Span,
): Promise<{ type: string; frauds: number; found: number }[]> {
  return database.query<{ type: string; frauds: number; found: number }>(sql`
    select a.type, count(*) as frauds, count(*) filter (where a.score >= 3) as found
    from (
      select distinct on (id_key) id_key, received_at, y
      from labels
      where tenant_id = ${tenantId}
        and y is not null
        and source <> 'account_report'
        and received_at >= ${from}
        and received_at < ${until}
      order by id_key, array_position(${sourcesByRank}::text[], source::text), y desc
    ) as l
    join activities as a on a.tenant_id = ${tenantId} and a.received_at = l.received_at and a.id_key = l.id_key
    where l.y = 1 and a.type = any(${ratedTypes}::text[])
    group by a.type`);
}
