import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const workspace = join(import.meta.dirname, "..");
const repository = join(workspace, "..");
const distFolder = join(workspace, "dist");
const stampFile = "stamp.json";
const packable = /\.(js|css|html|svg)$/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

// Everything that goes into the bundle, the versions of its parts included.
function hashSources(): string {
  const single = ["index.html", "vite.config.ts", "package.json", "bundle/build.ts", "bundle/routes.ts"].map((name) =>
    join(workspace, name),
  );
  const below = [join(workspace, "src"), join(repository, "client/src")].flatMap(filesBelow);
  const hash = createHash("sha256");
  for (const file of [...single, ...below, join(repository, "package-lock.json")])
    hash.update(`${relative(repository, file)}\n`).update(readFileSync(file));
  return hash.digest("hex");
}

function builtHash(): string | null {
  try {
    const stamp: unknown = JSON.parse(readFileSync(join(distFolder, stampFile), "utf8"));
    return typeof stamp === "object" && stamp !== null && "sources" in stamp ? String(stamp.sources) : null;
  } catch {
    return null;
  }
}

// Packed once, here, as well as it goes: the service only hands out bytes.
function pack(folder: string): void {
  for (const file of filesBelow(folder).filter((each) => packable.test(each))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  }
}

// Vite would make a bundle for development where a test runner has said so to its environment.
async function bundle(outDir: string): Promise<void> {
  const { NODE_ENV: before } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    const configFile = join(workspace, "vite.config.ts");
    await build({ configFile, logLevel: "error", mode: "production", build: { outDir, emptyOutDir: true } });
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

// Builds into dist where the sources differ from those of the last time. True where it did.
export async function buildConsole(): Promise<boolean> {
  const sources = hashSources();
  if (builtHash() === sources) return false;
  // Beside it first, so that a service or a test that starts meanwhile finds all of it or none.
  const fresh = join(workspace, "node_modules", `.build-${randomUUID()}`);
  mkdirSync(fresh, { recursive: true });
  await bundle(fresh);
  pack(fresh);
  writeFileSync(join(fresh, stampFile), JSON.stringify({ sources }));
  rmSync(distFolder, { recursive: true, force: true });
  try {
    renameSync(fresh, distFolder);
  } catch (error) {
    // Another one was quicker. The same sources give the same files.
    rmSync(fresh, { recursive: true, force: true });
    if (builtHash() !== sources) throw error;
  }
  return true;
}

if (import.meta.main) {
  const began = Date.now();
  if (await buildConsole())
    process.stderr.write(`casehound: built the console in ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
}
