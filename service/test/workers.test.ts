import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { send } from "./harness.ts";
import {
  connectPlain,
  connectToFolder,
  countLockWaits,
  freePort,
  killHard,
  processesOf,
  readDemo,
  type ServiceProcess,
} from "./launch.ts";
import { Caller, cleanExit, eventually, useProcesses, useServer } from "./process.ts";

vi.setConfig({ testTimeout: 120_000 });

const processes = useProcesses();
const server = useServer(() => processes.folder());

type Line = Record<string, unknown>;
// The last line may not be whole yet.
const linesOf = ({ stderr }: ServiceProcess): Line[] =>
  stderr
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

// The workers of a service, by name. Only they have a task in their environment.
function workersOf({ pid }: ServiceProcess): Map<string, number> {
  const found = new Map<string, number>();
  for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number)) {
    const name = /CASEHOUND_TASK=\{"[^\0]*?"name":"([\w-]+)"/.exec(environmentOf(child))?.[1];
    if (name !== undefined) found.set(name, child);
  }
  return found;
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

const pidOf = (service: ServiceProcess, name: string) => workersOf(service).get(name) ?? -1;

async function readMetric(port: number, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(pattern.exec(text)?.[1] ?? Number.NaN);
}

test("WORKERS=2: one command runs two workers and an engine, says so once, spreads connections, and stops cleanly", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "2" });
  expect([...workersOf(service).keys()].toSorted()).toEqual(["api-1", "api-2", "engine"]);
  expect(service.stdout.match(/ is up /g)).toHaveLength(1);
  expect(service.stdout).toMatch(/is up at \S+ \(2 workers, .*\n[^]*\n {2}http\S+\/link#\S+\nTo print another one: .*\n$/);
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  expect((await caller.openCase("user-1")).status).toBe("OPEN");
  const kept = await Promise.all(
    Array.from({ length: 16 }, () => connectPlain(service.port, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")),
  );
  await eventually(() => {
    const asked = linesOf(service).filter((line) => line["operation"] === "getReadiness");
    expect(asked.map((line) => line["status"])).toEqual(kept.map(() => 200));
    // A worker that is busy accepts fewer.
    expect(new Set(asked.map((line) => line["worker"]))).toEqual(new Set(["api-1", "api-2"]));
  });
  expect(await service.stop()).toEqual(cleanExit);
  for (const socket of kept) socket.destroy();
  expect(processesOf(dataDir)).toEqual([]);
  expect(new Set(service.log.map((line) => line["worker"]))).toEqual(new Set(["first", "api-1", "api-2", "engine"]));
  expect(service.log.at(-1)).toMatchObject({ worker: "first", msg: "stopped" });
  expect(readFileSync(`${dataDir}/postgres.log`, "utf8")).not.toMatch(/not properly shut down|was interrupted/);
});

test("WORKERS: SIGTERM to the first process, or Ctrl+C to all, lets requests in progress finish", async () => {
  for (const isForAll of [false, true]) {
    const dataDir = processes.folder();
    const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "2" });
    const caller = await Caller.signIn(service.port, readDemo(dataDir));
    const opened = await caller.openCase("user-1");
    const holder = await connectToFolder(dataDir);
    await holder.query("begin");
    await holder.query("select 1 from cases for update");
    const body = { status: "CLOSED", case_version: 1 };
    const closing = caller.call("PUT", `/cases/${opened.case_id}`, { body, key: "close" });
    await eventually(async () => expect(await countLockWaits(holder)).toBe(1));
    if (isForAll) for (const pid of workersOf(service).values()) process.kill(pid, "SIGINT");
    service.signal(isForAll ? "SIGINT" : "SIGTERM");
    service.signal(isForAll ? "SIGINT" : "SIGTERM");
    await eventually(() => expect(connectPlain(service.port)).rejects.toThrow("ECONNREFUSED"));
    await holder.query("rollback");
    await holder.end();
    expect((await closing).json.data).toMatchObject({ status: "CLOSED", case_version: 2 });
    expect(await service.exited).toEqual(cleanExit);
    expect(processesOf(dataDir)).toEqual([]);
  }
});

test("WORKERS: a worker that is killed is replaced, logged and counted, and the other one goes on serving", async () => {
  const metricsPort = await freePort();
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "2", METRICS_PORT: String(metricsPort) });
  for (const name of ["api-1", "engine"]) {
    const pid = pidOf(service, name);
    killHard(pid);
    await eventually(() =>
      expect(linesOf(service)).toContainEqual(expect.objectContaining({ name, signal: "SIGKILL", worker: "first" })),
    );
    expect((await send(service.port, "GET", "/readyz")).status).toBe(200);
    await eventually(async () => {
      expect([-1, pid]).not.toContain(pidOf(service, name));
      expect(await readMetric(metricsPort, /^casehound_workers_ready (\d+)$/m)).toBe(3);
    });
    expect(await readMetric(metricsPort, new RegExp(`^casehound_worker_deaths_total\\{worker="${name}"\\} (\\d+)$`, "m"))).toBe(
      1,
    );
  }
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  expect((await caller.openCase("user-2")).status).toBe("OPEN");
  expect(await service.stop()).toEqual(cleanExit);
});

test("WORKERS: metrics of all workers are added up, and what a dead worker counted is kept", async () => {
  const metricsPort = await freePort();
  const databaseUrl = await server.newDatabase();
  const service = await processes.start({ DATABASE_URL: databaseUrl, WORKERS: "2", METRICS_PORT: String(metricsPort) });
  for (let n = 0; n < 10; n++) {
    const socket = await connectPlain(service.port, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
  }
  const answered = /^casehound_http_request_seconds_count\{operation="getLiveness",method="GET",status="200"\} (\d+)$/m;
  await eventually(async () => expect(await readMetric(metricsPort, answered)).toBe(10));
  killHard(pidOf(service, "api-1"));
  await eventually(async () => expect(await readMetric(metricsPort, /^casehound_workers_ready (\d+)$/m)).toBe(3));
  expect(await readMetric(metricsPort, answered)).toBe(10);
  const now = Date.now() / 1000;
  expect(await readMetric(metricsPort, /^casehound_engine_last_pass_seconds (\S+)$/m)).toBeLessThan(now + 60);
  expect(await readMetric(metricsPort, /^casehound_database_up (\d+)$/m)).toBe(1);
  expect(await service.stop()).toEqual(cleanExit);
});

test("WORKERS: if the first process is killed, its workers end and the next start has the data folder", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "2" });
  const pids = [...workersOf(service).values()];
  expect(pids).toHaveLength(3);
  await service.stop("SIGKILL");
  await eventually(() => expect(processesOf(dataDir).filter((pid) => pids.includes(pid))).toEqual([]));
  const next = await processes.start({ DATA_DIR: dataDir, WORKERS: "2" });
  expect((await send(next.port, "GET", "/readyz")).status).toBe(200);
  expect(await next.stop()).toEqual(cleanExit);
  expect(processesOf(dataDir)).toEqual([]);
});

test("WORKERS: the rate limit of a client is one limit, whichever worker its connections lead to", async () => {
  const dataDir = processes.folder();
  // Ten seconds' worth is 400 requests. Refilling is so slow that it hardly counts.
  const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "4", RATE_LIMIT_CLIENT: "40" });
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  const began = performance.now();
  const statuses: number[] = [];
  while (statuses.length < 800) {
    const answers = await Promise.all(Array.from({ length: 16 }, () => caller.call("GET", "/cases?limit=1")));
    statuses.push(...answers.map(({ status }) => status));
  }
  const refilled = ((performance.now() - began) / 1000) * 40;
  const admitted = statuses.filter((status) => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  // Three workers may each have missed up to a hundredth, and what was under way.
  expect(admitted).toBeLessThan(400 + refilled + 3 * 4 + 4 * 16);
  expect(admitted).toBeGreaterThanOrEqual(380);
  const workers = new Set(
    linesOf(service)
      .filter((line) => line["status"] === 429)
      .map((line) => line["worker"]),
  );
  expect(workers.size).toBe(4);
  expect(await service.stop()).toEqual(cleanExit);
});

test("WORKERS: SIGTERM while workers start, at any moment, leaves neither workers nor PostgreSQL", async () => {
  const dataDir = processes.folder();
  await (await processes.start({ DATA_DIR: dataDir })).stop();
  for (const least of [1, 2, 3]) {
    const service = processes.launch({ DATA_DIR: dataDir, WORKERS: "2" });
    await eventually(() => expect(workersOf(service).size).toBeGreaterThanOrEqual(least));
    if (least === 3) killHard(pidOf(service, "api-1"));
    expect(await service.stop()).toEqual(cleanExit);
    expect(processesOf(dataDir)).toEqual([]);
  }
});

test("WORKERS: a tenant's exports are counted over all workers", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "4" });
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  const holder = await connectToFolder(dataDir);
  await holder.query("begin");
  // The exports wait for this lock. Nothing else reads the table while no activity arrives.
  await holder.query("lock table accounts in access exclusive mode");
  const headers = { accept: "text/csv" };
  const waiting = [1, 2].map(() => caller.call("GET", "/enduseraccounts", { headers }));
  await eventually(async () => expect(await countLockWaits(holder)).toBe(2));
  for (let n = 0; n < 4; n++) expect((await caller.call("GET", "/enduseraccounts", { headers })).status).toBe(429);
  await holder.query("rollback");
  await holder.end();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  await eventually(async () => expect((await caller.call("GET", "/enduseraccounts", { headers })).status).toBe(200));
  expect(await service.stop()).toEqual(cleanExit);
});

test("WORKERS, exit 1: a worker that keeps ending before it has served for 10 s stops the service with one line, and nothing is left", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, WORKERS: "2" });
  const countDeaths = () => service.stderr.match(/a worker ended and is replaced/g)?.length ?? 0;
  for (let deaths = 1, seen = -1; deaths <= 4; deaths++) {
    const pid = await eventually(() => {
      const found = pidOf(service, "api-2");
      expect([-1, seen]).not.toContain(found);
      return found;
    });
    killHard(pid);
    seen = pid;
    // The process is gone before its death is logged.
    await eventually(() => expect(countDeaths()).toBe(deaths));
  }
  const last = await eventually(() => {
    const found = pidOf(service, "api-2");
    expect(found).not.toBe(-1);
    return found;
  });
  killHard(last);
  expect(await service.exited).toEqual({ code: 1, signal: null });
  expect(service.stderr).toMatch(
    /\ncasehound: the worker api-2 ended 5 times in a row before it had served for 10 s \(SIGKILL, see its log\)\n$/,
  );
  expect(processesOf(dataDir)).toEqual([]);
});

test("WORKERS, exit 2: what the operator can fix is one line, and no worker or PostgreSQL is left", async () => {
  const dataDir = processes.folder();
  const shared = { DATA_DIR: dataDir, LOG_LEVEL: "error", WORKERS: "2" };
  const taken = await processes.start({ DATABASE_URL: await server.newDatabase() });
  expect(await processes.launch({ ...shared, PORT: String(taken.port) }).refusal()).toContain("HOST and PORT");
  // Only a worker reads these files.
  expect(await processes.launch({ ...shared, MMDB_FILES: "/nowhere.mmdb" }).refusal()).toContain("/nowhere.mmdb");
  expect(await processes.launch({ ...shared, DATABASE_URL: await server.newDatabase(), WORKERS: "64" }).refusal()).toMatch(
    /WORKERS: 64 workers need \d+ connections, but PostgreSQL allows \d+/,
  );
  expect(processesOf(dataDir)).toEqual([]);
});
