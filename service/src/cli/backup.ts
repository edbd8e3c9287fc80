import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseError } from "pg";
import { clock } from "../clock.ts";
import { ConfigFault } from "../config.ts";
import { BackupFault, FileFault, readDump, writeDump, type DumpHeader, type Piece } from "../db/backup/dump-file.ts";
import { dumpDatabase } from "../db/backup/dump.ts";
import { migrationsOf, refuseCluster, restoreDatabase } from "../db/backup/dump-restore.ts";
import { readMigrations } from "../db/postgres/migrate.ts";
import { tellDatabase } from "../operator.ts";
import { megabytes, progressLine } from "./backup-progress.ts";
import type { Call, Command, Outcome } from "./command.ts";
import { Progress } from "./progress.ts";

type Unopened = Omit<Call, "store">;

function fileOf({ positionals }: Unopened): string {
  return resolve(positionals[0] ?? "");
}

// Runs before the work, and again after it, in case the target has changed meanwhile.
async function checkTarget(call: Unopened): Promise<void> {
  const file = fileOf(call);
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new BackupFault(`the folder ${folder} does not exist`);
  const there = lstatSync(file, { throwIfNoEntry: false });
  // Otherwise the rename would replace a device with a file.
  if (there && !there.isFile()) throw new BackupFault(`${file} is not a regular file: choose another name`);
  if (there && call.options["force"] !== true)
    throw new BackupFault(`${file} already exists: --force replaces it once the new backup is complete`);
}

async function backup(call: Call): Promise<Outcome> {
  await refuseCluster(call.store.database);
  const began = Date.now();
  const file = fileOf(call);
  const partial = `${file}.${randomBytes(4).toString("hex")}.partial`;
  const [progress, interrupted] = [new Progress(), onInterrupt()];
  const made = { rows: 0, tables: 0 };
  const onProgress = ({ table, rows, rowsTotal, bytes }: { table: string; rows: number; rowsTotal: number; bytes: number }) =>
    progress.show(() => progressLine({ what: "backing up", share: rows / Math.max(1, rowsTotal), table, rows, bytes }));
  const pieces = counted(dumpDatabase(call.store.database, { madeAt: clock.now(), onProgress }), made);
  try {
    const bytes = await writeDump(pieces, partial, interrupted.signal);
    await checkTarget(call);
    renameSync(partial, file);
    syncFolder(dirname(file));
    const seconds = (Date.now() - began) / 1000;
    const result = { file, tables: made.tables, rows: made.rows, bytes, seconds };
    return { result, text: `${summary(result)} in ${file}` };
  } catch (error) {
    throw asFault(error, { call, file, isInterrupted: interrupted.signal.aborted, left: "no backup was made" });
  } finally {
    interrupted.forget();
    progress.clear();
    removeQuietly(partial);
    // If writing failed before the first piece was read, nothing else ends the connection.
    await pieces.return(undefined);
  }
}

async function* counted(pieces: AsyncIterable<Piece>, made: { rows: number; tables: number }): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    if (piece.kind === "table end") {
      made.rows += piece.rows;
      made.tables++;
    }
    yield piece;
  }
}

// Ignores failures, because the original error must be reported.
function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // If it cannot be removed, it could not be created either.
  }
}

// Makes the new name durable on disk.
function syncFolder(folder: string): void {
  const opened = openSync(folder, "r");
  fsyncSync(opened);
  closeSync(opened);
}

// Reads the whole file before any database is opened or created for it.
async function checkSource(call: Unopened): Promise<void> {
  const file = fileOf(call);
  const there = statSync(file, { throwIfNoEntry: false });
  if (!there) throw new BackupFault(`the file ${file} does not exist`);
  if (!there.isFile()) throw new BackupFault(`${file} is not a regular file`);
  const [progress, interrupted] = [new Progress(), onInterrupt()];
  try {
    const onRead = (bytes: number, total: number) =>
      progress.show(() => progressLine({ what: "checking", share: bytes / total, bytes }));
    for await (const piece of heeding(readDump(file, onRead), interrupted.signal)) {
      if (piece.kind === "header") migrationsOf(piece.header, readMigrations());
    }
  } catch (error) {
    throw asFault(error, { file, isInterrupted: interrupted.signal.aborted, left: "nothing was changed" });
  } finally {
    interrupted.forget();
    progress.clear();
  }
}

async function restore(call: Call): Promise<Outcome> {
  const began = Date.now();
  const file = fileOf(call);
  const [progress, interrupted] = [new Progress(), onInterrupt()];
  let [bytes, share] = [0, 0];
  const onRead = (read: number, total: number) => ([bytes, share] = [total, read / total]);
  const pieces = heeding(readDump(file, onRead), interrupted.signal);
  try {
    const header = await readHeader(pieces);
    const onProgress = (step: { table: string; rows: number }) =>
      progress.show(() => progressLine({ what: "restoring", share, bytes, ...step }));
    const { leftOut, ...restored } = await restoreDatabase(call.store.database, { header, pieces }, { onProgress });
    const seconds = (Date.now() - began) / 1000;
    const result = { file, made_at: header.made_at, ...restored, left_out: leftOut, bytes, seconds };
    const others =
      leftOut.length === 0 ? "" : `\nNot restored, because they are not Casehound's tables: ${leftOut.map(printable).join(", ")}`;
    const next = "Start the service as usual. Set DEMO=off to run it without the simulated shop.";
    return { result, text: `${summary(result)} of ${new Date(header.made_at).toISOString()} from ${file}${others}\n${next}` };
  } catch (error) {
    throw asFault(error, { call, file, isInterrupted: interrupted.signal.aborted, left: "nothing was changed" });
  } finally {
    interrupted.forget();
    progress.clear();
    await pieces.return();
  }
}

// Checks for an interrupt before each piece and after the last one, just before the restored data is committed.
async function* heeding(pieces: AsyncIterable<Piece>, signal: AbortSignal): AsyncGenerator<Piece, void, undefined> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    yield piece;
  }
  signal.throwIfAborted();
}

async function readHeader(pieces: AsyncGenerator<Piece, void, undefined>): Promise<DumpHeader> {
  const { value } = await pieces.next();
  if (value?.kind !== "header") throw new FileFault("it has no header");
  return value.header;
}

// A file from somebody else may contain control characters that a terminal would execute.
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

function summary({ tables, rows, bytes, seconds }: { tables: number; rows: number; bytes: number; seconds: number }): string {
  return `${rows.toLocaleString("en")} rows of ${tables} tables, ${megabytes(bytes)}, ${seconds.toFixed(1)} s,`;
}

// Ctrl+C ends the work cleanly, so that no partial file and no PostgreSQL is left behind. A second Ctrl+C ends the process as
// usual.
function onInterrupt(): { signal: AbortSignal; forget: () => void } {
  const stopping = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const stop = () => stopping.abort();
  for (const name of signals) process.once(name, stop);
  return { signal: stopping.signal, forget: () => signals.forEach((name) => process.off(name, stop)) };
}

type Ended = { call?: Call; file: string; isInterrupted: boolean; left: string };

// Reduces errors that an operator can act on to one line. Anything else is a bug and is shown in full.
function asFault(error: unknown, { call, file, isInterrupted, left }: Ended): unknown {
  if (isInterrupted) return new BackupFault(`interrupted: ${left}`, { cause: error });
  if (!(error instanceof Error)) return error;
  if (error instanceof BackupFault)
    return new BackupFault(`${error instanceof FileFault ? `${file}: ` : ""}${error.message}; ${left}`, { cause: error });
  if (error instanceof DatabaseError) {
    const words = `the database returned an error: ${error.message}; ${left}`;
    if (call === undefined || error.code !== "42501") return new BackupFault(words, { cause: error });
    return new ConfigFault(`${words}; ${tellDatabase(error, call.store.config.databaseUrl).next}`, { cause: error });
  }
  const code = "code" in error ? String(error.code) : "";
  return /^E[A-Z]+$/.test(code) ? new BackupFault(`${error.message}; ${left}`, { cause: error }) : error;
}

export const backupCommands: Command[] = [
  {
    name: "backup",
    usage: "backup <file> [--force]",
    summary:
      "backs up everything to one file, even while the service runs; the file contains signing keys and secret hashes, so keep it safe",
    positionals: { min: 1, max: 1 },
    options: { force: { type: "boolean", describe: "replace an existing file once the new backup is complete" } },
    wants: { schema: "any", newDatabase: false },
    check: checkTarget,
    run: backup,
  },
  {
    name: "restore",
    usage: "restore <file>",
    summary: "restores a backup into a new or empty DATA_DIR, or into a database without tenants",
    positionals: { min: 1, max: 1 },
    options: {},
    wants: { schema: "any", newDatabase: true, isAlone: true },
    check: checkSource,
    run: restore,
  },
];
