// Installs Debian's packages for the tests. Only tests and their scripts use this.
import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export type Environment = Record<string, string | undefined>;

// Wait for a lock that another apt-get holds, retry a failing mirror, and limit the time of each step.
const aptGet = ["apt-get", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3"];
const stepMsMax = 15 * 60_000;

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function findInPath(name: string, env: Environment): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
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

type Wanted = { name: string; noun: string; size: string };

// Returns what is wrong, or null once the package is installed.
export function installPackage({ name, noun, size }: Wanted, env: Environment): string | null {
  if (findInPath("apt-get", env) === null) return `the tests need ${noun}, and there is no apt-get to install one`;
  const prefix = rootPrefix(env);
  if (prefix === null) return `the tests need ${noun}, and installing one requires root`;
  process.stderr.write(`casehound: installing Debian's package ${name} for the tests, once (about ${size})\n`);
  const began = Date.now();
  // If the update fails, for example because another source is unreachable, it may still have fetched the list we need.
  runAsRoot(prefix, [...aptGet, "update"], env);
  if (!runAsRoot(prefix, [...aptGet, "install", "-y", "--no-install-recommends", name], env))
    return `${name} could not be installed (see apt-get's output above)`;
  process.stderr.write(`casehound: installed ${name} in ${Math.round((Date.now() - began) / 1000)} s\n`);
  return null;
}
