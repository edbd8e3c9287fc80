import { isRole, roleScopes } from "../domain/role.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type TenantRoleRow = { role: string; description: string; scopes: string[]; created_at: string; updated_at: string };

// Ordered by name.
export async function listTenantRoles(database: Queryable, tenantId: string): Promise<TenantRoleRow[]> {
  return database.query<TenantRoleRow & Row>(sql`
    select role, description, scopes, created_at, updated_at
    from tenant_roles
    where tenant_id = ${tenantId}
    order by role`);
}

export async function lockTenantRole(tx: Queryable, tenantId: string, role: string): Promise<TenantRoleRow | undefined> {
  const [row] = await tx.query<TenantRoleRow & Row>(sql`
    select role, description, scopes, created_at, updated_at
    from tenant_roles
    where tenant_id = ${tenantId} and role = ${role}
    for update`);
  return row;
}

// The scopes of a role, or undefined if there is no such role. It cannot be deleted before the transaction ends.
export async function lockRoleScopes(tx: Queryable, tenantId: string, role: string): Promise<readonly string[] | undefined> {
  if (isRole(role)) return roleScopes[role];
  const [row] = await tx.query<{ scopes: string[] }>(sql`
    select scopes
    from tenant_roles
    where tenant_id = ${tenantId} and role = ${role}
    for share`);
  return row?.scopes;
}

// Returns false if the tenant already has that role.
export async function insertTenantRole(tx: Queryable, tenantId: string, made: TenantRoleRow): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into tenant_roles (tenant_id, role, description, scopes, created_at, updated_at)
    values (${tenantId}, ${made.role}, ${made.description}, ${made.scopes}, ${made.created_at}, ${made.updated_at})
    on conflict (tenant_id, role) do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

export async function saveTenantRole(tx: Queryable, tenantId: string, saved: TenantRoleRow): Promise<void> {
  await tx.query(sql`
    update tenant_roles
    set description = ${saved.description}, scopes = ${saved.scopes}, updated_at = ${saved.updated_at}
    where tenant_id = ${tenantId} and role = ${saved.role}`);
}

export async function deleteTenantRole(tx: Queryable, tenantId: string, role: string): Promise<void> {
  await tx.query(sql`
    delete from tenant_roles
    where tenant_id = ${tenantId} and role = ${role}`);
}

// How many people have the role, including those who are disabled.
export async function countHolders(database: Queryable, tenantId: string, role: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from users
    where tenant_id = ${tenantId} and role = ${role}`);
  return row?.count ?? 0;
}
