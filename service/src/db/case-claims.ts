import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Links a case about a source to an account that the source's pages named.
export type CaseClaim = { case_id: string; account: string };

// Sorted, so that two writers wait for each other instead of deadlocking.
export async function insertCaseClaims(tx: Queryable, tenantId: string, claims: CaseClaim[]): Promise<void> {
  if (claims.length === 0) return;
  await tx.query(sql`
    insert into case_claims (tenant_id, website_account_id, case_id)
    select ${tenantId}::uuid, c.account, c.case_id
    from unnest(${claims.map((each) => each.account)}::text[], ${claims.map((each) => each.case_id)}::uuid[]) as c (account, case_id)
    order by c.account, c.case_id
    on conflict do nothing`);
}
