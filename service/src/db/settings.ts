import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Made at the first call, the same for every process from then on.
export async function findOrMakeSecret(tx: Queryable, name: "cursors" | "devices", fresh: Buffer): Promise<Buffer> {
  const [row] = await tx.query<{ value: Buffer }>(sql`
    insert into service_settings (name, value)
    values (${name}, ${fresh})
    on conflict (name) do update set name = excluded.name
    returning value`);
  if (!row) throw new Error(`secret ${name} was neither found nor made`);
  return row.value;
}

// Where the service that started last can be reached, for commands that want to talk to it.
export async function savePublicUrl(tx: Queryable, url: string): Promise<void> {
  await tx.query(sql`
    insert into service_settings (name, value)
    values ('public_url', ${Buffer.from(url)})
    on conflict (name) do update set value = excluded.value`);
}

// Data that was moved elsewhere would else have its commands call where it came from.
export async function deletePublicUrl(tx: Queryable): Promise<void> {
  await tx.query(sql`delete from service_settings where name = 'public_url'`);
}

export async function findPublicUrl(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ value: Buffer }>(sql`
    select value
    from service_settings
    where name = 'public_url'`);
  return row?.value.toString();
}
