import type { Claim } from "../domain/claim.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// A lease has lapsed once the database's clock says so, because processes may have different clocks.

type ClaimRow = Row & Claim;

export async function findClaim(database: Queryable, tenantId: string, caseId: string): Promise<Claim | undefined> {
  const [row] = await database.query<ClaimRow>(sql`
    select claimed_by, claimed_at, expires_at
    from case_leases
    where tenant_id = ${tenantId} and case_id = ${caseId} and expires_at > now()`);
  return row;
}

export async function lockClaim(tx: Queryable, tenantId: string, caseId: string): Promise<Claim | undefined> {
  const [row] = await tx.query<ClaimRow>(sql`
    select claimed_by, claimed_at, expires_at
    from case_leases
    where tenant_id = ${tenantId} and case_id = ${caseId} and expires_at > now()
    for update`);
  return row;
}

export async function countClaimsOf(database: Queryable, tenantId: string, holder: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from case_leases
    where tenant_id = ${tenantId} and claimed_by = ${holder} and expires_at > now()`);
  return row?.count ?? 0;
}

// Returns false if somebody else has claimed the case meanwhile.
export async function saveClaim(
  tx: Queryable,
  tenantId: string,
  { case_id, claim, isTakeover }: { case_id: string; claim: Claim; isTakeover: boolean },
): Promise<boolean> {
  const deleting = deleteExpired(tx, tenantId, case_id);
  const saving = tx.query(sql`
    insert into case_leases as l (tenant_id, case_id, claimed_by, claimed_at, expires_at)
    values (${tenantId}, ${case_id}, ${claim.claimed_by}, ${claim.claimed_at}, ${claim.expires_at})
    on conflict (tenant_id, case_id) do update
    set claimed_by = excluded.claimed_by, claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
    where ${isTakeover}::boolean or l.claimed_by = excluded.claimed_by
    returning 1 as saved`);
  const [rows] = await Promise.all([saving, deleting]);
  return rows.length === 1;
}

// Returns whether the holder had a claim that had not lapsed.
export async function deleteClaim(
  tx: Queryable,
  tenantId: string,
  { case_id, holder }: { case_id: string; holder: string },
): Promise<boolean> {
  const expiring = deleteExpired(tx, tenantId, case_id);
  const deleting = tx.query(sql`
    delete from case_leases
    where tenant_id = ${tenantId} and case_id = ${case_id} and claimed_by = ${holder}
    returning 1 as was_held`);
  const [rows] = await Promise.all([deleting, expiring]);
  return rows.length === 1;
}

// A cluster cannot ask for the time in a statement that saves, or in what a change returns. Sent together with that statement.
async function deleteExpired(tx: Queryable, tenantId: string, caseId: string): Promise<void> {
  await tx.query(sql`
    delete from case_leases
    where tenant_id = ${tenantId} and case_id = ${caseId} and expires_at <= now()`);
}

// Nobody works on a closed case, and its handover has ended. The events of the closes say so. One statement for both, because
// every close runs it.
export async function endWork(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  await tx.query(sql`
    with ended as (
      update case_handovers
      set is_ended = true
      where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[]) and not is_ended
    )
    delete from case_leases
    where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[])`);
}

// Ends the claim of anybody but the recipient.
export async function deleteOtherClaims(
  tx: Queryable,
  tenantId: string,
  { case_id, holder }: { case_id: string; holder?: string | undefined },
): Promise<void> {
  await tx.query(sql`
    delete from case_leases
    where tenant_id = ${tenantId} and case_id = ${case_id} and claimed_by is distinct from ${holder ?? null}`);
}
