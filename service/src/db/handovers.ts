import type { Handover } from "../domain/handover.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Writers hold the lock on the case.

export async function findHandover(database: Queryable, tenantId: string, caseId: string): Promise<Handover | undefined> {
  const [row] = await database.query<Row & Handover>(sql`
    select h.handed_to, h.handed_by, h.handed_at, h.note_id, coalesce(n.text, '') as text, h.case_version
    from case_handovers as h
    left join case_notes as n on n.tenant_id = ${tenantId} and n.case_id = h.case_id and n.note_id = h.note_id
    where h.tenant_id = ${tenantId} and h.case_id = ${caseId} and not h.is_ended`);
  return row;
}

// Counts the open cases of one recipient.
export async function countHandovers(database: Queryable, tenantId: string, recipient: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from case_handovers
    where tenant_id = ${tenantId} and handed_to = ${recipient} and not is_ended`);
  return row?.count ?? 0;
}

export async function saveHandover(
  tx: Queryable,
  tenantId: string,
  { case_id, handover }: { case_id: string; handover: Omit<Handover, "text"> },
): Promise<void> {
  await tx.query(sql`
    insert into case_handovers (tenant_id, case_id, handed_to, handed_by, handed_at, note_id, case_version)
    values (${tenantId}, ${case_id}, ${handover.handed_to}, ${handover.handed_by}, ${handover.handed_at}, ${handover.note_id},
      ${handover.case_version})
    on conflict (tenant_id, case_id) do update
    set handed_to = excluded.handed_to, handed_by = excluded.handed_by, handed_at = excluded.handed_at,
      note_id = excluded.note_id, case_version = excluded.case_version, is_ended = false`);
}

export async function resumeHandovers(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  await tx.query(sql`
    update case_handovers
    set is_ended = false
    where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[])`);
}
