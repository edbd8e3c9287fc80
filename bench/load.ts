// Sustained load through the collector and the API, detection running: `node bench/load.ts [events/s] [seconds]`.
// Everything is on this machine: the generator, the service, PostgreSQL.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../service/src/clock.ts";
import { countUnscored } from "../service/src/db/inbox.ts";
import { statement } from "../service/src/db/sql.ts";
import { clientTokens } from "../service/src/simulator/courier.ts";
import { createTenant } from "../service/src/tenancy.ts";
import { makeLoad, replay } from "./load-replay.ts";
import { cpuSeconds, memoryMb, openBench, percentile, postgresCpuSeconds, startProcess, type Bench } from "./machine.ts";

const rate = Number(process.argv[2] ?? 5_000);
const seconds = Number(process.argv[3] ?? 120);
const origin = "https://shop.example";

type Probe = { delaysMs: number[]; lost: number };

// A reported fraud a second, amid the load: how long until its case can be read.
async function probe(bench: Bench, post: (activity: object) => Promise<void>, signal: AbortSignal): Promise<Probe> {
  const found: Probe = { delaysMs: [], lost: 0 };
  const one = async () => {
    const account = `probe-${randomUUID()}`;
    await post({ activity_id: account, type: "fraud_report", occurred_at: clock.now(), website_account_id: account });
    const accepted = performance.now();
    const look = statement("select 1 as found from cases where website_account_id = $1", [account]);
    let isFound = false;
    while (!isFound && performance.now() - accepted < 60_000) {
      isFound = (await bench.database.query(look)).length > 0;
      if (!isFound) await sleep(20);
    }
    if (isFound) found.delaysMs.push(performance.now() - accepted);
    else found.lost++;
  };
  const underWay: Promise<void>[] = [];
  while (!signal.aborted) {
    underWay.push(one());
    await sleep(1_000);
  }
  await Promise.all(underWay);
  return found;
}

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
  const service = await startProcess(bench, { ROLES: "api,collector" });
  const engine = await startProcess(bench, { ROLES: "engine" });
  const processes = [service.pid, engine.pid];
  const serviceCpu = () => processes.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const serviceMemory = () => processes.map(memoryMb);
  const made = await createTenant(bench.database, { slug: "load", allowedOrigins: [origin] }, clock);
  const { client_id: clientId, client_secret: clientSecret, app_key: appKey } = made;
  const token = clientTokens({ baseUrl: service.url, clientId, clientSecret });
  const target = { baseUrl: service.url, tenant: "load", token };
  const post = async (activity: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${await token(false)}` };
    const body = JSON.stringify({ activities: [activity] });
    const { status } = await fetch(`${service.url}/v2/load/activities`, { method: "POST", headers, body });
    if (status !== 202) throw new Error(`a probe was answered ${status}`);
  };
  const load = await makeLoad(join(bench.folder, "load"), { rate, seconds, appKey, origin, target });
  await sleep(load.startMs - Date.now());
  const before = { service: serviceCpu(), postgres: postgresCpuSeconds(bench.folder), own: process.cpuUsage() };
  const startMs = Date.now();
  const stopping = new AbortController();
  setTimeout(() => stopping.abort(), seconds * 1000);
  const backlog: number[] = [];
  let memoryMax = 0;
  const watch = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(5_000);
      backlog.push(await countUnscored(bench.database));
      const memory = serviceMemory();
      memoryMax = Math.max(memoryMax, ...memory);
      const cpu = processes.map((pid) => cpuSeconds(pid).toFixed(1)).join(" + ");
      const shown = memory.map((each) => each.toFixed(0)).join(" + ");
      process.stderr.write(
        `${Math.round((Date.now() - startMs) / 1000)} s: backlog ${backlog.at(-1)}, memory ${shown} MB, CPU ${cpu} s\n`,
      );
    }
  })();
  const probing = probe(bench, post, stopping.signal);
  const tally = await replay(load, new URL(service.url), stopping.signal);
  await watch;
  const took = (Date.now() - startMs) / 1000;
  const { delaysMs, lost } = await probing;
  for (const began = Date.now(); (await countUnscored(bench.database)) > 0 && Date.now() - began < 60_000;) await sleep(100);
  const drained = (Date.now() - startMs) / 1000 - took;
  const own = process.cpuUsage(before.own);
  const perEvent = (cpu: number) => `${((cpu / tally.events) * 1e6).toFixed(0)} µs`;
  const bytes = await storedBytes(bench);
  const inboxless = Object.entries(bytes).filter(([name]) => name !== "inbox");
  const stored = inboxless.reduce((sum, [, size]) => sum + size, 0);
  const lines = {
    "events accepted": `${tally.events} in ${took.toFixed(0)} s, ${(tally.events / took).toFixed(0)}/s (wanted ${rate}/s), in ${tally.requests} requests, ${tally.refused} refused`,
    "backlog, every 5 s": backlog.join(" "),
    "drained after the end": `${drained.toFixed(1)} s`,
    "accepted to case, p50 / p95 / max": `${percentile(delaysMs, 0.5).toFixed(0)} / ${percentile(delaysMs, 0.95).toFixed(0)} / ${Math.max(...delaysMs).toFixed(0)} ms of ${delaysMs.length}, ${lost} lost`,
    "service memory, most": `${memoryMax.toFixed(0)} MB`,
    "CPU per event": `service ${perEvent(serviceCpu() - before.service)}, PostgreSQL ${perEvent(postgresCpuSeconds(bench.folder) - before.postgres)}, generator ${perEvent((own.user + own.system) / 1e6)}`,
    "stored bytes per event, with indexes": `${(stored / tally.events).toFixed(0)} (${inboxless.map(([name, size]) => `${name} ${(size / tally.events).toFixed(0)}`).join(", ")})`,
  };
  for (const [name, value] of Object.entries(lines)) process.stdout.write(`${name.padEnd(38)} ${value}\n`);
  await engine.stop();
  await service.stop();
}

const bench = await openBench("load");
try {
  await run(bench);
} finally {
  await bench.stop();
}
