import { Failure } from "../domain/failure.ts";
import { contended, type Queryable } from "./postgres/database.ts";
import { joinJson, plainArray, sql } from "./postgres/sql.ts";
import { vouch } from "./vouch.ts";

// The stored reply of a case omits the account id, which is filled in on replay. An erased id is therefore in no reply.
export type StoredReply = { status: number; body: string; website_account_id: string | null };
export type KeyClaim = { key: string; fingerprint: Buffer; caseId: string | null; now: string };

type KnownKey = { fingerprint: Buffer; status: number | null; reply: string | null; website_account_id: string | null };

// Returns null if the transaction claimed the key; a request with the same key then waits until it ends. Otherwise returns the
// stored reply.
export async function claimKey(tx: Queryable, tenantId: string, claim: KeyClaim): Promise<StoredReply | null> {
  const claimed = await tx.query(sql`
    insert into idempotency_keys (tenant_id, key, fingerprint, case_id, created_at)
    values (${tenantId}, ${claim.key}, ${claim.fingerprint}, ${claim.caseId}, ${claim.now})
    on conflict (tenant_id, key) do nothing
    returning 1 as claimed`);
  if (claimed.length === 1) return null;
  const [known] = await tx.query<KnownKey>(sql`
    select k.fingerprint, k.status, k.reply, c.website_account_id
    from idempotency_keys as k
    left join cases as c on c.tenant_id = k.tenant_id and c.case_id = k.case_id
    where k.tenant_id = ${tenantId} and k.key = ${claim.key}`);
  if (!known || known.status === null || known.reply === null) throw contended();
  if (!known.fingerprint.equals(claim.fingerprint)) {
    throw new Failure(
      "operation-idempotency-conflict",
      "This Idempotency-Key was used for another request. A different request needs a new key.",
    );
  }
  await vouch(tx);
  return { status: known.status, body: known.reply, website_account_id: known.website_account_id };
}

export async function saveReply(
  tx: Queryable,
  tenantId: string,
  key: string,
  reply: { status: number; body: string },
): Promise<void> {
  await tx.query(sql`
    update idempotency_keys
    set status = ${reply.status}, reply = ${reply.body}
    where tenant_id = ${tenantId} and key = ${key}`);
}

// Releases the key that the transaction claimed, so that the next request can use it.
export async function deleteKey(tx: Queryable, tenantId: string, key: string): Promise<void> {
  await tx.query(sql`
    delete from idempotency_keys
    where tenant_id = ${tenantId} and key = ${key}`);
}

// Inserts unused keys with their replies. A key that was used meanwhile is a unique violation, which ends the transaction.
export async function insertReplies(
  tx: Queryable,
  tenantId: string,
  replies: (KeyClaim & { status: number; body: string })[],
): Promise<void> {
  if (replies.length === 0) return;
  await tx.query(sql`
    insert into idempotency_keys (tenant_id, key, fingerprint, case_id, created_at, status, reply)
    select ${tenantId}::uuid, r.key, r.fingerprint, r.case_id, r.created_at, r.status, r.reply
    from unnest(
      ${replies.map((each) => each.key)}::text[],
      ${replies.map((each) => each.fingerprint)}::bytea[],
      ${plainArray(replies.map((each) => each.caseId))}::uuid[],
      ${plainArray(replies.map((each) => each.now))}::timestamptz[],
      ${plainArray(replies.map((each) => each.status))}::smallint[],
      string_to_array(${joinJson(replies.map((each) => each.body))}, chr(1))
    ) as r (key, fingerprint, case_id, created_at, status, reply)`);
}
