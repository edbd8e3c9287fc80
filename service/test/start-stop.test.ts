import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { expect, test, vi } from "vitest";
import { scopes } from "../src/domain/scope.ts";
import { send } from "./harness.ts";
import {
  connectPlain,
  connectTo,
  connectToFolder,
  countLockWaits,
  freePort,
  killHard,
  listenersOf,
  processesOf,
  readDemo,
  readPostmaster,
} from "./launch.ts";
import { Caller, cleanExit, eventually, useProcesses, useServer } from "./process.ts";

vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();
const server = useServer(() => processes.folder());

const bootstrap = (tenant: string) => ({
  BOOTSTRAP_TENANT: tenant,
  BOOTSTRAP_CLIENT_ID: `${tenant}-client`,
  BOOTSTRAP_CLIENT_SECRET: "a secret of some length here",
});

const credentials = (tenant: string) => ({
  tenant,
  client_id: `${tenant}-client`,
  client_secret: "a secret of some length here",
});

async function countRows(databaseUrl: string, table: string): Promise<number> {
  const client = await connectTo({ connectionString: databaseUrl });
  const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  await client.end();
  return rows[0]?.count ?? -1;
}

test("SIGTERM, exit 0: the request in progress is answered, idle connections are closed, and PostgreSQL shuts down cleanly", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  const opened = await caller.openCase("user-1");
  const holder = await connectToFolder(dataDir);
  await holder.query("begin");
  await holder.query("select 1 from cases for update");
  const kept = await connectPlain(service.port, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise((resolve) => kept.once("data", resolve));
  const keptClosed = new Promise((resolve) => kept.once("close", resolve));
  const closing = caller.call("PUT", `/cases/${opened.case_id}`, {
    body: { status: "CLOSED", case_version: 1 },
    key: randomUUID(),
  });
  await eventually(async () => expect(await countLockWaits(holder)).toBe(1));
  service.signal("SIGTERM");
  await keptClosed;
  await eventually(() => expect(connectPlain(service.port)).rejects.toThrow("ECONNREFUSED"));
  await holder.query("rollback");
  await holder.end();
  const answer = await closing;
  expect(answer.json.data).toMatchObject({ status: "CLOSED", case_version: 2 });
  expect(await service.exited).toEqual(cleanExit);
  expect(service.log.slice(-1)).toMatchObject([{ level: "info", msg: "stopped" }]);
  expect(processesOf(dataDir)).toEqual([]);
  const began = performance.now();
  const next = await processes.start({ DATA_DIR: dataDir });
  process.stdout.write(`second start on a data folder: ${Math.round(performance.now() - began)} ms\n`);
  const again = await Caller.signIn(next.port, readDemo(dataDir));
  expect((await again.findCase("user-1"))?.status).toBe("CLOSED");
  expect(readFileSync(join(dataDir, "postgres.log"), "utf8")).not.toMatch(/not properly shut down|was interrupted/);
  expect(await next.stop()).toEqual(cleanExit);
});

test("SIGTERM, exit 0: connections that have sent nothing, half a head or half a body do not block the stop", async () => {
  const service = await processes.start({ DATABASE_URL: await server.newDatabase() });
  const head = "POST /v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
  const sent = ["", head.slice(0, 40), `${head}Content-Length: 100\r\n\r\ngrant_type=`];
  const sockets = await Promise.all(sent.map((bytes) => connectPlain(service.port, bytes)));
  // This request is answered only after those connections were accepted.
  expect((await send(service.port, "GET", "/livez")).status).toBe(200);
  expect(await service.stop()).toEqual(cleanExit);
  sockets.forEach((socket) => socket.destroy());
}, 40_000);

test("SIGTERM, exit 0: during a restart of PostgreSQL, nothing of it is left", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  killHard(readPostmaster(dataDir).pid);
  expect(await service.stop()).toEqual(cleanExit);
  await eventually(() => expect(processesOf(dataDir)).toEqual([]));
});

test("SIGTERM: during a start, neither the service nor PostgreSQL is left", async () => {
  const dataDir = processes.folder();
  const service = processes.launch({ DATA_DIR: dataDir });
  await eventually(() => expect(readPostmaster(dataDir).pid).toBeGreaterThan(0));
  await service.stop();
  await eventually(() => expect(processesOf(dataDir)).toEqual([]), 10_000);
});

test("SIGTERM: sent to npm alone, neither the service nor PostgreSQL is left", async () => {
  const dataDir = processes.folder();
  const npm = await processes.start({ DATA_DIR: dataDir }, ["npm", "start"]);
  expect(processesOf(dataDir)).toEqual(expect.arrayContaining([npm.pid, readPostmaster(dataDir).pid]));
  await npm.stop();
  await eventually(() => expect(processesOf(dataDir)).toEqual([]));
  expect(readFileSync(join(dataDir, "postgres.log"), "utf8")).toContain("database system is shut down");
});

test("SIGINT, exit 0: Ctrl+C arrives twice, from the terminal and from npm, and everything still stops cleanly", async () => {
  const folder = processes.folder();
  const service = await processes.start({ DATA_DIR: folder });
  service.signal("SIGINT");
  service.signal("SIGINT");
  expect(await service.exited).toEqual(cleanExit);
  expect(processesOf(folder)).toEqual([]);
  expect(service.log.map((line) => line["msg"])).toContain("stopping");
});

test("start: a demo secret that was rotated is no longer printed", async () => {
  const folder = processes.folder();
  const service = await processes.start({ DATA_DIR: folder });
  const demo = readDemo(folder);
  const caller = await Caller.signIn(service.port, demo);
  expect((await caller.call("POST", "/tenants/rotate-auth-secret", { body: { revoke_now: true } })).status).toBe(200);
  await service.stop();
  const again = await processes.start({ DATA_DIR: folder });
  expect(again.stdout).not.toContain(demo.client_secret);
  expect(again.stdout).toContain("client_secret  was rotated");
  await again.stop();
});

test("start: the demo tenant's credentials are printed each time, with a curl command that works as pasted", async () => {
  const dataDir = processes.folder();
  const shown: string[] = [];
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const service = await processes.start({ DATA_DIR: dataDir });
    const command = /^ *(curl .*)$/m.exec(service.stdout)?.[1] ?? "";
    const { access_token: token } = JSON.parse(execFileSync("sh", ["-c", command], { encoding: "utf8" })) as {
      access_token: string;
    };
    expect((await send(service.port, "GET", "/v2/demo/cases", { token })).status).toBe(200);
    shown.push(
      service.stdout
        .split("\n")
        .filter((line) => /^ +(tenant|client_id|client_secret) /.test(line))
        .join("\n"),
    );
    expect(await service.stop(signal)).toEqual(cleanExit);
  }
  expect(shown[0]).toMatch(/tenant +demo\n +client_id +\S+\n +client_secret +\S+$/);
  expect(shown[1]).toBe(shown[0]);
});

test("start: credentials are printed even if a kill came before or while they were saved", async () => {
  const dataDir = processes.folder();
  const file = join(dataDir, "demo-credentials.json");
  await (await processes.start({ DATA_DIR: dataDir })).stop();
  const leftovers = [() => rmSync(file), () => writeFileSync(file, readFileSync(file, "utf8").slice(0, 40))];
  for (const leave of leftovers) {
    leave();
    const service = await processes.start({ DATA_DIR: dataDir });
    const [, client_id = "", client_secret = ""] = /client_id +(\S+)\n +client_secret +(\S+)/.exec(service.stdout) ?? [];
    const caller = await Caller.signIn(service.port, { tenant: "demo", client_id, client_secret });
    expect((await caller.call("GET", "/cases")).status).toBe(200);
    expect(await service.stop()).toEqual(cleanExit);
  }
});

test("start: with a configured tenant there is no demo, and the printed link creates that tenant's first admin", async () => {
  const dataDir = processes.folder();
  for (let start = 1; start <= 2; start++) {
    const service = await processes.start({ DATA_DIR: dataDir, ...bootstrap("acme") });
    expect(service.stdout).not.toContain("client_secret");
    expect(service.stdout).toMatch(
      /This link creates the first admin.*\n +\S+\/link#\S+\nTo print another one: .* link --tenant acme\n$/,
    );
    const caller = await Caller.signIn(service.port, credentials("acme"));
    expect((await caller.call("GET", "/cases")).status).toBe(200);
    expect(await service.stop()).toEqual(cleanExit);
  }
  expect(existsSync(join(dataDir, "demo-credentials.json"))).toBe(false);
});

test("start, exit 2: a PORT or METRICS_PORT that is taken is reported, and no PostgreSQL is left", async () => {
  const dataDir = processes.folder();
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  // A TCP server's address is never a string.
  const port = String((taken.address() as { port: number }).port);
  for (const name of ["PORT", "METRICS_PORT"]) {
    const line = await processes.launch({ DATA_DIR: dataDir, LOG_LEVEL: "error", [name]: port }).refusal();
    expect(line).toContain(name);
    expect(line).toContain(port);
    expect(processesOf(dataDir)).toEqual([]);
  }
  taken.close();
});

test("start with DATABASE_URL: BOOTSTRAP_* creates the tenant once with every scope, and stopping leaves the server alone", async () => {
  const databaseUrl = await server.newDatabase();
  const environment = { DATABASE_URL: databaseUrl, ...bootstrap("acme") };
  for (let start = 1; start <= 2; start++) {
    const service = await processes.start(environment);
    expect(service.stdout).not.toContain("client_secret");
    const caller = await Caller.signIn(service.port, credentials("acme"));
    expect(String(decodeJwt(caller.token)["scope"]).split(" ").toSorted()).toEqual([...scopes].toSorted());
    expect((await caller.openCase(`user-${start}`)).status).toBe("OPEN");
    expect(await service.stop()).toEqual(cleanExit);
    expect(await countRows(databaseUrl, "tenants")).toBe(1);
    expect(await countRows(databaseUrl, "clients")).toBe(1);
    expect(await countRows(databaseUrl, "cases")).toBe(start);
  }
});

test("start: /readyz returns 200 only once the bootstrap client can get a token", async () => {
  const port = await freePort();
  const service = processes.launch({ DATABASE_URL: await server.newDatabase(), PORT: String(port), ...bootstrap("early") });
  const ask = () => send(port, "GET", "/readyz").catch(() => null);
  for (let answer = await ask(); answer?.status !== 200; answer = await ask()) expect([undefined, 503]).toContain(answer?.status);
  await Caller.signIn(port, credentials("early"));
  expect(await (await service.up()).stop()).toEqual(cleanExit);
});

test("start, exit 2: a BOOTSTRAP_CLIENT_ID of another tenant is rejected, and nothing is created", async () => {
  const databaseUrl = await server.newDatabase();
  await (await processes.start({ DATABASE_URL: databaseUrl, ...bootstrap("first") })).stop();
  const environment = { DATABASE_URL: databaseUrl, ...bootstrap("first"), BOOTSTRAP_TENANT: "second", LOG_LEVEL: "error" };
  const service = processes.launch(environment);
  // If it starts anyway, the check below reports it.
  await service.up().then(
    () => service.stop(),
    () => {},
  );
  expect(await service.refusal()).toContain("BOOTSTRAP_CLIENT_ID");
  expect(await countRows(databaseUrl, "tenants")).toBe(1);
});

test("start: ten concurrent starts on one empty database all come up and share one schema, key and tenant", async () => {
  const databaseUrl = await server.newDatabase();
  const ports = await Promise.all(Array.from({ length: 10 }, () => freePort()));
  const environment = { DATABASE_URL: databaseUrl, PUBLIC_URL: "http://cases.example", ...bootstrap("many") };
  const ten = await Promise.all(ports.map((port) => processes.start({ ...environment, PORT: String(port) })));
  expect(await countRows(databaseUrl, "signing_keys")).toBe(1);
  expect(await countRows(databaseUrl, "tenants")).toBe(1);
  expect(await countRows(databaseUrl, "clients")).toBe(1);
  const { token } = await Caller.signIn(ports[0] ?? 0, credentials("many"));
  const answers = await Promise.all(ports.map((port) => send(port, "GET", "/v2/many/cases", { token })));
  expect(answers.map((answer) => answer.status)).toEqual(ports.map(() => 200));
  expect(await Promise.all(ten.map((each) => each.stop()))).toEqual(ten.map(() => cleanExit));
  const applied = ten.flatMap((each) => each.log.flatMap((line) => line["applied"] ?? []));
  expect(applied.length).toBe(await countRows(databaseUrl, "migrations"));
});

async function countScored(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^casehound_activities_scored_total (\d+)$/m.exec(text)?.[1]);
}

test("ROLES: api alone accepts activity without scoring it; engine alone scores it and serves no HTTP", async () => {
  const shared = { DATABASE_URL: await server.newDatabase(), ...bootstrap("split") };
  const [apiMetrics, engineMetrics, enginePort] = await Promise.all([freePort(), freePort(), freePort()]);
  const api = await processes.start({ ...shared, ROLES: "api", METRICS_PORT: String(apiMetrics) });
  const caller = await Caller.signIn(api.port, credentials("split"));
  await caller.report("user-1");
  const environment = { ...shared, ROLES: "engine", PORT: String(enginePort), METRICS_PORT: String(engineMetrics) };
  const engine = await processes.start(environment);
  expect((await eventually(() => caller.openCase("user-2"))).status).toBe("OPEN");
  expect((await caller.findCase("user-1"))?.status).toBe("OPEN");
  await eventually(async () => expect(await countScored(engineMetrics)).toBe(2));
  expect(await countScored(apiMetrics)).toBe(0);
  expect(listenersOf(engine.pid)).toEqual([`0100007F:${engineMetrics.toString(16).toUpperCase().padStart(4, "0")}`]);
  expect(await Promise.all([api.stop(), engine.stop()])).toEqual([cleanExit, cleanExit]);
});
