import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

type Locked = { version?: string; link?: boolean; resolved?: string; integrity?: string; funding?: unknown };

const root = join(import.meta.dirname, "..");
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes("node_modules/") && link !== true);

// Without a hash, npm installs whatever the registry sends. `npm view <package>@<version> dist.integrity` prints the hash.
test("lock file: every package has an integrity hash", () => {
  expect(installed.length).toBeGreaterThan(1_000);
  const without = installed.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""));
  expect(without.map(([path, { version }]) => `${path}@${version}`)).toEqual([]);
});

// A lock file without registry addresses works with any registry, and does not reveal which one it was made with.
test("lock file: neither it nor .npmrc names a registry", () => {
  const named = installed.filter(([, { funding: _funding, ...rest }]) => JSON.stringify(rest).includes("://"));
  expect(named.map(([path]) => path)).toEqual([]);
  const settings = readFileSync(join(root, ".npmrc"), "utf8");
  expect(settings).toContain("omit-lockfile-registry-resolved=true");
  expect(settings).not.toContain("//");
});
