import { beginningOf, databasePattern, type Erased } from "../domain/erasure.ts";
import { actorOf } from "../domain/user.ts";
import type { StoredView } from "../domain/view.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// With the owner as people know them.
export type OwnedView = StoredView & { owner_name: string };

type ViewRow = Row & StoredView & { user_name: string | null; email: string | null };

function toView({ user_name: name, email, ...view }: ViewRow): OwnedView {
  const client = view.owner.startsWith("client:") ? view.owner.slice("client:".length) : "";
  return { ...view, owner_name: name !== null && email !== null ? actorOf({ name, email }) : client };
}

// The views that the owner sees: their own in their order, then the shared ones of others by name.
export async function listViews(database: Queryable, tenantId: string, owner: string): Promise<OwnedView[]> {
  const rows = await database.query<ViewRow>(sql`
    select v.view_id, v.owner, v.name, v.filter, v.sort, v.is_shared, v.key, v.view_version, v.created_at, v.updated_at,
      u.name as user_name, u.email
    from saved_views as v
    left join users as u
      on u.tenant_id = ${tenantId} and u.user_id = case when starts_with(v.owner, 'user:') then substr(v.owner, 6)::uuid end
    where v.tenant_id = ${tenantId} and (v.owner = ${owner} or v.is_shared)
    order by v.owner <> ${owner}, case when v.owner = ${owner} then v.position end, v.name, v.view_id`);
  return rows.map(toView);
}

// All views of one owner, in their order.
export async function listViewsOf(tx: Queryable, tenantId: string, owner: string): Promise<StoredView[]> {
  return tx.query<Row & StoredView>(sql`
    select view_id, owner, name, filter, sort, is_shared, key, view_version, created_at, updated_at
    from saved_views
    where tenant_id = ${tenantId} and owner = ${owner}
    order by position, view_id`);
}

export async function findSharedView(
  database: Queryable,
  tenantId: string,
  viewId: string,
): Promise<Pick<StoredView, "name" | "filter" | "sort"> | undefined> {
  const [row] = await database.query<Row & Pick<StoredView, "name" | "filter" | "sort">>(sql`
    select name, filter, sort
    from saved_views
    where tenant_id = ${tenantId} and view_id = ${viewId}::uuid and is_shared`);
  return row;
}

export async function countSharedViews(tx: Queryable, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*) as count
    from saved_views
    where tenant_id = ${tenantId} and is_shared`);
  return row?.count ?? 0;
}

// Behind the owner's other views.
export async function insertView(tx: Queryable, tenantId: string, view: StoredView): Promise<void> {
  await tx.query(sql`
    insert into saved_views (
      tenant_id, view_id, owner, name, filter, sort, is_shared, key, position, view_version, created_at, updated_at
    )
    select c.tenant_id, ${view.view_id}::uuid, ${view.owner}::text, ${view.name}::text,
      ${JSON.stringify(view.filter)}::jsonb, ${view.sort}::text, ${view.is_shared}::boolean, ${view.key}::smallint,
      (
        select coalesce(max(v.position), 0) + 1
        from saved_views as v
        where v.tenant_id = ${tenantId} and v.owner = ${view.owner}
      ), ${view.view_version}::integer, ${view.created_at}::timestamptz,
      ${view.updated_at}::timestamptz
    from event_counters as c
    where c.tenant_id = ${tenantId}`);
}

export async function saveView(tx: Queryable, tenantId: string, view: StoredView): Promise<void> {
  await tx.query(sql`
    update saved_views
    set name = ${view.name},
      filter = ${JSON.stringify(view.filter)}::jsonb,
      sort = ${view.sort},
      is_shared = ${view.is_shared},
      key = ${view.key},
      view_version = ${view.view_version},
      updated_at = ${view.updated_at}
    where tenant_id = ${tenantId} and view_id = ${view.view_id}`);
}

export async function saveViewOrder(tx: Queryable, tenantId: string, ids: string[]): Promise<void> {
  await tx.query(sql`
    update saved_views as v
    set position = o.position
    from unnest(${plainArray(ids)}::uuid[]) with ordinality as o (view_id, position)
    where v.tenant_id = ${tenantId} and v.view_id = o.view_id`);
}

export async function deleteView(tx: Queryable, tenantId: string, viewId: string): Promise<void> {
  await tx.query(sql`
    delete from saved_views
    where tenant_id = ${tenantId} and view_id = ${viewId}`);
}

// The new version keeps a change that was begun before from writing the id back.
export async function eraseAccountFromViews(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    update saved_views
    set filter = jsonb_set(filter, '{website_account_id}', to_jsonb(${pseudonym}::text)), view_version = view_version + 1
    where tenant_id = ${tenantId} and filter ->> 'website_account_id' = ${id}`);
  await tx.query(sql`
    update saved_views
    set name = regexp_replace(name, ${pattern}, ${pseudonym}, 'g'), view_version = view_version + 1
    where tenant_id = ${tenantId} and position(${beginningOf(id)} in name) > 0 and name ~ ${pattern}`);
  // These filters name colleagues, roles and dispositions, but a caller can send any text.
  for (const member of ["closed_by", "claimed_by", "handed_to", "own_disposition"]) {
    await tx.query(sql`
      update saved_views
      set filter = filter
          || jsonb_object(array[${member}::text, regexp_replace(filter ->> ${member}::text, ${pattern}, ${pseudonym}, 'g')]),
        view_version = view_version + 1
      where tenant_id = ${tenantId} and filter ->> ${member}::text ~ ${pattern}`);
  }
}
