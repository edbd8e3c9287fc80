import type { Person } from "../domain/user.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// `role_scopes`: of a role that the tenant made. They are read with every request, so a change takes effect at once.
// `must_add_second_factor`: the tenant requires a second factor, and the session was opened without one.
export type WebSession = Person & {
  seen_at: string;
  expires_at: string;
  must_add_second_factor: boolean;
  role_scopes: string[] | null;
};

// Finds a session only while it is valid: neither expired nor idle for too long, and its user not disabled. It is read for every
// request, so that ending a session takes effect everywhere at once.
export async function findWebSession(
  database: Queryable,
  tenantId: string,
  wanted: { token_hash: Buffer; now: string; idle_since: string },
): Promise<WebSession | undefined> {
  const [row] = await database.query<WebSession & Row>(sql`
    select s.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, s.seen_at, s.expires_at,
      t.requires_second_factor and not s.has_second_factor as must_add_second_factor, r.scopes as role_scopes
    from web_sessions as s
    join users as u on u.tenant_id = s.tenant_id and u.user_id = s.user_id
    join tenants as t on t.tenant_id = s.tenant_id
    left join tenant_roles as r on r.tenant_id = u.tenant_id and r.role = u.role
    where s.tenant_id = ${tenantId}
      and s.token_hash = ${wanted.token_hash}
      and s.expires_at > ${wanted.now}::timestamptz
      and s.seen_at > ${wanted.idle_since}::timestamptz
      and not u.is_disabled`);
  return row;
}

export type NewWebSession = {
  token_hash: Buffer;
  user_id: string;
  created_at: string;
  expires_at: string;
  has_second_factor: boolean;
};

// Ends the user's oldest sessions if there are too many.
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
    insert into web_sessions (tenant_id, token_hash, user_id, created_at, seen_at, expires_at, has_second_factor)
    values (
      ${tenantId}, ${session.token_hash}, ${session.user_id}, ${session.created_at}, ${session.created_at}, ${session.expires_at},
      ${session.has_second_factor}
    )`);
}

export async function saveSeen(tx: Queryable, tenantId: string, seen: { token_hash: Buffer; now: string }): Promise<void> {
  await tx.query(sql`
    update web_sessions
    set seen_at = ${seen.now}
    where tenant_id = ${tenantId} and token_hash = ${seen.token_hash}`);
}

// The person has given a second factor in this session.
export async function saveSessionFactor(tx: Queryable, tenantId: string, tokenHash: Buffer): Promise<void> {
  await tx.query(sql`
    update web_sessions
    set has_second_factor = true
    where tenant_id = ${tenantId} and token_hash = ${tokenHash}`);
}

// Returns false if the session has ended. Otherwise it cannot end before the transaction does.
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

// Deletes all of a user's sessions, except `kept` if it is given.
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
