import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Pair } from "../../proof/standby/pair.ts";
import { startService } from "../src/service.ts";
import { runCli } from "./cli.ts";
import { TestTenant, expectProblem, send, testConfig } from "./harness.ts";
import { eventually } from "./process.ts";

const holder: { pair: Pair } = { pair: undefined as never };
beforeAll(async () => {
  holder.pair = await Pair.open(false);
});
afterAll(() => holder.pair.close());

// The order of the tests does not matter: each begins with a primary and its standby.
test("standby: without a server that accepts writes, changes, reads and /readyz return 502, and all go on after the promotion", async () => {
  const { pair } = holder;
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
  await pair.repair();
});

test("standby: a service starts on the primary, whichever host is named first", async () => {
  const { primary, standby } = holder.pair;
  for (const hosts of [`${primary.address},${standby.address}`, `${standby.address},${primary.address}`]) {
    const service = await startService(testConfig({ databaseUrl: `postgres://casehound@${hosts}/postgres` }));
    expect((await send(service.port, "GET", "/readyz")).status).toBe(200);
    await service.stop();
  }
});

test("doctor: names each host and its state", async () => {
  const { pair } = holder;
  const doctor = async () => (await runCli(["doctor"], { DATABASE_URL: pair.url, PORT: "0", METRICS_PORT: "off" })).out;
  const before = await doctor();
  expect(before).toMatch(new RegExp(`^ok +host +${pair.primary.address} accepts writes \\(PostgreSQL `, "m"));
  expect(before).toMatch(new RegExp(`^ok +host +${pair.standby.address} is a standby, \\d+\\.\\d s behind`, "m"));
  await pair.standby.kill();
  expect(await doctor()).toMatch(new RegExp(`^FAIL +host +${pair.standby.address} cannot be used: .*ECONNREFUSED`, "m"));
  await pair.standby.start();
  await pair.standbyHasAll();
});

test("doctor: if no host accepts writes, it says so, and so does a start", async () => {
  const { pair } = holder;
  await pair.standbyHasAll();
  await pair.primary.kill();
  const env = { DATABASE_URL: pair.url, PORT: "0", METRICS_PORT: "off" };
  const { code, out } = await runCli(["doctor"], env);
  expect(code).toBe(1);
  expect(out).toMatch(/^FAIL +host +none of the hosts accepts writes/m);
  const { code: other, err } = await runCli(["tenants", "list"], env);
  expect(other).toBe(2);
  expect(err).toMatch(new RegExp(`DATABASE_URL: no connection to a server that accepts writes: .*${pair.standby.address} is read-only`));
  await pair.takeOver();
  await pair.repair();
});
