import { databasePattern, type Erased } from "../domain/erasure.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type ClosingKind = "reason_templates" | "own_dispositions" | "approvals";
export type ClosingSetting<T> = { version: number; definition: T; updated_at: string; updated_by: string };

// A tenant that has never changed the setting has version 1, which is as old as the tenant.
export async function findClosingSetting<T>(
  database: Queryable,
  tenantId: string,
  { kind, initial }: { kind: ClosingKind; initial: T },
): Promise<ClosingSetting<T>> {
  const [row] = await database.query<Row & ClosingSetting<T>>(sql`
    select coalesce(s.version, 1) as version, coalesce(s.definition, ${JSON.stringify(initial)}::jsonb) as definition,
      coalesce(s.updated_at, t.created_at) as updated_at, coalesce(s.updated_by, 'system') as updated_by
    from tenants as t
    left join closing_settings as s on s.tenant_id = t.tenant_id and s.kind = ${kind}
    where t.tenant_id = ${tenantId}`);
  if (!row) throw new Error(`tenant ${tenantId} does not exist`);
  return row;
}

// The caller has locked the tenant's settings.
export async function saveClosingSetting<T>(
  tx: Queryable,
  tenantId: string,
  { kind, version, definition, updated_at, updated_by }: ClosingSetting<T> & { kind: ClosingKind },
): Promise<void> {
  await tx.query(sql`
    insert into closing_settings (tenant_id, kind, version, definition, updated_at, updated_by)
    values (${tenantId}, ${kind}, ${version}, ${JSON.stringify(definition)}, ${updated_at}, ${updated_by})
    on conflict (tenant_id, kind) do update
    set version = excluded.version,
      definition = excluded.definition,
      updated_at = excluded.updated_at,
      updated_by = excluded.updated_by`);
}

// Templates are texts of the tenant, so they may quote the id. The new version keeps a change that was begun before from writing it
// back.
export async function eraseAccountFromTemplates(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    update closing_settings
    set version = version + 1,
      definition = (
        select jsonb_agg(
          template || jsonb_build_object(
            'name', regexp_replace(template ->> 'name', ${pattern}, ${pseudonym}, 'g'),
            'text', regexp_replace(template ->> 'text', ${pattern}, ${pseudonym}, 'g')
          ) order by position
        )
        from jsonb_array_elements(definition) with ordinality as t (template, position)
      )
    where tenant_id = ${tenantId}
      and kind = 'reason_templates'
      and exists (
        select
        from jsonb_array_elements(case when jsonb_typeof(definition) = 'array' then definition else '[]' end) as t (template)
        where template ->> 'name' ~ ${pattern} or template ->> 'text' ~ ${pattern}
      )`);
}
