import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./guide.ts";

const cache = join(repository, "node_modules", ".cache", "nginx");

// Returns the machine's nginx, or Debian's, unpacked into a folder: installing the package would start a server.
export function findNginx(): string {
  const known = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", join(cache, "usr/sbin/nginx")].find((path) => existsSync(path));
  return known ?? unpackNginx();
}

function unpackNginx(): string {
  const folder = `${cache}-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  const download = () => execFileSync("apt-get", ["download", "nginx"], { cwd: folder, stdio: "pipe" });
  try {
    download();
  } catch {
    execFileSync("apt-get", ["update"], { stdio: "pipe" });
    download();
  }
  const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".deb"));
  execFileSync("dpkg-deb", ["-x", join(folder, file), folder]);
  if (!existsSync(cache)) renameSync(folder, cache);
  return join(cache, "usr/sbin/nginx");
}
