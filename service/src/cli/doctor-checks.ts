import { accessSync, constants, existsSync, readFileSync, statSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { dirname, join } from "node:path";
import { openAddressData } from "../address-data.ts";
import { ConfigFault, type Config } from "../config.ts";
import { ownerFault } from "../db/postgres/cluster.ts";
import { codeOf } from "../db/postgres/faults.ts";
import { MigrationFault, checkMigrations, findServer, listPendingMigrations, serverFault } from "../db/postgres/migrate.ts";
import { canLockTenants, isBound } from "../db/tenant-lock.ts";
import type { Waiting } from "../db/waiting.ts";
import { countTenants, findDatabaseTime } from "../db/tenants.ts";
import type { Store } from "./store.ts";

// `next` says how to fix the problem.
export type Check = { name: string; isOk: boolean; detail: string; next?: string };

const gigabyte = 1024 ** 3;
const diskFreeMin = gigabyte;
const inodesFreeMin = 1_000;
const memoryFreeMin = 256 * 1024 ** 2;
const filesMin = 1_024;
const nodeMin = 24;
const clockOffMaxMs = 5_000;
const waitingMaxMs = 60_000;
// Server activity does not wait for page activity, so it counts as late much sooner.
const serverWaitingMaxMs = 10_000;

export function ok(name: string, detail: string): Check {
  return { name, isOk: true, detail };
}

export function fail(name: string, detail: string, next: string): Check {
  return { name, isOk: false, detail, next };
}

export function checkNode(version = process.versions.node): Check {
  if (Number(version.split(".")[0]) >= nodeMin) return ok("node", version);
  return fail(
    "node",
    `${version} is too old`,
    `run casehound through npm, which brings its own Node.js, or install Node.js ${nodeMin} or newer`,
  );
}

export function checkMachine(free = freemem(), limits = readLimits()): Check[] {
  const megabytes = `${Math.round(free / 1024 ** 2)} MB free`;
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return [
    free >= memoryFreeMin
      ? ok("memory", megabytes)
      : fail("memory", megabytes, "the service and PostgreSQL need 512 MB together"),
    files >= filesMin
      ? ok("open files", Number.isFinite(files) ? `up to ${files}` : "not limited")
      : fail(
          "open files",
          `up to ${files}`,
          "each connection needs one: raise the limit with ulimit -n 65536, or LimitNOFILE in the systemd unit",
        ),
  ];
}

function readLimits(): string {
  return existsSync("/proc/self/limits") ? readFileSync("/proc/self/limits", "utf8") : "";
}

// Checks the folder of the embedded database. If it does not exist yet, the nearest existing parent must be writable.
export function checkFolder({ dataDir }: Config): Check {
  const name = "data folder";
  let there = dataDir;
  while (!existsSync(there)) there = dirname(there);
  if (!statSync(there).isDirectory())
    return fail(name, `${there} is a file, but DATA_DIR must be a folder`, "set DATA_DIR to a folder");
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (codeOf(error) === "EROFS")
      return fail(name, `${there} is mounted read-only`, "mount it for writing, or set another DATA_DIR");
    return fail(name, `this user may not read and write ${there}`, "run casehound as the user that owns it, or chown it");
  }
  const folder = join(dataDir, "postgres");
  if (!existsSync(folder))
    return fail(name, `there is no database in ${dataDir}`, "run npm start, which creates one, or set another DATA_DIR");
  for (const [path, bits, next] of [
    [folder, 0o077, "chmod 700"],
    [dataDir, 0o007, "chmod o="],
  ] as const) {
    const { mode } = statSync(path);
    if ((mode & bits) !== 0)
      return fail(name, `${path} is accessible to other users (${(mode & 0o777).toString(8)})`, `${next} ${path}`);
  }
  const fault = ownerFault(folder);
  return fault === null ? ok(name, dataDir) : fail(name, fault.detail, fault.next);
}

// Opens the same files as the start of the service.
export function checkAddressData({ mmdbFiles }: Config): Check[] {
  const name = "address data";
  if (mmdbFiles.length === 0) return [];
  try {
    openAddressData(mmdbFiles);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return [fail(name, error.message, "name files in MaxMind format, separated by commas, or leave the variable unset")];
  }
  return [ok(name, mmdbFiles.join(", "))];
}

export function checkDisk(folder: string, freeMin = diskFreeMin): Check {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  const free = bavail * bsize;
  // Some filesystems have no fixed number of inodes and report 0 of 0.
  if (files > 0 && ffree < inodesFreeMin)
    return fail("disk", `${ffree} inodes free at ${folder}`, "PostgreSQL needs them to create files: remove small files there");
  const detail = `${(free / gigabyte).toFixed(1)} GiB free at ${folder}`;
  return free >= freeMin
    ? ok("disk", detail)
    : fail("disk", detail, "PostgreSQL stops if the disk is full: free some space, or lower RETENTION_DAYS");
}

export async function checkDatabase({ database, config }: Store): Promise<Check> {
  const name = "database";
  const server = await findServer(database);
  const where = config.databaseUrl === null ? `embedded in ${config.dataDir}` : "at DATABASE_URL";
  const fault = serverFault(server);
  if (fault !== null)
    return fail(name, fault, "run create database ... encoding 'UTF8' template template0 on PostgreSQL 15 or newer");
  if (server.is_read_only) return fail(name, "it is read-only, like a standby", "set DATABASE_URL to the primary");
  return ok(name, `PostgreSQL ${server.version}, ${where}`);
}

export async function checkSchema({ database }: Store): Promise<Check> {
  const name = "migrations";
  try {
    await checkMigrations(database);
  } catch (error) {
    if (!(error instanceof MigrationFault)) throw error;
    return fail(name, error.message, "run the version that created it, or restore an earlier backup");
  }
  const pending = await listPendingMigrations(database);
  return pending.length === 0
    ? ok(name, "up to date")
    : fail(name, `pending: ${pending.join(", ")}`, "run casehound migrate, or start the service");
}

// Tokens, cursors and the times of cases depend on the clock.
export function checkClock(here: number, there: number, whose: string): Check {
  const off = here - there;
  const detail = `${Math.abs(off / 1000).toFixed(1)} s ${off < 0 ? "behind" : "ahead of"} ${whose}`;
  return Math.abs(off) <= clockOffMaxMs
    ? ok("clock", detail)
    : fail("clock", detail, "synchronize it with NTP: tokens are rejected if clocks differ");
}

export async function checkDatabaseClock({ database }: Store): Promise<Check> {
  const there = Date.parse(await findDatabaseTime(database));
  return checkClock(Date.now(), there, "the database");
}

// The start of the service creates the role. This only checks whether it exists.
export async function checkLock({ database, config }: Store): Promise<Check> {
  const name = "tenant lock";
  if (await isBound(database))
    return fail(
      name,
      "row-level security applies to the database user itself",
      "give the user bypassrls, or make it the owner of the tables",
    );
  if (config.rowSecurity === "off") return ok(name, "turned off by ROW_SECURITY");
  if (await canLockTenants(database)) return ok(name, "row-level security");
  const detail = "none: the role does not exist, or the database user may not set it";
  return config.rowSecurity === "auto"
    ? ok(name, detail)
    : fail(name, detail, "start the service as a user that may create roles");
}

export async function checkTenants({ database }: Store): Promise<Check> {
  const count = await countTenants(database);
  return count > 0 ? ok("tenants", String(count)) : fail("tenants", "there are none", "run casehound tenant create <slug>");
}

export function checkEngine({ unscored, oldest, oldestOfServers }: Waiting, now = Date.now()): Check {
  if (oldest === null) return ok("engine", "no activity is waiting to be scored");
  const waitedMs = now - Date.parse(oldest);
  const serverMs = oldestOfServers === null ? 0 : now - Date.parse(oldestOfServers);
  const servers = oldestOfServers === null ? "none of it is from servers" : `the oldest from a server for ${lasted(serverMs)}`;
  const count = counted(unscored, "activity is", "activities are");
  const detail = `${count} waiting to be scored, the oldest for ${lasted(waitedMs)}; ${servers}`;
  if (waitedMs <= waitingMaxMs && serverMs <= serverWaitingMaxMs) return ok("engine", detail);
  return fail(
    "engine",
    `it is behind: ${detail}`,
    "if no process is running whose ROLES include engine, start one; otherwise check its log for errors, and give the machine more CPU or start another engine",
  );
}

function lasted(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

export function checkWebhooks({ deliveries: { dead }, disabledWebhooks: disabled }: Waiting): Check[] {
  const [name, find] = ["webhooks", "webhooks list shows the id"];
  const checks = [
    dead > 0 && fail(name, `${counted(dead, "message was", "messages were")} abandoned`, `webhooks resend <webhook_id>; ${find}`),
    disabled > 0 &&
      fail(
        name,
        `${counted(disabled, "webhook was", "webhooks were")} disabled because the receiver returned 410`,
        `webhooks set <webhook_id> --enabled true; ${find}`,
      ),
  ].filter((check) => check !== false);
  return checks.length > 0 ? checks : [ok(name, "no message was abandoned, and no webhook was disabled")];
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
