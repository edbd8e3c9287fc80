import type { ClientSecrets } from "../domain/client.ts";
import type { TenantSettings } from "../domain/tenant.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type NewTenant = { tenant_id: string; slug: string; app_key: string; allowed_origins: string[]; created_at: string };
export type TenantRow = Row & NewTenant & TenantSettings;

export type ClientRow = Row &
  ClientSecrets & {
    tenant_id: string;
    client_id: string;
    slug: string;
    scopes: string[];
    is_primary: boolean;
    revoked_at: string | null;
  };

export type NewClient = {
  tenant_id: string;
  client_id: string;
  scopes: string[];
  is_primary: boolean;
  secret_hash: string;
  created_at: string;
};

export async function insertTenant(tx: Queryable, tenant: NewTenant): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into tenants (tenant_id, slug, app_key, allowed_origins, created_at)
    values (${tenant.tenant_id}, ${tenant.slug}, ${tenant.app_key}, ${tenant.allowed_origins}, ${tenant.created_at})
    on conflict (slug) do nothing
    returning 1 as inserted`);
  if (rows.length === 0) return false;
  await tx.query(sql`insert into event_counters (tenant_id) values (${tenant.tenant_id})`);
  return true;
}

export async function findTenant(database: Queryable, slug: string): Promise<TenantRow | undefined> {
  const [row] = await database.query<TenantRow>(sql`
    select tenant_id, slug, app_key, allowed_origins, ip_policy, url_parameters, retention_days, identity_verification, time_zone, requires_second_factor, notification_details, created_at
    from tenants
    where slug = ${slug}`);
  return row;
}

export async function listTenants(database: Queryable): Promise<TenantRow[]> {
  return database.query<TenantRow>(sql`
    select tenant_id, slug, app_key, allowed_origins, ip_policy, url_parameters, retention_days, identity_verification, time_zone, requires_second_factor, notification_details, created_at
    from tenants
    order by slug`);
}

// Returns the tenant if there is only one.
export async function findOnlyTenant(database: Queryable): Promise<Pick<TenantRow, "tenant_id" | "slug"> | undefined> {
  const rows = await database.query<Pick<TenantRow, "tenant_id" | "slug"> & Row>(
    sql`select tenant_id, slug from tenants limit 2`,
  );
  return rows.length === 1 ? rows[0] : undefined;
}

export async function hasTenants(database: Queryable): Promise<boolean> {
  return (await database.query(sql`select 1 as found from tenants limit 1`)).length > 0;
}

// What the collector needs to know about a tenant, found by the app key in the path. The identity secrets are those that are
// valid now. They are read for every request, so that a rotation takes effect at once in every process.
export type KeyedTenant = Pick<TenantRow, "tenant_id" | "slug" | "app_key" | "allowed_origins" | "url_parameters"> & {
  identity_secrets: string[];
};

export async function findTenantByKey(database: Queryable, key: string, now: string): Promise<KeyedTenant | undefined> {
  return database.isCluster === true ? findOnNode(database, key, now) : findAtOnce(database, key, now);
}

// Takes one key, because the database keeps the plan of such a statement. For a list of keys it made a new plan every time, which
// took three times as long as running it.
async function findAtOnce(database: Queryable, key: string, now: string): Promise<KeyedTenant | undefined> {
  const [row] = await database.query<KeyedTenant & Row>(sql`
    select tenant_id, slug, app_key, allowed_origins, url_parameters,
      array(
        select s.secret
        from identity_secrets as s
        where s.tenant_id = t.tenant_id and (s.expires_at is null or s.expires_at > ${now}::timestamptz)
        order by s.expires_at desc nulls first
      ) as identity_secrets
    from tenants as t
    where app_key = ${key}`);
  return row;
}

// Every node has the tenants, but each tenant's secrets are on one.
async function findOnNode(database: Queryable, key: string, now: string): Promise<KeyedTenant | undefined> {
  const [tenant] = await database.query<Omit<KeyedTenant, "identity_secrets"> & Row>(sql`
    select tenant_id, slug, app_key, allowed_origins, url_parameters
    from tenants
    where app_key = ${key}`);
  return tenant && { ...tenant, identity_secrets: await listSecrets(database, tenant.tenant_id, now) };
}

async function listSecrets(database: Queryable, tenantId: string, now: string): Promise<string[]> {
  const rows = await database.query<{ secret: string }>(sql`
    select secret
    from identity_secrets
    where tenant_id = ${tenantId} and (expires_at is null or expires_at > ${now}::timestamptz)
    order by expires_at desc nulls first`);
  return rows.map(({ secret }) => secret);
}

// Does not block foreign-key checks on the tenant, because every write makes one.
export async function lockTenant(tx: Queryable, slug: string): Promise<TenantRow | undefined> {
  const [row] = await tx.query<TenantRow>(sql`
    select tenant_id, slug, app_key, allowed_origins, ip_policy, url_parameters, retention_days, identity_verification, time_zone, requires_second_factor, notification_details, created_at
    from tenants
    where slug = ${slug}
    for no key update`);
  return row;
}

export async function saveTenant(tx: Queryable, tenant: TenantRow): Promise<void> {
  await tx.query(sql`
    update tenants
    set allowed_origins = ${tenant.allowed_origins},
      ip_policy = ${tenant.ip_policy},
      url_parameters = ${tenant.url_parameters},
      retention_days = ${tenant.retention_days},
      identity_verification = ${tenant.identity_verification},
      time_zone = ${tenant.time_zone},
      requires_second_factor = ${tenant.requires_second_factor},
      notification_details = ${tenant.notification_details}
    where tenant_id = ${tenant.tenant_id}`);
}

// Whether people who sign in with a password need a second factor.
export async function requiresSecondFactor(database: Queryable, tenantId: string): Promise<boolean> {
  const [row] = await database.query<{ requires_second_factor: boolean }>(sql`
    select requires_second_factor
    from tenants
    where tenant_id = ${tenantId}`);
  return row?.requires_second_factor === true;
}

// Returns false if any tenant already uses the client id.
export async function insertClient(tx: Queryable, client: NewClient): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into clients (tenant_id, client_id, scopes, is_primary, secret_hash, created_at)
    values (${client.tenant_id}, ${client.client_id}, ${client.scopes}, ${client.is_primary}, ${client.secret_hash}, ${client.created_at})
    on conflict do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

export async function findClient(database: Queryable, clientId: string): Promise<ClientRow | undefined> {
  const [row] = await database.query<ClientRow>(sql`
    select c.tenant_id, c.client_id, t.slug, c.scopes, c.is_primary, c.secret_hash, c.previous_secrets, c.token_generation,
      c.revoked_at
    from clients as c
    join tenants as t using (tenant_id)
    where c.client_id = ${clientId}`);
  return row;
}

export async function findPrimaryClientId(database: Queryable, tenantId: string): Promise<string | undefined> {
  const [row] = await database.query<{ client_id: string }>(sql`
    select client_id
    from clients
    where tenant_id = ${tenantId} and is_primary and revoked_at is null`);
  return row?.client_id;
}

export const revokedChannel = "casehound_revoked";
export const keysChannel = "casehound_keys";

// If no tenant is named, the client may belong to any: the command line knows only the client id.
export async function saveRevoked(
  tx: Queryable,
  client: { client_id: string; now: string; tenant_id?: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    update clients
    set revoked_at = ${client.now}
    where client_id = ${client.client_id}
      and revoked_at is null
      and tenant_id = coalesce(${client.tenant_id ?? null}::uuid, tenant_id)
    returning 1 as revoked`);
  if (rows.length !== 1) return false;
  await notifyRevoked(tx, client.client_id);
  return true;
}

// Makes every process check again which of the client's tokens are valid. A statement of its own, because in a cluster the change
// runs on every node.
export async function notifyRevoked(tx: Queryable, clientId: string): Promise<void> {
  await tx.query(sql`select pg_notify(${revokedChannel}, ${clientId})`);
}

export async function countTenants(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`select count(*) as count from tenants`);
  return row?.count ?? 0;
}

// The time on the database's clock.
export async function findDatabaseTime(database: Queryable): Promise<string> {
  const [row] = await database.query<{ now: string }>(sql`select now()::timestamptz(3) as now`);
  if (!row) throw new Error("the database did not return its time");
  return row.now;
}
