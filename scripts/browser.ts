// Finds the Chromium that the tests drive, or installs Debian's package. Only `npm test` uses this.
import { findInPath, installPackage, isProgram, type Environment } from "./debian.ts";

const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chromium-headless-shell",
  "chrome-headless-shell",
];
const remedy = "install Debian's package chromium, or set CHROMIUM to the path of a Chromium";

export class NoBrowser extends Error {}

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

export function ensureChromium(env: Environment = process.env): string {
  const found = findChromium(env);
  if (found !== null) return found;
  const fault = installPackage({ name: "chromium", noun: "a Chromium", size: "100 MB" }, env);
  if (fault !== null) throw new NoBrowser(`${fault}: ${remedy}`);
  const installed = findChromium(env);
  if (installed === null) throw new NoBrowser(`chromium was installed but is not in PATH: ${remedy}`);
  return installed;
}
