// Finds the mail server that the slow tests send to, or installs Debian's package. The package brings a Python library and no
// service, so nothing listens after the installation.
import { spawnSync } from "node:child_process";
import { installPackage, isProgram, type Environment } from "./debian.ts";

const name = "python3-aiosmtpd";
// The Python for which Debian installs its packages. Another one in PATH does not have them.
const python = "/usr/bin/python3";

export class NoMailServer extends Error {}

// The program that can run the server, or null.
export function findMailServer(): string | null {
  const hasIt = isProgram(python) && spawnSync(python, ["-c", "import aiosmtpd"], { stdio: "ignore" }).status === 0;
  return hasIt ? python : null;
}

export function ensureMailServer(env: Environment = process.env): void {
  if (findMailServer() !== null) return;
  const fault = installPackage({ name, noun: "a mail server", size: "1 MB" }, env);
  if (fault !== null) throw new NoMailServer(`${fault}: install Debian's package ${name}`);
  if (findMailServer() === null) throw new NoMailServer(`${name} was installed, but ${python} cannot load it`);
}
