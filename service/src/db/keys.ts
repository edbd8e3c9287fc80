import { Failure } from "../domain/failure.ts";
import { contended, type Queryable } from "./database.ts";
import { sql } from "./sql.ts";

export type StoredReply = { status: number; body: string };
export type KeyClaim = { key: string; fingerprint: Buffer; caseId: string | null; now: string };

// Null: the key is ours until the transaction ends, and a request with the same one waits for that. Else: the stored reply.
export async function claimKey(tx: Queryable, tenantId: string, claim: KeyClaim): Promise<StoredReply | null> {
  const claimed = await tx.query(sql`
    insert into idempotency_keys (tenant_id, key, fingerprint, case_id, created_at)
    values (${tenantId}, ${claim.key}, ${claim.fingerprint}, ${claim.caseId}, ${claim.now})
    on conflict (tenant_id, key) do nothing
    returning 1 as claimed`);
  if (claimed.length === 1) return null;
  const [known] = await tx.query<{ fingerprint: Buffer; status: number | null; reply: string | null }>(sql`
    select fingerprint, status, reply
    from idempotency_keys
    where tenant_id = ${tenantId} and key = ${claim.key}`);
  if (!known || known.status === null || known.reply === null) throw contended();
  if (!known.fingerprint.equals(claim.fingerprint)) {
    throw new Failure(
      "operation-idempotency-conflict",
      "This Idempotency-Key was used for another request. A different request needs a new key.",
    );
  }
  return { status: known.status, body: known.reply };
}

export async function saveReply(tx: Queryable, tenantId: string, key: string, reply: StoredReply): Promise<void> {
  await tx.query(sql`
    update idempotency_keys
    set status = ${reply.status}, reply = ${reply.body}
    where tenant_id = ${tenantId} and key = ${key}`);
}

// A stored reply shows the case as it was answered, so an erased account's id stands there too.
export async function lockRepliesOfCases(
  tx: Queryable,
  tenantId: string,
  caseIds: string[],
): Promise<{ key: string; reply: string }[]> {
  return tx.query<{ key: string; reply: string }>(sql`
    select key, reply
    from idempotency_keys
    where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[]) and status = 200
    order by key
    for update`);
}

export async function saveReplyTexts(tx: Queryable, tenantId: string, replies: { key: string; reply: string }[]): Promise<void> {
  await tx.query(sql`
    update idempotency_keys as k
    set reply = r.reply
    from unnest(${replies.map((each) => each.key)}::text[], ${replies.map((each) => each.reply)}::text[]) as r (key, reply)
    where k.tenant_id = ${tenantId} and k.key = r.key`);
}
