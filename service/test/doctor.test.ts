import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { checkDisk, checkEngine, checkMachine, checkNode } from "../src/cli/doctor-checks.ts";
import { Database } from "../src/db/postgres/database.ts";
import { migrate, readMigrations } from "../src/db/postgres/migrate.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { startService } from "../src/service.ts";
import { launchCli, runCli, type Ended } from "./cli.ts";
import { TestTenant, testConfig, useOwnDatabase, useService } from "./harness.ts";
import { createDatabase } from "./launch.ts";

// Uses its own database, because doctor would also find what other tests leave behind.
const databaseUrl = useOwnDatabase("doctor");
const service = useService({ databaseUrl });
const folder = mkdtempSync(join(tmpdir(), "casehound-doctor-"));

beforeAll(async () => void (await TestTenant.create(service.current)));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function environment(): Record<string, string> {
  return { DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url, PORT: "0", METRICS_PORT: "off" };
}

function doctor(env: Record<string, string> = {}): Promise<Ended> {
  return runCli(["doctor"], { ...environment(), ...env });
}

// Returns the only failing line and its advice.
async function faultOf(env: Record<string, string>): Promise<string> {
  const { code, out } = await doctor(env);
  const failing = [...out.matchAll(/^FAIL {2}.*\n +what to do: \S.*$/gm)].map(([text]) => text);
  expect({ code, lines: failing.length }, out).toEqual({ code: 1, lines: 1 });
  return failing.join("\n");
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return (server.address() as AddressInfo).port;
}

const names = [
  "node",
  "memory",
  "open files",
  "configuration",
  "database",
  "clock",
  "migrations",
  "tenant lock",
  "tenants",
  "engine",
  "webhooks",
  "service",
];

test("doctor: a healthy service has no findings and exit code 0", async () => {
  const { code, out } = await doctor();
  expect(out).not.toContain("FAIL");
  expect(code).toBe(0);
  for (const name of names) expect(out).toMatch(new RegExp(`^ok +${name} `, "m"));
});

test("doctor 1: an invalid variable", async () => {
  expect(await faultOf({ PORT: "http" })).toMatch(/configuration.*PORT must be a port/);
});

test("doctor 2: a database that is unreachable", async () => {
  expect(await faultOf({ DATABASE_URL: "postgresql://casehound@127.0.0.1:1/casehound" })).toMatch(/database.*ECONNREFUSED/);
});

test("doctor 3: a database that does not exist", async () => {
  const named = databaseUrl.replace("/doctor?", `/none_${randomUUID().slice(0, 8)}?`);
  expect(await faultOf({ DATABASE_URL: named })).toMatch(/database[^]*does not exist/);
});

test("doctor 4: an old schema", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = new Database({ connectionString: url });
  await migrate(database, readMigrations().slice(0, 3));
  await database.end();
  expect(await faultOf({ DATABASE_URL: url })).toMatch(/migrations[^]*pending: 0004/);
});

test("doctor 5: a schema from a newer version", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = new Database({ connectionString: url });
  await migrate(database);
  await database.query(statement("insert into migrations (version, name, hash) values (9999, '9999_later.sql', 'x')", []));
  await database.end();
  expect(await faultOf({ DATABASE_URL: url })).toMatch(/migrations[^]*newer casehound/);
});

test("doctor 6: no tenant", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const empty = await startService(testConfig({ databaseUrl: url }));
  try {
    expect(await faultOf({ DATABASE_URL: url, PUBLIC_URL: empty.url })).toMatch(/tenants[^]*tenant create/);
  } finally {
    await empty.stop();
  }
});

test("doctor 7: an engine that is not running", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const idle = await startService(testConfig({ databaseUrl: url, roles: new Set(["api"]) }));
  try {
    const tenant = await TestTenant.create(idle);
    await tenant.report("someone");
    await idle.database.query(sql`update inbox set received_at = received_at - interval '10 minutes'`);
    expect(await faultOf({ DATABASE_URL: url, PUBLIC_URL: idle.url })).toMatch(/engine[^]*ROLES include engine/);
  } finally {
    await idle.stop();
  }
});

test("doctor: an engine that is behind is reported with how much is waiting and for how long, server activity after 10 s", () => {
  const now = Date.parse("2026-01-01T00:10:00.000Z");
  const nothing = { unscored: 0, oldest: null, oldestOfServers: null };
  const rest = {
    deliveries: { waiting: 0, dead: 0 },
    disabledWebhooks: 0,
    limitedRules: 0,
    driftedModels: 0,
    overdueCases: 0,
    mails: { waiting: 0, dead: 0 },
  };
  const check = (backlog: object) => checkEngine({ ...nothing, ...rest, ...backlog }, now);
  expect(check({})).toMatchObject({ isOk: true, detail: "no activity is waiting to be scored" });
  expect(check({ unscored: 1, oldest: "2026-01-01T00:09:59.500Z" })).toMatchObject({
    isOk: true,
    detail: "1 activity is waiting to be scored, the oldest for 0.5 s; none of it is from servers",
  });
  const flood = { unscored: 12_345, oldest: "2026-01-01T00:05:00.000Z", oldestOfServers: "2026-01-01T00:09:58.800Z" };
  expect(check(flood)).toMatchObject({
    isOk: false,
    detail: "it is behind: 12,345 activities are waiting to be scored, the oldest for 5 min; the oldest from a server for 1.2 s",
  });
  const late = "2026-01-01T00:09:45.000Z";
  expect(check({ unscored: 2, oldest: late, oldestOfServers: late })).toMatchObject({
    isOk: false,
    detail: "it is behind: 2 activities are waiting to be scored, the oldest for 15 s; the oldest from a server for 15 s",
  });
});

test("doctor 8: dead webhook messages", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const own = await startService(testConfig({ databaseUrl: url, hasPrivateWebhooks: true, roles: new Set(["api"]) }));
  try {
    const tenant = await TestTenant.create(own);
    expect((await tenant.call("POST", "/webhooks", { body: { url: "http://127.0.0.1:1/" } })).status).toBe(201);
    await own.database.query(sql`
      insert into webhook_deliveries (tenant_id, webhook_id, event_id, resource, state, attempts, next_at, created_at)
      select tenant_id, webhook_id, 1, 1, 'DEAD', 17, now(), now() from webhooks`);
    expect(await faultOf({ DATABASE_URL: url, PUBLIC_URL: own.url })).toMatch(
      /webhooks[^]*1 message was abandoned\n.*webhooks resend/,
    );
  } finally {
    await own.stop();
  }
});

test("doctor 9: a service that is not running", async () => {
  expect(await faultOf({ PUBLIC_URL: "http://127.0.0.1:1" })).toMatch(/service.*nothing answers/);
});

test("doctor 10: a port taken by another program, whether it speaks HTTP or not", async () => {
  const other = createHttpServer((_request, response) => void response.end('{"status":"ok"}'));
  const mute = createServer((socket) => socket.destroy());
  try {
    expect(await faultOf({ PUBLIC_URL: `http://127.0.0.1:${await listen(other)}` })).toMatch(
      /service[^]*another program answers/,
    );
    expect(await faultOf({ PUBLIC_URL: `http://127.0.0.1:${await listen(mute)}` })).toMatch(/service[^]*is used by a program/);
  } finally {
    other.close();
    mute.close();
  }
});

test("doctor 11: a clock that is off", async () => {
  const shift = "const real = Date.now; Date.now = () => real() + 600000;";
  const env = { ...environment(), NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` };
  // A process of its own, because its clock is wrong.
  const { code, out } = await launchCli(["doctor"], env).ended;
  expect(out).toMatch(/FAIL {2}clock +600\.\d s ahead of the database/);
  expect(out).toMatch(/FAIL {2}clock +\d+\.\d s ahead of the service/);
  expect(code).toBe(1);
});

test("doctor 12: a folder that other users can access or that does not exist", async () => {
  const dataDir = join(folder, "open");
  expect(await faultOf({ DATABASE_URL: "", DATA_DIR: dataDir })).toMatch(/data folder[^]*there is no database/);
  expect(existsSync(dataDir)).toBe(false);
  mkdirSync(join(dataDir, "postgres"), { recursive: true });
  chmodSync(join(dataDir, "postgres"), 0o755);
  expect(await faultOf({ DATABASE_URL: "", DATA_DIR: dataDir })).toMatch(/data folder[^]*accessible to other users \(755\)/);
});

test("doctor 13: a nearly full disk, little memory, few open files, an old Node.js", () => {
  expect(checkDisk(tmpdir(), Number.MAX_SAFE_INTEGER)).toMatchObject({
    isOk: false,
    detail: expect.stringContaining("GiB free"),
  });
  expect(checkDisk(tmpdir(), 1)).toMatchObject({ isOk: true });
  const limits = "Limit  Soft\nMax open files            256                  4096                 files";
  expect(checkMachine(100 * 1024 ** 2, limits).map(({ isOk }) => isOk)).toEqual([false, false]);
  expect(checkMachine(1024 ** 3, "").map(({ isOk }) => isOk)).toEqual([true, true]);
  expect([checkNode("20.1.0").isOk, checkNode("24.0.0").isOk]).toEqual([false, true]);
});
