import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./guide.ts";

// Programs that the guide's examples use, but not the service. They are fetched once, into a cache. So nobody has to install
// them, and they are not dependencies.
const cache = join(repository, "node_modules", ".cache");
const expressVersion = "5.1.0";

// Fills a folder of the cache, unless it exists. Another test may do the same at the same time.
function cached(name: string, fill: (folder: string) => void): string {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const own = `${folder}-${process.pid}`;
  mkdirSync(own, { recursive: true });
  fill(own);
  if (existsSync(folder)) rmSync(own, { recursive: true });
  else renameSync(own, folder);
  return folder;
}

// Returns the machine's nginx. If there is none, downloads Debian's package and unpacks it into a folder, because installing it
// would start a server.
export function findNginx(): string {
  const known = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].find((path) => existsSync(path));
  return known ?? join(cached("nginx", unpackNginx), "usr/sbin/nginx");
}

function unpackNginx(folder: string): void {
  const download = () => execFileSync("apt-get", ["download", "nginx"], { cwd: folder, stdio: "pipe" });
  try {
    download();
  } catch {
    execFileSync("apt-get", ["update"], { stdio: "pipe" });
    download();
  }
  const file = readdirSync(folder).find((name) => name.endsWith(".deb")) ?? "";
  execFileSync("dpkg-deb", ["-x", join(folder, file), folder]);
}

// Returns the folder of the package express.
export function findExpress(): string {
  const wanted = ["install", "--no-save", "--ignore-scripts", "--no-audit", `express@${expressVersion}`];
  const folder = cached(`express-${expressVersion}`, (own) => {
    execFileSync("npm", [...wanted, "--prefix", own], { cwd: own, stdio: "pipe" });
  });
  return join(folder, "node_modules/express");
}
