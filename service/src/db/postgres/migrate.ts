import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import type { Client } from "pg";
import { advisoryLocks } from "./advisory-locks.ts";
import type { Database } from "./database.ts";
import { takeLock } from "./lock-wait.ts";
import { sql, statement } from "./sql.ts";

const folder = new URL("../../../migrations/", import.meta.url);
const postgresVersionMin = 150_000;

export class MigrationFault extends Error {}

export type AppliedMigration = { version: number; name: string; hash: string };
export type Migration = AppliedMigration & { text: string };

export function readMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), "utf8");
      return { version: Number(name.slice(0, 4)), name, text, hash: createHash("sha256").update(text).digest("hex") };
    });
}

// Forward only. Returns the names of the migrations that it applied.
export async function migrate(database: Database, migrations = readMigrations()): Promise<string[]> {
  const client = await database.connect();
  try {
    await checkServer(client);
    // If ten processes start at once, one migrates and nine wait.
    await takeLock(client, "migrations");
    const pending = await findPending(client, migrations);
    for (const migration of pending) await apply(client, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

// Takes the migration lock until the connection ends.
export async function tryMigrationLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [advisoryLocks.migrations]);
  return rows[0]?.got === true;
}

// Applies those of these migrations that are still missing, inside the caller's transaction and under the lock.
export async function migrateInside(client: Client, migrations: Migration[]): Promise<string[]> {
  await checkServer(client);
  const pending = await findPending(client, migrations);
  for (const migration of pending) await run(client, migration);
  return pending.map((migration) => migration.name);
}

async function findPending(client: Client, migrations: Migration[]): Promise<Migration[]> {
  await client.query(
    "create table if not exists migrations (version integer primary key, name text not null, hash text not null, applied_at timestamptz(3) not null default now())",
  );
  const { rows } = await client.query<AppliedMigration>("select version, name, hash from migrations order by version");
  for (const applied of rows) checkApplied(applied, migrations);
  return migrations.filter((migration) => !rows.some((row) => row.version === migration.version));
}

// Throws if the database was not created by these migrations.
export async function checkMigrations(database: Database, migrations = readMigrations()): Promise<void> {
  for (const each of await listApplied(database)) checkApplied(each, migrations);
}

// Empty if the database is empty.
async function listApplied(database: Database): Promise<AppliedMigration[]> {
  const [table] = await database.query<{ name: string | null }>(sql`select to_regclass('migrations')::text as name`);
  if (table?.name === null) return [];
  return database.query<AppliedMigration>(sql`select version, name, hash from migrations order by version`);
}

// Also checks the applied migrations, and throws as checkMigrations does.
export async function listPendingMigrations(database: Database, migrations = readMigrations()): Promise<string[]> {
  const applied = await listApplied(database);
  for (const each of applied) checkApplied(each, migrations);
  return migrations.filter(({ version }) => !applied.some((row) => row.version === version)).map((migration) => migration.name);
}

export type Server = { version: string; number: number; encoding: string; is_read_only: boolean };

const serverText = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
    current_setting('server_encoding') as encoding, current_setting('transaction_read_only') = 'on' as is_read_only`;

export async function findServer(database: Database): Promise<Server> {
  const [server] = await database.query<Server>(statement(serverText, []));
  if (!server) throw new Error("the database did not return its version");
  return server;
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<Server>(serverText);
  const fault = rows[0] && serverFault(rows[0]);
  if (fault) throw new MigrationFault(fault);
}

// The reason why our tables cannot be created on this server, or null.
export function serverFault({ number, encoding }: Server): string | null {
  if (number < postgresVersionMin) return "the database must be PostgreSQL 15 or newer";
  return encoding === "UTF8" ? null : `the database's encoding must be UTF8, not ${encoding}`;
}

export function checkApplied(applied: AppliedMigration, migrations: Migration[]): void {
  const known = migrations.find((migration) => migration.version === applied.version);
  if (!known) throw new MigrationFault(`the database was made by a newer casehound (it has migration ${applied.name})`);
  if (known.hash !== applied.hash) throw new MigrationFault(`migration ${known.name} was changed after it had been applied`);
}

async function apply(client: Client, migration: Migration): Promise<void> {
  await client.query("begin");
  try {
    await run(client, migration);
    await client.query("commit");
  } catch (cause) {
    await client.query("rollback").catch(() => {});
    throw new MigrationFault(`migration ${migration.name} failed: ${cause instanceof Error ? cause.message : "unknown"}`, {
      cause,
    });
  }
}

async function run(client: Client, { version, name, text, hash }: Migration): Promise<void> {
  await client.query(text);
  await client.query("insert into migrations (version, name, hash) values ($1, $2, $3)", [version, name, hash]);
}
