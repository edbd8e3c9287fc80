import type { ApiClient } from "../domain/client.ts";
import type { Queryable, Row } from "./database.ts";
import { sql } from "./sql.ts";

type ListedRow = Row & {
  client_id: string;
  scopes: string[];
  is_primary: boolean;
  created_at: string;
  previous_secret_until: string | null;
  revoked_at: string | null;
};

// In the order in which they were made.
export async function listClients(database: Queryable, tenantId: string, now: string): Promise<ApiClient[]> {
  const rows = await database.query<ListedRow>(sql`
    select client_id, scopes, is_primary, created_at,
      case when previous_secret_until > ${now}::timestamptz then previous_secret_until end as previous_secret_until, revoked_at
    from clients
    where tenant_id = ${tenantId}
    order by created_at, client_id`);
  return rows.map(({ previous_secret_until: until, revoked_at, ...row }) => ({
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

// They never change. Undefined where there is no such client, or it was revoked.
export async function findClientScopes(database: Queryable, tenantId: string, clientId: string): Promise<string[] | undefined> {
  const [row] = await database.query<{ scopes: string[] }>(sql`
    select scopes
    from clients
    where tenant_id = ${tenantId} and client_id = ${clientId} and revoked_at is null`);
  return row?.scopes;
}
