// Sends a fixed rate of events through the collector and the API for a while, with detection running, and measures the results.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../service/src/clock.ts";
import type { Database } from "../service/src/db/postgres/database.ts";
import { countUnscored } from "../service/src/db/inbox.ts";
import { statement } from "../service/src/db/postgres/sql.ts";
import { makeLoad, replay, type Replayed } from "./load-replay.ts";
import { cpuSeconds, memoryMb, postgresCpuSeconds, type Bench, type ServiceUnderTest } from "./machine.ts";

const watchEveryMs = 5_000;
const patienceMs = 60_000;

export type Loaded = {
  bench: Bench;
  database: Database;
  // The collector with the API, and the engine, as separate processes.
  api: ServiceUnderTest;
  engine: ServiceUnderTest;
  tenant: { slug: string; appKey: string; origin: string; token: (wasRefused: boolean) => Promise<string> };
};

type Watched = { seconds: number; backlog: number; memoryMb: number[]; cpuSeconds: number[] };
// With a backlog above `backlogMax`, the load ends early.
type Options = {
  rate: number;
  seconds: number;
  backlogMax?: number;
  seed?: string;
  onWatched?: (watched: Watched) => void;
};
type Probe = { delaysMs: number[]; lost: number };

// CPU in microseconds per event; memory is the peak of each process.
export type Sustained = Replayed & {
  seconds: number;
  drainedSeconds: number;
  backlog: number[];
  isGivenUp: boolean;
  probe: Probe;
  memoryMb: number[];
  cpu: { service: number; postgres: number; generator: number };
};

export async function sustain(loaded: Loaded, options: Options): Promise<Sustained> {
  const { bench, database, api, engine, tenant } = loaded;
  const { rate, seconds, backlogMax = Infinity, onWatched, ...loading } = options;
  const pids = [api.pid, engine.pid];
  const serviceCpu = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const target = { baseUrl: api.url, tenant: tenant.slug, token: tenant.token };
  const load = await makeLoad(join(bench.folder, "load"), { rate, seconds, ...loading, ...tenant, target });
  await sleep(load.startMs - Date.now());
  const before = { service: serviceCpu(), postgres: postgresCpuSeconds(bench.folder), own: process.cpuUsage() };
  const startMs = Date.now();
  const stopping = new AbortController();
  setTimeout(() => stopping.abort(), seconds * 1000);
  const watched: Watched[] = [];
  const watch = (async () => {
    while (!stopping.signal.aborted) {
      // The last look is at the end of the load, before what waits is scored.
      await sleep(Math.min(watchEveryMs, seconds * 250), undefined, { signal: stopping.signal }).catch(() => null);
      const backlog = await countUnscored(database);
      const now = { seconds: (Date.now() - startMs) / 1000, memoryMb: pids.map(memoryMb), cpuSeconds: pids.map(cpuSeconds) };
      watched.push({ ...now, backlog });
      onWatched?.({ ...now, backlog });
      if (backlog > backlogMax) stopping.abort();
    }
  })();
  const probing = probeCases(loaded, stopping.signal);
  const replayed = await replay(load, new URL(api.url), stopping.signal);
  await watch;
  const took = (Date.now() - startMs) / 1000;
  const probe = await probing;
  for (const began = Date.now(); (await countUnscored(database)) > 0 && Date.now() - began < patienceMs;) await sleep(100);
  const own = process.cpuUsage(before.own);
  const each = (cpu: number) => (cpu / replayed.events) * 1e6;
  return {
    ...replayed,
    seconds: took,
    drainedSeconds: (Date.now() - startMs) / 1000 - took,
    backlog: watched.map(({ backlog }) => backlog),
    isGivenUp: watched.some(({ backlog }) => backlog > backlogMax),
    probe,
    memoryMb: pids.map((_, index) => Math.max(...watched.map((now) => now.memoryMb[index] ?? 0))),
    cpu: {
      service: each(serviceCpu() - before.service),
      postgres: each(postgresCpuSeconds(bench.folder) - before.postgres),
      generator: each((own.user + own.system) / 1e6),
    },
  };
}

// Reports one fraud a second during the load, and measures how long until its case can be read.
async function probeCases({ database, api, tenant }: Loaded, signal: AbortSignal): Promise<Probe> {
  const found: Probe = { delaysMs: [], lost: 0 };
  const post = async (activity: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${await tenant.token(false)}` };
    const body = JSON.stringify({ activities: [activity] });
    const { status } = await fetch(`${api.url}/v2/${tenant.slug}/activities`, { method: "POST", headers, body });
    if (status !== 202) throw new Error(`a probe got status ${status}`);
  };
  const one = async () => {
    const account = `probe-${randomUUID()}`;
    await post({ activity_id: account, type: "fraud_report", occurred_at: clock.now(), website_account_id: account });
    const accepted = performance.now();
    const look = statement("select 1 as found from cases where website_account_id = $1", [account]);
    let isFound = false;
    while (!isFound && performance.now() - accepted < patienceMs) {
      isFound = (await database.query(look)).length > 0;
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
