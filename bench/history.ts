// Measures what an event costs once there is a history: `node bench/history.ts [events of history] [events measured]`. The same
// traffic goes through the collector and the engine, on an empty store and after that many events. It is measured as CPU and not
// as elapsed time, so other load on the machine matters less.
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../service/src/clock.ts";
import { countUnscored } from "../service/src/db/inbox.ts";
import { clientTokens, deliver } from "@casehound/simulator/courier";
import { isSent, type Delivery } from "@casehound/simulator/delivery";
import { loadTimeline } from "@casehound/simulator/load";
import { createTenant } from "../service/src/tenancy.ts";
import { cpuSeconds, openBench, postgresCpuSeconds, startProcess, type Bench } from "./machine.ts";

const history = Number(process.argv[2] ?? 3_000_000);
const measured = Number(process.argv[3] ?? 100_000);
const origin = "https://shop.example";
// Each slice is scored before the next is sent, so the engine's batches are full and the backlog stays short.
const slice = 20_000;
const warmUp = 60_000;

type Cost = { service: number; postgres: number };

async function run(bench: Bench): Promise<void> {
  const service = await startProcess(bench, { ROLES: "api,collector" });
  const engine = await startProcess(bench, { ROLES: "engine" });
  const made = await createTenant(bench.database, { slug: "load", allowedOrigins: [origin] }, clock);
  const { client_id: clientId, client_secret: clientSecret, app_key: appKey } = made;
  const token = clientTokens({ baseUrl: service.url, clientId, clientSecret });
  const target = { baseUrl: service.url, tenant: "load", token };
  const options = { seed: "history", startMs: Date.now(), eventsPerSecond: 5_000, appKey, origin, users: 100_000 };
  const timeline = loadTimeline(options);
  const cpu = (): Cost => ({
    service: cpuSeconds(service.pid) + cpuSeconds(engine.pid),
    postgres: postgresCpuSeconds(bench.folder),
  });
  let sent = 0;
  const send = async (events: number): Promise<Cost> => {
    const before = cpu();
    const from = sent;
    while (sent - from < events) {
      sent += (await deliver(take(timeline, Math.min(slice, events - (sent - from))), target, { inFlightMax: 64 })).events;
      while ((await countUnscored(bench.database)) > 0) await sleep(20);
    }
    const after = cpu();
    const each = (name: keyof Cost) => ((after[name] - before[name]) / (sent - from)) * 1e6;
    return { service: each("service"), postgres: each("postgres") };
  };
  await send(warmUp);
  const empty = await send(measured);
  show("empty store", empty);
  for (let left = history - sent; left > 0; left = history - sent) {
    await send(Math.min(200_000, left));
    process.stderr.write(`${sent.toLocaleString("en")} of ${history.toLocaleString("en")} events\n`);
  }
  const full = await send(measured);
  show(`after ${sent.toLocaleString("en")} events`, full);
  const ratio = (full.service + full.postgres) / (empty.service + empty.postgres);
  process.stdout.write(`${"ratio".padEnd(28)} ${ratio.toFixed(2)} (limit 1.3)\n`);
  await engine.stop();
  await service.stop();
}

function show(name: string, { service, postgres }: Cost): void {
  const total = (service + postgres).toFixed(0);
  process.stdout.write(
    `${name.padEnd(28)} ${total} µs of CPU per event: service ${service.toFixed(0)}, PostgreSQL ${postgres.toFixed(0)}\n`,
  );
}

// Does not end the timeline, which continues where this stops.
function* take(timeline: Iterator<Delivery>, events: number): Generator<Delivery> {
  for (let taken = 0; taken < events;) {
    const { value, done } = timeline.next();
    if (done === true) return;
    const delivery: Delivery = value;
    if (!isSent(delivery)) continue;
    taken += delivery.kind === "browser" ? delivery.events : delivery.activities.length;
    yield delivery;
  }
}

const bench = await openBench("history");
try {
  await run(bench);
} finally {
  await bench.stop();
}
