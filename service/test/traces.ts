import { expect } from "vitest";
import { sql, statement } from "../src/db/postgres/sql.ts";
import type { TestTenant } from "./harness.ts";

// Every row of the tenant, in any table, that contains the text in any column.
export async function findTraces({ service, tenantId }: TestTenant, text: string): Promise<string[]> {
  const { database } = service;
  const tables = await database.query<{ name: string }>(sql`
    select c.table_name as name
    from information_schema.columns as c
    join pg_class as p on p.oid = c.table_name::regclass and not p.relispartition
    where c.column_name = 'tenant_id' and c.table_schema = 'public'
    order by 1`);
  expect(tables.length).toBeGreaterThan(20);
  const found: string[] = [];
  for (const { name } of tables) {
    const columns = name === "inbox" ? "jsonb_build_object('parcel', convert_from(t.parcel, 'UTF8'))" : "to_jsonb(t)";
    const query = `
      select count(*) as count
      from ${name} as t
      where tenant_id = $1 and exists (select from jsonb_each_text(${columns}) as c where position($2 in c.value) > 0)`;
    const [counted] = await database.query<{ count: number }>(statement(query, [tenantId, text]));
    found.push(...Array.from({ length: counted?.count ?? 0 }, () => name));
  }
  return found;
}
