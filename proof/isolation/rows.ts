import type { Database } from "../../service/src/db/postgres/database.ts";
import { sql, statement } from "../../service/src/db/postgres/sql.ts";

// Everything the database holds about a tenant: each row of each table with a tenant_id, as text.
export async function rowsOf(database: Database, tenantId: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(sql`
    select c.relname as name
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`);
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await database.query<{ row: string }>(
      statement(`select to_jsonb(t)::text as row from ${name} as t where tenant_id = $1`, [tenantId]),
    );
    rows.push(...found.map(({ row }) => `${name} ${row}`).toSorted());
  }
  return rows;
}

export function changesOf(before: string[], after: string[]): string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [
    ...before.filter((row) => !now.has(row)).map((row) => `gone: ${row}`),
    ...after.filter((row) => !old.has(row)).map((row) => `new: ${row}`),
  ];
}
