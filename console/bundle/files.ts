import { existsSync, readFileSync, readdirSync } from "node:fs";
import { extname, join, relative } from "node:path";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export type ConsoleFile = { type: string; plain: Buffer; gzip: Buffer; brotli: Buffer };
// Keyed by the URL path, without the leading slash.
export type ConsoleFiles = Map<string, ConsoleFile>;

// Reads the whole built console into memory: it is less than a megabyte. Returns null if it was not built.
export function readConsole(folder = join(import.meta.dirname, "../dist")): ConsoleFiles | null {
  if (!existsSync(join(folder, "index.html"))) return null;
  const found = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = found.flatMap((file): [string, ConsoleFile][] => {
    const type = types[extname(file)];
    if (type === undefined) return [];
    const packed = { gzip: readFileSync(`${file}.gz`), brotli: readFileSync(`${file}.br`) };
    return [[relative(folder, file).replaceAll("\\", "/"), { type, plain: readFileSync(file), ...packed }]];
  });
  return new Map(files);
}
