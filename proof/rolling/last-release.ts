import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Credentials } from "../../service/test/launch.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const own = "@casehound";

export type Release = { version: string; commit: string };

export function readRelease(): Release {
  return JSON.parse(readFileSync(new URL("release.json", import.meta.url), "utf8")) as Release;
}

// False in a copy without the whole history, such as a shallow clone.
export function isInHistory({ commit }: Release): boolean {
  return spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: repository }).status === 0;
}

// The program of an earlier release, from this repository's history. It uses the packages that are installed here.
export class CheckedOut {
  readonly folder = mkdtempSync(join(tmpdir(), "casehound-release-"));

  constructor({ commit }: Release) {
    const options = { cwd: repository, maxBuffer: 1024 ** 3 };
    const archive = execFileSync("git", ["archive", "--format=tar", commit], options);
    const { status, stderr } = spawnSync("tar", ["-x", "-C", this.folder], { input: archive });
    if (status !== 0) throw new Error(`tar: ${stderr.toString()}`);
    this.#linkPackages();
  }

  get command(): string[] {
    return [process.execPath, join(this.folder, "service", "src", "main.ts")];
  }

  createTenant(databaseUrl: string, slug: string): Credentials & { tenant_id: string } {
    const cli = join(this.folder, "service", "src", "cli", "main.ts");
    const env = { ...process.env, DATABASE_URL: databaseUrl };
    const text = execFileSync(process.execPath, [cli, "tenant", "create", slug, "--json"], { env, encoding: "utf8" });
    return { ...(JSON.parse(text) as Omit<Credentials, "tenant"> & { tenant_id: string }), tenant: slug };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  // The project's own packages are the release's.
  #linkPackages(): void {
    const [from, to] = [repository, this.folder].map((folder) => join(folder, "node_modules")) as [string, string];
    mkdirSync(join(to, own), { recursive: true });
    for (const name of readdirSync(from)) if (name !== own) symlinkSync(join(from, name), join(to, name));
    for (const name of readdirSync(join(from, own))) symlinkSync(join(this.folder, name), join(to, own, name));
  }
}
