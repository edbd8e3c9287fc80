// Finds the Chromium that the tests drive, or installs Debian's package. Only `npm test` uses this.
import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

type Environment = Record<string, string | undefined>;

const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chromium-headless-shell",
  "chrome-headless-shell",
];
// Wait for a lock that another apt-get holds, retry a failing mirror, and limit the time of each step.
const aptGet = ["apt-get", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3"];
const stepMsMax = 15 * 60_000;
const remedy = "install Debian's package chromium, or set CHROMIUM to the path of a Chromium";

export class NoBrowser extends Error {}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function findInPath(name: string, env: Environment): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

// The path of a Chromium, or null. A missing CHROMIUM path is an error, because another browser would be tested than intended.
export function findChromium(env: Environment = process.env): string | null {
  const named = env["CHROMIUM"];
  if (named !== undefined && named !== "") {
    if (!isProgram(named)) throw new NoBrowser(`CHROMIUM is set to ${named}, which is not a program`);
    return named;
  }
  for (const name of names) {
    const found = findInPath(name, env);
    if (found !== null) return found;
  }
  return null;
}

// The prefix that runs a command as root, or null if that is not possible.
function rootPrefix(env: Environment): string[] | null {
  if (process.getuid?.() === 0) return [];
  const asked = spawnSync("sudo", ["-n", "true"], { env, stdio: "ignore" });
  return asked.status === 0 ? ["sudo", "-n"] : null;
}

function runAsRoot(prefix: string[], command: string[], env: Environment): boolean {
  // Use env(1), because sudo does not pass on its caller's environment.
  const [file = "", ...args] = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", ...command];
  // Show the output only on failure: hundreds of lines that nobody reads on success, but the only clue otherwise.
  const run = spawnSync(file, args, { env, encoding: "utf8", timeout: stepMsMax, maxBuffer: 64 * 1024 * 1024 });
  if (run.status !== 0) process.stderr.write(`${run.stdout ?? ""}${run.stderr ?? ""}`);
  return run.status === 0;
}

function install(env: Environment): void {
  if (findInPath("apt-get", env) === null)
    throw new NoBrowser(`the tests need a Chromium, and there is no apt-get to install one: ${remedy}`);
  const prefix = rootPrefix(env);
  if (prefix === null) throw new NoBrowser(`the tests need a Chromium, and installing one requires root: ${remedy}`);
  process.stderr.write("casehound: installing Debian's package chromium for the tests, once (about 100 MB)\n");
  const began = Date.now();
  // If the update fails, for example because another source is unreachable, it may still have fetched the list we need.
  runAsRoot(prefix, [...aptGet, "update"], env);
  const isDone = runAsRoot(prefix, [...aptGet, "install", "-y", "--no-install-recommends", "chromium"], env);
  if (!isDone) throw new NoBrowser(`chromium could not be installed (see apt-get's output above): ${remedy}`);
  process.stderr.write(`casehound: installed chromium in ${Math.round((Date.now() - began) / 1000)} s\n`);
}

export function ensureChromium(env: Environment = process.env): string {
  const found = findChromium(env);
  if (found !== null) return found;
  install(env);
  const installed = findChromium(env);
  if (installed === null) throw new NoBrowser(`chromium was installed but is not in PATH: ${remedy}`);
  return installed;
}
