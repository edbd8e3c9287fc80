import type { Person } from "../domain/user.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type Totp = {
  secret: Buffer | null;
  confirmed_at: string | null;
  last_step: number;
  pending_secret: Buffer | null;
  pending_since: string | null;
};

export async function findTotp(database: Queryable, tenantId: string, userId: string): Promise<Totp | undefined> {
  const [row] = await database.query<Totp & Row>(sql`
    select secret, confirmed_at, last_step, pending_secret, pending_since
    from user_totp
    where tenant_id = ${tenantId} and user_id = ${userId}`);
  return row;
}

// A secret that works once it is confirmed. Replaces another one that is not confirmed yet.
export async function savePendingTotp(
  tx: Queryable,
  tenantId: string,
  saved: { user_id: string; secret: Buffer; now: string },
): Promise<void> {
  await tx.query(sql`
    insert into user_totp (tenant_id, user_id, pending_secret, pending_since)
    values (${tenantId}, ${saved.user_id}, ${saved.secret}, ${saved.now})
    on conflict (tenant_id, user_id) do update
    set pending_secret = excluded.pending_secret, pending_since = excluded.pending_since`);
}

// The pending secret becomes the active one. `step` is the step of the code that confirmed it.
export async function confirmTotp(
  tx: Queryable,
  tenantId: string,
  confirmed: { user_id: string; step: number; now: string },
): Promise<void> {
  await tx.query(sql`
    update user_totp
    set secret = pending_secret, confirmed_at = ${confirmed.now}, last_step = ${confirmed.step}, pending_secret = null, pending_since = null
    where tenant_id = ${tenantId} and user_id = ${confirmed.user_id}`);
}

// Returns true for only one of several concurrent callers with the same step.
export async function claimTotpStep(tx: Queryable, tenantId: string, claim: { user_id: string; step: number }): Promise<boolean> {
  const rows = await tx.query(sql`
    update user_totp
    set last_step = ${claim.step}
    where tenant_id = ${tenantId} and user_id = ${claim.user_id} and last_step < ${claim.step}
    returning 1 as claimed`);
  return rows.length === 1;
}

export async function deleteTotp(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  await tx.query(sql`
    delete from user_totp
    where tenant_id = ${tenantId} and user_id = ${userId}`);
}

// Replaces the person's earlier codes.
export async function insertRecoveryCodes(
  tx: Queryable,
  tenantId: string,
  { user_id, hashes }: { user_id: string; hashes: Buffer[] },
): Promise<void> {
  await deleteRecoveryCodes(tx, tenantId, user_id);
  await tx.query(sql`
    insert into user_recovery_codes (tenant_id, user_id, code_hash)
    select ${tenantId}, ${user_id}, code_hash
    from unnest(${hashes}::bytea[]) as code_hash`);
}

async function deleteRecoveryCodes(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  await tx.query(sql`
    delete from user_recovery_codes
    where tenant_id = ${tenantId} and user_id = ${userId}`);
}

// Uses a code up. Returns true for only one of several concurrent callers.
export async function claimRecoveryCode(
  tx: Queryable,
  tenantId: string,
  claim: { user_id: string; code_hash: Buffer },
): Promise<boolean> {
  const rows = await tx.query(sql`
    delete from user_recovery_codes
    where tenant_id = ${tenantId} and user_id = ${claim.user_id} and code_hash = ${claim.code_hash}
    returning 1 as claimed`);
  return rows.length === 1;
}

export async function countRecoveryCodes(database: Queryable, tenantId: string, userId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from user_recovery_codes
    where tenant_id = ${tenantId} and user_id = ${userId}`);
  return row?.count ?? 0;
}

// Call it after every change of a person's factors, in the same transaction. Without a factor, recovery codes replace nothing,
// and no session counts as opened with one.
export async function saveHasSecondFactor(tx: Queryable, tenantId: string, userId: string): Promise<boolean> {
  const [row] = await tx.query<{ has: boolean }>(sql`
    update users as u
    set has_second_factor = exists (
      select from user_totp as f
      where f.tenant_id = u.tenant_id and f.user_id = u.user_id and f.secret is not null
    ) or exists (
      select from user_passkeys as p
      where p.tenant_id = u.tenant_id and p.user_id = u.user_id
    )
    where u.tenant_id = ${tenantId} and u.user_id = ${userId}
    returning u.has_second_factor as has`);
  const has = row?.has === true;
  if (has) return true;
  await deleteRecoveryCodes(tx, tenantId, userId);
  await tx.query(sql`
    update web_sessions
    set has_second_factor = false
    where tenant_id = ${tenantId} and user_id = ${userId}`);
  return false;
}

export async function listFactorKinds(database: Queryable, tenantId: string, userId: string): Promise<("totp" | "passkey")[]> {
  const [row] = await database.query<{ has_totp: boolean; has_passkey: boolean }>(sql`
    select
      exists (
        select from user_totp
        where tenant_id = ${tenantId} and user_id = ${userId} and secret is not null
      ) as has_totp,
      exists (
        select from user_passkeys
        where tenant_id = ${tenantId} and user_id = ${userId}
      ) as has_passkey`);
  return [...(row?.has_totp ? ["totp" as const] : []), ...(row?.has_passkey ? ["passkey" as const] : [])];
}

// A person who has entered the password and must still give a second factor.
export type PendingPerson = Person & { password_hash: string | null };

export async function findPendingPerson(
  database: Queryable,
  tenantId: string,
  userId: string,
): Promise<PendingPerson | undefined> {
  const [row] = await database.query<PendingPerson & Row>(sql`
    select u.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, u.password_hash
    from users as u
    join tenants as t using (tenant_id)
    where u.tenant_id = ${tenantId} and u.user_id = ${userId} and not u.is_disabled and u.has_second_factor`);
  return row;
}
