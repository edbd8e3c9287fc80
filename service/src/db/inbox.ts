import { hash } from "node:crypto";
import { paymentOf, type RecordedActivity } from "../domain/activity.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable } from "./postgres/database.ts";
import { insertParcels, type ActivityText } from "./parcels.ts";
import { plainArray, sql } from "./postgres/sql.ts";
import { vouch } from "./vouch.ts";

// An activity from the inbox, with its key.
export type ClaimedActivity = { id_key: string; activity: RecordedActivity };

export type Inserted = { accepted: number; duplicates: number; reused: NewActivity[] };

// Browsers and servers have separate id spaces. Otherwise a page could use up the id of a server's activity.
export function activityKey({ origin, activity_id }: Pick<RecordedActivity, "origin" | "activity_id">): string {
  return uuidOf(hash("sha256", `${origin}:${activity_id}`, "hex"));
}

export function uuidOf(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

// The content that identifies a repeated activity. The time of receipt and a corrected clock are not part of it.
function contentOf(activity: RecordedActivity) {
  const { type, occurred_at, claimed_at, website_account_id, session_id, device_id, attributes } = activity;
  const payment = paymentOf(activity);
  // An activity without payment members has the same hash as before these members existed, so that a resend is still recognized.
  const same = [
    type,
    claimed_at ?? occurred_at,
    website_account_id,
    session_id,
    device_id,
    attributes,
    ...(payment ? [payment] : []),
  ];
  return Number.parseInt(hash("sha256", JSON.stringify(same), "hex").slice(0, 8), 16) | 0;
}

// An activity that may be new, with its key and a hash of its content. It waits as text, because an object would cost the garbage
// collector several times as much.
export type NewActivity = ActivityText & { key: string; content: number };

export function newActivity(activity: RecordedActivity): NewActivity {
  const { origin, received_at } = activity;
  return { key: activityKey(activity), content: contentOf(activity), origin, received_at, text: JSON.stringify(activity) };
}

export function readActivity({ text }: NewActivity): RecordedActivity {
  // The cast is safe: only newActivity makes the text.
  return JSON.parse(text) as RecordedActivity;
}

// Stores each activity once. One that is already stored is skipped. `reused` are activities with a known id but different
// content.
export async function insertActivities(tx: Queryable, tenantId: string, activities: NewActivity[]): Promise<Inserted> {
  const [inserted] = await insertBatches(tx, tenantId, [activities]);
  if (!inserted) throw new Error("insertBatches returned no outcome");
  return inserted;
}

// Inserts several batches as if they came one after the other. Returns an outcome for each.
export async function insertBatches(tx: Queryable, tenantId: string, batches: NewActivity[][]): Promise<Inserted[]> {
  const first = new Map<string, NewActivity>();
  const differing = new Set<NewActivity>();
  for (const activity of batches.flat()) {
    const before = first.get(activity.key);
    if (!before) first.set(activity.key, activity);
    else if (before.content !== activity.content) differing.add(activity);
  }
  const given = [...first.values()];
  const fresh = await insertIds(tx, tenantId, given);
  const known = given.filter(({ key }) => !fresh.has(key));
  const kept = known.length === 0 ? given : given.filter(({ key }) => fresh.has(key));
  await insertParcels(tx, tenantId, kept);
  if (known.length > 0) {
    for (const activity of await findReused(tx, tenantId, known)) differing.add(activity);
    await vouch(tx);
  }
  return batches.map((activities) => {
    const accepted = activities.filter((each) => fresh.has(each.key) && first.get(each.key) === each).length;
    return { accepted, duplicates: activities.length - accepted, reused: activities.filter((each) => differing.has(each)) };
  });
}

// Returns the keys that were new. Usually all are new, and then the count alone says so.
export async function insertIds(tx: Queryable, tenantId: string, given: NewActivity[]): Promise<Set<string>> {
  // Sorted, so that two senders of the same activities wait for each other instead of deadlocking.
  const sorted = given.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const keys = sorted.map((each) => each.key);
  const [row] = await tx.query<{ fresh: number; keys: string[] | null }>(sql`
    with fresh as (
      insert into activity_ids (tenant_id, id_key, received_on, content)
      select c.tenant_id, g.*
      from event_counters as c
      cross join unnest(
        ${plainArray(keys)}::uuid[],
        ${plainArray(sorted.map((each) => each.received_at.slice(0, 10)))}::date[],
        ${plainArray(sorted.map((each) => each.content))}::int[]
      ) as g
      where c.tenant_id = ${tenantId}
      on conflict (tenant_id, id_key) do nothing
      returning id_key
    )
    select count(*) as fresh, case when count(*) < ${keys.length}::int then array_agg(id_key) end as keys
    from fresh`);
  return new Set(row?.fresh === keys.length ? keys : row?.keys);
}

// Returns the activities whose id is known, but whose content differs from that of the first activity with that id.
export async function findReused<T extends NewActivity>(tx: Queryable, tenantId: string, known: T[]): Promise<T[]> {
  const rows = await tx.query<{ id_key: string; content: number }>(sql`
    select id_key, content
    from activity_ids
    where tenant_id = ${tenantId} and id_key = any(${known.map((each) => each.key)}::uuid[]) and content <> 0`);
  const contents = new Map(rows.map((row) => [row.id_key, row.content]));
  return known.filter((each) => (contents.get(each.key) ?? each.content) !== each.content);
}

export type TenantWork = { tenant_id: string; has_server: boolean; has_pages: boolean };

// Jumps from tenant to tenant along the inbox's key, so that one tenant's long backlog costs no more than a short one.
export async function listTenantsWithWork(database: Queryable): Promise<TenantWork[]> {
  return askTenants<TenantWork>(
    database,
    sql`
    with recursive waiting as (
      (select tenant_id from inbox order by tenant_id limit 1)
      union all
      select (
        select i.tenant_id
        from inbox as i
        where i.tenant_id > w.tenant_id
        order by i.tenant_id
        limit 1
      )
      from waiting as w
      where w.tenant_id is not null
    )
    select tenant_id,
      exists (select 1 from inbox as i where i.tenant_id = w.tenant_id and not i.is_browser) as has_server,
      exists (select 1 from inbox as i where i.tenant_id = w.tenant_id and i.is_browser) as has_pages
    from waiting as w
    where tenant_id is not null
    order by tenant_id`,
  );
}

export async function countUnscored(database: Queryable): Promise<number> {
  const [row] = await database.query<{ unscored: number }>(sql`select coalesce(sum(events), 0) as unscored from inbox`);
  return row?.unscored ?? 0;
}

// The days of the pending activities that the next batch can take, oldest first.
export async function listWaitingDays(database: Queryable, tenantId: string): Promise<string[]> {
  const rows = await database.query<{ day: string }>(sql`
    select distinct to_char(o.received_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from unnest(array[false, true]) as k (is_browser)
    cross join lateral (
      select received_at
      from inbox
      where tenant_id = ${tenantId} and is_browser = k.is_browser
      order by received_at
      limit 2000
    ) as o
    order by day`);
  return rows.map((row) => row.day);
}
