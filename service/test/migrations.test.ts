import { describe, expect, inject, test } from "vitest";
import type pg from "pg";
import { localTables, referenceTables } from "../src/db/citus/tables.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { MigrationFault, migrate, readMigrations, type Migration } from "../src/db/postgres/migrate.ts";
import { connectTo, createDatabase } from "./launch.ts";
import { useOpened } from "./process.ts";

const opened = useOpened();

async function newDatabase(): Promise<{ url: string; database: Database; client: pg.Client }> {
  const url = await createDatabase(inject("databaseUrl"));
  const client = await connectTo({ connectionString: url });
  opened.keep(client);
  return { url, database: opened.database(url), client };
}

function migration(version: number, text: string): Migration {
  return { version, name: `${version}.sql`, text, hash: `hash of ${text}` };
}

// The tables and the recorded migrations, which a rejected migration must leave unchanged.
async function stateOf(client: pg.Client): Promise<unknown> {
  const { rows: tables } = await client.query(
    "select table_name from information_schema.tables where table_schema = 'public' order by 1",
  );
  const hasList = tables.some((row: { table_name: string }) => row.table_name === "migrations");
  const { rows: migrations } = hasList ? await client.query("select * from migrations order by version") : { rows: [] };
  return { tables, migrations };
}

const first = migration(1, "create table one (a int)");
const second = migration(2, "create table two (a int)");

test("migrations: the files are numbered from 1 without a gap", () => {
  const found = readMigrations();
  expect(found.map((each) => each.version)).toEqual(found.map((_, index) => index + 1));
  expect(found.filter((each) => !/^\d{4}_[a-z_]+\.sql$/.test(each.name))).toEqual([]);
});

// Processes of the last release run beside the new ones during an upgrade. So a migration only adds. What the last release still uses
// is removed by a migration of the release after it, which says so in a comment that begins with "contracts:".
const removals =
  /\bdrop\s+(?:table|column|function|constraint)\b|\brename\b|\balter\s+column\s+\S+\s+(?:type|set\s+not\s+null)\b/i;
const newestOfLastRelease = 51;

test("migrations: what the last release uses is not removed", () => {
  const removing = ({ version, text }: Migration) =>
    version > newestOfLastRelease && !/^-- contracts: /m.test(text) && removals.test(text.replaceAll(/^--.*$/gm, ""));
  expect(readMigrations().filter(removing)).toEqual([]);
  const examples = ["alter table a drop column b", "alter table a rename to c", "alter table a alter column b set not null"];
  for (const text of examples) expect(removing({ ...migration(newestOfLastRelease + 1, text) })).toBe(true);
  expect(removing(migration(newestOfLastRelease + 1, "-- contracts: b\nalter table a drop column b"))).toBe(false);
});

// A cluster needs names for constraints, because PostgreSQL chooses another one on each shard, and it takes one change that drops
// something in a command.
const lastWithoutNames = 52;
const named = /\bconstraint\s+\w+\s+(?:check\s*\(|foreign\s+key\s*\([^)]*\)\s*references\b|references\b)/gi;
const unnamed = /\bcheck\s*\(|\breferences\b|\badd\s+(?:unique|primary|exclude)\b/i;
const severalDrops = /\balter\s+table\b[^;]*\bdrop\b[^;]*,[^;]*\b(?:drop|add|alter)\b|\bdrop\s+(?:table|index)\s+[^;]*,/i;

const textOf = ({ text }: Migration) => text.replaceAll(/^--.*$/gm, "");
const isWrong = (each: Migration) =>
  each.version > lastWithoutNames && (unnamed.test(textOf(each).replaceAll(named, "")) || severalDrops.test(textOf(each)));

test("migrations: constraints have names, and a command drops one thing", () => {
  expect(readMigrations().filter(isWrong)).toEqual([]);
  const bad = [
    "alter table a add check (b > 0)",
    "alter table a add column b int check (b > 0)",
    "create table a (tenant_id uuid references tenants)",
    "create table a (tenant_id uuid, foreign key (tenant_id) references tenants)",
    "alter table a drop constraint b, drop constraint c",
    "alter table a drop constraint b, add constraint b check (c > 0)",
    "drop table a, b",
  ];
  for (const text of bad) expect(isWrong(migration(lastWithoutNames + 1, text)), text).toBe(true);
  const good = [
    "alter table a add constraint b check (c > 0)",
    "create table a (tenant_id uuid constraint a_tenant references tenants)",
    "create table a (tenant_id uuid, primary key (tenant_id), constraint a_tenant foreign key (tenant_id) references tenants)",
    "alter table a drop constraint b; alter table a drop constraint c",
  ];
  for (const text of good) expect(isWrong(migration(lastWithoutNames + 1, text)), text).toBe(false);
});

test("migrate: a second run applies nothing", async () => {
  const { database, client } = await newDatabase();
  expect(await migrate(database)).toEqual(readMigrations().map((each) => each.name));
  const before = await stateOf(client);
  expect(await migrate(database)).toEqual([]);
  expect(await stateOf(client)).toEqual(before);
});

test("migrate: a later run applies the new migrations, in order", async () => {
  const { database } = await newDatabase();
  expect(await migrate(database, [first])).toEqual(["1.sql"]);
  const third = migration(3, "alter table two add b int");
  expect(await migrate(database, [first, second, third])).toEqual(["2.sql", "3.sql"]);
});

test("migrate: of ten concurrent runs, one applies them", async () => {
  const { url, client } = await newDatabase();
  const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(opened.database(url))));
  expect(applied.flat()).toEqual(readMigrations().map((each) => each.name));
  const { rows } = await client.query("select name from migrations order by version");
  expect(rows).toEqual(readMigrations().map(({ name }) => ({ name })));
});

test("migrate: a migration changed after it was applied is rejected, and nothing is applied", async () => {
  const { database, client } = await newDatabase();
  await migrate(database, [first]);
  const before = await stateOf(client);
  const changed = { ...first, hash: "another" };
  await expect(migrate(database, [changed, second])).rejects.toThrow(/^migration 1\.sql was changed/);
  expect(await stateOf(client)).toEqual(before);
});

test("migrate: a database of a newer version is rejected, and nothing is applied", async () => {
  const { database, client } = await newDatabase();
  await migrate(database, [first, second, migration(4, "select 1")]);
  const before = await stateOf(client);
  await expect(migrate(database, [first, second, migration(3, "create table three ()")])).rejects.toThrow(
    /newer casehound .*4\.sql/,
  );
  expect(await stateOf(client)).toEqual(before);
});

test("migrate: a failed migration leaves nothing, keeps those before it, and can be fixed", async () => {
  const { database, client } = await newDatabase();
  const failing = migration(2, "create table two (a int); select 1 / 0");
  const fault = await migrate(database, [first, failing]).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(MigrationFault);
  expect(String(fault)).toContain("migration 2.sql failed: division by zero");
  expect(await stateOf(client)).toMatchObject({
    tables: [{ table_name: "migrations" }, { table_name: "one" }],
    migrations: [{ version: 1 }],
  });
  expect(await migrate(database, [first, second])).toEqual(["2.sql"]);
});

test("migrate: a database in another encoding is rejected, and nothing is created", async () => {
  const url = await createDatabase(inject("databaseUrl"), "encoding 'SQL_ASCII' locale 'C'");
  const client = await connectTo({ connectionString: url });
  opened.keep(client);
  await expect(migrate(opened.database(url))).rejects.toThrow("the database's encoding must be UTF8, not SQL_ASCII");
  expect(await stateOf(client)).toEqual({ tables: [], migrations: [] });
});

// Small tables that are not split by tenant.
const copied = [...referenceTables, ...localTables];

// Each query finds violations of a schema rule.
const laws: Record<string, string> = {
  "every table has a primary key": `
    select c.relname as table
    from pg_class as c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not exists (select from pg_index as i where i.indrelid = c.oid and i.indisprimary)`,
  "every primary key and unique index begins with tenant_id": `
    select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as index
    from pg_index as i
    join pg_class as c on c.oid = i.indrelid and c.relnamespace = 'public'::regnamespace
    left join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indisunique and a.attname is distinct from 'tenant_id' and c.relname <> all($1)`,
  "every foreign key begins with tenant_id, on both sides": `
    select k.conrelid::regclass::text as table, k.conname as key
    from pg_constraint as k
    join pg_class as c on c.oid = k.conrelid and c.relnamespace = 'public'::regnamespace
    join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    join pg_attribute as b on b.attrelid = k.confrelid and b.attnum = k.confkey[1]
    where k.contype = 'f' and (a.attname <> 'tenant_id' or b.attname <> 'tenant_id') and c.relname <> all($1)`,
  "every text column of an index, of its expressions and of its condition has collation C": `
    with indexed as (
      select i.indrelid, key as attnum
      from pg_index as i, unnest(i.indkey) as key
      union
      select i.indrelid, d.refobjsubid
      from pg_index as i
      join pg_depend as d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid and d.refobjid = i.indrelid
    )
    select c.relname as table, a.attname as column
    from indexed
    join pg_class as c on c.oid = indexed.indrelid and c.relnamespace = 'public'::regnamespace
    join pg_attribute as a on a.attrelid = c.oid and a.attnum = indexed.attnum and a.attnum > 0
    where a.attcollation <> 0 and a.attcollation <> '"C"'::regcollation`,
  "every time is a timestamptz with milliseconds": `
    select c.relname as table, a.attname as column
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and a.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype, 'timetz'::regtype, 'time'::regtype)
      and (a.atttypid <> 'timestamptz'::regtype or a.atttypmod <> 3)`,
};

async function breachesOf(client: pg.Client, law: string): Promise<Record<string, string>[]> {
  const text = laws[law] ?? "";
  return (await client.query<Record<string, string>>(text, text.includes("$1") ? [copied] : [])).rows;
}

describe("schema", () => {
  test.each(Object.keys(laws))("schema: %s", async (law) => {
    const client = await connectTo({ connectionString: inject("databaseUrl") });
    opened.keep(client);
    expect(await breachesOf(client, law)).toEqual([]);
  });

  test("schema: each rule detects a violation", async () => {
    const { client } = await newDatabase();
    await client.query(`
      create table no_key (tenant_id uuid);
      create table target (tenant_id uuid, id uuid primary key, name text, unique (tenant_id, id));
      create index on target (tenant_id, lower(name)) where name <> '';
      create table pointing (tenant_id uuid, id uuid references target (id), primary key (tenant_id, id));
      create table named (tenant_id uuid, name text, at timestamptz, until timestamp(3), primary key (tenant_id, name));
    `);
    const seen: unknown[] = [];
    for (const law of Object.keys(laws)) seen.push(await breachesOf(client, law));
    expect(seen).toEqual([
      [{ table: "no_key" }],
      [{ table: "target", index: "target_pkey" }],
      [{ table: "pointing", key: "pointing_id_fkey" }],
      expect.arrayContaining([
        { table: "target", column: "name" },
        { table: "named", column: "name" },
      ]),
      [
        { table: "named", column: "at" },
        { table: "named", column: "until" },
      ],
    ]);
  });
});
