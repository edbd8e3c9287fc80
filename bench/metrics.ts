// Measures what the tenant's metrics cost: CPU and database time to count a batch, and the time to read a busy year. It uses a
// separate PostgreSQL in a temporary folder. Run with `node bench/metrics.ts`.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tenantMetricsOperations } from "../service/src/api/tenant-metrics.ts";
import type { Services } from "../service/src/api/operation.ts";
import { Database } from "../service/src/db/postgres/database.ts";
import { EmbeddedPostgres } from "../service/src/db/postgres/embedded.ts";
import { insertBuckets } from "../service/src/db/metric-buckets.ts";
import { migrate } from "../service/src/db/postgres/migrate.ts";
import { sql } from "../service/src/db/postgres/sql.ts";
import { Sketch, hashOf } from "../service/src/detection/sketch.ts";
import type { RecordedActivity } from "../service/src/domain/activity.ts";
import { dayMs } from "../service/src/domain/metric.ts";
import { tallyBatch } from "../service/src/engine/tally.ts";

const batchSize = 500;
const batches = 400;
const eventsPerSecond = 5_000;
const membersPerDay = 5_000;
const rounds = 10;
const now = Date.UTC(2026, 10, 15, 12);

const say = (line: string) => process.stdout.write(`${line}\n`);
const iso = (at: number) => new Date(at).toISOString();
const median = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

// Realistic traffic: about 12 events per session, four in ten sessions with an account, at the pace of a busy site.
function makeBatch(index: number): { activities: RecordedActivity[]; started: Map<string, string> } {
  const started = new Map<string, string>();
  const activities = Array.from({ length: batchSize }, (_, each): RecordedActivity => {
    const number = index * batchSize + each;
    const session = Math.floor(number / 12) + (number % 7) * 40;
    const at = iso(now + (number * 1000) / eventsPerSecond);
    if (number % 12 === 0) started.set(`5b540d9c-20261115-${session}`, at);
    return {
      activity_id: randomUUID(),
      type: "page_view",
      occurred_at: at,
      received_at: at,
      origin: "browser",
      session_id: `5b540d9c-20261115-${session}`,
      device_id: `device-${session % 50_000}`,
      ...(session % 10 < 4 && { website_account_id: `user-${session % 20_000}` }),
    };
  });
  return { activities, started };
}

async function measureTally(database: Database): Promise<void> {
  const tenantId = randomUUID();
  const made = Array.from({ length: batches }, (_, index) => makeBatch(index));
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (const { activities, started } of made) {
    const before = performance.now();
    await database.transaction((tx) => tallyBatch(tx, tenantId, { activities, startedSessions: started }));
    times.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const perEvent = (ms: number) => `${((ms * 1000) / batchSize).toFixed(1)} us`;
  say(`count ${batches} batches of ${batchSize}, each in its own transaction`);
  say(`  elapsed time per event: median ${perEvent(median(times))}, slowest batch ${perEvent(Math.max(...times))}`);
  say(`  CPU time of this process per event: ${((user + system) / batches / batchSize).toFixed(1)} us`);
}

async function fillYear(database: Database, tenantId: string): Promise<void> {
  for (let day = 0; day < 365; day++) {
    const make = (kind: string) => {
      const sketch = new Sketch();
      for (let member = 0; member < membersPerDay; member++) sketch.add(hashOf(`${kind}:${(day * 700 + member) % 200_000}`));
      return sketch.encode();
    };
    const at = Date.UTC(2025, 10, 15) + day * dayMs;
    const sketches = { sessions: make("s"), identified: make("s"), ids: make("a") };
    const bucket = { level: "day" as const, at, total_events: 60_000, session_starts: membersPerDay, ...sketches };
    await database.transaction((tx) => insertBuckets(tx, tenantId, [bucket]));
  }
}

async function measureRead(database: Database): Promise<void> {
  const tenantId = randomUUID();
  await fillYear(database, tenantId);
  const [operation] = tenantMetricsOperations;
  if (!operation) throw new Error("the operation does not exist");
  // The handler uses only the clock and the database.
  const reads: Pick<Services, "database" | "now"> = { database, now: () => iso(now) };
  const services = reads as Services;
  const caller = { tenant_id: tenantId, slug: "bench", actor: "bench", scopes: new Set<string>() };
  say(`read a year with ${membersPerDay} sessions and ids per day`);
  for (const aggregation of ["day", "week", "month", "year", undefined]) {
    const query = { start_date: "2025-11-15", end_date: "2026-11-15", ...(aggregation !== undefined && { aggregation }) };
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < rounds; round++) {
      const before = performance.now();
      const reply = await operation.handle(services, { caller, params: {}, query, body: undefined, key: "" });
      times.push(performance.now() - before);
      bytes = reply.body.length;
    }
    const shown = `median ${median(times).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms, ${bytes} bytes`;
    say(`  ${aggregation ?? "the whole range"}: ${shown}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "casehound-bench-"));
const embedded = await EmbeddedPostgres.forService(folder);
const database = new Database(embedded.address);
try {
  await migrate(database);
  await measureTally(database);
  await measureRead(database);
  const [size] = await database.query<{ bytes: number }>(sql`select pg_total_relation_size('metric_buckets') as bytes`);
  say(`metric_buckets at the end: ${((size?.bytes ?? 0) / 1e6).toFixed(1)} MB`);
} finally {
  await database.end();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
}
