import type { Person } from "../domain/user.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type Passkey = { passkey_id: string; name: string; created_at: string; last_used_at: string | null };

// Oldest first.
export async function listPasskeys(
  database: Queryable,
  tenantId: string,
  userId: string,
): Promise<(Passkey & { credential_id: Buffer })[]> {
  return database.query<Passkey & { credential_id: Buffer } & Row>(sql`
    select passkey_id, name, created_at, last_used_at, credential_id
    from user_passkeys
    where tenant_id = ${tenantId} and user_id = ${userId}
    order by created_at, passkey_id`);
}

export type NewPasskey = {
  user_id: string;
  passkey_id: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
  challenge_ms: number;
  name: string;
  now: string;
};

// Returns false if somebody of the tenant already has the credential.
export async function insertPasskey(tx: Queryable, tenantId: string, made: NewPasskey): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into user_passkeys (tenant_id, user_id, passkey_id, credential_id, public_key, counter, last_challenge_ms, name, created_at)
    values (
      ${tenantId}, ${made.user_id}, ${made.passkey_id}, ${made.credential_id}, ${made.public_key}, ${made.counter},
      ${made.challenge_ms}, ${made.name}, ${made.now}
    )
    on conflict (tenant_id, credential_id) do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

export type KeyHolder = Person & {
  password_hash: string;
  passkey_id: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
};

// Finds a passkey with its owner, who must not be disabled.
export async function findKeyHolder(
  database: Queryable,
  tenantId: string,
  wanted: { user_id: string; credential_id: Buffer },
): Promise<KeyHolder | undefined> {
  const [row] = await database.query<KeyHolder & Row>(sql`
    select u.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, u.password_hash, p.passkey_id, p.credential_id, p.public_key,
      p.counter
    from user_passkeys as p
    join users as u on u.tenant_id = p.tenant_id and u.user_id = p.user_id
    join tenants as t on t.tenant_id = p.tenant_id
    where p.tenant_id = ${tenantId}
      and p.user_id = ${wanted.user_id}
      and p.credential_id = ${wanted.credential_id}
      and u.password_hash is not null
      and not u.is_disabled`);
  return row;
}

type Use = { passkey_id: string; counter: number; newCounter: number; challenge_ms: number; now: string };

// Returns false if the passkey is gone, or if the same or a later challenge was used meanwhile.
export async function claimPasskeyUse(tx: Queryable, tenantId: string, use: Use): Promise<boolean> {
  const rows = await tx.query(sql`
    update user_passkeys
    set counter = ${use.newCounter}, last_challenge_ms = ${use.challenge_ms}, last_used_at = ${use.now}
    where tenant_id = ${tenantId}
      and passkey_id = ${use.passkey_id}
      and counter = ${use.counter}
      and last_challenge_ms < ${use.challenge_ms}
    returning 1 as claimed`);
  return rows.length === 1;
}

export async function deletePasskey(
  tx: Queryable,
  tenantId: string,
  { user_id, passkey_id }: { user_id: string; passkey_id: string },
): Promise<string | undefined> {
  const [row] = await tx.query<{ name: string }>(sql`
    delete from user_passkeys
    where tenant_id = ${tenantId} and user_id = ${user_id} and passkey_id = ${passkey_id}
    returning name`);
  return row?.name;
}

export async function deletePasskeys(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  await tx.query(sql`
    delete from user_passkeys
    where tenant_id = ${tenantId} and user_id = ${userId}`);
}
