// What a page of a list costs in a small store and in a large one.
import { percentile } from "../machine.ts";
import { cpuBetween, postmasterPid, readCpu } from "./cpu.ts";
import { emptyCaches } from "./lists-cold.ts";
import { listPath, listShapes, sorts, touchedBy, type Asked, type Depth } from "./list-shapes.ts";
import type { Context, Findings, Part, Table } from "./part.ts";
import { openStore, startOn, type Store, type StoreService } from "./store.ts";

const ratioMax = 1.5;
const coldMsMax = 250;
const ratioAgain = 1.3;
const sizes: Record<Context["scale"], [number, ...number[]]> = {
  quick: [10_000, 100_000],
  full: [10_000, 1_000_000, 5_000_000],
};
// PostgreSQL settles on a plan for a statement after some runs on each connection.
const effort = { quick: { warmUp: 14, block: 5, rounds: 2 }, full: { warmUp: 16, block: 10, rounds: 5 } };
const againRounds = 3;
const slowMs = 400;
const depths: Depth[] = ["first", "deep"];

type Served = { store: Store; service: StoreService };
// The CPU of service and database in microseconds per page, and the elapsed time in milliseconds.
type Cost = { cpu: number; ms: number };
type Measured = Named & { costs: Cost[]; ratio: number; why: string; coldMs: number };

export const lists: Part = { name: "lists", title: "Lists", run };

async function run(context: Context): Promise<Findings> {
  const [least, ...more] = sizes[context.scale];
  const stores: [Store, ...Store[]] = [await openStore(context, { cases: least })];
  for (const cases of more) stores.push(await openStore(context, { cases }));
  return compareStores(context, stores);
}

async function compareStores(context: Context, stores: [Store, ...Store[]]): Promise<Findings> {
  const measured: Measured[] = [];
  const rates: string[][] = [];
  // The quick scale measures every fifth list, only to see that it works.
  const isWanted = (index: number) => context.scale === "full" || index % 5 === 1;
  const names = listShapes(stores[0]).flatMap(({ name }, index) => (isWanted(index) ? [name] : []));
  const total = sorts.length * names.length * depths.length;
  for (const sort of sorts) {
    // Start new services for each order, because a service prepares only the first few dozen lists that it is asked for.
    const served = await Promise.all(stores.map(async (store) => ({ store, service: await startOn(context.bench, store) })));
    try {
      for (const name of names) {
        for (const depth of depths) {
          context.progress(measured.length, total, `${name}, ${sort}`);
          measured.push(await measure(context, served, { name, sort, depth }));
        }
      }
      rates.push([sort, ...(await measureRates(context, served, sort))]);
      // Last, because the other measurements need a warm cache.
      const large = served.at(-1);
      for (const each of measured.filter((one) => one.sort === sort)) {
        context.progress(measured.indexOf(each), total, `${each.name}, ${sort}, cold`);
        if (large) each.coldMs = await measureCold(context, large, each);
      }
    } finally {
      await Promise.all(served.map(({ service }) => service.stop()));
    }
  }
  return report(stores, measured, rates);
}

type Named = { name: string; sort: Asked["sort"]; depth: Depth };

function askedOf(store: Store, { name, sort, depth }: Named): Asked {
  const shape = listShapes(store).find((each) => each.name === name);
  if (!shape) throw new Error(`there is no list ${name}`);
  return { shape, sort, depth };
}

async function measure(context: Context, served: Served[], named: Named): Promise<Measured> {
  const asked = (store: Store) => askedOf(store, named);
  const paths = await Promise.all(served.map(({ store }) => listPath(store, asked(store))));
  const { warmUp, block, rounds } = effort[context.scale];
  const blocks: Cost[][] = served.map(() => []);
  const measureBlocks = async (times: number, requests: number) => {
    for (let round = 0; round < times; round++) {
      for (const [index, each] of served.entries())
        blocks[index]?.push(await askBlock(context, each.service, { path: paths[index] ?? "", requests }));
    }
  };
  await measureBlocks(1, 2);
  // A list this slow needs no median to stand out.
  const isSlow = blocks.some(([cost]) => cost !== undefined && cost.ms > slowMs);
  if (!isSlow) {
    for (const [index, each] of served.entries())
      await ask(context, each.service, { path: paths[index] ?? "", requests: warmUp });
    for (const found of blocks) found.length = 0;
    await measureBlocks(rounds, block);
    // Other processes use this machine too. So measure longer if the ratio is near the bound or above it.
    if (ratioOf(blocks.map(medians)) > ratioAgain) await measureBlocks(rounds * againRounds, block);
  }
  const costs = blocks.map(medians);
  const ratio = ratioOf(costs);
  const [first, last] = [served[0]?.store, served.at(-1)?.store];
  const why = ratio > ratioMax && first && last ? await explain(first, last, asked) : "";
  return { ...named, costs, ratio, why, coldMs: Number.NaN };
}

// The time of the first request when the store is not in memory.
async function measureCold(context: Context, { store, service }: Served, named: Named): Promise<number> {
  const path = await listPath(store, askedOf(store, named));
  await emptyCaches(context.bench, store);
  return (await ask(context, service, { path, requests: 1 })).p50;
}

async function explain(small: Store, large: Store, asked: (store: Store) => Asked): Promise<string> {
  const before = await touchedBy(small, asked(small));
  const after = await touchedBy(large, asked(large)).catch(() => null);
  if (after === null) return "the database cancelled the statement";
  return `${before.buffers} and ${after.buffers} database pages read, ${before.removed} and ${after.removed} rows read in vain`;
}

const headersOf = ({ tokens }: StoreService) => ({ authorization: `Bearer ${tokens[0]}` });

type Asking = { path: string; requests: number };

async function ask({ driver }: Context, service: StoreService, { path, requests }: Asking) {
  const shots = Array.from({ length: requests }, () => ({ method: "GET", path }));
  const run = { url: service.url, headers: headersOf(service), connections: 1, seconds: 60, shots, once: true };
  const driven = await driver.run(run);
  // A list that the database gives up on counts too, as an expensive one.
  if (driven.failed > 0 && driven.p50 < slowMs) throw new Error(`${path}: ${driver.failure}`);
  return driven;
}

async function askBlock(context: Context, service: StoreService, asking: Asking): Promise<Cost> {
  const of = { services: [service.pid], postgres: [postmasterPid(context.bench.folder)] };
  const before = readCpu(of);
  const driven = await ask(context, service, asking);
  const cpu = cpuBetween(before, readCpu(of), driven.requests);
  return { cpu: cpu.service + cpu.postgres, ms: driven.p50 };
}

const median = (values: number[]) => percentile(values, 0.5);

function medians(costs: Cost[]): Cost {
  return { cpu: median(costs.map((each) => each.cpu)), ms: median(costs.map((each) => each.ms)) };
}

function ratioOf(costs: Cost[]): number {
  return (costs.at(-1)?.cpu ?? 0) / (costs[0]?.cpu ?? 1);
}

// Pages per second over 16 connections, for the whole list and for the console's own.
async function measureRates({ driver, scale }: Context, served: Served[], sort: Asked["sort"]): Promise<string[]> {
  const found: string[] = [];
  for (const { store, service } of served) {
    const path = await listPath(store, askedOf(store, { name: "status=OPEN", sort, depth: "first" }));
    const seconds = scale === "quick" ? 0.5 : 2;
    const run = { url: service.url, headers: headersOf(service), connections: 16, seconds, shots: [{ method: "GET", path }] };
    found.push((await driver.run(run)).perSecond.toFixed(0));
  }
  return found;
}

const sizeName = (cases: number) => cases.toLocaleString("en");

function report(stores: Store[], measured: Measured[], rates: string[][]): Findings {
  const names = [...new Set(measured.map((each) => each.name))];
  const columns = sorts.flatMap((sort) => depths.map((depth) => ({ sort, depth, name: `${sort}, ${depth}` })));
  const tableOf = (title: string, note: string, cell: (each: Measured) => string): Table => ({
    title,
    note,
    columns: ["list", ...columns.map(({ name }) => name)],
    rows: names.map((name) => [
      name,
      ...columns.map(({ sort, depth }) => {
        const found = measured.find((each) => each.name === name && each.sort === sort && each.depth === depth);
        return found ? cell(found) : "";
      }),
    ]),
  });
  const [small, large] = [sizeName(stores[0]?.cases ?? 0), sizeName(stores.at(-1)?.cases ?? 0)];
  const above = measured.filter(({ ratio }) => ratio > ratioMax);
  const worst = measured.toSorted((a, b) => b.ratio - a.ratio)[0];
  const target = {
    name: `a page of a list at ${large} cases, compared with ${small}, every filter and order`,
    wanted: `at most ${ratioMax}`,
    measured: `${measured.length - above.length} of ${measured.length} lists; the worst is ${worst?.ratio.toFixed(2)} (${worst?.name}, ${worst?.sort}, ${worst?.depth})`,
    isReached: above.length === 0,
  };
  const slow = measured.filter(({ coldMs }) => coldMs > coldMsMax);
  const slowest = measured.toSorted((a, b) => b.coldMs - a.coldMs)[0];
  const coldTarget = {
    name: `the first request for a page at ${large} cases, with nothing in memory, every filter and order`,
    wanted: `at most ${coldMsMax} ms`,
    measured: `${measured.length - slow.length} of ${measured.length} lists; the slowest takes ${slowest?.coldMs.toFixed(0)} ms (${slowest?.name}, ${slowest?.sort}, ${slowest?.depth})`,
    isReached: slow.length === 0,
  };
  const loads = stores.map((store) => [sizeName(store.cases), store.loadSeconds.toFixed(0)]);
  return {
    targets: [target, coldTarget],
    tables: [
      tableOf(
        `Cost of a page at ${large} cases, relative to ${small}`,
        "CPU of service and database together; medians of blocks of requests, measured alternately. A page has 50 rows. Deep pages begin in the middle of the list.",
        ({ ratio }) => ratio.toFixed(2),
      ),
      tableOf(`Latency of a page at ${large} cases, ms`, "One connection. Values are medians.", ({ costs }) =>
        (costs.at(-1)?.ms ?? 0).toFixed(1),
      ),
      tableOf(
        `Latency of the first request at ${large} cases with nothing in memory, ms`,
        "One request each. PostgreSQL's buffers and the operating system's cache of the large files are emptied before each one.",
        ({ coldMs }) => coldMs.toFixed(0),
      ),
      {
        title: "Pages of OPEN cases per second, 16 connections",
        columns: ["order", ...stores.map((store) => sizeName(store.cases))],
        rows: rates,
      },
      { title: "Time to load the stores", columns: ["cases", "seconds"], rows: loads },
    ],
    notes: above.map(
      ({ name, sort, depth, ratio, why }) => `${name}, ${sort}, ${depth} page: ${ratio.toFixed(2)} times; ${why}.`,
    ),
  };
}
