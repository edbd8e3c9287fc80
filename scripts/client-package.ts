// Makes the client's package, as it would be published: JavaScript and types, without a build step for whoever uses it. In the
// repository the sources themselves are what is imported.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const client = join(root, "client");

export function packClient(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tsc = join(root, "node_modules/.bin/tsc");
  const built = spawnSync(tsc, ["--project", client, "--outDir", join(folder, "lib")], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`the client does not compile: ${built.stdout}${built.stderr}`);
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
}

if (import.meta.main) {
  const folder = join(client, "dist");
  packClient(folder);
  console.log(`written to ${folder}: npm publish ${folder}`);
}
