import type { ApiClient, ClientSecrets } from "../domain/client.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";
import { notifyRevoked } from "./tenants.ts";

type ListedRow = Row & {
  client_id: string;
  scopes: string[];
  is_primary: boolean;
  created_at: string;
  previous_until: string | null;
  revoked_at: string | null;
};

// In order of creation.
export async function listClients(database: Queryable, tenantId: string, now: string): Promise<ApiClient[]> {
  const rows = await database.query<ListedRow>(sql`
    select client_id, scopes, is_primary, created_at,
      case when (previous_secrets->-1->>'until')::timestamptz > ${now}::timestamptz
        then previous_secrets->-1->>'until' end as previous_until, revoked_at
    from clients
    where tenant_id = ${tenantId}
    order by created_at, client_id`);
  return rows.map(({ previous_until: until, revoked_at, ...row }) => ({
    ...row,
    ...(until !== null && { previous_secret_expires_at: until }),
    ...(revoked_at !== null && { revoked_at }),
  }));
}

export async function countClients(database: Queryable, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from clients
    where tenant_id = ${tenantId} and revoked_at is null`);
  return row?.count ?? 0;
}

// Undefined if the client does not exist or was revoked. Scopes never change, and neither does the salt of a client's hashes.
export async function findOwnClient(
  database: Queryable,
  tenantId: string,
  clientId: string,
): Promise<{ scopes: string[]; secret_hash: string } | undefined> {
  const [row] = await database.query<{ scopes: string[]; secret_hash: string }>(sql`
    select scopes, secret_hash
    from clients
    where tenant_id = ${tenantId} and client_id = ${clientId} and revoked_at is null`);
  return row;
}

export async function lockSecrets(tx: Queryable, tenantId: string, clientId: string): Promise<ClientSecrets | undefined> {
  const [row] = await tx.query<ClientSecrets & Row>(sql`
    select secret_hash, previous_secrets, token_generation
    from clients
    where tenant_id = ${tenantId} and client_id = ${clientId} and revoked_at is null
    for no key update`);
  return row;
}

// Makes every process check again which of the client's tokens are valid.
export async function saveSecrets(tx: Queryable, tenantId: string, saved: ClientSecrets & { client_id: string }): Promise<void> {
  await tx.query(sql`
    update clients
    set secret_hash = ${saved.secret_hash},
      previous_secrets = ${JSON.stringify(saved.previous_secrets)},
      token_generation = ${saved.token_generation}
    where tenant_id = ${tenantId} and client_id = ${saved.client_id}`);
  await notifyRevoked(tx, saved.client_id);
}
