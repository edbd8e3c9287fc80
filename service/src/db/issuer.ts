import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";
import { keysChannel } from "./tenants.ts";

export type SigningKey = { kid: string; private_jwk: Record<string, unknown>; created_at: string };

// Newest first. The first key signs; all of them verify.
export async function listSigningKeys(database: Queryable): Promise<SigningKey[]> {
  return database.query<SigningKey & Row>(sql`
    select kid, private_jwk, created_at
    from signing_keys
    order by created_at desc, kid desc`);
}

// `firstOnly`: insert only if there is no key yet, so that only one of several processes that start at once creates it.
export async function insertSigningKey(tx: Queryable, key: SigningKey, firstOnly: boolean): Promise<void> {
  await tx.query(sql`lock table signing_keys in exclusive mode`);
  await tx.query(sql`
    insert into signing_keys (kid, private_jwk, created_at)
    select ${key.kid}::text, ${JSON.stringify(key.private_jwk)}::jsonb, ${key.created_at}::timestamptz
    where not ${firstOnly}::boolean or not exists (select 1 from signing_keys)
    returning pg_notify(${keysChannel}, kid)`);
}

// Deletes keys whose tokens have all expired: those replaced longer ago than a token lives.
export async function deleteSigningKeysBefore(tx: Queryable, time: string): Promise<void> {
  await tx.query(sql`
    delete from signing_keys
    where kid in (
      select kid
      from (select kid, lead(created_at) over (order by created_at) as replaced_at from signing_keys) as k
      where replaced_at < ${time}
    )`);
}
