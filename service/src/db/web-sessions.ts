import type { Person } from "../domain/user.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type WebSession = Person & { seen_at: string; expires_at: string };

// Only while it is good: in time, used lately, and of somebody who is not disabled. Asked with every request, so that what
// ends one is heard everywhere at once.
export async function findWebSession(
  database: Queryable,
  tenantId: string,
  wanted: { token_hash: Buffer; now: string; idle_since: string },
): Promise<WebSession | undefined> {
  const [row] = await database.query<WebSession & Row>(sql`
    select s.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, s.seen_at, s.expires_at
    from web_sessions as s
    join users as u on u.tenant_id = s.tenant_id and u.user_id = s.user_id
    join tenants as t on t.tenant_id = s.tenant_id
    where s.tenant_id = ${tenantId}
      and s.token_hash = ${wanted.token_hash}
      and s.expires_at > ${wanted.now}::timestamptz
      and s.seen_at > ${wanted.idle_since}::timestamptz
      and not u.is_disabled`);
  return row;
}

export type NewWebSession = { token_hash: Buffer; user_id: string; created_at: string; expires_at: string };

// The oldest of the user's sessions end where there are too many.
export async function insertWebSession(
  tx: Queryable,
  tenantId: string,
  session: NewWebSession,
  perUserMax: number,
): Promise<void> {
  await tx.query(sql`
    delete from web_sessions
    where tenant_id = ${tenantId}
      and token_hash = any(array(
        select token_hash
        from web_sessions
        where tenant_id = ${tenantId} and user_id = ${session.user_id}
        order by created_at desc
        offset ${perUserMax - 1}
      ))`);
  await tx.query(sql`
    insert into web_sessions (tenant_id, token_hash, user_id, created_at, seen_at, expires_at)
    values (
      ${tenantId}, ${session.token_hash}, ${session.user_id}, ${session.created_at}, ${session.created_at}, ${session.expires_at}
    )`);
}

export async function saveSeen(tx: Queryable, tenantId: string, seen: { token_hash: Buffer; now: string }): Promise<void> {
  await tx.query(sql`
    update web_sessions
    set seen_at = ${seen.now}
    where tenant_id = ${tenantId} and token_hash = ${seen.token_hash}`);
}

// False where it has ended; else it goes on until the transaction is done.
export async function lockWebSession(tx: Queryable, tenantId: string, tokenHash: Buffer): Promise<boolean> {
  const rows = await tx.query(sql`
    select user_id
    from web_sessions
    where tenant_id = ${tenantId} and token_hash = ${tokenHash}
    for update`);
  return rows.length === 1;
}

export async function deleteWebSession(tx: Queryable, tenantId: string, tokenHash: Buffer): Promise<boolean> {
  const rows = await tx.query(sql`
    delete from web_sessions
    where tenant_id = ${tenantId} and token_hash = ${tokenHash}
    returning 1 as ended`);
  return rows.length === 1;
}

// All of a user's but the one that is kept, where one is.
export async function deleteWebSessions(
  tx: Queryable,
  tenantId: string,
  { user_id, kept = null }: { user_id: string; kept?: Buffer | null },
): Promise<number> {
  const rows = await tx.query(sql`
    delete from web_sessions
    where tenant_id = ${tenantId} and user_id = ${user_id} and token_hash is distinct from ${kept}::bytea
    returning 1 as ended`);
  return rows.length;
}
