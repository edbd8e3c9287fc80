import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { Operation } from "../src/api/operation.ts";
import { operations } from "../src/api/operations.ts";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, send, testConfig, type Answer } from "./harness.ts";

// This file has its own database, because its tests stop it, kill it and close it to clients.
const folder = mkdtempSync(join(tmpdir(), "casehound-outage-"));
let postgres: EmbeddedPostgres;
let service: Service;

function databaseUrl(user: string): string {
  return `postgresql://${user}@/${postgres.address.database}?host=${encodeURIComponent(postgres.address.host)}`;
}

beforeAll(async () => {
  postgres = await EmbeddedPostgres.forService(folder);
  service = await startService(testConfig({ databaseUrl: databaseUrl(postgres.address.user) }));
});

// An error thrown outside of a request would end the process of a real service, and every request in it.
const uncaught: unknown[] = [];
const keepUncaught = (error: unknown) => void uncaught.push(error);
process.on("uncaughtException", keepUncaught);
afterEach(() => expect(uncaught.splice(0)).toEqual([]));

afterAll(async () => {
  process.off("uncaughtException", keepUncaught);
  await service.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

// The database is started again even if the test fails, so that other tests are not affected.
async function stopDatabase(): Promise<() => Promise<void>> {
  let isStopped = true;
  const startAgain = async () => {
    if (isStopped) postgres = await EmbeddedPostgres.forService(folder);
    isStopped = false;
  };
  onTestFinished(startAgain);
  await postgres.stop();
  return startAgain;
}

const close = { status: "CLOSED", case_version: 1 };

// A valid request for each operation in the table.
function callOperation(tenant: TestTenant, operation: Operation): Promise<Answer> {
  const ids: Record<string, string> = {
    rule_id: "a_rule",
    list_name: "a_list",
    role_name: "a-role",
    issuer_key: "an-issuer",
    model_id: "0".repeat(64),
  };
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_whole, name: string) => ids[name] ?? randomUUID());
  const body = operation.body && { body: operation.example ?? {} };
  // Without a text, a search needs no database.
  const query = operation.id === "search" ? "?q=text" : "";
  return tenant.call(operation.method, `${path}${query}`, { ...body, ...(operation.wantsKey && { key: randomUUID() }) });
}

async function expectAway(tenant: TestTenant): Promise<void> {
  // The fields that rules may read, what directories learn about the service, and that a client cannot request approval, do not
  // come from the database.
  const constant = new Set(["listFeatures", "getScimConfig", "listScimResourceTypes", "listScimSchemas", "requestApproval"]);
  for (const operation of operations.filter(({ id }) => !constant.has(id))) {
    const answer = await callOperation(tenant, operation);
    expect([operation.id, answer.status]).toEqual([operation.id, 502]);
    expect(expectProblem(answer, 502, "bad-gateway").detail).not.toMatch(/ENOENT|ECONN|socket|select|postgres|role/i);
  }
  const { port } = tenant.service;
  expectProblem(await send(port, "GET", "/readyz"), 502, "bad-gateway");
  for (const path of ["/livez", "/.well-known/jwks.json", "/openapi.json"]) {
    expect([path, (await send(port, "GET", path)).status]).toEqual([path, 200]);
  }
}

// Nothing of the service is restarted: reads, writes and the engine have to recover by themselves.
async function expectBack(tenant: TestTenant): Promise<void> {
  await vi.waitFor(async () => expect((await send(tenant.service.port, "GET", "/readyz")).status).toBe(200), 20_000);
  const opened = await vi.waitFor(() => tenant.openCase(), 20_000);
  expect(await tenant.put(opened.case_id, close)).toMatchObject({ status: 200, json: { data: { case_version: 2 } } });
}

test("502: while the database is stopped, every operation and /readyz return bad-gateway, and all work again once it is back", async () => {
  const tenant = await TestTenant.create(service);
  const before = await tenant.openCase();
  const key = randomUUID();
  const startAgain = await stopDatabase();
  expectProblem(await tenant.put(before.case_id, close, key), 502, "bad-gateway");
  await expectAway(tenant);
  // Errors in the request itself are still reported.
  expectProblem(await tenant.call("GET", "/cases", { token: null }), 401, "unauthorized");
  expectProblem(await tenant.call("GET", "/nothing"), 404, "item-not-found");
  await startAgain();
  await expectBack(tenant);
  expect(await tenant.read(before.case_id)).toStrictEqual(before);
  const closed = await tenant.put(before.case_id, close, key);
  expect([closed.status, closed.headers.get("idempotent-replayed")]).toEqual([200, null]);
});

test("POST token 502: while the database is stopped it returns bad-gateway, and a token once it is back", async () => {
  const tenant = await TestTenant.create(service);
  const rawBody = `grant_type=client_credentials&client_id=${tenant.clientId}&client_secret=${tenant.clientSecret}`;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const ask = () => send(service.port, "POST", "/v2/oauth/token", { rawBody, headers });
  const startAgain = await stopDatabase();
  const refused = await ask();
  await startAgain();
  await vi.waitFor(async () => expect((await ask()).status).toBe(200), 20_000);
  expectProblem(refused, 502, "bad-gateway");
});

test("502: without a free connection every operation returns bad-gateway, even with a cached token", async () => {
  const admin = await service.database.connect();
  onTestFinished(() => admin.end());
  await admin.query("create role limited login bypassrls");
  await admin.query("grant all on schema public to limited");
  await admin.query("grant all on all tables in schema public to limited");
  const limited = await startService(testConfig({ databaseUrl: databaseUrl("limited"), roles: new Set(["api"]) }));
  onTestFinished(() => limited.stop());
  const tenant = await TestTenant.create(limited);
  const before = await tenant.openCase();
  await admin.query("alter role limited connection limit 0");
  // Ends all connections except the listening one. As long as that one is open, known tokens are verified without the database,
  // so the operations themselves fail.
  const ended = await admin.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'limited' and query not like 'listen%'",
  );
  expect(ended.rowCount).toBeGreaterThan(0);
  await expectAway(tenant);
  await admin.query("alter role limited connection limit -1");
  await expectBack(tenant);
  expect(await tenant.read(before.case_id)).toStrictEqual(before);
});

test("500: a connection lost during COMMIT is never reported as contended, and the key shows the outcome", async () => {
  // A proxy between a service and the database. If armed, it lets the next commit through and drops the reply and the connection.
  let isArmed = false;
  const proxy = createServer((client) => {
    const server = connect(join(postgres.address.host, ".s.PGSQL.5432"));
    let isCut = false;
    client.on("data", (sent) => {
      isCut ||= isArmed && sent.includes("commit\0");
      if (isCut) isArmed = false;
      server.write(sent);
    });
    server.on("data", (answered) => (isCut ? client.destroy() : client.write(answered)));
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  // It listens on TCP, so its address is never a string.
  const { port } = proxy.address() as AddressInfo;
  const url = `postgresql://${postgres.address.user}@127.0.0.1:${port}/${postgres.address.database}`;
  const behind = await startService(testConfig({ databaseUrl: url, roles: new Set(["api"]) }));
  onTestFinished(() => behind.stop());
  const tenant = await TestTenant.create(behind);
  const { case_id: id } = await tenant.openCase();
  const key = randomUUID();
  isArmed = true;
  expectProblem(await tenant.put(id, close, key), 500, "internal-error");
  expect(isArmed).toBe(false);
  const again = await vi.waitFor(async () => {
    const answer = await tenant.put(id, close, key);
    expect(answer).toMatchObject({ status: 200, json: { data: { case_version: 2 } } });
    return answer;
  }, 10_000);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await tenant.read(id)).toStrictEqual(again.json.data);
});

test("500: a COMMIT that the database aborts applies nothing and leaves the key free", async () => {
  const tenant = await TestTenant.create(service);
  const before = await tenant.openCase();
  const key = randomUUID();
  const admin = await service.database.connect();
  onTestFinished(() => admin.end());
  // A deferred trigger runs inside COMMIT. This one ends its own connection there.
  await admin.query(`
    create function break_off() returns trigger language plpgsql
    as 'begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return null; end'`);
  await admin.query(`
    create constraint trigger break_off after update on cases
    deferrable initially deferred for each row execute function break_off()`);
  onTestFinished(async () => void (await admin.query("drop function if exists break_off cascade")));
  expectProblem(await tenant.put(before.case_id, close, key), 500, "internal-error");
  await admin.query("drop function break_off cascade");
  expect(await tenant.read(before.case_id)).toStrictEqual(before);
  const closed = await tenant.put(before.case_id, close, key);
  expect([closed.status, closed.headers.get("idempotent-replayed")]).toEqual([200, null]);
});

test("kill -9 of the database during closes: closes answered with 200 are kept, and the rest succeed with their keys", async () => {
  const tenant = await TestTenant.create(service);
  const cases = await Promise.all(Array.from({ length: 24 }, () => tenant.openCase()));
  const keyed = cases.map((each) => ({ id: each.case_id, key: randomUUID() }));
  const pid = Number(readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
  let answered = 0;
  const answers = await Promise.all(
    keyed.map(async ({ id, key }) => {
      const answer = await tenant.put(id, close, key);
      if (++answered === 4) process.kill(pid, "SIGKILL");
      return answer;
    }),
  );
  for (const each of answers) expect(["200", "internal-error", "bad-gateway"]).toContain(each.json.type ?? String(each.status));
  await expectBack(tenant);
  const again = await Promise.all(keyed.map(({ id, key }) => tenant.put(id, close, key)));
  for (const each of again) expect(each).toMatchObject({ status: 200, json: { data: { status: "CLOSED", case_version: 2 } } });
  answers.forEach((each, index) => expect(each.status === 200 ? each.text : again[index]?.text).toBe(again[index]?.text));
  const after = await Promise.all(keyed.map(({ id }) => tenant.read(id)));
  expect(after.map((each) => each.state_history.length)).toEqual(cases.map(() => 1));
});
