import { randomUUID } from "node:crypto";
import { inject, expect, onTestFinished, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { requireSessions } from "../src/db/postgres/pooler-check.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { startService } from "../src/service.ts";
import { runCli } from "./cli.ts";
import { TestTenant, newDatabase, send, testConfig } from "./harness.ts";
import { connectTo, createDatabase, databaseOf } from "./launch.ts";
import { Pooler } from "./pooler.ts";
import { useProcesses } from "./process.ts";

const processes = useProcesses();
const serverUrl = inject("databaseUrl");
const socketFolder = new URLSearchParams(serverUrl.split("?")[1]).get("host") ?? "";
const user = /\/\/([^@]*)@/.exec(serverUrl)?.[1] ?? "";

async function open(database: string, options: Parameters<typeof Pooler.open>[1]): Promise<Pooler> {
  const pooler = await Pooler.open({ socketFolder, user, database }, options);
  onTestFinished(() => pooler.close());
  return pooler;
}

test("pooler: in session mode everything works, and times and limits are the service's own", async () => {
  const direct = await newDatabase();
  const name = databaseOf(direct);
  const admin = await connectTo({ connectionString: direct });
  onTestFinished(() => admin.end());
  await admin.query(`alter database ${name} set timezone = 'Europe/Berlin'`);
  await admin.query(`alter database ${name} set datestyle = 'German'`);
  const pooler = await open(name, { mode: "session" });
  const service = await startService(testConfig({ databaseUrl: pooler.url, rowSecurity: "on" }));
  onTestFinished(() => service.stop());
  expect((await send(service.port, "GET", "/readyz")).status).toBe(200);
  const tenant = await TestTenant.create(service);
  const before = Date.now();
  const opened = await tenant.openCase();
  expect(Math.abs(Date.parse(opened.created_at) - before)).toBeLessThan(60_000);
  const closed = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, randomUUID());
  expect(closed.status).toBe(200);
  const [shown] = await service.database.query(sql`
    select current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement_limit,
      current_setting('enable_seqscan') as scans, current_setting('client_min_messages') as messages`);
  expect(shown).toEqual({ zone: "UTC", statement_limit: "10s", scans: "off", messages: "warning" });
});

test.each(["transaction", "statement"] as const)("pooler: %s mode is refused at the start, in one line", async (mode) => {
  const pooler = await open(databaseOf(await newDatabase()), { mode });
  const service = processes.launch({ DATABASE_URL: pooler.url, PUBLIC_URL: "http://127.0.0.1:9190" });
  expect(await service.refusal()).toMatch(/DATABASE_URL: .*pooler.*pool_mode = session/);
  const { code, err } = await runCli(["tenant", "list"], { DATABASE_URL: pooler.url });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/pool_mode = session/) as string });
});

// Which free server a connection gets depends on the pooler's settings and on others who use it.
test.each([
  ["the last free server first", "server_round_robin = 0"],
  ["servers in turn", "server_round_robin = 1"],
  ["a single server", "default_pool_size = 1"],
  ["two servers", "default_pool_size = 2"],
])("pooler: transaction mode is noticed every time: %s", async (_name, more) => {
  const name = databaseOf(await createDatabase(serverUrl));
  const pooler = await open(name, { mode: "transaction", more: `${more}\n` });
  // Others have made the pooler open servers.
  const others = await Promise.all(Array.from({ length: 6 }, () => connectTo({ connectionString: pooler.url })));
  await Promise.all(others.map((other) => other.query("select pg_sleep(0.05)")));
  for (let trial = 0; trial < 8; trial++) {
    const database = new Database({ connectionString: pooler.url }, { writersMax: 1 });
    await expect(requireSessions(database), `trial ${trial}`).rejects.toThrow(/pool_mode = session/);
    await database.end();
  }
  await Promise.all(others.map((other) => other.end()));
});

test("pooler: a direct connection is recognized as one", async () => {
  const database = new Database({ connectionString: serverUrl }, { writersMax: 1 });
  await requireSessions(database);
  const client = await database.connect();
  expect(client.isPooled).toBe(false);
  await client.end();
  await database.end();
});
