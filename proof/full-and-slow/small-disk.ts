import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectToFolder } from "../../service/test/launch.ts";

const sizeMb = 256;
const chunk = Buffer.alloc(64 * 1024, 1);

// A disk that can be full: a small file system if one can be mounted, otherwise a database that reports its tables as full.
export class SmallDisk {
  readonly folder: string;
  readonly isMounted: boolean;

  private constructor(folder: string, isMounted: boolean) {
    this.folder = folder;
    this.isMounted = isMounted;
  }

  static make(): SmallDisk {
    const folder = mkdtempSync(join(tmpdir(), "casehound-proof-"));
    const isMounted = run("mount", "-t", "tmpfs", "-o", `size=${sizeMb}m,mode=755`, "tmpfs", folder);
    return new SmallDisk(folder, isMounted);
  }

  get how(): string {
    return this.isMounted ? `a file system of ${sizeMb} MB` : "triggers, because nothing can be mounted here";
  }

  fill(): Promise<void> {
    if (!this.isMounted) return this.#run(refuse);
    writeUntilFull(this.#ballast);
    return Promise.resolve();
  }

  free(): Promise<void> {
    if (!this.isMounted) return this.#run(allow);
    rmSync(this.#ballast);
    return Promise.resolve();
  }

  remove(): void {
    if (this.isMounted) run("umount", "-l", this.folder);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  get #ballast(): string {
    return join(this.folder, "ballast");
  }

  async #run(statements: string): Promise<void> {
    const client = await connectToFolder(this.folder);
    await client.query(statements);
    await client.end();
  }
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

function writeUntilFull(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, chunk);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}

const tables = ["inbox", "cases", "accounts", "events"];
const refuse = `
  create function refuse_full() returns trigger language plpgsql as $$
  begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
  ${tables.map((table) => `create trigger refuse_full before insert or update on ${table} execute function refuse_full();`).join("\n")}`;
const allow = "drop function refuse_full cascade";
