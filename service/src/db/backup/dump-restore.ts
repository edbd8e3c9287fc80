import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { makePartition } from "../activities.ts";
import type { Database, Queryable } from "../postgres/database.ts";
import { BackupFault, FileFault, type DumpHeader, type DumpedSequence, type DumpedTable, type Piece } from "./dump-file.ts";
import { countLines, hasMigrations, listTables, queryableOf, quoted, seeEveryRow } from "./dump.ts";
import {
  MigrationFault,
  checkApplied,
  migrateInside,
  readMigrations,
  tryMigrationLock,
  type Migration,
} from "../postgres/migrate.ts";
import { deletePublicUrl } from "../settings.ts";
import { sql, unprepared } from "../postgres/sql.ts";
import { isCluster } from "../citus/nodes.ts";

// A process that has just stopped keeps its connections for a moment.
const looksMax = 10;
const lookEveryMs = 200;

export type Restored = { tables: number; rows: number; leftOut: string[]; applied: string[] };
export type RestoreProgress = { table: string; rows: number };

type Source = { header: DumpHeader; pieces: AsyncIterator<Piece> };
type RestoreTarget = { client: Client; held: Queryable };

// Restores everything in one transaction, including the migrations, so that a failure leaves the database as empty as it was. A
// service that starts meanwhile waits, because this holds the migration lock.
export async function restoreDatabase(
  database: Database,
  source: Source,
  { onProgress, migrations = readMigrations() }: { onProgress: (progress: RestoreProgress) => void; migrations?: Migration[] },
): Promise<Restored> {
  const client = await database.connect();
  const place = { client, held: queryableOf(client) };
  try {
    await checkAlone(place);
    await client.query("begin");
    await seeEveryRow(client);
    await checkEmpty(place, source.header);
    await migrateInside(client, migrationsOf(source.header, migrations));
    const loaded = await load(place, source, onProgress);
    const applied = await migrateInside(client, migrations);
    await deletePublicUrl(place.held);
    await client.query("commit");
    // Good statistics for the first lists. PostgreSQL would collect them by itself a little later.
    await client.query("analyze").catch(() => {});
    return { ...loaded, applied };
  } finally {
    await client.end();
  }
}

// The migrations that created the tables in the backup.
export function migrationsOf(header: DumpHeader, migrations: Migration[]): Migration[] {
  try {
    for (const applied of header.migrations) checkApplied(applied, migrations);
  } catch (error) {
    throw error instanceof MigrationFault ? new FileFault(error.message.replace("the database", "it"), { cause: error }) : error;
  }
  return migrations.filter(({ version }) => header.migrations.some((applied) => applied.version === version));
}

async function checkAlone({ client, held }: RestoreTarget): Promise<void> {
  if (!(await tryMigrationLock(client)))
    throw new BackupFault("another casehound is starting on this database or restoring into it");
  for (let look = 1; await hasOthers(held); look++) {
    if (look === looksMax) throw new BackupFault("a casehound is running on this database: stop it first");
    await sleep(lookEveryMs);
  }
  await refuseCluster(held);
}

// A cluster has no common moment for all of its nodes, so the tables in the file would not fit together.
export async function refuseCluster(database: Queryable): Promise<void> {
  if (await isCluster(database))
    throw new BackupFault("a Citus cluster cannot be saved in one file or restored from one: back up the servers of its nodes");
}

async function hasOthers(held: Queryable): Promise<boolean> {
  const others = await held.query(sql`
    select pid
    from pg_stat_activity
    where datname = current_database() and application_name = 'casehound' and pid <> pg_backend_pid()`);
  return others.length > 0;
}

// A database is empty if it has no tenants. One that was already migrated may hold keys, which nothing has used yet.
async function checkEmpty({ held }: RestoreTarget, header: DumpHeader): Promise<void> {
  if (!(await hasMigrations(held))) return;
  const applied = await held.query<{ version: number; name: string }>(sql`select version, name from migrations order by version`);
  if (applied.length === 0) return;
  const [row] = await held.query<{ tenants: number }>(sql`select count(*) as tenants from tenants`);
  if (row?.tenants !== 0)
    throw new BackupFault(`the database is not empty: it has ${row?.tenants} tenants. Restore into a new database`);
  const later = applied.find(({ version }) => !header.migrations.some((each) => each.version === version));
  if (later)
    throw new BackupFault(`the database is newer than the backup: it has migration ${later.name}. Restore into a new database`);
}

async function load(
  place: RestoreTarget,
  { header, pieces }: Source,
  onProgress: (progress: RestoreProgress) => void,
): Promise<Omit<Restored, "applied">> {
  const { client, held } = place;
  const known = new Map((await listTables(held)).map(({ name, columns }) => [name, columns]));
  // Tables that somebody added beside ours are in the file, but have to be loaded by other means.
  const leftOut = header.tables.map(({ name }) => name).filter((name) => !known.has(name));
  checkShape(header, known);
  await client.query(`truncate ${[...known.keys()].map(quoted).join(", ")}`);
  for (const day of header.days) await makePartition(held, day);
  const restoreReferences = await dropReferences(place);
  let rows = 0;
  for (const table of header.tables) {
    const isKnown = known.has(table.name);
    const chunks = rowsOf(pieces, (more) => onProgress({ table: table.name, rows: rows + more }));
    if (isKnown) await copyIn(client, table, chunks);
    else for await (const _bytes of chunks);
    rows += isKnown ? table.rows : 0;
  }
  const end = await pieces.next();
  if (end.done === true || end.value.kind !== "end") throw new FileFault("it has no end");
  await setSequences(held, end.value.sequences);
  await restoreReferences();
  // Reading past the last piece verifies the checksum.
  if ((await pieces.next()).done !== true) throw new FileFault("it continues after its end");
  return { tables: header.tables.length - leftOut.length, rows, leftOut };
}

function checkShape(header: DumpHeader, known: Map<string, string[]>): void {
  for (const [name, columns] of known) {
    const given = header.tables.find((table) => table.name === name)?.columns;
    if (!given) throw new BackupFault(`the database has a table ${name} that is not in the backup`);
    if (given.toSorted().join() !== columns.toSorted().join()) throw new FileFault(`its table ${name} has different columns`);
  }
}

// Foreign keys are checked together after all rows are loaded. Checked one by one, PostgreSQL would keep every row in memory
// until the end of its table.
async function dropReferences({ held }: RestoreTarget): Promise<() => Promise<void>> {
  const references = await held.query<{ table: string; name: string; definition: string }>(sql`
    select r.relname as table, c.conname as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint as c
    join pg_class as r on r.oid = c.conrelid
    where c.contype = 'f'
      and c.conparentid = 0
      and c.connamespace = (select relnamespace from pg_class where oid = 'migrations'::regclass)
    order by 1, 2`);
  for (const { table, name } of references)
    await held.query(unprepared(`alter table ${quoted(table)} drop constraint ${quoted(name)}`));
  return async () => {
    for (const { table, name, definition } of references)
      await held.query(unprepared(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`));
  };
}

async function* rowsOf(pieces: AsyncIterator<Piece>, onRows: (rows: number) => void): AsyncGenerator<Buffer> {
  let rows = 0;
  for (;;) {
    const { value, done } = await pieces.next();
    if (done === true) throw new FileFault("it is truncated");
    if (value.kind !== "rows") return;
    onRows((rows += countLines(value.bytes)));
    yield value.bytes;
  }
}

async function copyIn(client: Client, { name, columns, rows }: DumpedTable, chunks: AsyncGenerator<Buffer>): Promise<void> {
  const into = client.query(copyFrom(`copy ${quoted(name)} (${columns.map(quoted).join(", ")}) from stdin`));
  await pipeline(chunks, into);
  if (into.rowCount !== rows) throw new FileFault(`its table ${name} has ${into.rowCount} rows, but its header says ${rows}`);
}

async function setSequences(held: Queryable, sequences: DumpedSequence[]): Promise<void> {
  for (const { name, last_value, is_called } of sequences)
    await held.query(unprepared("select setval($1::regclass, $2::bigint, $3)", [quoted(name), last_value, is_called]));
}
