import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { launcher, serverUser } from "../src/db/postgres/privilege.ts";
import { send } from "./harness.ts";
import {
  connectToFolder,
  killHard,
  listenersOf,
  processesOf,
  readDemo,
  readPostmaster,
  type Environment,
  type ServiceProcess,
} from "./launch.ts";
import { Caller, cleanExit, eventually, useProcesses } from "./process.ts";

// Recovery writes a whole database to disk, and the disk may be busy.
vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();

function openFolder(): string {
  const folder = processes.folder();
  chmodSync(folder, 0o755);
  return folder;
}

const long = Array.from({ length: 8 }, () => "d".repeat(50)).join("/");

// New folders are open to their owner only. As root, PostgreSQL runs as another user, so it cannot enter any of them directly.
const places: { name: string; environment: () => Environment }[] = [
  { name: "that every user can reach", environment: () => ({ DATA_DIR: join(openFolder(), "data") }) },
  { name: "below a folder that only its owner can reach", environment: () => ({ DATA_DIR: join(processes.folder(), "data") }) },
  {
    name: "with a path of 400 characters and a private TMPDIR",
    environment: () => ({ DATA_DIR: join(openFolder(), long), TMPDIR: processes.folder() }),
  },
  {
    name: "with few characters but many bytes in its path",
    environment: () => ({ DATA_DIR: join(openFolder(), "ü".repeat(50)), TMPDIR: openFolder() }),
  },
  { name: "with a comma, quotes and spaces in its path", environment: () => ({ DATA_DIR: join(openFolder(), `a, "b" it's`) }) },
];

test.each(places)(
  "start: a DATA_DIR $name gets a PostgreSQL that is not root and listens only on a private socket",
  async (place) => {
    const environment = place.environment();
    const dataDir = environment["DATA_DIR"] ?? "";
    const service = await processes.start(environment);
    expect((await send(service.port, "GET", "/readyz")).status).toBe(200);
    const postmaster = readPostmaster(dataDir);
    expect(statSync(postmaster.file).uid).not.toBe(0);
    expect({ tcpAddress: postmaster.tcpAddress.trim(), listeners: listenersOf(postmaster.pid) }).toEqual({
      tcpAddress: "",
      listeners: [],
    });
    expect(statSync(join(postmaster.socketFolder, ".s.PGSQL.5432")).mode & 0o077).toBe(0);
    expect(await service.stop()).toEqual(cleanExit);
    expect(processesOf(dataDir)).toEqual([]);
  },
);

// Creates accounts, several at a time, and records those that were answered with 201.
class Writer {
  readonly answered = new Set<string>();
  readonly statuses = new Set<number>();
  readonly #running: Promise<unknown>;
  #isDone = false;

  constructor(caller: Caller) {
    this.#running = Promise.all(Array.from({ length: 3 }, () => this.#run(caller)));
  }

  async #run(caller: Caller): Promise<void> {
    while (!this.#isDone) {
      const id = randomUUID();
      const answer = await caller.call("POST", "/enduseraccounts", { body: { website_account_id: id } }).catch(() => null);
      // The service is down, so stop.
      if (!answer) return;
      this.statuses.add(answer.status);
      if (answer.status === 201) this.answered.add(id);
      // Retry after a short delay, as the API asks clients to.
      else await sleep(50);
    }
  }

  async writeMore(count: number): Promise<void> {
    const wanted = this.answered.size + count;
    await eventually(() => expect(this.answered.size).toBeGreaterThanOrEqual(wanted));
  }

  async stop(): Promise<void> {
    this.#isDone = true;
    await this.#running;
  }
}

async function missingAccounts(service: ServiceProcess, dataDir: string, wanted: Set<string>): Promise<string[]> {
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  const missing = new Set(wanted);
  for (let cursor: string | null = ""; cursor !== null;) {
    const answer = await caller.call("GET", `/enduseraccounts?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    const page = answer.json.data as { end_user_accounts: { website_account_id: string }[]; next_cursor: string | null };
    for (const account of page.end_user_accounts) missing.delete(account.website_account_id);
    cursor = page.next_cursor;
  }
  return [...missing];
}

async function startWriting(): Promise<{ dataDir: string; service: ServiceProcess; writer: Writer }> {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  const writer = new Writer(await Caller.signIn(service.port, readDemo(dataDir)));
  await writer.writeMore(30);
  return { dataDir, service, writer };
}

test("kill -9 of the service: the next start takes over its PostgreSQL and has everything that was answered", async () => {
  const { dataDir, service, writer } = await startWriting();
  const { pid } = readPostmaster(dataDir);
  await service.stop("SIGKILL");
  await writer.stop();
  const next = await processes.start({ DATA_DIR: dataDir });
  expect(readPostmaster(dataDir).pid).not.toBe(pid);
  expect(processesOf(dataDir)).not.toContain(pid);
  expect(await missingAccounts(next, dataDir, writer.answered)).toEqual([]);
  expect(await next.stop()).toEqual(cleanExit);
  expect(processesOf(dataDir)).toEqual([]);
});

test("kill -9 of service and PostgreSQL: the next start has everything that was answered", async () => {
  const { dataDir, service, writer } = await startWriting();
  killHard(readPostmaster(dataDir).pid);
  await service.stop("SIGKILL");
  await writer.stop();
  const next = await processes.start({ DATA_DIR: dataDir });
  expect(await missingAccounts(next, dataDir, writer.answered)).toEqual([]);
  expect(await next.stop()).toEqual(cleanExit);
});

test("kill -9 of service and PostgreSQL: the next start waits until the old PostgreSQL's processes are gone", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  const client = await connectToFolder(dataDir);
  // This backend is too busy to notice that its server is gone, so it keeps the shared memory for about a second.
  const busy = client.query("select count(*) from generate_series(1, 10000000)").catch((error: unknown) => error);
  await service.stop("SIGKILL");
  killHard(readPostmaster(dataDir).pid);
  const next = await processes.start({ DATA_DIR: dataDir });
  await busy;
  await client.end();
  expect((await send(next.port, "GET", "/readyz")).status).toBe(200);
  expect(await next.stop()).toEqual(cleanExit);
  expect(processesOf(dataDir)).toEqual([]);
});

// After a restart of the machine or container, another process soon gets the old pid.
test("kill -9 of service and PostgreSQL: the next start works even if another process has the old PostgreSQL's pid", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  const { pid, file } = readPostmaster(dataDir);
  killHard(pid);
  await service.stop("SIGKILL");
  await eventually(() => expect(processesOf(dataDir)).toEqual([]));
  writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(process.pid)));
  const next = await processes.start({ DATA_DIR: dataDir });
  expect((await send(next.port, "GET", "/readyz")).status).toBe(200);
  expect(await next.stop()).toEqual(cleanExit);
}, 30_000);

test("kill -9 of PostgreSQL: it restarts, requests in between are answered, and nothing that was answered is lost", async () => {
  const { dataDir, service, writer } = await startWriting();
  killHard(readPostmaster(dataDir).pid);
  await eventually(() => expect([...writer.statuses]).toContain(502));
  await writer.writeMore(30);
  await writer.stop();
  expect([...writer.statuses].filter((status) => ![201, 500, 502].includes(status))).toEqual([]);
  expect(await missingAccounts(service, dataDir, writer.answered)).toEqual([]);
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  expect((await caller.openCase("after-the-kill")).status).toBe("OPEN");
  expect(await service.stop()).toEqual(cleanExit);
  expect(processesOf(dataDir)).toEqual([]);
});

test("kill -9 of PostgreSQL after each restart: it still restarts", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  const killed = new Set<number>();
  // Kill it at a different moment of its restart each time.
  for (let times = 0; times < 10; times++) {
    const pid = await eventually(() => {
      const found = readPostmaster(dataDir).pid;
      expect(killed.has(found)).toBe(false);
      return found;
    });
    await sleep(times * 20);
    killHard(pid);
    killed.add(pid);
  }
  await eventually(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(200));
  expect(killed).not.toContain(readPostmaster(dataDir).pid);
  expect(await service.stop()).toEqual(cleanExit);
  expect(processesOf(dataDir)).toEqual([]);
});

test("kill -9 while the database is created: the partial database does not prevent the next start", async () => {
  const dataDir = processes.folder();
  const first = processes.launch({ DATA_DIR: dataDir });
  await eventually(() => expect(readdirSync(dataDir).some((name) => name.endsWith(".new"))).toBe(true));
  await first.stop("SIGKILL");
  expect(existsSync(join(dataDir, "postgres"))).toBe(false);
  const next = await processes.start({ DATA_DIR: dataDir });
  expect((await send(next.port, "GET", "/readyz")).status).toBe(200);
  expect(await next.stop()).toEqual(cleanExit);
});

test("start, exit 2: a DATA_DIR that cannot be created is reported", async () => {
  expect(await processes.launch({ DATA_DIR: "/proc/casehound" }).refusal()).toContain(
    "DATA_DIR /proc/casehound cannot be created",
  );
});

test.runIf(process.getuid?.() === 0)(
  "root: binaries that the unprivileged user cannot reach can still be run and pass access(2)",
  () => {
    const folder = processes.folder();
    const file = join(folder, "binary");
    writeFileSync(file, "#!/bin/sh\nid -u\n", { mode: 0o700 });
    chmodSync(folder, 0o700);
    const user = serverUser(join(folder, "none"));
    const run = launcher([file], user).command("/bin/sh", ["-c", `test -x ${file} && ${file}`]);
    const { stdout, stderr } = spawnSync(run.file, run.args, { ...run.options, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: `${user?.uid}\n`, stderr: "" });
  },
);

test("start, exit 2: a folder of another PostgreSQL version is reported and left unchanged", async () => {
  const dataDir = processes.folder();
  mkdirSync(join(dataDir, "postgres"));
  writeFileSync(join(dataDir, "postgres", "PG_VERSION"), "16\n");
  const line = await processes.launch({ DATA_DIR: dataDir }).refusal();
  expect(line).toContain(dataDir);
  expect(line).toMatch(/PostgreSQL 16\b.*PostgreSQL 18\b/);
  expect(readdirSync(join(dataDir, "postgres"))).toEqual(["PG_VERSION"]);
});

test("start, exit 2: a folder with other contents is reported and left unchanged", async () => {
  const dataDir = processes.folder();
  mkdirSync(join(dataDir, "postgres"));
  writeFileSync(join(dataDir, "postgres", "letters.txt"), "dear");
  expect(await processes.launch({ DATA_DIR: dataDir }).refusal()).toContain(join(dataDir, "postgres"));
  expect(readdirSync(join(dataDir, "postgres"))).toEqual(["letters.txt"]);
});

test("start, exit 2: a folder that another service uses is reported, and that service is not disturbed", async () => {
  const dataDir = processes.folder();
  const first = await processes.start({ DATA_DIR: dataDir });
  const before = readPostmaster(dataDir);
  const watcher = await connectToFolder(dataDir);
  expect(await processes.launch({ DATA_DIR: dataDir }).refusal()).toMatch(
    new RegExp(`another .* is running on DATA_DIR ${dataDir}`),
  );
  expect(readPostmaster(dataDir)).toEqual(before);
  expect((await watcher.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await watcher.end();
  const caller = await Caller.signIn(first.port, readDemo(dataDir));
  expect((await caller.openCase("unharmed")).status).toBe("OPEN");
  expect(await first.stop()).toEqual(cleanExit);
});

test("start: if two services start on one empty folder, one comes up and the other exits with code 2", async () => {
  const dataDir = processes.folder();
  const both = [
    processes.launch({ DATA_DIR: dataDir, LOG_LEVEL: "error" }),
    processes.launch({ DATA_DIR: dataDir, LOG_LEVEL: "error" }),
  ];
  const winner = await Promise.any(both.map((each) => each.up()));
  const loser = both.find((each) => each !== winner);
  expect(await loser?.refusal()).toContain(`another casehound is running on DATA_DIR ${dataDir}`);
  expect((await send(winner.port, "GET", "/readyz")).status).toBe(200);
  expect(await winner.stop()).toEqual(cleanExit);
  expect(processesOf(dataDir)).toEqual([]);
});
