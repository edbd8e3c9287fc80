import { initialGroupRoles, type GroupRoles, type ScimToken } from "../domain/provisioning.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type StoredScimToken = Omit<ScimToken, "last_used_at"> & { last_used_at: string | null; reach: string[] | null };

// In order of creation.
export async function listScimTokens(database: Queryable, tenantId: string): Promise<StoredScimToken[]> {
  return database.query<StoredScimToken & Row>(sql`
    select scim_token_id, name, reach, adopts_people, created_by, created_at, last_used_at
    from scim_tokens
    where tenant_id = ${tenantId}
    order by created_at, scim_token_id`);
}

// Returns false if the tenant has a token with that name.
export async function insertScimToken(
  tx: Queryable,
  tenantId: string,
  made: Omit<StoredScimToken, "last_used_at"> & { token_hash: Buffer },
): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into scim_tokens (tenant_id, scim_token_id, name, token_hash, reach, adopts_people, created_by, created_at)
    values (
      ${tenantId}, ${made.scim_token_id}, ${made.name}, ${made.token_hash}, ${made.reach}, ${made.adopts_people},
      ${made.created_by}, ${made.created_at}
    )
    on conflict (tenant_id, name) do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

export async function lockScimToken(tx: Queryable, tenantId: string, tokenId: string): Promise<StoredScimToken | undefined> {
  const [row] = await tx.query<StoredScimToken & Row>(sql`
    select scim_token_id, name, reach, adopts_people, created_by, created_at, last_used_at
    from scim_tokens
    where tenant_id = ${tenantId} and scim_token_id = ${tokenId}
    for update`);
  return row;
}

export async function deleteScimToken(tx: Queryable, tenantId: string, tokenId: string): Promise<void> {
  await tx.query(sql`
    delete from scim_tokens
    where tenant_id = ${tenantId} and scim_token_id = ${tokenId}`);
}

type UsedToken = {
  tenant_id: string;
  slug: string;
  name: string;
  reach: string[] | null;
  adopts_people: boolean;
  last_used_at: string | null;
};

// Read for every request, so that a revocation takes effect at once in every process.
export async function findUsedToken(database: Queryable, tenantId: string, tokenHash: Buffer): Promise<UsedToken | undefined> {
  const [row] = await database.query<UsedToken & Row>(sql`
    select s.tenant_id, t.slug, s.name, s.reach, s.adopts_people, s.last_used_at
    from scim_tokens as s
    join tenants as t using (tenant_id)
    where s.tenant_id = ${tenantId} and s.token_hash = ${tokenHash}`);
  return row;
}

export async function saveTokenUse(tx: Queryable, tenantId: string, used: { token_hash: Buffer; now: string }): Promise<void> {
  await tx.query(sql`
    update scim_tokens
    set last_used_at = ${used.now}
    where tenant_id = ${tenantId} and token_hash = ${used.token_hash}`);
}

export async function findGroupRoles(database: Queryable, tenantId: string): Promise<GroupRoles> {
  const [row] = await database.query<GroupRoles & Row>(sql`
    select role_groups, default_role
    from scim_settings
    where tenant_id = ${tenantId}`);
  return row ?? initialGroupRoles;
}

export async function saveGroupRoles(tx: Queryable, tenantId: string, saved: GroupRoles & { now: string }): Promise<void> {
  await tx.query(sql`
    insert into scim_settings (tenant_id, role_groups, default_role, updated_at)
    values (${tenantId}, ${JSON.stringify(saved.role_groups)}::jsonb, ${saved.default_role}, ${saved.now})
    on conflict (tenant_id) do update
    set role_groups = excluded.role_groups, default_role = excluded.default_role, updated_at = excluded.updated_at`);
}

// Whether provisioning gives the role.
export async function isRoleProvisioned(database: Queryable, tenantId: string, role: string): Promise<boolean> {
  const { role_groups, default_role } = await findGroupRoles(database, tenantId);
  return default_role === role || role_groups.some((each) => each.role === role);
}
