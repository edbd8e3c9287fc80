// Empties the memory that holds a store, so that the next request reads from the disk.
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Bench } from "../machine.ts";
import type { Store } from "./store.ts";

// Smaller files are parts of the catalog and stay in memory.
const fileBytesMin = 1_000_000;

// Removes the store from PostgreSQL's buffers, and its large files from the operating system's cache.
export async function emptyCaches(bench: Bench, { database }: Store): Promise<void> {
  await database.query(statement("create extension if not exists pg_buffercache", []));
  await database.query(statement("checkpoint", []));
  await database.query(statement("select pg_buffercache_evict_all()", []));
  const [found] = await database.query<{ oid: number; folder: string }>(
    statement(
      "select oid::int, current_setting('data_directory') as folder from pg_database where datname = current_database()",
      [],
    ),
  );
  if (!found) throw new Error("the database is not in its own list");
  // Only pages that are on the disk leave the cache.
  execFileSync("sync", ["-f", bench.folder]);
  const folder = join(found.folder, "base", String(found.oid));
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (statSync(file).size >= fileBytesMin) execFileSync("dd", [`if=${file}`, "iflag=nocache", "count=0", "status=none"]);
  }
}
