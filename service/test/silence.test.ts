import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { expect, inject, test, vi, type TestContext } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { Listener } from "../src/db/postgres/listener.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { startService } from "../src/service.ts";
import { TestTenant, expectProblem, send, testConfig } from "./harness.ts";
import { createDatabase } from "./launch.ts";
import { SilentProxy } from "./silent-proxy.ts";

const close = { status: "CLOSED", case_version: 1 };
const backMs = 60_000;

// Each concurrent test has its own.
type Finishing = Pick<TestContext, "onTestFinished">;

// A database behind a proxy that can fall silent. Each service has its own database, because a silent proxy may leave its engine
// within a batch with the tenant locked. On a shared database that could be the tenant of another test.
async function openProxy({ onTestFinished }: Finishing): Promise<{ proxy: SilentProxy; databaseUrl: string }> {
  const { host, port, user = "", database = "" } = new Client({ connectionString: await createDatabase(inject("databaseUrl")) });
  const proxy = await SilentProxy.open(host.startsWith("/") ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port });
  onTestFinished(() => proxy.close());
  return { proxy, databaseUrl: `postgresql://${user}@127.0.0.1:${proxy.port}/${database}` };
}

async function startBehind(finishing: Finishing): Promise<{ proxy: SilentProxy; tenant: TestTenant }> {
  const { proxy, databaseUrl } = await openProxy(finishing);
  const service = await startService(testConfig({ databaseUrl }));
  finishing.onTestFinished(() => service.stop());
  return { proxy, tenant: await TestTenant.create(service) };
}

test.concurrent("502: a silent database keeps no request waiting forever, and everything works once it responds again", async ({
  onTestFinished,
}) => {
  const { proxy, tenant } = await startBehind({ onTestFinished });
  const before = await tenant.openCase();
  const key = randomUUID();
  const activity = { activity_id: randomUUID(), type: "login_failed", occurred_at: new Date().toISOString() };
  proxy.silence();
  const answers = await Promise.all([
    tenant.call("GET", `/cases/${before.case_id}`),
    tenant.call("GET", "/cases"),
    tenant.put(before.case_id, close, key),
    tenant.call("POST", "/activities", { body: { activities: [activity] } }),
    send(tenant.service.port, "GET", "/readyz"),
  ]);
  for (const answer of answers) expectProblem(answer, 502, "bad-gateway");
  // By now all connections are lost, and no new one can be made.
  expectProblem(await tenant.call("GET", `/cases/${before.case_id}`), 502, "bad-gateway");
  expectProblem(await tenant.put(before.case_id, close, key), 502, "bad-gateway");
  proxy.speak();
  await vi.waitFor(async () => expect((await send(tenant.service.port, "GET", "/readyz")).status).toBe(200), backMs);
  expect(await tenant.read(before.case_id)).toStrictEqual(before);
  const closed = await vi.waitFor(async () => {
    const answer = await tenant.put(before.case_id, close, key);
    expect(answer.status).toBe(200);
    return answer;
  }, backMs);
  expect(closed.headers.get("idempotent-replayed")).toBeNull();
});

test.concurrent("500: if the database falls silent during COMMIT, the Idempotency-Key shows whether the change was applied", async ({
  onTestFinished,
}) => {
  const { proxy, tenant } = await startBehind({ onTestFinished });
  const { case_id } = await tenant.openCase();
  const key = randomUUID();
  proxy.silenceAtCommit(key);
  expectProblem(await tenant.put(case_id, close, key), 500, "internal-error");
  proxy.speak();
  const again = await vi.waitFor(async () => {
    const answer = await tenant.put(case_id, close, key);
    expect(answer.status).toBe(200);
    return answer;
  }, backMs);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await tenant.read(case_id)).toMatchObject({ status: "CLOSED", case_version: 2 });
});

test.concurrent("listener: a listener that the network has cut off notices it and starts listening again", async ({
  onTestFinished,
}) => {
  const { proxy, databaseUrl } = await openProxy({ onTestFinished });
  const database = new Database({ connectionString: databaseUrl });
  onTestFinished(() => database.end());
  const channel = `silence_${randomUUID().replaceAll("-", "")}`;
  let lost = 0;
  const heard: string[] = [];
  const listener = new Listener(database, {
    channels: [channel],
    onNotice: (_channel, payload) => void heard.push(payload),
    onLost: () => void lost++,
    onListening: () => {},
  });
  await listener.start();
  onTestFinished(() => listener.stop());
  proxy.silence();
  await vi.waitFor(() => expect(lost).toBeGreaterThan(0), backMs);
  expect(listener.isListening).toBe(false);
  proxy.speak();
  await vi.waitFor(() => expect(listener.isListening).toBe(true), backMs);
  await database.query(sql`select pg_notify(${channel}, 'again') as told`);
  await vi.waitFor(() => expect(heard).toEqual(["again"]), backMs);
});
