import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { makePartition } from "../src/db/activities.ts";
import { advisoryLocks } from "../src/db/postgres/advisory-locks.ts";
import { Database } from "../src/db/postgres/database.ts";
import { FileFault } from "../src/db/backup/dump-file.ts";
import { migrate } from "../src/db/postgres/migrate.ts";
import { createTenant } from "../src/tenancy.ts";
import { checkFile, digestTables, within } from "./backup-lab.ts";
import { cliFile, launchCli, runCli, type Ended } from "./cli.ts";
import { processesOf } from "./launch.ts";
import { eventually, useProcesses, useServer } from "./process.ts";

const processes = useProcesses();
const server = useServer(processes.folder);
const firstLine = "casehound backup 1\n";

let source: { url: string; file: string; bytes: Buffer };

beforeAll(async () => {
  const url = await server.newDatabase();
  const database = new Database({ connectionString: url });
  await migrate(database);
  await createTenant(database, { slug: "one" }, clock);
  await database.transaction((tx) => makePartition(tx, "2026-01-01"));
  await database.end();
  const file = join(processes.folder(), "backup");
  expect(await runCli(["backup", file], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  source = { url, file, bytes: readFileSync(file) };
});

function fileOf(bytes: Buffer | string): string {
  const file = join(processes.folder(), "other");
  writeFileSync(file, bytes);
  return file;
}

// Builds a file with a valid checksum and other contents.
function sealed(change: (pieces: Buffer) => Buffer, line = firstLine): Buffer {
  const pieces = zstdDecompressSync(source.bytes.subarray(firstLine.length, -32));
  const body = Buffer.concat([Buffer.from(line), zstdCompressSync(change(pieces))]);
  return Buffer.concat([body, createHash("sha256").update(body).digest()]);
}

function withHeader(change: (text: string) => string): Buffer {
  return sealed((pieces) => {
    const length = pieces.readUInt32BE(1);
    const text = Buffer.from(change(pieces.toString("utf8", 5, 5 + length)));
    const head = Buffer.from("H0000");
    head.writeUInt32BE(text.length, 1);
    return Buffer.concat([head, text, pieces.subarray(5 + length)]);
  });
}

function newer(header: string): string {
  return header.replace('"migrations":[', '"migrations":[{"version":9999,"name":"9999_later.sql","hash":"x"},');
}

// The file is rejected before a database is created, so the folder does not even exist.
async function expectRefused(bytes: Buffer | string, words: string | RegExp): Promise<void> {
  const [file, dataDir] = [fileOf(bytes), join(processes.folder(), "none")];
  const { code, out, err } = await runCli(["restore", file], { DATA_DIR: dataDir });
  expect(err).toMatch(words);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
  expect({ code, out, isMade: existsSync(dataDir) }).toEqual({ code: 1, out: "", isMade: false });
}

test("restore: a file truncated at any point changes nothing", async () => {
  const file = fileOf("");
  const step = Math.max(1, Math.floor(source.bytes.length / 300));
  for (let length = 0; length < source.bytes.length; length += step) {
    writeFileSync(file, source.bytes.subarray(0, length));
    await expect(checkFile(file), `${length} bytes`).rejects.toBeInstanceOf(FileFault);
  }
  writeFileSync(file, Buffer.concat([source.bytes, Buffer.from("x")]));
  await expect(checkFile(file)).rejects.toBeInstanceOf(FileFault);
  await expectRefused(source.bytes.subarray(0, -1), "nothing was changed");
});

test("restore: a file with one flipped bit anywhere changes nothing", async () => {
  const file = fileOf("");
  for (let at = 0; at < source.bytes.length; at += Math.max(1, Math.floor(source.bytes.length / 500))) {
    const bytes = Buffer.from(source.bytes);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(file, bytes);
    await expect(checkFile(file), `byte ${at}`).rejects.toBeInstanceOf(FileFault);
  }
  const bytes = Buffer.from(source.bytes);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  await expectRefused(bytes, "its checksum does not match; nothing was changed");
});

test("restore: a foreign file, a newer format, a newer schema and a changed schema change nothing", async () => {
  const changed = withHeader((text) => text.replace(/"hash":"\w{8}/, '"hash":"00000000'));
  const format = sealed((pieces) => pieces, "casehound backup 2\n");
  expect(changed.equals(source.bytes)).toBe(false);
  await expectRefused("PGDMP and so on", "it is not a casehound backup");
  await expectRefused(format, "it has format 2 of a newer casehound");
  await expectRefused(withHeader(newer), /it was made by a newer casehound \(it has migration 9999_later\.sql\)/);
  await expectRefused(changed, "was changed after it had been applied");
});

test("restore: a file with a valid checksum and inconsistent contents changes nothing", async () => {
  await expectRefused(
    withHeader((text) => text.replace('"name":"rules"', '"name":"rulez"')),
    "does not match its header",
  );
  await expectRefused(
    sealed((pieces) => pieces.subarray(0, pieces.lastIndexOf("E"))),
    /it has no end|it ends in the middle/,
  );
  await expectRefused(
    sealed((pieces) => Buffer.concat([pieces, pieces])),
    "its pieces are out of order",
  );
  const [url, file] = [await server.newDatabase(), fileOf(withHeader((text) => text.replaceAll('"app_key"', '"app_kez"')))];
  const { code, err } = await runCli(["restore", file], { DATABASE_URL: url });
  expect(err).toBe(`casehound: ${file}: its table tenants has different columns; nothing was changed\n`);
  expect(code).toBe(1);
  expect(await within(url, digestTables)).toEqual({});
});

test.each([
  ["an invalid day", '"2026-01-01"', '"2026-99-99"'],
  ["a duplicate table", '"name":"rules"', '"name":"tenants"'],
  ["no migrations", /"migrations":\[[^\]]*\]/, '"migrations":[]'],
  ["an invalid time", /"made_at":"[^"]*"/, '"made_at":"yesterday"'],
])("restore: a file whose header has %s changes nothing", async (_name, text, instead) => {
  const changed = withHeader((header) => header.replace(text, instead));
  expect(changed.equals(source.bytes)).toBe(false);
  await expectRefused(changed, "its header was not written by casehound");
});

test("restore: nothing changes if the database has tenants or a service is running on it", async () => {
  const before = await within(source.url, digestTables);
  const full = await runCli(["restore", source.file], { DATABASE_URL: source.url });
  expect(full).toMatchObject({ code: 1, out: "" });
  expect(full.err).toContain("the database is not empty: it has 1 tenants");
  expect(await within(source.url, digestTables)).toEqual(before);
  const url = await server.newDatabase();
  const service = await processes.start({ DATABASE_URL: url });
  const beside = await runCli(["restore", source.file], { DATABASE_URL: url });
  expect(beside).toMatchObject({ code: 1, out: "" });
  expect(beside.err).toContain("a casehound is running on this database");
  await service.stop();
  const dataDir = processes.folder();
  await processes.start({ DATA_DIR: dataDir });
  const embedded = await runCli(["restore", source.file], { DATA_DIR: dataDir });
  expect(embedded).toMatchObject({ code: 2, out: "", err: `casehound: another casehound is running on DATA_DIR ${dataDir}\n` });
});

test("backup and restore: a file that cannot be read or written gives a one-line error", async () => {
  const folder = processes.folder();
  const env = { DATABASE_URL: source.url };
  const device = join(processes.folder(), "pipe");
  expect(spawnSync("sh", ["-c", `mkfifo ${device}`]).status).toBe(0);
  const ran = [
    await runCli(["restore", join(folder, "absent")], env),
    await runCli(["restore", folder], env),
    await runCli(["backup", join(folder, "absent", "b")], env),
    await runCli(["backup", source.file], env),
    await runCli(["backup", folder, "--force"], env),
    await runCli(["backup", device, "--force"], env),
  ];
  expect(ran.map(({ code, out }) => ({ code, out }))).toEqual(ran.map(() => ({ code: 1, out: "" })));
  const words = [
    /the file \S+ does not exist/,
    /not a regular file/,
    /the folder \S+ does not exist/,
    /already exists: --force/,
    /not a regular/,
    /not a regular/,
  ];
  for (const [index, { err }] of ran.entries()) expect(err).toMatch(words[index] ?? "");
  expect(ran.map(({ err }) => err.trimEnd().split("\n").length)).toEqual(ran.map(() => 1));
  expect(lstatSync(device).isFIFO()).toBe(true);
  expect(readFileSync(source.file)).toEqual(source.bytes);
  const copy = fileOf("old");
  expect(await runCli(["backup", copy, "--force"], env)).toMatchObject({ code: 0 });
  await checkFile(copy);
});

test("backup: no file is left if it cannot grow any further", async () => {
  const folder = processes.folder();
  const { PATH = "" } = process.env;
  const limited = `trap '' XFSZ; ulimit -f 1; exec "$@"`;
  const { status, stderr } = spawnSync("/bin/sh", ["-c", limited, "sh", process.execPath, cliFile, "backup", join(folder, "b")], {
    env: { PATH, DATABASE_URL: source.url },
    encoding: "utf8",
  });
  expect(stderr).toMatch(/EFBIG.*no backup was made\n$/);
  expect(status).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

// Both block midway: a backup on a table, a restore on the lock for creating partitions.
const isConnected = "select 1 from pg_stat_activity where datname = current_database() and application_name = 'casehound'";
const isWaiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

async function interrupt(args: string[], url: string, hold: string, signal: NodeJS.Signals): Promise<Ended> {
  return within(url, async (holder) => {
    await holder.query("begin");
    await holder.query(hold);
    const running = launchCli(args, { DATABASE_URL: url });
    // Use another connection: within one transaction, PostgreSQL keeps returning the same activity snapshot.
    await eventually(async () => expect((await within(url, (client) => client.query(isWaiting))).rows).toHaveLength(1));
    running.child.kill(signal);
    if (signal === "SIGKILL") await running.ended;
    await holder.query("rollback");
    return running.ended;
  });
}

test("backup: Ctrl+C midway leaves no partial file", async () => {
  const folder = processes.folder();
  const hold = "lock table users in access exclusive mode";
  const ended = await interrupt(["backup", join(folder, "b")], source.url, hold, "SIGINT");
  expect(ended).toEqual({ code: 1, out: "", err: "casehound: interrupted: no backup was made\n" });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([["SIGINT", 1] as const, ["SIGKILL", null] as const])(
  "restore: %s midway leaves the database as empty as before, and a retry succeeds",
  async (signal, code) => {
    const url = await server.newDatabase();
    const ended = await interrupt(
      ["restore", source.file],
      url,
      `select pg_advisory_xact_lock(${advisoryLocks.partitions})`,
      signal,
    );
    const words = signal === "SIGINT" ? "casehound: interrupted: nothing was changed\n" : "";
    expect(ended).toEqual({ code, out: "", err: words });
    // PostgreSQL notices only a moment later that a killed client has gone.
    await eventually(async () => expect((await within(url, (client) => client.query(isConnected))).rows).toEqual([]));
    expect(await within(url, digestTables)).toEqual({});
    expect(await runCli(["restore", source.file], { DATABASE_URL: url })).toMatchObject({ code: 0 });
    expect(await within(url, digestTables)).toEqual(await within(source.url, digestTables));
  },
);

test("restore: after a kill during initdb, a retry removes what it left behind and succeeds", async () => {
  const dataDir = join(processes.folder(), "new");
  mkdirSync(dataDir);
  const loading = launchCli(["restore", source.file], { DATA_DIR: dataDir });
  const half = join(dataDir, `postgres.${loading.child.pid}.new`);
  // By now initdb is creating hundreds of files.
  await eventually(() => expect(existsSync(join(half, "base", "1"))).toBe(true));
  loading.child.kill("SIGKILL");
  await loading.ended;
  expect(await runCli(["restore", source.file], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
  expect(existsSync(half)).toBe(false);
  await eventually(() => expect(processesOf(dataDir)).toEqual([]));
});

test("restore: after an interrupt in a data folder, its PostgreSQL is stopped and a retry succeeds", async () => {
  const dataDir = join(processes.folder(), "new");
  mkdirSync(dataDir);
  const loading = launchCli(["restore", source.file], { DATA_DIR: dataDir });
  await eventually(() => expect(existsSync(join(dataDir, "run", ".s.PGSQL.5432"))).toBe(true));
  loading.child.kill("SIGKILL");
  await loading.ended;
  expect(await runCli(["restore", source.file], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
  await eventually(() => expect(processesOf(dataDir)).toEqual([]));
});
