import { spawnSync, type SpawnOptions } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";

// PostgreSQL refuses to run as root. If the service is started as root, PostgreSQL runs as an unprivileged user. If that user
// cannot reach the folder (for example, a clone below /root), setpriv leaves it the one capability that lets it through.
export type Launcher = {
  uid: number | undefined;
  gid: number | undefined;
  command: (file: string, args: string[]) => { file: string; args: string[]; options: SpawnOptions };
};

export type User = { uid: number; gid: number };

// Returns null if we are not root, because then nothing has to change.
export function serverUser(folder: string): User | null {
  if (process.getuid?.() !== 0) return null;
  if (existsSync(folder)) {
    const { uid, gid } = statSync(folder);
    if (uid !== 0) return { uid, gid };
  }
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(":");
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  return { uid: 65534, gid: 65534 };
}

export function launcher(paths: string[], user: User | null): Launcher {
  if (user === null) return { uid: undefined, gid: undefined, command: (file, args) => ({ file, args, options: {} }) };
  const { uid, gid } = user;
  if (canReach(paths, user)) {
    return { uid, gid, command: (file, args) => ({ file, args, options: { uid, gid } }) };
  }
  const drop = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    "--clear-groups",
    // initdb uses access(2) to look for its binaries. Without this flag, access(2) would ignore the capability.
    "--securebits=+no_setuid_fixup",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    "--",
  ];
  return { uid, gid, command: (file, args) => ({ file: "setpriv", args: [...drop, file, ...args], options: {} }) };
}

// The user can enter these folders but not list them.
function canReach(paths: string[], { uid, gid }: User): boolean {
  const script = 'for path do test -x "$path" && { test -d "$path" || test -r "$path"; } || exit 1; done';
  return spawnSync("/bin/sh", ["-c", script, "sh", ...paths], { uid, gid, stdio: "ignore" }).status === 0;
}

// A pid alone proves nothing: after a reboot, it may belong to another process. PostgreSQL's working directory is its own folder.
export function isRunningIn(pid: number, folder: string): boolean {
  if (!isRunning(pid)) return false;
  if (!existsSync("/proc/self/cwd")) return true;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch {
    return false;
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

export function interrupt(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    // The process has just ended by itself.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
