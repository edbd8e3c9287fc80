import { expect, test, vi } from "vitest";
import { advisoryLocks } from "../src/db/postgres/advisory-locks.ts";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import { connectTo, connectToFolder, processesOf, readPostmaster } from "./launch.ts";
import { eventually, useProcesses } from "./process.ts";

// Many commands on one DATA_DIR. Each starts PostgreSQL if it is not running, and the last one stops it.
vi.setConfig({ testTimeout: 120_000 });

const processes = useProcesses();

async function runCommand(dataDir: string): Promise<void> {
  const embedded = await EmbeddedPostgres.forCommand(dataDir);
  const client = await connectTo(embedded.address);
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
  await embedded.stop();
}

test("commands: a command that connects to a stopping PostgreSQL waits and starts it again", async () => {
  const dataDir = processes.folder();
  await runCommand(dataDir);
  // The server was left by a killed command, so only the process that stops it uses it.
  const first = await EmbeddedPostgres.forCommand(dataDir);
  const stopper = await connectToFolder(dataDir);
  const watcher = await connectToFolder(dataDir);
  await watcher.query("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'");
  await stopper.query("select pg_advisory_lock($1)", [advisoryLocks.users]);
  const { pid } = readPostmaster(dataDir);
  const second = EmbeddedPostgres.forCommand(dataDir);
  await eventually(async () => {
    const { rowCount } = await watcher.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
    expect(rowCount).toBe(1);
  });
  process.kill(pid, "SIGINT");
  const opened = await second;
  expect(readPostmaster(dataDir).pid).not.toBe(pid);
  const client = await connectTo(opened.address);
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await Promise.all([client.end(), stopper.end(), watcher.end()]);
  // The first command has lost its server. It stops nothing and does not fail.
  await first.stop();
  expect(readPostmaster(dataDir).pid).toBeGreaterThan(0);
  await opened.stop();
  expect(processesOf(dataDir)).toEqual([]);
});

test.each([2, 4])("commands: %i concurrent commands, repeated, all finish and leave nothing behind", async (count) => {
  const dataDir = processes.folder();
  await runCommand(dataDir);
  const lanes = Array.from({ length: count }, async () => {
    for (let round = 0; round < 10; round++) await runCommand(dataDir);
  });
  await Promise.all(lanes);
  expect(processesOf(dataDir)).toEqual([]);
});

test("commands: a service that starts while commands use PostgreSQL waits until they are done", async () => {
  const dataDir = processes.folder();
  const command = await EmbeddedPostgres.forCommand(dataDir);
  const client = await connectTo(command.address);
  const starting = EmbeddedPostgres.forService(dataDir);
  await eventually(async () => {
    const { rowCount } = await client.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
    expect(rowCount).toBe(1);
  });
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
  await command.stop();
  const service = await starting;
  await runCommand(dataDir);
  expect(readPostmaster(dataDir).pid).toBeGreaterThan(0);
  await service.stop();
  expect(processesOf(dataDir)).toEqual([]);
});
