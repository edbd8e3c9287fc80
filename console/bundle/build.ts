import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

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

// Hashes every input of the bundle, including the versions of its dependencies.
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

// Compress once at build time with the best settings, so the service only sends stored bytes.
function pack(folder: string): void {
  for (const file of filesBelow(folder).filter((each) => packable.test(each))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  }
}

// A test runner sets NODE_ENV, and Vite would then make a development bundle.
async function bundle(outDir: string): Promise<void> {
  const { NODE_ENV: before } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    // Loaded only for a build, because every start runs this file to check whether one is needed.
    const { build } = await import("vite");
    const configFile = join(workspace, "vite.config.ts");
    await build({ configFile, logLevel: "error", mode: "production", build: { outDir, emptyOutDir: true } });
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

// Builds into dist if the sources have changed since the last build. Returns whether it built.
export async function buildConsole(): Promise<boolean> {
  const sources = hashSources();
  if (builtHash() === sources) return false;
  if (import.meta.main) process.stderr.write("casehound: building the console\n");
  // Build in another folder and rename it, so a service or a test that starts meanwhile finds a complete build or none.
  const fresh = join(workspace, "node_modules", `.build-${randomUUID()}`);
  mkdirSync(fresh, { recursive: true });
  await bundle(fresh);
  pack(fresh);
  writeFileSync(join(fresh, stampFile), JSON.stringify({ sources }));
  rmSync(distFolder, { recursive: true, force: true });
  try {
    renameSync(fresh, distFolder);
  } catch (error) {
    // Another process finished first. If it built the same sources, its files are the same.
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
