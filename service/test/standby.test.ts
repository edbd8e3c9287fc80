import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { Pair } from "../../proof/standby/pair.ts";
import { startService } from "../src/service.ts";
import { runCli } from "./cli.ts";
import { TestTenant, expectProblem, send, testConfig } from "./harness.ts";
import { eventually } from "./process.ts";

// A primary and its standby.
async function openPair(): Promise<Pair> {
  const pair = await Pair.open(false);
  onTestFinished(() => pair.close());
  return pair;
}

test("standby: without a server that accepts writes, changes, reads and /readyz return 502, and all go on after the promotion", async () => {
  const pair = await openPair();
  const service = await startService(testConfig({ databaseUrl: pair.url }));
  onTestFinished(() => service.stop());
  const tenant = await TestTenant.create(service);
  const { case_id: id } = await tenant.openCase();
  const key = randomUUID();
  const close = { status: "CLOSED", case_version: 1 };
  // What the asynchronous standby has not received would be lost.
  await pair.standbyHasAll();
  await pair.primary.kill();
  await eventually(async () => expectProblem(await send(service.port, "GET", "/readyz"), 502, "bad-gateway"));
  expectProblem(await tenant.put(id, close, key), 502, "bad-gateway");
  expectProblem(await tenant.call("GET", `/cases/${id}`), 502, "bad-gateway");
  await pair.takeOver();
  await eventually(async () => expect((await send(service.port, "GET", "/readyz")).status).toBe(200));
  const closed = await tenant.put(id, close, key);
  expect([closed.status, closed.headers.get("idempotent-replayed")]).toEqual([200, null]);
});

test("standby: a service starts on the primary, whichever host is named first", async () => {
  const { primary, standby } = await openPair();
  for (const hosts of [`${primary.address},${standby.address}`, `${standby.address},${primary.address}`]) {
    const service = await startService(testConfig({ databaseUrl: `postgres://casehound@${hosts}/postgres` }));
    expect((await send(service.port, "GET", "/readyz")).status).toBe(200);
    await service.stop();
  }
});

test("doctor: names each host and its state", async () => {
  const pair = await openPair();
  const doctor = async () => (await runCli(["doctor"], { DATABASE_URL: pair.url, PORT: "0", METRICS_PORT: "off" })).out;
  const before = await doctor();
  expect(before).toMatch(new RegExp(`^ok +host +${pair.primary.address} accepts writes \\(PostgreSQL `, "m"));
  expect(before).toMatch(new RegExp(`^ok +host +${pair.standby.address} is a standby, \\d+\\.\\d s behind`, "m"));
  await pair.standby.kill();
  expect(await doctor()).toMatch(new RegExp(`^FAIL +host +${pair.standby.address} cannot be used: .*ECONNREFUSED`, "m"));
});

test("doctor: if no host accepts writes, it says so, and so does a start", async () => {
  const pair = await openPair();
  await pair.standbyHasAll();
  await pair.primary.kill();
  const env = { DATABASE_URL: pair.url, PORT: "0", METRICS_PORT: "off" };
  const { code, out } = await runCli(["doctor"], env);
  expect(code).toBe(1);
  expect(out).toMatch(/^FAIL +host +none of the hosts accepts writes/m);
  const { code: other, err } = await runCli(["tenant", "list"], env);
  expect(other).toBe(2);
  expect(err).toMatch(
    new RegExp(`DATABASE_URL: no connection to a server that accepts writes: .*${pair.standby.address} is read-only`),
  );
});

test("standby: a change that the synchronous standby does not confirm is not acknowledged, and neither is its replay", async () => {
  const pair = await openPair();
  const service = await startService(testConfig({ databaseUrl: pair.url }));
  onTestFinished(() => service.stop());
  const tenant = await TestTenant.create(service);
  const { case_id: id } = await tenant.openCase();
  await pair.primary.requireStandby();
  await pair.standby.kill();
  const key = randomUUID();
  const close = { status: "CLOSED", case_version: 1 };
  const admin = await pair.primary.connect();
  onTestFinished(() => admin.end());
  // First the change waits for the standby, then its replay does. Each time an administrator cancels the wait.
  for (let attempt = 1; attempt <= 2; attempt++) {
    const closing = tenant.put(id, close, key);
    await eventually(async () => {
      const cancel =
        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'casehound'";
      await admin.query(cancel);
      expect(await Promise.race([closing.then(() => "answered"), new Promise((resolve) => setTimeout(resolve, 100))])).toBe(
        "answered",
      );
    });
    expectProblem(await closing, 500, "internal-error");
  }
  await pair.standby.start();
  const closed = await tenant.put(id, close, key);
  expect([closed.status, closed.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
});

test("standby: an answer to an assessment that the synchronous standby does not confirm is not reported as stored", async () => {
  const pair = await openPair();
  const service = await startService(testConfig({ databaseUrl: pair.url }));
  onTestFinished(() => service.stop());
  const tenant = await TestTenant.create(service);
  const body = { activity_id: "log-in-1", type: "login_succeeded", occurred_at: new Date().toISOString(), deadline_ms: 2_000 };
  const assess = () => tenant.call("POST", "/assessments", { body });
  await pair.primary.requireStandby();
  await pair.standby.kill();
  const admin = await pair.primary.connect();
  onTestFinished(() => admin.end());
  const first = assess();
  const firstEnd = first.then(() => true);
  // An administrator cancels every wait for the standby, so the answer becomes visible without being confirmed.
  const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'";
  while (!(await Promise.race([firstEnd, new Promise((resolve) => setTimeout(() => resolve(false), 20))])))
    await admin.query(cancel);
  const answered = async () => (await admin.query("select 1 from assessments where reply is not null")).rowCount;
  await eventually(async () => {
    await admin.query(cancel);
    expect(await answered()).toBe(1);
  });
  for (const { status, text } of [await first, await assess()]) {
    expect([200, 500]).toContain(status);
    expect(text).not.toContain('"is_stored":true');
  }
  await pair.standby.start();
  await eventually(async () => expect((await assess()).json.data).toMatchObject({ activity_id: "log-in-1", is_stored: true }));
});

test("standby: an answer of another process that the synchronous standby has not confirmed is not passed on", async () => {
  const pair = await openPair();
  // The test plays the engine.
  const service = await startService(testConfig({ databaseUrl: pair.url, roles: new Set(["api", "collector"]) }));
  onTestFinished(() => service.stop());
  const tenant = await TestTenant.create(service);
  await pair.primary.requireStandby();
  const [admin, engine] = await Promise.all([pair.primary.connect(), pair.primary.connect()]);
  onTestFinished(async () => void (await Promise.all([admin.end(), engine.end()])));
  const body = { activity_id: "log-in-2", type: "login_succeeded", occurred_at: new Date().toISOString(), deadline_ms: 2_000 };
  const asked = tenant.call("POST", "/assessments", { body });
  await eventually(async () => expect((await admin.query("select 1 from assessments")).rowCount).toBe(1));
  await pair.standby.kill();
  const { rows } = await engine.query<{ pid: number }>("select pg_backend_pid() as pid");
  const reply = JSON.stringify({ activity_id: "log-in-2", action: "BLOCK", is_stored: true });
  const answering = engine.query("update assessments set reply = $1", [reply]);
  await eventually(async () => {
    await admin.query("select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'", [
      rows[0]?.pid,
    ]);
    expect((await admin.query("select 1 from assessments where reply is not null")).rowCount).toBe(1);
  });
  await answering;
  await admin.query("select pg_notify('casehound_answered', $1)", [tenant.tenantId]);
  expect((await asked).json.data).toMatchObject({ activity_id: "log-in-2", action: "ALLOW", is_stored: false });
});
