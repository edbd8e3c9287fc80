import { accessSync, constants, existsSync, readFileSync, statSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { freemem } from "node:os";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { MigrationFault, checkMigrations, findServerVersion, listPendingMigrations } from "../db/migrate.ts";
import { canLockTenants, isBound } from "../db/tenant-lock.ts";
import type { Waiting } from "../db/waiting.ts";
import { countTenants, findDatabaseTime } from "../db/tenants.ts";
import type { Store } from "./store.ts";

// `next`: what to do about it.
export type Check = { name: string; isOk: boolean; detail: string; next?: string };

const gigabyte = 1024 ** 3;
const diskFreeMin = gigabyte;
const memoryFreeMin = 256 * 1024 ** 2;
const filesMin = 1_024;
const nodeMin = 24;
const clockOffMaxMs = 5_000;
const waitingMaxMs = 60_000;
const answerTimeoutMs = 3_000;

export function ok(name: string, detail: string): Check {
  return { name, isOk: true, detail };
}

export function fail(name: string, detail: string, next: string): Check {
  return { name, isOk: false, detail, next };
}

export function checkNode(version = process.versions.node): Check {
  if (Number(version.split(".")[0]) >= nodeMin) return ok("node", version);
  return fail("node", `${version} is too old`, `run it by npm, which brings its own, or with Node.js ${nodeMin} or newer`);
}

export function checkMachine(free = freemem(), limits = readLimits()): Check[] {
  const megabytes = `${Math.round(free / 1024 ** 2)} MB free`;
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return [
    free >= memoryFreeMin
      ? ok("memory", megabytes)
      : fail("memory", megabytes, "the service and PostgreSQL want 512 MB together"),
    files >= filesMin
      ? ok("open files", Number.isFinite(files) ? `up to ${files}` : "not limited")
      : fail("open files", `up to ${files}`, "each connection is one: ulimit -n 65536, or LimitNOFILE in the unit"),
  ];
}

function readLimits(): string {
  return existsSync("/proc/self/limits") ? readFileSync("/proc/self/limits", "utf8") : "";
}

// Of the embedded database. What is not there yet is no fault of the folder.
export function checkFolder({ dataDir }: Config): Check {
  const name = "data folder";
  if (!existsSync(join(dataDir, "postgres")))
    return fail(name, `there is no database in ${dataDir}`, "npm start makes one; or set DATA_DIR");
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return fail(name, `${dataDir} may not be read and written by this user`, "run it as the user that owns it, or chown it");
  }
  const { mode, uid } = statSync(join(dataDir, "postgres"));
  const own = process.getuid?.() ?? uid;
  if (own !== 0 && uid !== own)
    return fail(name, `${dataDir}/postgres belongs to user ${uid}, and this is user ${own}`, "run it as the user that made it");
  if ((mode & 0o077) !== 0)
    return fail(name, `${dataDir}/postgres is open to others (${(mode & 0o777).toString(8)})`, `chmod 700 ${dataDir}/postgres`);
  return ok(name, dataDir);
}

export function checkDisk(folder: string, freeMin = diskFreeMin): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${(free / gigabyte).toFixed(1)} GiB free at ${folder}`;
  return free >= freeMin
    ? ok("disk", detail)
    : fail("disk", detail, "PostgreSQL stops when it is full: make room, or lower RETENTION_DAYS");
}

export async function checkDatabase({ database, config }: Store): Promise<Check> {
  const where = config.databaseUrl === null ? `embedded in ${config.dataDir}` : "by DATABASE_URL";
  return ok("database", `PostgreSQL ${await findServerVersion(database)}, ${where}`);
}

export async function checkSchema({ database }: Store): Promise<Check> {
  const name = "migrations";
  try {
    await checkMigrations(database);
  } catch (error) {
    if (!(error instanceof MigrationFault)) throw error;
    return fail(name, error.message, "run the version that made it, or restore a backup of before");
  }
  const pending = await listPendingMigrations(database);
  return pending.length === 0
    ? ok(name, "up to date")
    : fail(name, `pending: ${pending.join(", ")}`, "migrate, or start the service");
}

// Tokens, cursors and times of cases are by the clock.
function checkClock(here: number, there: number, whose: string): Check {
  const off = here - there;
  const detail = `${Math.abs(off / 1000).toFixed(1)} s ${off < 0 ? "behind" : "ahead of"} ${whose}`;
  return Math.abs(off) <= clockOffMaxMs
    ? ok("clock", detail)
    : fail("clock", detail, "set it by NTP: tokens are refused where clocks differ");
}

export async function checkDatabaseClock({ database }: Store): Promise<Check> {
  const there = Date.parse(await findDatabaseTime(database));
  return checkClock(Date.now(), there, "the database");
}

// It is made by the service's start; here it is only looked for.
export async function checkLock({ database, config }: Store): Promise<Check> {
  const name = "tenant lock";
  if (await isBound(database))
    return fail(
      name,
      "the database's user is bound by row-level security itself",
      "give it bypassrls, or make it the tables' owner",
    );
  if (config.rowSecurity === "off") return ok(name, "off, by ROW_SECURITY");
  if (await canLockTenants(database)) return ok(name, "row-level security");
  const detail = "none: there is no such role, or its user may not have it";
  return config.rowSecurity === "auto"
    ? ok(name, detail)
    : fail(name, detail, "start the service as a user that may create roles");
}

export async function checkTenants({ database }: Store): Promise<Check> {
  const count = await countTenants(database);
  return count > 0 ? ok("tenants", String(count)) : fail("tenants", "there is none", "tenant create <slug>");
}

export function checkEngine({ oldest }: Waiting): Check {
  if (oldest === null) return ok("engine", "nothing waits to be scored");
  const waitedMs = Date.now() - Date.parse(oldest);
  const detail = `activity waits to be scored since ${oldest}`;
  return waitedMs <= waitingMaxMs
    ? ok("engine", detail)
    : fail("engine", detail, "start a process whose ROLES have engine; its log says what is wrong");
}

export function checkWebhooks({ deliveries: { dead }, disabledWebhooks: disabled }: Waiting): Check {
  if (dead === 0 && disabled === 0) return ok("webhooks", "none has failed for good");
  const detail = `${dead} messages were given up, ${disabled} webhooks were switched off by their receivers`;
  return fail("webhooks", detail, "webhooks list, then webhooks deliveries and webhooks resend");
}

// Whether the service answers where it says that it does, and if not, what is there instead.
export async function checkService(url: string): Promise<Check[]> {
  const name = "service";
  let response: Response;
  try {
    response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerTimeoutMs) });
  } catch {
    const { hostname, port, protocol } = new URL(url);
    const number = Number(port || (protocol === "https:" ? 443 : 80));
    if (await isTaken(hostname, number))
      return [fail(name, `port ${number} is taken by something that does not answer HTTP`, "stop that, or set PORT to another")];
    return [fail(name, `nothing answers at ${url}`, "npm start; or set PUBLIC_URL to where it answers")];
  }
  const body = await response.text().catch(() => "");
  if (!isOurs(body))
    return [
      fail(
        name,
        `${url} is answered by something else (${response.status})`,
        "set PORT to another, or PUBLIC_URL to where it answers",
      ),
    ];
  const there = Date.parse(response.headers.get("date") ?? "");
  const clocks = Number.isNaN(there) ? [] : [checkClock(Math.floor(Date.now() / 1000) * 1000, there, "the service")];
  const ready = response.ok
    ? ok(name, `${url} answers ${response.status}`)
    : fail(name, `${url} answers ${response.status}: ${body.slice(0, 200)}`, "its log says why");
  return [ready, ...clocks];
}

// What /readyz says, or a problem of ours.
function isOurs(body: string): boolean {
  try {
    const answer: unknown = JSON.parse(body);
    return (
      typeof answer === "object" && answer !== null && ("address_data" in answer || ("type" in answer && "detail" in answer))
    );
  } catch {
    return false;
  }
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error && error.code === "EADDRINUSE"));
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => server.close(() => resolve(false)));
  });
}
