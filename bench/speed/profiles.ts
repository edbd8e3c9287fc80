// Where the time of the service's process goes. The profile shows why a figure is no better.
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { newBatches } from "./activities.ts";
import type { Driver, Shot } from "./drive.ts";
import { caseShots } from "./growth-shots.ts";
import type { Context, Findings, Part, Table } from "./part.ts";
import { readProfile, timesOf, type Times } from "./profile.ts";
import { openStore, startOn, type Store, type StoreService } from "./store.ts";

const connections = 16;
const cases = 20_000;
const functionsTold = 12;
const effort = { quick: { share: 0.2, seconds: 0.5 }, full: { share: 1, seconds: 4 } };
const counts = { reads: 4_000, closes: 700, batches: 80 };

type Asked = Parameters<Driver["run"]>[0];
type Work = { name: string; asked: (store: Store, service: StoreService, context: Context) => Promise<Asked> };

const works: Work[] = [
  {
    name: "GET case",
    asked: async (store, { url, tokens }, { scale }) => {
      const shots = await caseShots(store, { count: counts.reads, tenants: 1, isOpen: false, tokens });
      return { url, headers: {}, connections, seconds: effort[scale].seconds, shots };
    },
  },
  {
    name: "a page of 50",
    asked: async ({ tenants }, { url, tokens }, { scale }) => {
      const shots: Shot[] = [{ method: "GET", path: `/v2/${tenants[0]?.slug}/cases?limit=50` }];
      return { url, headers: { authorization: `Bearer ${tokens[0]}` }, connections, seconds: effort[scale].seconds, shots };
    },
  },
  {
    name: "close",
    asked: async (store, { url, tokens }, { scale }) => {
      const count = counts.closes * effort[scale].share;
      const shots = await caseShots(store, { count, tenants: 1, isOpen: true, tokens });
      return { url, headers: {}, connections, seconds: 60, shots, once: true, key: true };
    },
  },
  {
    name: "POST /activities, 500",
    asked: async ({ tenants }, { url, tokens }, { scale }) => {
      const path = `/v2/${tenants[0]?.slug}/activities`;
      const shots = newBatches(500, counts.batches * effort[scale].share).map((activities): Shot => ({
        method: "POST",
        path,
        body: JSON.stringify({ activities }),
        expect: 202,
      }));
      return { url, headers: { authorization: `Bearer ${tokens[0]}` }, connections, seconds: 60, shots, once: true };
    },
  },
];

export const profiles: Part = { name: "profiles", title: "Where the service's time goes", run };

const percent = (share: number | undefined) => (share === undefined ? "–" : `${(share * 100).toFixed(1)} %`);
// The profiler's clock.
const micros = () => Number(process.hrtime.bigint() / 1000n);

async function run(context: Context): Promise<Findings> {
  const store = await openStore(context, { cases });
  const found: { name: string; times: Times }[] = [];
  for (const [index, work] of works.entries()) {
    context.progress(index, works.length, `profiles, ${work.name}`);
    found.push({ name: work.name, times: await profile(context, store, { work, index }) });
  }
  const names = found.map(({ name }) => name);
  const areas = [...new Set(found.flatMap(({ times }) => [...times.areas.keys()]))];
  const tables: Table[] = [
    {
      title: "Share of the busy time",
      note: `Node's sampling profiler, ${connections} connections, the second of two runs. Each function's own time is attributed to the place of its code. Native code is mostly the operating system: reading and writing sockets.`,
      columns: ["where", ...names],
      rows: areas.map((area) => [area, ...found.map(({ times }) => percent(times.areas.get(area)))]),
    },
    ...found.map(({ name, times }) => ({
      title: `${name}: most expensive functions`,
      columns: ["function", "share of the busy time"],
      rows: [...times.functions].slice(0, functionsTold).map(([label, share]) => [label, percent(share)]),
    })),
  ];
  return { tables };
}

// In a separate process, after one run that lets the code compile.
async function profile(context: Context, store: Store, { work, index }: { work: Work; index: number }): Promise<Times> {
  const folder = join(context.bench.folder, `profile-${index}`);
  mkdirSync(folder);
  const env = { ROLES: "api" };
  const service = await startOn(context.bench, store, { env, flags: ["--cpu-prof", `--cpu-prof-dir=${folder}`] });
  let [from, to] = [0, 0];
  try {
    for (let time = 0; time < 2; time++) {
      const asked = await work.asked(store, service, context);
      from = micros();
      const driven = await context.driver.run(asked);
      to = micros();
      if (driven.failed > 0)
        throw new Error(`${work.name}: ${driven.failed} requests failed, the first with: ${context.driver.failure}`);
    }
  } finally {
    await service.stop();
  }
  // Workers write a profile too, but the service's own is by far the largest.
  const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  const [largest] = written.toSorted((a, b) => b.length - a.length);
  if (largest === undefined) throw new Error(`${work.name}: no profile was written`);
  return timesOf(readProfile(largest), { from, to });
}
