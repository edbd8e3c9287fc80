// Finds pgbench: the machine's own, or that of Debian's package, unpacked next to the project and not installed.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Program = { file: string; env: Record<string, string>; version: string };

const cache = fileURLToPath(new URL("../../node_modules/.cache/pgbench", import.meta.url));
const byVersion = new Intl.Collator("en", { numeric: true });

// Throws a descriptive error if there is none and none can be downloaded.
export function findPgbench(): Program {
  const { PATH = "" } = process.env;
  // A distribution's pgbench in PATH may be a wrapper, which only costs an extra process start.
  const installed = [
    ...newestFirst("/usr/lib/postgresql/*/bin/pgbench"),
    ...PATH.split(":").map((each) => join(each, "pgbench")),
  ];
  for (const file of installed) {
    const found = existsSync(file) ? runs(file, {}) : null;
    if (found) return found;
  }
  return unpacked() ?? download();
}

function newestFirst(pattern: string): string[] {
  return globSync(pattern).toSorted((a, b) => byVersion.compare(b, a));
}

function runs(file: string, env: Record<string, string>): Program | null {
  const { PATH = "" } = process.env;
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    const version = execFileSync(file, ["--version"], { encoding: "utf8", env: { PATH, ...env }, stdio: [...stdio] }).trim();
    return { file, env, version };
  } catch {
    return null;
  }
}

function unpacked(): Program | null {
  const libraries = globSync(join(cache, "usr/lib/*/libpq.so.5")).map((file) => join(file, ".."));
  const [file] = newestFirst(join(cache, "usr/lib/postgresql/*/bin/pgbench"));
  return file === undefined ? null : runs(file, { LD_LIBRARY_PATH: libraries.join(":") });
}

function download(): Program {
  try {
    mkdirSync(cache, { recursive: true });
    const run = (file: string, ...args: string[]) =>
      execFileSync(file, args, { cwd: cache, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const names = run("apt-cache", "search", "--names-only", "^postgresql-[0-9]+$");
    const [newest] = (names.match(/^postgresql-\d+/gm) ?? []).toSorted((a, b) => byVersion.compare(b, a));
    if (newest === undefined) throw new Error("apt has no PostgreSQL package; run apt-get update");
    run("apt-get", "download", newest, "libpq5");
    for (const file of globSync(join(cache, "*.deb"))) run("dpkg", "-x", file, cache);
    const found = unpacked();
    if (!found) throw new Error(`pgbench from ${newest} does not run here`);
    return found;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new Error(`pgbench is not installed, and Debian's package could not be unpacked: ${why}`, { cause });
  }
}
