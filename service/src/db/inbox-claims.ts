import type { RecordedActivity } from "../domain/activity.ts";
import { isObject } from "../domain/raw-value.ts";
import { activityKey, type ClaimedActivity } from "./inbox.ts";
import { insertParcel, parcelEventsMax, unpackParcel } from "./parcels.ts";
import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type Origin = RecordedActivity["origin"];
export type ParcelKey = { is_browser: boolean; received_at: string; parcel_id: string };
export type ParcelRow = ParcelKey & { is_urgent: boolean; parcel: Buffer };

// How many activities to take. With `only`, the other origin is left alone. With `urgentMax`, urgent activity has its own limit,
// and `size` limits the rest. `isInOrder`: urgent activity does not come first.
export type Claim = { size: number; only?: Origin; alongMax?: number; urgentMax?: number; isInOrder?: boolean };

// Takes activities out of the inbox, oldest first: those from servers, or those from browsers if there are none from servers.
// Among those from servers, activities whose sender waits for the verdict come first.
// Anybody can send events as a browser, so a flood of them must not delay what a server reports, not even by sharing its
// transaction. But if at most `alongMax` activities from browsers are waiting, they are taken too, so that the events of one
// visit are scored in order of time, whether a page or a server sent them. Rows are deleted by ctid, because the plan of a join
// depends on statistics: with those of an empty inbox, claiming from 20,000 rows took more than 10 s, and timed out again and
// again. Takes whole parcels, so the last one may exceed the batch; a small batch is exact. The caller holds the tenant's turn,
// so no row has to be locked first.
export async function claimActivities(tx: Queryable, tenantId: string, claim: Claim): Promise<ClaimedActivity[]> {
  const { size: batchMax, alongMax = batchMax, isInOrder = false } = claim;
  const { isSmall, serverMax, firstMax, browserMax, besides } = limitsOf(claim);
  const rows = await tx.query<ParcelRow>(sql`
    with waiting as (
      select o.*,
        sum(o.events) over (partition by o.is_browser order by ${isInOrder} or not o.is_urgent, o.received_at, o.parcel_id) - o.events as before
      from (
        (
          select ctid, is_browser, is_urgent, received_at, parcel_id, events
          from inbox
          where tenant_id = ${tenantId} and is_urgent
          order by received_at, parcel_id
          limit ${firstMax}
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
    first as (
      select coalesce(sum(events), 0) as urgent
      from waiting
      where is_urgent
    ),
    server as (
      select ctid, events
      from waiting
      where not is_browser
        and (
          (is_urgent and before < ${firstMax})
          or (not is_urgent and before - ${besides} * (select urgent from first) < ${serverMax})
        )
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
      where tenant_id = ${tenantId} and ctid = any(array(select ctid from server union all select ctid from browser))
      returning is_browser, is_urgent, received_at, parcel_id, parcel
    )
    select is_browser, is_urgent, received_at, parcel_id, parcel
    from gone
    order by is_browser, ${isInOrder} or not is_urgent, received_at, parcel_id`);
  const claimed = rows.flatMap((row) => unpackParcel(row.parcel));
  const last = rows.at(-1);
  if (last && isSmall && claimed.length > batchMax) {
    const texts = claimed.splice(batchMax).map((activity) => JSON.stringify(activity));
    await insertParcel(tx, tenantId, { ...last, texts });
  }
  return claimed.map((activity) => ({ id_key: activityKey(activity), activity }));
}

// `firstMax`: how much urgent activity to take. `besides`: 1 if the rest has its own limit, otherwise 0.
function limitsOf({ size, only, urgentMax }: Claim) {
  const isOwn = urgentMax !== undefined;
  return {
    isSmall: size < parcelEventsMax && !isOwn,
    serverMax: only === "browser" ? 0 : size,
    firstMax: only === "browser" ? 0 : (urgentMax ?? size),
    browserMax: only === "server" ? 0 : size,
    besides: isOwn ? 1 : 0,
  };
}

export type OldestActivity = { received_at: string; id_key: string; website_account_id: string | null; activity: string };

// Takes out of the inbox the activity that a batch of one in order would take, even if it is invalid. An unreadable parcel is taken
// whole, in base64.
export async function claimOldest(tx: Queryable, tenantId: string, only: Origin): Promise<OldestActivity | null> {
  const [row] = await tx.query<ParcelRow>(sql`
    delete from inbox as i
    using (
      select is_browser, received_at, parcel_id
      from inbox
      where tenant_id = ${tenantId} and is_browser = ${only === "browser"}
      order by received_at, parcel_id
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
