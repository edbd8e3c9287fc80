// Builds the client's package as it would be published: JavaScript and types, with no build step for its users. Inside the
// repository, the sources are imported directly.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const client = join(root, "client");

// Builds the package as a folder, and next to it the tarball that npm makes from it. Returns both paths.
export function packClient(into: string): { folder: string; file: string } {
  const folder = join(into, "package");
  rmSync(into, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compile = (...options: string[]) =>
    run(join(root, "node_modules/.bin/tsc"), ["--project", client, "--outDir", join(folder, "lib"), ...options]);
  compile();
  // Editors read the comments in the types. In the JavaScript they would only add to its size, by a third.
  compile("--removeComments", "--declaration", "false");
  const {
    private: _private,
    exports: _exports,
    ...own
  } = JSON.parse(readFileSync(join(client, "package.json"), "utf8")) as Record<string, unknown>;
  const published = {
    ...own,
    sideEffects: false,
    engines: { node: ">=20.3" },
    files: ["lib"],
    exports: { ".": { types: "./lib/index.d.ts", default: "./lib/index.js" } },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  copyFileSync(join(client, "README.md"), join(folder, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const name = run("npm", ["pack", folder, "--pack-destination", into, "--silent"]).trim();
  return { folder, file: join(into, name) };
}

function run(command: string, args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}

if (import.meta.main) {
  const { file } = packClient(join(client, "dist"));
  console.log(`The client's package was built. Install it in your project with:\n\n  npm install ${file}`);
}
