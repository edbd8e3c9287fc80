import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { listPartitions } from "../activities.ts";
import type { Database, Queryable, Row } from "../postgres/database.ts";
import { BackupFault, type DumpHeader, type DumpedSequence, type DumpedTable, type Piece } from "./dump-file.ts";
import type { AppliedMigration } from "../postgres/migrate.ts";
import { sql, unprepared, type Statement } from "../postgres/sql.ts";

export type DumpProgress = { table: string; rows: number; rowsTotal: number; bytes: number };

// Dumps the database as of one moment, while others keep writing. One transaction sees that moment. Only migrations and the
// dropping of a day of activity wait for it.
export async function* dumpDatabase(
  database: Database,
  { madeAt, onProgress }: { madeAt: string; onProgress: (progress: DumpProgress) => void },
): AsyncGenerator<Piece> {
  const client = await database.connect();
  try {
    const snapshot = queryableOf(client);
    await client.query("begin transaction isolation level repeatable read, read only");
    await seeEveryRow(client);
    const header = await readHeader(snapshot, madeAt);
    await holdTables(client, header.tables);
    await checkMigrations(database, header.migrations);
    yield { kind: "header", header };
    const progress = { table: "", rows: 0, rowsTotal: header.tables.reduce((sum, { rows }) => sum + rows, 0), bytes: 0 };
    for (const table of header.tables) {
      let rows = 0;
      progress.table = table.name;
      for await (const bytes of copyOut(client, table)) {
        rows += countLines(bytes);
        onProgress({ ...progress, rows: progress.rows + rows, bytes: (progress.bytes += bytes.length) });
        yield { kind: "rows", bytes };
      }
      if (rows !== table.rows) throw new Error(`${table.name} returned ${rows} of ${table.rows} rows`);
      progress.rows += rows;
      yield { kind: "table end", table: table.name, rows };
    }
    // Sequences are not part of the snapshot. Read last, they are past every number in the rows.
    yield { kind: "end", sequences: await readSequences(snapshot) };
  } finally {
    await client.end();
  }
}

export function queryableOf(client: Client): Queryable {
  return { query: async <R extends Row>(statement: Statement) => (await client.query<R>(statement)).rows };
}

// If row-level security would hide rows from this user, fail instead of writing a backup without them.
export async function seeEveryRow(client: Client): Promise<void> {
  await client.query("set local row_security = off");
}

async function readHeader(snapshot: Queryable, madeAt: string): Promise<DumpHeader> {
  if (!(await hasMigrations(snapshot)))
    throw new BackupFault("there is nothing to back up: casehound has never used this database");
  const migrations = await snapshot.query<AppliedMigration>(sql`
    select version, name, hash
    from migrations
    order by version`);
  const tables = await listTables(snapshot);
  const counted: DumpedTable[] = [];
  for (const { name, columns } of tables) {
    const [row] = await snapshot.query<{ rows: number }>(unprepared(`select count(*) as rows from ${quoted(name)}`));
    counted.push({ name, columns, rows: row?.rows ?? 0 });
  }
  return { made_at: madeAt, migrations, days: await listPartitions(snapshot), tables: counted };
}

export async function hasMigrations(held: Queryable): Promise<boolean> {
  const [row] = await held.query<{ has: boolean }>(sql`select to_regclass('migrations') is not null as has`);
  return row?.has === true;
}

export type TableShape = { name: string; columns: string[] };

// Reads the catalog, so that no table can be forgotten. Partitions are dumped with their parent, and detached days are about to
// be dropped. The header holds the migrations. Generated columns are left to PostgreSQL.
export async function listTables(held: Queryable): Promise<TableShape[]> {
  const tables = await held.query<TableShape & { is_partitioned: boolean }>(sql`
    select c.relname as name, c.relkind = 'p' as is_partitioned, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = (select relnamespace from pg_class where oid = 'migrations'::regclass)
      and c.relkind in ('r', 'p')
      and not c.relispartition
      and c.relname <> 'migrations'
      and c.relname !~ '^activities_[0-9]{8}$'
      and a.attnum > 0
      and not a.attisdropped
      and a.attgenerated = ''
    group by c.oid
    order by c.relname`);
  const unknown = tables.find(({ name, is_partitioned }) => is_partitioned && name !== "activities");
  if (unknown) throw new Error(`restore does not know how to create the partitions of ${unknown.name}`);
  return tables.map(({ name, columns }) => ({ name, columns }));
}

async function holdTables(client: Client, tables: DumpedTable[]): Promise<void> {
  await client.query(`lock table ${tables.map(({ name }) => quoted(name)).join(", ")} in access share mode`);
}

// From here on, no migration can change a table. A migration between the snapshot and the locks is visible outside the snapshot.
async function checkMigrations(database: Database, seen: AppliedMigration[]): Promise<void> {
  const now = await database.query<{ version: number }>(sql`select version from migrations`);
  if (now.length !== seen.length) throw new BackupFault("the database was being migrated: run it again");
}

// A query, because COPY does not accept a partitioned table itself.
async function* copyOut(client: Client, { name, columns }: DumpedTable): AsyncGenerator<Buffer> {
  const text = `copy (select ${columns.map(quoted).join(", ")} from ${quoted(name)}) to stdout`;
  for await (const chunk of client.query(copyTo(text)) as AsyncIterable<Buffer>) yield chunk;
}

// In COPY's text format, every row is one line: line breaks in a value are escaped.
export function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}

async function readSequences(snapshot: Queryable): Promise<DumpedSequence[]> {
  const names = await snapshot.query<{ name: string }>(sql`
    select relname as name
    from pg_class
    where relkind = 'S' and relnamespace = (select relnamespace from pg_class where oid = 'migrations'::regclass)
    order by relname`);
  const read = names.map(async ({ name }) => {
    const [row] = await snapshot.query<Omit<DumpedSequence, "name">>(
      unprepared(`select last_value::text, is_called from ${quoted(name)}`),
    );
    if (!row) throw new Error(`the sequence ${name} has no row`);
    return { name, ...row };
  });
  return Promise.all(read);
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
