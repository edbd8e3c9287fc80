import type { LinkPurpose } from "../domain/user.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type NewLink = {
  token_hash: Buffer;
  purpose: LinkPurpose;
  user_id: string | null;
  created_at: string;
  expires_at: string;
};

// A new link replaces the unused ones before it: those of the user, or the tenant's set-up link.
export async function insertLink(tx: Queryable, tenantId: string, link: NewLink): Promise<void> {
  await deleteUnusedLinks(tx, tenantId, link.user_id);
  await tx.query(sql`
    insert into user_links (tenant_id, token_hash, purpose, user_id, created_at, expires_at)
    values (${tenantId}, ${link.token_hash}, ${link.purpose}, ${link.user_id}, ${link.created_at}, ${link.expires_at})`);
}

export async function deleteUnusedLinks(tx: Queryable, tenantId: string, userId: string | null): Promise<void> {
  await tx.query(sql`
    delete from user_links
    where tenant_id = ${tenantId} and user_id is not distinct from ${userId}::uuid and used_at is null`);
}

export async function deleteUnusedLinksOfUsers(tx: Queryable, tenantId: string, userIds: readonly string[]): Promise<void> {
  await tx.query(sql`
    delete from user_links
    where tenant_id = ${tenantId} and user_id = any(${[...userIds]}::uuid[]) and used_at is null`);
}

export async function deleteUnusedLinksOfRole(tx: Queryable, tenantId: string, role: string): Promise<void> {
  await tx.query(sql`
    delete from user_links as l
    using users as u
    where l.tenant_id = ${tenantId} and l.used_at is null
      and u.tenant_id = ${tenantId} and u.user_id = l.user_id and u.role = ${role}`);
}

export type Link = {
  tenant_id: string;
  slug: string;
  purpose: LinkPurpose;
  user_id: string | null;
  email: string | null;
  name: string | null;
  expires_at: string;
};

// Finds the link only while it can be used.
export async function findLink(
  database: Queryable,
  tenantId: string,
  wanted: { token_hash: Buffer; now: string },
): Promise<Link | undefined> {
  const [row] = await database.query<Link & Row>(sql`
    select l.tenant_id, t.slug, l.purpose, l.user_id, u.email, u.name, l.expires_at
    from user_links as l
    join tenants as t using (tenant_id)
    left join users as u on u.tenant_id = l.tenant_id and u.user_id = l.user_id
    where l.tenant_id = ${tenantId}
      and l.token_hash = ${wanted.token_hash}
      and l.used_at is null
      and l.expires_at > ${wanted.now}::timestamptz
      and u.is_disabled is not true`);
  return row;
}

// Returns true for only one of several concurrent callers. The link is used up when the transaction commits.
export async function claimLink(tx: Queryable, tenantId: string, claim: { token_hash: Buffer; now: string }): Promise<boolean> {
  const rows = await tx.query(sql`
    update user_links
    set used_at = ${claim.now}
    where tenant_id = ${tenantId}
      and token_hash = ${claim.token_hash}
      and used_at is null
      and expires_at > ${claim.now}::timestamptz
    returning 1 as claimed`);
  return rows.length === 1;
}
