// Generates files from the service's table of operations: the client's tables, types and methods, and the request collections.
// Tests compare them.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { clientSources } from "./client-source.ts";
import { collectionFiles } from "./collections.ts";

const root = join(import.meta.dirname, "..");

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  console.log(`${folder}: ${Object.keys(files).length} files written`);
}

write("client/src", clientSources());
// Remove the whole folder first, so a removed operation leaves no file behind.
rmSync(join(root, "docs/collections"), { recursive: true, force: true });
write("docs/collections", collectionFiles());
