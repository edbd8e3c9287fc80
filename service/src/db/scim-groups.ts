import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type ScimGroupRow = {
  scim_group_id: string;
  display_name: string;
  external_id: string | null;
  created_at: string;
  updated_at: string;
  member_count: number;
};
export type Member = { user_id: string; name: string };

// Ordered by the time of creation.
export async function listScimGroups(database: Queryable, tenantId: string): Promise<ScimGroupRow[]> {
  return database.query<ScimGroupRow & Row>(sql`
    select g.scim_group_id, g.display_name, g.external_id, g.created_at, g.updated_at,
      (
        select count(*)
        from scim_group_members as m
        where m.tenant_id = ${tenantId} and m.scim_group_id = g.scim_group_id
      ) as member_count
    from scim_groups as g
    where g.tenant_id = ${tenantId}
    order by g.created_at, g.scim_group_id`);
}

export async function findScimGroup(database: Queryable, tenantId: string, groupId: string): Promise<ScimGroupRow | undefined> {
  const groups = await listScimGroups(database, tenantId);
  return groups.find((group) => group.scim_group_id === groupId);
}

// Ordered by group and id.
export async function listMembers(
  database: Queryable,
  tenantId: string,
  groupIds: readonly string[],
): Promise<(Member & { scim_group_id: string })[]> {
  return database.query<Member & { scim_group_id: string } & Row>(sql`
    select m.scim_group_id, m.user_id, u.name
    from scim_group_members as m
    join users as u on u.tenant_id = m.tenant_id and u.user_id = m.user_id
    where m.tenant_id = ${tenantId} and m.scim_group_id = any(${[...groupIds]}::uuid[])
    order by m.scim_group_id, m.user_id`);
}

type SavedGroup = {
  scim_group_id: string;
  display_name: string;
  display_name_key: string;
  external_id: string | null;
  now: string;
};

// Returns false if another group has the name.
export async function saveScimGroup(tx: Queryable, tenantId: string, saved: SavedGroup): Promise<boolean> {
  const taken = await tx.query(sql`
    select scim_group_id
    from scim_groups
    where tenant_id = ${tenantId}
      and display_name_key = ${saved.display_name_key}
      and scim_group_id <> ${saved.scim_group_id}`);
  if (taken.length > 0) return false;
  await tx.query(sql`
    insert into scim_groups (tenant_id, scim_group_id, display_name, display_name_key, external_id, created_at, updated_at)
    values (
      ${tenantId}, ${saved.scim_group_id}, ${saved.display_name}, ${saved.display_name_key}, ${saved.external_id}, ${saved.now},
      ${saved.now}
    )
    on conflict (tenant_id, scim_group_id) do update
    set display_name = excluded.display_name,
      display_name_key = excluded.display_name_key,
      external_id = excluded.external_id,
      updated_at = excluded.updated_at`);
  return true;
}

export async function changeMembers(
  tx: Queryable,
  tenantId: string,
  { groupId, added, removed }: { groupId: string; added: readonly string[]; removed: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    delete from scim_group_members
    where tenant_id = ${tenantId} and scim_group_id = ${groupId} and user_id = any(${[...removed]}::uuid[])`);
  await tx.query(sql`
    insert into scim_group_members (tenant_id, scim_group_id, user_id)
    select ${tenantId}::uuid, ${groupId}::uuid, user_id
    from unnest(${[...added]}::uuid[]) as added (user_id)
    on conflict do nothing`);
}

export async function deleteScimGroup(tx: Queryable, tenantId: string, groupId: string): Promise<void> {
  await tx.query(sql`
    delete from scim_group_members
    where tenant_id = ${tenantId} and scim_group_id = ${groupId}`);
  await tx.query(sql`
    delete from scim_groups
    where tenant_id = ${tenantId} and scim_group_id = ${groupId}`);
}
