import type { Activity } from "../domain/activity.ts";
import type { Queryable } from "./database.ts";
import { sql } from "./sql.ts";

// Returns how many were new: an activity that was stored before is not stored again.
export async function insertActivities(
  tx: Queryable,
  tenantId: string,
  batch: { activities: Activity[]; now: string },
): Promise<number> {
  const sorted = batch.activities.toSorted((a, b) => (a.activity_id < b.activity_id ? -1 : 1));
  const rows = await tx.query(sql`
    insert into activities (tenant_id, activity_id, website_account_id, received_at, activity)
    select ${tenantId}::uuid, a.activity_id, a.website_account_id, ${batch.now}::timestamptz, a.activity
    from unnest(
      ${sorted.map((each) => each.activity_id)}::text[],
      ${sorted.map((each) => each.website_account_id ?? null)}::text[],
      ${sorted.map((each) => JSON.stringify(each))}::jsonb[]
    ) as a (activity_id, website_account_id, activity)
    on conflict (tenant_id, activity_id) do nothing
    returning 1 as inserted`);
  return rows.length;
}

// Jumps from tenant to tenant along the index of what is unscored, so that a long backlog of one costs no more than a short one.
export async function listTenantsWithWork(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ tenant_id: string }>(sql`
    with recursive waiting as (
      (select tenant_id from activities where scored_at is null order by tenant_id limit 1)
      union all
      select (
        select a.tenant_id
        from activities as a
        where a.scored_at is null and a.tenant_id > w.tenant_id
        order by a.tenant_id
        limit 1
      )
      from waiting as w
      where w.tenant_id is not null
    )
    select tenant_id
    from waiting
    where tenant_id is not null`);
  return rows.map((row) => row.tenant_id);
}

export async function countUnscored(database: Queryable): Promise<number> {
  const [row] = await database.query<{ unscored: number }>(
    sql`select count(*) as unscored from activities where scored_at is null`,
  );
  return row?.unscored ?? 0;
}

// Skip locked, so that two engines share a backlog instead of queueing behind each other.
export async function claimActivities(tx: Queryable, tenantId: string, batchMax: number): Promise<Activity[]> {
  const rows = await tx.query<{ activity: Activity }>(sql`
    select activity
    from activities
    where tenant_id = ${tenantId} and scored_at is null
    order by received_at, activity_id
    limit ${batchMax}
    for update skip locked`);
  return rows.map((row) => row.activity);
}

export async function saveScored(tx: Queryable, tenantId: string, scored: { ids: string[]; now: string }): Promise<void> {
  await tx.query(sql`
    update activities
    set scored_at = ${scored.now}
    where tenant_id = ${tenantId} and activity_id = any(${scored.ids}::text[])`);
}

export async function deleteActivitiesOfAccount(tx: Queryable, tenantId: string, websiteAccountId: string): Promise<void> {
  await tx.query(sql`
    delete from activities
    where tenant_id = ${tenantId} and website_account_id = ${websiteAccountId}`);
}
