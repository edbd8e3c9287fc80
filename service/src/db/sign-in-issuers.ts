import type { SignInIssuer } from "../domain/sign-in-issuer.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";
import { findOnlyTenant, findTenant } from "./tenants.ts";

export type StoredIssuer = Omit<SignInIssuer, "redirect_uri">;
export type SecretIssuer = StoredIssuer & { tenant_id: string; slug: string; client_secret: string };

// Ordered by key, without the secrets.
export async function listSignInIssuers(database: Queryable, tenantId: string): Promise<StoredIssuer[]> {
  return database.query<StoredIssuer & Row>(sql`
    select issuer_key, name, issuer, client_id, extra_scopes, trusts_emails, groups_claim, role_groups, without_group, default_role,
      created_at, updated_at
    from sign_in_issuers
    where tenant_id = ${tenantId}
    order by issuer_key`);
}

export async function lockSignInIssuer(tx: Queryable, tenantId: string, key: string): Promise<StoredIssuer | undefined> {
  const [row] = await tx.query<StoredIssuer & Row>(sql`
    select issuer_key, name, issuer, client_id, extra_scopes, trusts_emails, groups_claim, role_groups, without_group, default_role,
      created_at, updated_at
    from sign_in_issuers
    where tenant_id = ${tenantId} and issuer_key = ${key}
    for update`);
  return row;
}

// For signing in: nobody has shown yet who they are, so the tenant is found by its slug.
export async function findSignInIssuer(
  database: Queryable,
  { slug, issuer_key }: { slug: string; issuer_key: string },
): Promise<SecretIssuer | undefined> {
  // With the tenant's id, a cluster asks only its node.
  const tenant = await findTenant(database, slug);
  const [row] = await database.query<SecretIssuer & Row>(sql`
    select i.tenant_id, t.slug, i.issuer_key, i.name, i.issuer, i.client_id, i.client_secret, i.extra_scopes, i.trusts_emails,
      i.groups_claim, i.role_groups, i.without_group, i.default_role, i.created_at, i.updated_at
    from sign_in_issuers as i
    join tenants as t using (tenant_id)
    where i.tenant_id = ${tenant?.tenant_id ?? null} and i.issuer_key = ${issuer_key}`);
  return row;
}

// Whether the issuer is still as it was read. It cannot change before the transaction ends.
export async function isCurrentIssuer(
  tx: Queryable,
  { tenant_id, issuer_key, updated_at }: Pick<SecretIssuer, "tenant_id" | "issuer_key" | "updated_at">,
): Promise<boolean> {
  const rows = await tx.query(sql`
    select issuer_key
    from sign_in_issuers
    where tenant_id = ${tenant_id} and issuer_key = ${issuer_key} and updated_at = ${updated_at}
    for share`);
  return rows.length === 1;
}

// What the sign-in page offers. Without a slug: of the only tenant, or nothing if there are several.
export async function listOfferedIssuers(
  database: Queryable,
  slug: string | null,
): Promise<{ tenant: string; issuer_key: string; name: string }[]> {
  const tenant = await (slug === null ? findOnlyTenant(database) : findTenant(database, slug));
  if (!tenant) return [];
  return database.query<Row & { tenant: string; issuer_key: string; name: string }>(sql`
    select ${tenant.slug}::text as tenant, issuer_key, name
    from sign_in_issuers
    where tenant_id = ${tenant.tenant_id}
    order by name collate "C", issuer_key`);
}

// Returns false if the tenant already has one with that key or that URL.
export async function insertSignInIssuer(
  tx: Queryable,
  tenantId: string,
  made: StoredIssuer & { client_secret: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into sign_in_issuers (
      tenant_id, issuer_key, name, issuer, client_id, client_secret, extra_scopes, trusts_emails, groups_claim, role_groups,
      without_group, default_role, created_at, updated_at
    )
    values (
      ${tenantId}, ${made.issuer_key}, ${made.name}, ${made.issuer}, ${made.client_id}, ${made.client_secret},
      ${made.extra_scopes}, ${made.trusts_emails}, ${made.groups_claim}, ${JSON.stringify(made.role_groups)}::jsonb,
      ${made.without_group}, ${made.default_role}, ${made.created_at}, ${made.updated_at}
    )
    on conflict do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

// Without a secret, the previous one stays.
export async function saveSignInIssuer(
  tx: Queryable,
  tenantId: string,
  saved: StoredIssuer & { client_secret: string | null },
): Promise<void> {
  await tx.query(sql`
    update sign_in_issuers
    set name = ${saved.name},
      client_id = ${saved.client_id},
      client_secret = coalesce(${saved.client_secret}, client_secret),
      extra_scopes = ${saved.extra_scopes},
      trusts_emails = ${saved.trusts_emails},
      groups_claim = ${saved.groups_claim},
      role_groups = ${JSON.stringify(saved.role_groups)}::jsonb,
      without_group = ${saved.without_group},
      default_role = ${saved.default_role},
      updated_at = ${saved.updated_at}
    where tenant_id = ${tenantId} and issuer_key = ${saved.issuer_key}`);
}

export async function deleteSignInIssuer(tx: Queryable, tenantId: string, key: string): Promise<void> {
  await tx.query(sql`
    delete from sign_in_issuers
    where tenant_id = ${tenantId} and issuer_key = ${key}`);
}

// How many issuers give the role.
export async function countIssuersOfRole(database: Queryable, tenantId: string, role: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from sign_in_issuers
    where tenant_id = ${tenantId}
      and (default_role = ${role} or role_groups @> ${JSON.stringify([{ role }])}::jsonb)`);
  return row?.count ?? 0;
}

// People who signed in through the issuer can no longer do so, and are signed out.
export async function deleteSubjectsOf(tx: Queryable, tenantId: string, issuer: string): Promise<number> {
  // Issuers spell their URL in their tokens with or without the last slash.
  const bare = issuer.replace(/\/$/, "");
  const rows = await tx.query(sql`
    with unbound as (
      update users
      set external_subject = null
      where tenant_id = ${tenantId}
        and (starts_with(external_subject, ${`${bare} `}) or starts_with(external_subject, ${`${bare}/ `}))
      returning user_id
    ),
    ended as (
      delete from web_sessions as s
      using unbound as u
      where s.tenant_id = ${tenantId} and s.user_id = u.user_id
    )
    select user_id
    from unbound`);
  return rows.length;
}
