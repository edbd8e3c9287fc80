import { hash } from "node:crypto";
import { uuidOf } from "./inbox.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

const casesMax = 200;

export type CaseTrait = { trait: string; rule_id: string; case_id: string; size: number };
export type TraitOutcome = CaseTrait & { disposition: string; decided_at: string };

// A keyed hash, because a trait may contain an address, a device or an account.
export function traitKey(key: string, trait: string): string {
  return uuidOf(hash("sha256", `${key} ${trait}`, "hex"));
}

// Returns what investigators decided about the latest cases with these traits.
export async function findTraitOutcomes(
  tx: Queryable,
  tenantId: string,
  wanted: { traits: string[]; since: string },
): Promise<TraitOutcome[]> {
  return tx.query<Row & TraitOutcome>(sql`
    select w.trait, t.rule_id, t.case_id, t.size, o.disposition, o.decided_at
    from unnest(${plainArray(wanted.traits)}::uuid[]) as w (trait)
    cross join lateral (
      select rule_id, case_id, size
      from case_traits
      where tenant_id = ${tenantId} and trait = w.trait
      order by case_id desc
      limit ${casesMax}
    ) as t
    join outcomes as o on o.tenant_id = ${tenantId} and o.case_id = t.case_id
    where o.decided_at >= ${wanted.since} and o.disposition in ('FALSE_POSITIVE', 'CONFIRMED_FRAUD')`);
}

// Sorted, so that two writers wait for each other instead of deadlocking.
export async function saveTraits(tx: Queryable, tenantId: string, traits: CaseTrait[], now: string): Promise<void> {
  if (traits.length === 0) return;
  await tx.query(sql`
    insert into case_traits (tenant_id, trait, rule_id, case_id, size, seen_at)
    select ${tenantId}::uuid, t.trait, t.rule_id, t.case_id, t.size, ${now}::timestamptz
    from unnest(
      ${plainArray(traits.map((each) => each.trait))}::uuid[],
      ${traits.map((each) => each.rule_id)}::text[],
      ${plainArray(traits.map((each) => each.case_id))}::uuid[],
      ${traits.map((each) => each.size)}::int[]
    ) as t (trait, rule_id, case_id, size)
    order by t.trait, t.case_id, t.rule_id
    on conflict (tenant_id, trait, case_id, rule_id) do update
    set size = greatest(case_traits.size, excluded.size)
    where case_traits.size < excluded.size`);
}

export async function deleteTraitsOf(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  await tx.query(sql`
    delete from case_traits
    where tenant_id = ${tenantId} and case_id = any(${plainArray(caseIds)}::uuid[])`);
}
