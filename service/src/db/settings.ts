import { randomBytes } from "node:crypto";
import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Creates the keys on the first call. From then on, every process gets the same ones.
export async function findOrMakeKeys(tx: Queryable): Promise<{ cursors: Buffer; devices: Buffer }> {
  return {
    cursors: await findOrMakeSecret(tx, "cursors", randomBytes(32)),
    devices: await findOrMakeSecret(tx, "devices", randomBytes(32)),
  };
}

async function findOrMakeSecret(tx: Queryable, name: "cursors" | "devices", fresh: Buffer): Promise<Buffer> {
  const [row] = await tx.query<{ value: Buffer }>(sql`
    insert into service_settings (name, value)
    values (${name}, ${fresh})
    on conflict (name) do update set name = excluded.name
    returning value`);
  if (!row) throw new Error(`secret ${name} was neither found nor created`);
  return row.value;
}

// The address of the service that started last, for commands that call it.
export async function savePublicUrl(tx: Queryable, url: string): Promise<void> {
  await tx.query(sql`
    insert into service_settings (name, value)
    values ('public_url', ${Buffer.from(url)})
    on conflict (name) do update set value = excluded.value`);
}

// Without this, commands on data that was restored elsewhere would call the service at the old address.
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
