import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import { runCli } from "./cli.ts";
import { connectTo, readPostmaster } from "./launch.ts";
import { useProcesses } from "./process.ts";

// Nobody else on the machine can read what is in DATA_DIR.
vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();
const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
// PostgreSQL never runs as root, so the folder's group lets it pass through.
const closed = isRoot ? "710" : "700";

// The parent folder is open to everybody.
function newDataDir(): string {
  const folder = processes.folder();
  chmodSync(folder, 0o755);
  return join(folder, "data");
}

// Opens the database once, and returns the capabilities of PostgreSQL's process.
async function useOnce(dataDir: string): Promise<string | undefined> {
  const embedded = await EmbeddedPostgres.forCommand(dataDir);
  const client = await connectTo(embedded.address);
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
  const status = readFileSync(`/proc/${readPostmaster(dataDir).pid}/status`, "utf8");
  await embedded.stop();
  return /^CapEff:\s*(\S+)$/m.exec(status)?.[1];
}

test("DATA_DIR: a new folder is closed to others, and PostgreSQL needs no capability to reach it", async () => {
  const dataDir = newDataDir();
  expect(Number(await useOnce(dataDir))).toBe(0);
  expect(modeOf(dataDir)).toBe(closed);
  const open = readdirSync(dataDir).filter((name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});

test("DATA_DIR: a folder that an older version left open is closed on the next use, together with its files", async () => {
  const dataDir = newDataDir();
  await useOnce(dataDir);
  const secrets = ["postgres.log", "demo-credentials.json"].map((name) => join(dataDir, name));
  for (const file of secrets) {
    writeFileSync(file, "{}", { flag: "a" });
    chmodSync(file, 0o644);
  }
  if (isRoot) chownSync(dataDir, 0, 0);
  for (const folder of [dataDir, join(dataDir, "run")]) chmodSync(folder, 0o755);
  expect((await runCli(["doctor"], { DATA_DIR: dataDir })).out).toMatch(
    /FAIL {2}data folder .*accessible to other users \(755\)/,
  );
  expect(Number(await useOnce(dataDir))).toBe(0);
  expect([dataDir, join(dataDir, "run"), ...secrets].map(modeOf)).toEqual([closed, "700", "600", "600"]);
  expect((await runCli(["doctor"], { DATA_DIR: dataDir })).out).toMatch(/ok {4}data folder/);
});

// The folder could be /var/lib, or somebody's home.
test("DATA_DIR: a folder that also contains other files is left unchanged", async () => {
  const dataDir = newDataDir();
  mkdirSync(dataDir, { mode: 0o755 });
  writeFileSync(join(dataDir, "letters.txt"), "dear", { mode: 0o644 });
  await useOnce(dataDir);
  expect([dataDir, join(dataDir, "letters.txt"), join(dataDir, "postgres")].map(modeOf)).toEqual(["755", "644", "700"]);
});

const others = { uid: 23_456, gid: 23_456 };

test.runIf(isRoot)("DATA_DIR: other users can list, read and enter nothing", async () => {
  const dataDir = newDataDir();
  await useOnce(dataDir);
  writeFileSync(join(dataDir, "demo-credentials.json"), "{}");
  for (const path of ["", "demo-credentials.json", "postgres.log", "postgres", "postgres/PG_VERSION", "run"]) {
    const { status, stdout } = spawnSync("/bin/sh", ["-c", 'ls "$1" || cat "$1"', "sh", join(dataDir, path)], others);
    expect({ path, isRefused: status !== 0, shown: String(stdout) }).toEqual({ path, isRefused: true, shown: "" });
  }
});

test.runIf(isRoot)("DATA_DIR: a folder of another user is left unchanged", async () => {
  const dataDir = newDataDir();
  mkdirSync(dataDir, { mode: 0o755 });
  chownSync(dataDir, others.uid, others.gid);
  await useOnce(dataDir);
  expect(statSync(dataDir)).toMatchObject(others);
  expect(modeOf(dataDir)).toBe("755");
});
