import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";
import { keysChannel } from "./tenants.ts";

export type SigningKey = { kid: string; private_jwk: Record<string, unknown>; created_at: string };

// Newest first: the first one signs, all of them verify.
export async function listSigningKeys(database: Queryable): Promise<SigningKey[]> {
  return database.query<SigningKey & Row>(sql`
    select kid, private_jwk, created_at
    from signing_keys
    order by created_at desc, kid desc`);
}

// `firstOnly`: made only where there is none, so that of many processes that start at once one makes it.
export async function insertSigningKey(tx: Queryable, key: SigningKey, firstOnly: boolean): Promise<void> {
  await tx.query(sql`lock table signing_keys in exclusive mode`);
  await tx.query(sql`
    insert into signing_keys (kid, private_jwk, created_at)
    select ${key.kid}::text, ${JSON.stringify(key.private_jwk)}::jsonb, ${key.created_at}::timestamptz
    where not ${firstOnly}::boolean or not exists (select 1 from signing_keys)
    returning pg_notify(${keysChannel}, kid)`);
}

// Keys whose tokens have all expired: older than the key that replaced them by more than a token's life.
export async function deleteSigningKeysBefore(tx: Queryable, time: string): Promise<void> {
  await tx.query(sql`
    delete from signing_keys
    where kid in (
      select kid
      from (select kid, lead(created_at) over (order by created_at) as replaced_at from signing_keys) as k
      where replaced_at < ${time}
    )`);
}

export type IssuerEntry = {
  payload: Record<string, unknown>;
  grantId: string | null;
  uid: string | null;
  userCode: string | null;
  expires_at: string | null;
};

export async function saveIssuerEntry(tx: Queryable, key: { model: string; id: string }, entry: IssuerEntry): Promise<void> {
  await tx.query(sql`
    insert into issuer_state (model, id, payload, grant_id, uid, user_code, expires_at)
    values (${key.model}, ${key.id}, ${JSON.stringify(entry.payload)}, ${entry.grantId}, ${entry.uid}, ${entry.userCode}, ${entry.expires_at})
    on conflict (model, id) do update
    set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, user_code = excluded.user_code, expires_at = excluded.expires_at`);
}

type EntryRow = { payload: Record<string, unknown>; consumed_at: string | null };

export async function findIssuerEntry(
  database: Queryable,
  model: string,
  by: { id?: string; uid?: string; userCode?: string },
): Promise<EntryRow | undefined> {
  const [row] = await database.query<EntryRow>(sql`
    select payload, consumed_at
    from issuer_state
    where model = ${model}
      and (id = ${by.id ?? null} or uid = ${by.uid ?? null} or user_code = ${by.userCode ?? null})
      and (expires_at is null or expires_at > now())`);
  return row;
}

export async function consumeIssuerEntry(tx: Queryable, key: { model: string; id: string }): Promise<void> {
  await tx.query(sql`update issuer_state set consumed_at = now() where model = ${key.model} and id = ${key.id}`);
}

export async function deleteIssuerEntry(tx: Queryable, key: { model: string; id: string }): Promise<void> {
  await tx.query(sql`delete from issuer_state where model = ${key.model} and id = ${key.id}`);
}

export async function deleteIssuerGrant(tx: Queryable, grantId: string): Promise<void> {
  await tx.query(sql`delete from issuer_state where grant_id = ${grantId}`);
}
