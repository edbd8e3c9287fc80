import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { ApiServer } from "../src/api/http/server.ts";
import { Metrics } from "../src/api/metrics.ts";
import { Database } from "../src/db/postgres/database.ts";
import { keysChannel } from "../src/db/tenants.ts";
import { Engine } from "../src/engine/loop.ts";
import { startService } from "../src/service.ts";
import { within } from "./backup-lab.ts";
import { activityOf, labDetector, newTenant, store, useLab, waiting } from "./engine-lab.ts";
import { newDatabase, testConfig } from "./harness.ts";
import { eventually } from "./process.ts";

// A failure in background work changes no response, so it shows only in the log.
vi.setConfig({ testTimeout: 120_000 });

const lab = useLab();

const isTold = ([{ message, cause }]: [Error]) =>
  message.includes("signing keys") && cause instanceof Error && cause.message.includes("signing_keys");

test("log: if the signing keys cannot be reloaded, the service logs a warning and continues", async () => {
  const databaseUrl = await newDatabase();
  const service = await startService(testConfig({ databaseUrl }));
  onTestFinished(() => service.stop());
  const warned = vi.fn<(warning: Error) => void>();
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  await within(databaseUrl, async (client) => {
    await client.query("alter table signing_keys rename to hidden_keys");
    await client.query("select pg_notify($1, '')", [keysChannel]);
  });
  await eventually(() => expect(warned.mock.calls.filter(isTold)).not.toEqual([]));
  expect((await fetch(`http://127.0.0.1:${service.port}/readyz`)).status).toBe(200);
});

test("log: a health check during the start is not logged as a warning", async () => {
  const lines: string[] = [];
  const server = new ApiServer(pino({ level: "info" }, { write: (line) => void lines.push(line) }), new Metrics());
  onTestFinished(() => server.stop());
  const { port } = await server.listen("127.0.0.1", 0);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
  await eventually(() => expect(lines).toHaveLength(1));
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: 30, status: 503 });
});

test("log: if the statistics cannot be refreshed, the engine logs a warning and continues to score", async () => {
  const { url } = lab.current;
  const tenantId = await newTenant(lab.current);
  await store(
    lab.current,
    tenantId,
    Array.from({ length: 2_100 }, () => activityOf({ type: "page_view" })),
  );
  const lines: string[] = [];
  const database = new Database({ connectionString: url });
  const log = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const engine = new Engine({ detector: labDetector(database), log, onPass: () => {} });
  await within(url, async (holder) => {
    await holder.query("begin");
    // This lock mode conflicts with ANALYZE but with no statement of the engine.
    await holder.query("lock table metric_buckets in share update exclusive mode");
    engine.start();
    await eventually(() => expect(lines.join("")).toContain("statistics"));
    await holder.query("rollback");
  });
  await eventually(async () => expect(await waiting(lab.current, tenantId)).toBe(0));
  await engine.stop();
  await database.end();
});
