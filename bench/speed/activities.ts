// Measures how many events are accepted: by the API in batches, by the collector, and by COPY as the limit. Also checks whether
// they are scored as fast as they arrive.
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Activity } from "../../service/src/domain/activity.ts";
import type { BrowserRequest, ServerBatch } from "@casehound/simulator/delivery";
import { loadTimeline } from "@casehound/simulator/load";
import { memoryMb, percentile } from "../machine.ts";
import { copyBytes, copyInto } from "./copy-events.ts";
import { cpuBetween, postmasterPid, readCpu } from "./cpu.ts";
import type { Shot } from "./drive.ts";
import type { Context, Findings, Part } from "./part.ts";
import { openStore, origin, startOn, type Store, type StoreService } from "./store.ts";
import { measureSustained, sustainedTable, sustainedTarget, type Tried } from "./sustained.ts";

const connections = 16;
const copyRatioMin = 0.5;
const collectorRatioMin = 0.3;
const memoryMbMax = 220;
const batches = [1, 50, 500];
// Events per round, for about two seconds each.
const rounds = { quick: 1, full: 5 };
const eventsOf: Record<number, number> = { 1: 4_000, 50: 30_000, 500: 40_000 };
const collectorEvents = 20_000;

// `events` per second; CPU in microseconds per event.
type Taken = { events: number; service: number; postgres: number };

const number = (value: number) => Math.round(value).toLocaleString("en");

export const activities: Part = { name: "activities", title: "Activities", run };

async function run(context: Context): Promise<Findings> {
  const store = await openStore(context, { cases: 0 });
  const service = await startOn(context.bench, store, { env: { ROLES: "api,collector" } });
  const taken = new Map<string, Taken[]>();
  let memory = 0;
  try {
    const total = rounds[context.scale];
    await takeIn(context, store, service, { isWarmUp: true });
    for (let round = 0; round < total; round++) {
      context.progress(round, total, "event intake");
      for (const [name, each] of await takeIn(context, store, service, { isWarmUp: false }))
        taken.set(name, [...(taken.get(name) ?? []), each]);
      memory = Math.max(memory, memoryMb(service.pid));
    }
  } finally {
    await service.stop();
  }
  return report(taken, memory, await measureSustained(context, store));
}

// Measures each one once.
async function takeIn(
  context: Context,
  store: Store,
  service: StoreService,
  { isWarmUp }: { isWarmUp: boolean },
): Promise<Map<string, Taken>> {
  const taken = new Map<string, Taken>();
  const share = isWarmUp ? 0.2 : 1;
  for (const size of batches) {
    const made = newBatches(size, Math.ceil(((eventsOf[size] ?? 0) * share) / size));
    const shots = made.map((each) => ({ body: JSON.stringify({ activities: each }), expect: 202 }));
    const path = `/v2/${store.tenants[0]?.slug}/activities`;
    const all = shots.map((shot): Shot => ({ method: "POST", path, ...shot }));
    taken.set(`POST /activities, ${size}`, await send(context, service, all, made.length * size));
  }
  const browsers = newVisits(store.tenants[0]?.app_key ?? "", collectorEvents * share);
  const visits = browsers.map(({ path, headers, body }): Shot => ({ method: "POST", path, headers, body }));
  taken.set(
    "collector, 5 to 20",
    await send(
      context,
      service,
      visits,
      browsers.reduce((sum, { events }) => sum + events, 0),
    ),
  );
  const copied = newBatches(500, (eventsOf[500] ?? 0) / 500).flat();
  const chunks = copyBytes(store.tenants[0]?.tenant_id ?? "", copied);
  const of = { services: [], postgres: [postmasterPid(context.bench.folder)] };
  const before = readCpu(of);
  const seconds = await copyInto(store.database, chunks);
  taken.set("COPY, one row per event", { events: copied.length / seconds, ...cpuBetween(before, readCpu(of), copied.length) });
  await store.database.query(statement("truncate inbox, activity_ids", []));
  return taken;
}

let seed = 0;

const timelineOf = (appKey: string, batch: readonly [number, number], serverShare: number) =>
  loadTimeline({ seed: `bench-${seed++}`, startMs: Date.now(), eventsPerSecond: 1_000, appKey, origin, serverShare, batch });

export function newBatches(size: number, count: number): Activity[][] {
  const found = timelineOf("none", [size, size], 1)
    .filter((each): each is ServerBatch => each.kind === "server")
    .take(count);
  return [...found].map(({ activities: each }) => each);
}

function newVisits(appKey: string, events: number): BrowserRequest[] {
  const found: BrowserRequest[] = [];
  let made = 0;
  for (const each of timelineOf(appKey, [5, 20], 0)) {
    if (each.kind === "browser") found.push(each);
    made += each.kind === "browser" ? each.events : 0;
    if (made >= events) break;
  }
  return found;
}

async function send({ driver, bench }: Context, service: StoreService, shots: Shot[], events: number): Promise<Taken> {
  const headers = { authorization: `Bearer ${service.tokens[0]}` };
  const of = { services: [service.pid], postgres: [postmasterPid(bench.folder)] };
  const before = readCpu(of);
  const driven = await driver.run({ url: service.url, headers, connections, seconds: 120, shots, once: true });
  if (driven.failed > 0) throw new Error(`${driven.failed} of ${driven.requests} were not accepted: ${driver.failure}`);
  return { events: events / driven.seconds, ...cpuBetween(before, readCpu(of), events) };
}

function report(taken: Map<string, Taken[]>, memory: number, tried: Tried[]): Findings {
  const median = (name: string, of: keyof Taken) =>
    percentile(
      (taken.get(name) ?? []).map((each) => each[of]),
      0.5,
    );
  const copied = median("COPY, one row per event", "events");
  const ratio = median("POST /activities, 500", "events") / copied;
  const collected = median("collector, 5 to 20", "events") / copied;
  const mostMb = Math.max(memory, ...tried.flatMap(({ found }) => found.memoryMb));
  return {
    targets: [
      {
        name: "events accepted, compared with COPY",
        wanted: `at least ${copyRatioMin}`,
        measured: ratio.toFixed(2),
        isReached: ratio >= copyRatioMin,
      },
      {
        name: "events of the collector, compared with COPY",
        wanted: `at least ${collectorRatioMin}`,
        measured: collected.toFixed(2),
        isReached: collected >= collectorRatioMin,
      },
      sustainedTarget(tried),
      {
        name: "peak memory of the service while receiving events",
        wanted: `under ${memoryMbMax} MB`,
        measured: `${mostMb.toFixed(0)} MB`,
        isReached: mostMb < memoryMbMax,
      },
    ],
    bars: [{ label: "POST /activities in batches of 500", against: "COPY", ratio, wanted: copyRatioMin }],
    tables: [
      {
        title: "Event intake",
        note: `${connections} connections, without a running engine. COPY uses one connection and does not check for duplicates. Medians of ${taken.values().next().value?.length} alternating rounds.`,
        columns: ["method", "events/s", "relative to COPY", "CPU service, µs/event", "CPU database, µs/event"],
        rows: [...taken.keys()].map((name) => [
          name,
          number(median(name, "events")),
          (median(name, "events") / copied).toFixed(2),
          median(name, "service").toFixed(1),
          median(name, "postgres").toFixed(1),
        ]),
      },
      sustainedTable(tried),
    ],
  };
}
