// Sustained load through the collector and the API, with detection running: `node bench/load.ts [events/s] [seconds]`. The
// generator, the service and PostgreSQL all run on this machine.
import { clock } from "../service/src/clock.ts";
import { statement } from "../service/src/db/postgres/sql.ts";
import { clientTokens } from "@casehound/simulator/courier";
import { createTenant } from "../service/src/tenancy.ts";
import { sustain } from "./load-sustained.ts";
import { openBench, percentile, startProcess, type Bench } from "./machine.ts";

const rate = Number(process.argv[2] ?? 5_000);
const seconds = Number(process.argv[3] ?? 120);
const origin = "https://shop.example";
const micros = (value: number) => `${value.toFixed(0)} µs`;

async function storedBytes({ database }: Bench): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; bytes: number }>(
    statement(
      `select coalesce(parent.relname, c.relname) as name, sum(pg_total_relation_size(c.oid))::bigint as bytes
       from pg_class as c
       left join pg_inherits as i on i.inhrelid = c.oid
       left join pg_class as parent on parent.oid = i.inhparent
       where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
       group by 1
       having sum(pg_total_relation_size(c.oid)) > 500000
       order by 2 desc`,
      [],
    ),
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.bytes]));
}

async function run(bench: Bench): Promise<void> {
  const api = await startProcess(bench, { ROLES: "api,collector" });
  const engine = await startProcess(bench, { ROLES: "engine" });
  const made = await createTenant(bench.database, { slug: "load", allowedOrigins: [origin] }, clock);
  const token = clientTokens({ baseUrl: api.url, clientId: made.client_id, clientSecret: made.client_secret });
  const tenant = { slug: "load", appKey: made.app_key, origin, token };
  const found = await sustain(
    { bench, database: bench.database, api, engine, tenant },
    {
      rate,
      seconds,
      onWatched: (now) => {
        const [memory, cpu] = [now.memoryMb.map((each) => each.toFixed(0)), now.cpuSeconds.map((each) => each.toFixed(1))];
        process.stderr.write(
          `${now.seconds.toFixed(0)} s: backlog ${now.backlog}, memory ${memory.join(" + ")} MB, CPU ${cpu.join(" + ")} s\n`,
        );
      },
    },
  );
  const { events, requests, refused, probe, cpu } = found;
  const bytes = await storedBytes(bench);
  const inboxless = Object.entries(bytes).filter(([name]) => name !== "inbox");
  const stored = inboxless.reduce((sum, [, size]) => sum + size, 0);
  const delays = [0.5, 0.95, 1].map((share) => percentile(probe.delaysMs, share).toFixed(0)).join(" / ");
  const lines = {
    "events accepted": `${events} in ${found.seconds.toFixed(0)} s, ${(events / found.seconds).toFixed(0)}/s (target ${rate}/s), in ${requests} requests, ${refused} refused`,
    "backlog, every 5 s": found.backlog.join(" "),
    "drained after the end": `${found.drainedSeconds.toFixed(1)} s`,
    "accepted to case, p50 / p95 / max": `${delays} ms of ${probe.delaysMs.length}, ${probe.lost} lost`,
    "service memory, most": `${Math.max(...found.memoryMb).toFixed(0)} MB`,
    "CPU per event": `service ${micros(cpu.service)}, PostgreSQL ${micros(cpu.postgres)}, generator ${micros(cpu.generator)}`,
    "stored bytes per event, with indexes": `${(stored / events).toFixed(0)} (${inboxless.map(([name, size]) => `${name} ${(size / events).toFixed(0)}`).join(", ")})`,
  };
  for (const [name, value] of Object.entries(lines)) process.stdout.write(`${name.padEnd(38)} ${value}\n`);
  await engine.stop();
  await api.stop();
}

const bench = await openBench("load");
try {
  await run(bench);
} finally {
  await bench.stop();
}
