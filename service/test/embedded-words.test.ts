import { appendFileSync, chownSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./cli.ts";
import { useProcesses } from "./process.ts";

const processes = useProcesses();
const isRoot = process.getuid?.() === 0;

async function madeFolder(): Promise<string> {
  const dataDir = processes.folder();
  expect(await runCli(["tenant", "create", "some"], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
  return dataDir;
}

test("start, exit 2: the error quotes what PostgreSQL logged in this start, and nothing older", async () => {
  const dataDir = await madeFolder();
  appendFileSync(join(dataDir, "postgres.log"), "2020-01-01 [1] FATAL:  something of long ago\n");
  rmSync(join(dataDir, "postgres", "postgresql.conf"));
  const line = await processes.launch({ DATA_DIR: dataDir }).refusal();
  expect(line).toMatch(/PostgreSQL did not start: .*postgresql\.conf/);
  expect(line).not.toContain("long ago");
});

test.runIf(isRoot)(
  "start and doctor: files of another user than the one that runs PostgreSQL are reported, with what to do",
  async () => {
    const dataDir = await madeFolder();
    chownSync(join(dataDir, "postgres", "PG_VERSION"), 12_345, 12_345);
    const words = /postgres\/PG_VERSION belongs to user 12345, but PostgreSQL would run as user \d+: chown -R \d+ /;
    expect(await processes.launch({ DATA_DIR: dataDir }).refusal()).toMatch(words);
    const { out, code } = await runCli(["doctor"], { DATA_DIR: dataDir });
    expect(out).toMatch(/FAIL {2}data folder +\S+ belongs to user 12345[^]*what to do: chown -R/);
    expect(code).toBe(1);
    chownSync(join(dataDir, "postgres"), 0, 0);
    expect(await processes.launch({ DATA_DIR: dataDir }).refusal()).toMatch(/postgres belongs to user 0, but/);
  },
);

test.runIf(isRoot)("start, exit 2: a socket folder of another user is kept, and the error names the user", async () => {
  const dataDir = await madeFolder();
  chownSync(join(dataDir, "run"), 12_345, 12_345);
  const line = await processes.launch({ DATA_DIR: dataDir }).refusal();
  expect(line).toContain("/run belongs to user 12345: run casehound as that user");
  expect(line).not.toContain("remove");
  expect(existsSync(join(dataDir, "run"))).toBe(true);
});
