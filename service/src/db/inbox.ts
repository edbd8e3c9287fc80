import { hash } from "node:crypto";
import { paymentOf, type RecordedActivity } from "../domain/activity.ts";
import { isObject } from "../domain/raw-value.ts";
import type { Queryable } from "./postgres/database.ts";
import { insertParcel, insertParcels, parcelEventsMax, unpackParcel } from "./parcels.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// An activity from the inbox, with its key.
export type ClaimedActivity = { id_key: string; activity: RecordedActivity };

export type Inserted = { accepted: number; duplicates: number; reused: RecordedActivity[] };

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

// An activity that may be new, with its key and a hash of its content.
type NewActivity = { key: string; content: number; activity: RecordedActivity };
// `batch`: the batch in which the activity first appeared.
type Given = NewActivity & { batch: number };

export function newActivity(activity: RecordedActivity): NewActivity {
  return { key: activityKey(activity), content: contentOf(activity), activity };
}

// Stores each activity once. One that is already stored is skipped. `reused` are activities with a known id but different
// content.
export async function insertActivities(tx: Queryable, tenantId: string, activities: RecordedActivity[]): Promise<Inserted> {
  const [inserted] = await insertBatches(tx, tenantId, [activities]);
  if (!inserted) throw new Error("insertBatches returned no outcome");
  return inserted;
}

// Inserts several batches as if they came one after the other. Returns an outcome for each.
export async function insertBatches(tx: Queryable, tenantId: string, batches: RecordedActivity[][]): Promise<Inserted[]> {
  const byKey = new Map<string, Given>();
  const reused = batches.map((): RecordedActivity[] => []);
  for (const [batch, activities] of batches.entries()) {
    for (const activity of activities) {
      const given = newActivity(activity);
      const first = byKey.get(given.key);
      if (!first) byKey.set(given.key, { ...given, batch });
      else if (first.content !== given.content) reused[batch]?.push(activity);
    }
  }
  const given = [...byKey.values()];
  const fresh = await insertIds(tx, tenantId, given);
  const known = given.filter((each) => !fresh.has(each.key));
  const kept = known.length === 0 ? given : given.filter((each) => fresh.has(each.key));
  await insertParcels(
    tx,
    tenantId,
    kept.map((each) => each.activity),
  );
  if (known.length > 0) for (const { batch, activity } of await findReused(tx, tenantId, known)) reused[batch]?.push(activity);
  const accepted = batches.map(() => 0);
  for (const { batch } of kept) accepted[batch] = (accepted[batch] ?? 0) + 1;
  return batches.map(({ length }, batch) => {
    const count = accepted[batch] ?? 0;
    return { accepted: count, duplicates: length - count, reused: reused[batch] ?? [] };
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
      select ${tenantId}::uuid, g.*
      from unnest(
        ${plainArray(keys)}::uuid[],
        ${plainArray(sorted.map((each) => each.activity.received_at.slice(0, 10)))}::date[],
        ${plainArray(sorted.map((each) => each.content))}::int[]
      ) as g
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
  return database.query<TenantWork>(sql`
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
    order by tenant_id`);
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

type Origin = RecordedActivity["origin"];
export type ParcelKey = { is_browser: boolean; received_at: string; parcel_id: string };
export type ParcelRow = ParcelKey & { is_urgent: boolean; parcel: Buffer };

// How many activities to take. With `only`, the other origin is left alone.
export type Claim = { size: number; only?: Origin; alongMax?: number };

// Takes activities out of the inbox, oldest first: those from servers, or those from browsers if there are none from servers. Of
// those from servers, activity whose sender waits for the verdict comes first.
// Anybody can send events as a browser, so a flood of them must not delay what a server reports, not even by sharing its
// transaction. But if at most `alongMax` activities from browsers are waiting, they are taken too, so that the events of one
// visit are scored in order of time, whether a page or a server sent them. Rows are deleted by ctid, because the plan of a join
// depends on statistics: with those of an empty inbox, claiming from 20,000 rows took more than 10 s, and timed out again and
// again. Takes whole parcels, so the last one may exceed the batch; a small batch is exact. The caller holds the tenant's turn,
// so no row has to be locked first.
export async function claimActivities(
  tx: Queryable,
  tenantId: string,
  { size: batchMax, only, alongMax = batchMax }: Claim,
): Promise<ClaimedActivity[]> {
  const isSmall = batchMax < parcelEventsMax;
  const serverMax = only === "browser" ? 0 : batchMax;
  const browserMax = only === "server" ? 0 : batchMax;
  const rows = await tx.query<ParcelRow>(sql`
    with waiting as (
      select o.*,
        sum(o.events) over (partition by o.is_browser order by not o.is_urgent, o.received_at, o.parcel_id) - o.events as before
      from (
        (
          select ctid, is_browser, is_urgent, received_at, parcel_id, events
          from inbox
          where tenant_id = ${tenantId} and is_urgent
          order by received_at, parcel_id
          limit ${batchMax}
        )
        union all
        select o.*
        from unnest(array[false, true]) as k (is_browser)
        cross join lateral (
          select ctid, is_browser, is_urgent, received_at, parcel_id, events
          from inbox
          where tenant_id = ${tenantId} and is_browser = k.is_browser and not is_urgent
          order by received_at, parcel_id
          limit ${batchMax}
        ) as o
      ) as o
    ),
    server as (
      select ctid, events
      from waiting
      where not is_browser and before < ${serverMax}
    ),
    room as (
      select case
          when s.events > 0 and b.events > ${alongMax} then 0
          else ${browserMax}::bigint - s.events
        end as events
      from (select coalesce(sum(events), 0) as events from server) as s
      cross join (select coalesce(sum(events), 0) as events from waiting where is_browser) as b
    ),
    browser as (
      select ctid
      from waiting
      where is_browser and before < (select events from room)
    ),
    gone as (
      delete from inbox
      where ctid = any(array(select ctid from server union all select ctid from browser))
      returning is_browser, is_urgent, received_at, parcel_id, parcel
    )
    select is_browser, is_urgent, received_at, parcel_id, parcel
    from gone
    order by is_browser, not is_urgent, received_at, parcel_id`);
  const claimed = rows.flatMap((row) => unpackParcel(row.parcel));
  const last = rows.at(-1);
  if (last && isSmall && claimed.length > batchMax) {
    const texts = claimed.splice(batchMax).map((activity) => JSON.stringify(activity));
    await insertParcel(tx, tenantId, { ...last, texts });
  }
  return claimed.map((activity) => ({ id_key: activityKey(activity), activity }));
}

export type OldestActivity = { received_at: string; id_key: string; website_account_id: string | null; activity: string };

// Takes out of the inbox the activity that a batch of one would take, even if it is invalid. An unreadable parcel is taken whole,
// in base64.
export async function claimOldest(tx: Queryable, tenantId: string, only: Origin): Promise<OldestActivity | null> {
  const [row] = await tx.query<ParcelRow>(sql`
    delete from inbox as i
    using (
      select *
      from (
        (
          select is_browser, is_urgent, received_at, parcel_id
          from inbox
          where tenant_id = ${tenantId} and is_urgent and is_browser = ${only === "browser"}
          order by received_at, parcel_id
          limit 1
        )
        union all
        (
          select is_browser, is_urgent, received_at, parcel_id
          from inbox
          where tenant_id = ${tenantId} and is_browser = ${only === "browser"} and not is_urgent
          order by received_at, parcel_id
          limit 1
        )
      ) as first
      order by not is_urgent
      limit 1
    ) as oldest
    where i.tenant_id = ${tenantId}
      and i.is_browser = oldest.is_browser
      and i.received_at = oldest.received_at
      and i.parcel_id = oldest.parcel_id
    returning i.is_browser, i.is_urgent, i.received_at, i.parcel_id, i.parcel`);
  if (!row) return null;
  const { received_at, parcel_id: id_key } = row;
  const activities = readable(row.parcel);
  if (!activities) return { received_at, id_key, website_account_id: null, activity: row.parcel.toString("base64") };
  const [first, ...rest] = activities;
  if (rest.length > 0) await insertParcel(tx, tenantId, { ...row, texts: rest.map((each) => JSON.stringify(each)) });
  const activity = JSON.stringify(first ?? null);
  if (!isObject(first) || typeof first["activity_id"] !== "string")
    return { received_at, id_key, website_account_id: null, activity };
  const account = first["website_account_id"];
  const origin = first["origin"] === "browser" ? "browser" : "server";
  return {
    received_at,
    id_key: activityKey({ origin, activity_id: first["activity_id"] }),
    website_account_id: typeof account === "string" ? account : null,
    activity,
  };
}

function readable(parcel: Buffer): unknown[] | null {
  try {
    const activities: unknown = unpackParcel(parcel);
    return Array.isArray(activities) ? activities : null;
  } catch {
    return null;
  }
}
