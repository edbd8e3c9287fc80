import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, send, testConfig } from "./harness.ts";
import { connectTo } from "./launch.ts";
import { eventually, useProcesses, useServer } from "./process.ts";

// This file has its own PostgreSQL, because it changes the settings.
const processes = useProcesses();
const server = useServer(() => processes.folder());
const close = { status: "CLOSED", case_version: 1 };

async function start() {
  const databaseUrl = await server.newDatabase();
  const service = await startService(testConfig({ databaseUrl }));
  onTestFinished(() => service.stop());
  const admin = await connectTo({ connectionString: databaseUrl });
  onTestFinished(() => admin.end());
  // The administrator must be able to undo it.
  await admin.query("set default_transaction_read_only = off");
  const [row] = (await admin.query<{ name: string }>("select current_database() as name")).rows;
  return { service, admin, name: row?.name ?? "" };
}

async function expectReadOnly(service: Service, tenant: TestTenant, caseId: string, key: string): Promise<void> {
  expectProblem(await send(service.port, "GET", "/readyz"), 502, "bad-gateway");
  const before = await tenant.read(caseId);
  const body = { website_account_id: `account-${randomUUID()}` };
  expectProblem(await tenant.put(caseId, close, key), 502, "bad-gateway");
  expectProblem(
    await tenant.call("POST", "/cases/close", { body: { cases: [{ case_id: caseId, case_version: 1 }] }, key }),
    502,
    "bad-gateway",
  );
  expectProblem(await tenant.call("POST", "/enduseraccounts", { body }), 502, "bad-gateway");
  expectProblem(await tenant.call("GET", `/enduseraccounts/${body.website_account_id}`), 404, "item-not-found");
  expect(await tenant.read(caseId)).toStrictEqual(before);
  expect(before).toMatchObject({ status: "OPEN", case_version: 1 });
}

test("502: while the database is read-only, changes and /readyz return bad-gateway, reads work, and nothing is applied", async () => {
  const { service, admin } = await start();
  const tenant = await TestTenant.create(service);
  const { case_id: id } = await tenant.openCase();
  const key = randomUUID();
  const set = async (value: "on" | "off") => {
    await admin.query(`alter system set default_transaction_read_only = ${value}`);
    await admin.query("select pg_reload_conf()");
  };
  onTestFinished(() => set("off"));
  await set("on");
  await eventually(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(502));
  await expectReadOnly(service, tenant, id, key);
  await set("off");
  await eventually(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(200));
  const closed = await tenant.put(id, close, key);
  expect([closed.status, closed.headers.get("idempotent-replayed")]).toEqual([200, null]);
});

test("502: a connection found to be read-only is not used again", async () => {
  const { service, admin, name } = await start();
  const tenant = await TestTenant.create(service);
  const { case_id: id } = await tenant.openCase();
  const key = randomUUID();
  // Applies to connections made from now on, as if they reached a standby.
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  await admin.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
    [name],
  );
  await eventually(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(502));
  await expectReadOnly(service, tenant, id, key);
  await admin.query(`alter database ${name} reset default_transaction_read_only`);
  await eventually(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(200));
  await eventually(async () => expect((await tenant.put(id, close, key)).status).toBe(200));
  expect(await tenant.read(id)).toMatchObject({ status: "CLOSED", case_version: 2 });
});
