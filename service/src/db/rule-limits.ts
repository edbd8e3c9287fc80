import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type RuleLimits = { rule_ids: string[]; limited_at: string; limited_until: string };

export async function saveRuleLimits(tx: Queryable, tenantId: string, saved: RuleLimits): Promise<void> {
  await tx.query(sql`
    insert into rule_limits (tenant_id, rule_id, limited_at, limited_until)
    select ${tenantId}::uuid, r.rule_id, ${saved.limited_at}::timestamptz, ${saved.limited_until}::timestamptz
    from unnest(${saved.rule_ids.toSorted()}::text[]) as r (rule_id)
    on conflict (tenant_id, rule_id) do update
    set limited_at = excluded.limited_at, limited_until = greatest(rule_limits.limited_until, excluded.limited_until)`);
}

// Maps each rule that is paused at that time to the end of its pause.
export async function listRuleLimits(database: Queryable, tenantId: string, now: string): Promise<Map<string, string>> {
  const rows = await database.query<{ rule_id: string; limited_until: string }>(sql`
    select rule_id, limited_until
    from rule_limits
    where tenant_id = ${tenantId} and limited_until > ${now}::timestamptz`);
  return new Map(rows.map((row) => [row.rule_id, row.limited_until]));
}

// Counts the paused rules of all tenants.
export async function countLimitedRules(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from rule_limits
    where limited_until > now()`);
  return row?.count ?? 0;
}
