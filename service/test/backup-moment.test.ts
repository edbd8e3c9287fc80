import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { makePartition } from "../src/db/activities.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { BackupFault, readDump, writeDump } from "../src/db/backup/dump-file.ts";
import { dumpDatabase } from "../src/db/backup/dump.ts";
import { restoreDatabase, type Restored } from "../src/db/backup/dump-restore.ts";
import { migrate, readMigrations, type Migration } from "../src/db/postgres/migrate.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { startService } from "../src/service.ts";
import { createTenant } from "../src/tenancy.ts";
import { checkFile, digestLog, digestTables, findTorn, listKeys, readLogEnds, within, writeOn } from "./backup-lab.ts";
import { runCli } from "./cli.ts";
import { TestTenant, testConfig } from "./harness.ts";
import { eventually, useProcesses, useServer, useOpened } from "./process.ts";

const processes = useProcesses();
const server = useServer(processes.folder);
const opened = useOpened();

const known = readMigrations();
const extra = (text: string): Migration => ({ version: 9000, name: "9000_extra.sql", text, hash: "extra" });

async function open(migrations?: Migration[]): Promise<{ database: Database; url: string }> {
  const url = await server.newDatabase();
  const database = opened.database(url);
  if (migrations) await migrate(database, migrations);
  return { database, url };
}

const run = (database: Database, text: string, values: unknown[] = []) => database.query(statement(text, values));

async function dump(database: Database): Promise<string> {
  const file = join(processes.folder(), "backup");
  const pieces = dumpDatabase(database, { madeAt: clock.now(), onProgress: () => {} });
  await writeDump(pieces, file, new AbortController().signal);
  return file;
}

async function load(database: Database, file: string, migrations = known): Promise<Restored> {
  const header = await checkFile(file);
  const pieces = readDump(file, () => {});
  await pieces.next();
  return restoreDatabase(database, { header, pieces }, { onProgress: () => {}, migrations });
}

test("backup: a backup of a database under writes is one consistent snapshot with everything answered before it began", async () => {
  const url = await server.newDatabase();
  const service = await startService(testConfig({ databaseUrl: url }));
  const stopping = new AbortController();
  const tenants = await Promise.all([TestTenant.create(service), TestTenant.create(service)]);
  const closed: string[] = [];
  const writers = tenants.flatMap(({ slug, token }) =>
    [1, 2].map(() => writeOn({ port: service.port, tenant: slug, token }, stopping.signal, closed)),
  );
  try {
    await eventually(() => expect(closed.length).toBeGreaterThan(20));
    const folder = processes.folder();
    const answered = [...closed];
    const made = await runCli(["backup", join(folder, "b")], { DATABASE_URL: url });
    expect(made).toMatchObject({ code: 0, err: "" });
    await eventually(() => expect(closed.length).toBeGreaterThan(answered.length));
    stopping.abort();
    await Promise.all(writers);
    const copy = await server.newDatabase();
    expect(await runCli(["restore", join(folder, "b")], { DATABASE_URL: copy })).toMatchObject({ code: 0, err: "" });
    expect(await within(copy, findTorn)).toEqual([]);
    const ends = await within(copy, readLogEnds);
    expect(ends).not.toEqual(await within(url, readLogEnds));
    expect(await within(copy, (client) => digestLog(client, ends))).toEqual(
      await within(url, (client) => digestLog(client, ends)),
    );
    const kept = await within(copy, listKeys);
    expect(answered.filter((key) => !kept.has(key))).toEqual([]);
  } finally {
    stopping.abort();
    await Promise.allSettled(writers);
    await service.stop();
  }
});

test("restore: a backup of an older version is loaded with its own schema and then migrated", async () => {
  const before = known.slice(0, -1);
  const { database } = await open(before);
  const tenantId = randomUUID();
  await run(database, "insert into tenants (tenant_id, slug, app_key, created_at) values ($1, 'old', 'k', now())", [tenantId]);
  const file = await dump(database);
  const { database: place, url } = await open();
  const restored = await load(place, file);
  expect(restored.applied).toEqual(known.slice(before.length).map(({ name }) => name));
  await migrate(database);
  expect(await within(url, digestTables)).toEqual(await digestsOf(database));
});

async function digestsOf(database: Database): Promise<Record<string, string>> {
  const client = await database.connect();
  try {
    return await digestTables(client);
  } finally {
    await client.end();
  }
}

test("restore: identity columns continue after the restored values", async () => {
  const migrations = [...known, extra("create table numbered (id bigint generated by default as identity, name text)")];
  const { database } = await open(migrations);
  await run(database, "insert into numbered (name) values ('a'), ('b'), ('c')");
  const { database: place } = await open();
  await load(place, await dump(database), migrations);
  expect(await run(place, "insert into numbered (name) values ('d') returning id")).toEqual([{ id: 4 }]);
});

test("backup: detached days that are not dropped yet are left out; the others are created again", async () => {
  const { database } = await open(known);
  for (const day of ["2026-01-01", "2026-01-02"]) await database.transaction((tx) => makePartition(tx, day));
  await run(database, "alter table activities detach partition activities_20260101");
  const file = await dump(database);
  const { days, tables } = await checkFile(file);
  expect(days).toEqual(["2026-01-02"]);
  expect(tables.filter(({ name }) => name.startsWith("activities"))).toHaveLength(1);
  const { database: place } = await open();
  await load(place, file);
  expect(await run(place, "select to_regclass('activities_20260102') is not null as has")).toEqual([{ has: true }]);
});

test("restore: a table that does not belong to casehound is left out and listed", async () => {
  const { database } = await open(known);
  await run(database, 'create table "Operator""s own" (note text)');
  await run(database, `insert into "Operator""s own" values ('x')`);
  const { database: place } = await open();
  expect(await load(place, await dump(database))).toMatchObject({ leftOut: ['Operator"s own'], rows: 0 });
});

test("restore: a database that was migrated and has keys, but no tenants, is replaced", async () => {
  const { database } = await open(known);
  await createTenant(database, { slug: "one" }, clock);
  const { database: place, url } = await open(known);
  await within(url, (client) => client.query("insert into service_settings (name, value) values ('cursors', 'x')"));
  await load(place, await dump(database));
  expect(await within(url, digestTables)).toEqual(await digestsOf(database));
});

test("restore: rows that break a foreign key are rejected, and nothing is kept", async () => {
  const { database } = await open(known);
  await run(database, "alter table events drop constraint events_tenant_id_fkey");
  await run(
    database,
    "insert into events (tenant_id, event_id, type, occurred_at, actor, resource_type, resource_id) values ($1, 1, 't', now(), 'a', 'case', 'x')",
    [randomUUID()],
  );
  const { database: place } = await open();
  await expect(load(place, await dump(database))).rejects.toThrow("events_tenant_id_fkey");
  expect(await run(place, "select to_regclass('migrations') as name")).toEqual([{ name: null }]);
});

test("restore: a database newer than the backup is rejected", async () => {
  const { database } = await open(known.slice(0, -1));
  const { database: place } = await open(known);
  const before = await digestsOf(place);
  await expect(load(place, await dump(database))).rejects.toThrow(/newer than the backup: it has migration/);
  expect(await digestsOf(place)).toEqual(before);
});

test("backup: it is refused if row-level security hides rows from the user, instead of leaving them out", async () => {
  const { database, url } = await open(known);
  await createTenant(database, { slug: "hidden" }, clock);
  const role = `reader_${randomUUID().replaceAll("-", "")}`;
  await run(database, `create role ${role} login`);
  await run(database, `grant select on all tables in schema public to ${role}`);
  await run(database, "alter table cases enable row level security");
  const reader = opened.database(url.replace("casehound@", `${role}@`));
  await expect(dump(reader)).rejects.toThrow(/row-level security/);
  expect((await checkFile(await dump(database))).tables.length).toBeGreaterThan(30);
});

test("backup: a database that casehound never used is rejected", async () => {
  const { database } = await open();
  await expect(dump(database)).rejects.toBeInstanceOf(BackupFault);
});
