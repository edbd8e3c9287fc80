// Finds the pooler that the slow tests connect through, or installs Debian's package. Debian also starts a service of its own,
// which only listens on this machine.
import { findInPath, installPackage, isProgram, type Environment } from "./debian.ts";

const name = "pgbouncer";
const usual = "/usr/sbin/pgbouncer";

export class NoPooler extends Error {}

// The program, or null.
export function findPooler(env: Environment = process.env): string | null {
  return isProgram(usual) ? usual : findInPath(name, env);
}

export function ensurePooler(env: Environment = process.env): void {
  if (findPooler(env) !== null) return;
  const fault = installPackage({ name, noun: "a pooler", size: "1 MB" }, env);
  if (fault !== null) throw new NoPooler(`${fault}: install Debian's package ${name}`);
  if (findPooler(env) === null) throw new NoPooler(`${name} was installed, but is not at ${usual}`);
}
