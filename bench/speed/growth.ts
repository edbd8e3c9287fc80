// How the cost of a request grows with the cases, the tenants and the connections, and what a second process adds.
import { percentile } from "../machine.ts";
import { cpuBetween, postmasterPid, readCpu } from "./cpu.ts";
import { Driver, type Shot } from "./drive.ts";
import { caseShots } from "./growth-shots.ts";
import type { Context, Findings, Page, Part, Plot, Table } from "./part.ts";
import { connectionsOf, sizingPage, walBytes, type Cost, type Pair } from "./sizing.ts";
import { openStore, startOn, type Store, type StoreService } from "./store.ts";

const sizes = { quick: { smaller: [10_000], large: 100_000 }, full: { smaller: [100_000, 1_000_000], large: 5_000_000 } };
const manyTenants = { quick: { cases: 20_000, tenants: 100 }, full: { cases: 200_000, tenants: 1_000 } };
const connectionSteps = { quick: [1, 10, 100], full: [1, 10, 100, 1_000] };
const effort = { quick: { seconds: 0.4, rounds: 1, closes: 400 }, full: { seconds: 1, rounds: 3, closes: 1_000 } };
const usualConnections = 16;
const shotsMax = 4_000;

type Point = Pair & { x: number };
// All services use one store.
type Setting = { services: On[]; drivers: Driver[]; tenants: number; connections: number };

export const growth: Part = { name: "growth", title: "How the cost grows", run };

async function run(context: Context): Promise<Findings> {
  const { smaller, large: largest } = sizes[context.scale];
  const stores: Store[] = [];
  for (const cases of smaller) stores.push(await openStore(context, { cases }));
  const large = await openStore(context, { cases: largest });
  const crowded = await openStore(context, manyTenants[context.scale]);
  const all = [...stores, large];
  const overCases = await withServices(context, all, (services) =>
    series(
      context,
      services.map((service) => ({ x: service.store.cases, ...setting(context, [service]) })),
    ),
  );
  const overTenants = await withServices(context, [crowded], (services) =>
    series(
      context,
      [1, 10, 100, 1_000]
        .filter((tenants) => tenants <= crowded.tenants.length)
        .map((tenants) => ({ x: tenants, ...setting(context, services), tenants })),
    ),
  );
  const steps = connectionSteps[context.scale];
  const { overConnections, backends, wal } = await withServices(context, [large], async (services) => ({
    overConnections: await series(
      context,
      steps.map((connections) => ({ x: connections, ...setting(context, services), connections })),
    ),
    backends: await connectionsOf(large),
    wal: await walBytes(large, () => closeSome(context, setting(context, services))),
  }));
  const processes = await measureProcesses(context, large);
  const usual = overCases.at(-1);
  if (!usual) throw new Error("nothing was measured");
  const text = sizingPage({ usual, cases: large.cases, backends, wal, overTenants, processes });
  return report({ overCases, overTenants, overConnections, processes }, { path: "docs/SIZING.md", text });
}

type On = StoreService & { store: Store };

function setting({ driver }: Context, services: On[]): Setting {
  return { services, drivers: [driver], tenants: 1, connections: usualConnections };
}

async function withServices<T>({ bench }: Context, stores: Store[], work: (services: On[]) => Promise<T>): Promise<T> {
  const services = await Promise.all(stores.map(async (store) => ({ ...(await startOn(bench, store)), store })));
  try {
    return await work(services);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

type Step = Setting & { x: number };

// Measures every point once per round, so other load on the machine affects all of them.
async function series(context: Context, steps: Step[]): Promise<Point[]> {
  const { rounds } = effort[context.scale];
  const gets = steps.map((): Cost[] => []);
  const closes = steps.map((): Cost[] => []);
  const asked = await Promise.all(steps.map((step) => shotsFor(step, { count: shotsMax, isOpen: false })));
  for (let round = 0; round <= rounds; round++) {
    for (const [index, step] of steps.entries()) {
      context.progress(round * steps.length + index, (rounds + 1) * steps.length, "how the cost grows");
      const cost = await drive(context, step, asked[index] ?? []);
      const closed = await closeSome(context, step);
      // The first round warms up.
      if (round > 0) gets[index]?.push(cost);
      if (round > 0) closes[index]?.push(closed);
    }
  }
  return steps.map(({ x }, index) => ({ x, get: median(gets[index] ?? []), close: median(closes[index] ?? []) }));
}

function shotsFor({ services, tenants }: Setting, wanted: { count: number; isOpen: boolean }): Promise<Shot[]> {
  const [first] = services;
  if (!first) throw new Error("there is no service to measure");
  return caseShots(first.store, { ...wanted, tenants, tokens: first.tokens });
}

// Limits the number of closes, so that the open cases of the small store last for all rounds.
async function closeSome(context: Context, step: Setting): Promise<Cost> {
  const { closes, rounds } = effort[context.scale];
  const open = (step.services[0]?.store.cases ?? 0) * 0.15;
  const shots = await shotsFor(step, { count: Math.min(closes, Math.floor(open / (rounds + 2))), isOpen: true });
  return drive(context, step, shots, true);
}

// Drives all of the setting's services at once, each with its own generator.
async function drive({ bench, scale }: Context, step: Setting, shots: Shot[], isClose = false): Promise<Cost> {
  const { services, drivers } = step;
  const of = { services: services.map((service) => service.pid), postgres: [postmasterPid(bench.folder)] };
  const connections = Math.ceil(step.connections / services.length);
  const seconds = isClose ? 60 : effort[scale].seconds;
  const parts = services.map((_, part) => shots.filter((__, index) => index % services.length === part));
  const before = readCpu(of);
  const driven = await Promise.all(
    services.map(async (service, index) => {
      const driver = drivers[index];
      if (!driver) throw new Error("there is no load generator for this service");
      const run = { url: service.url, headers: {}, connections, seconds, shots: parts[index] ?? [] };
      const done = await driver.run({ ...run, ...(isClose && { once: true, key: true }) });
      if (done.failed > 0) throw new Error(`${done.failed} of ${done.requests}: ${driver.failure}`);
      return done;
    }),
  );
  const requests = driven.reduce((sum, each) => sum + each.requests, 0);
  const perSecond = driven.reduce((sum, each) => sum + each.perSecond, 0);
  const p50 = driven.reduce((sum, each) => sum + each.p50 / driven.length, 0);
  return { requests, perSecond, p50, ...cpuBetween(before, readCpu(of), requests) };
}

function median(costs: Cost[]): Cost {
  const of = (name: keyof Cost) =>
    percentile(
      costs.map((each) => each[name]),
      0.5,
    );
  return {
    requests: of("requests"),
    perSecond: of("perSecond"),
    p50: of("p50"),
    service: of("service"),
    postgres: of("postgres"),
  };
}

// Measures one process and two alternately, with two generators each time.
async function measureProcesses(context: Context, store: Store): Promise<Point[]> {
  const second = await Driver.start();
  try {
    return await withServices(context, [store, store], async (services) => {
      const both = { ...setting(context, services), drivers: [context.driver, second], connections: usualConnections * 2 };
      return series(
        context,
        [1, 2].map((x) => ({ ...both, x, services: services.slice(0, x) })),
      );
    });
  } finally {
    await second.stop();
  }
}

type All = { overCases: Point[]; overTenants: Point[]; overConnections: Point[]; processes: Point[] };

function report({ overCases, overTenants, overConnections, processes }: All, page: Page): Findings {
  return {
    tables: [
      tableOf("By number of cases", "cases", overCases),
      tableOf("By number of tenants", "tenants", overTenants),
      tableOf("By number of connections", "connections", overConnections),
      tableOf("By number of service processes", "processes", processes),
    ],
    plots: [
      plotOf("cases", "Cost of a request by number of cases", overCases),
      plotOf("tenants", "Cost of a request by number of tenants", overTenants),
      plotOf("connections", "Cost of a request by number of connections", overConnections),
    ],
    pages: [page],
  };
}

function cells({ perSecond, p50, service, postgres }: Cost): string[] {
  return [perSecond.toFixed(0), p50.toFixed(2), service.toFixed(0), postgres.toFixed(0)];
}

function tableOf(title: string, what: string, points: Point[]): Table {
  const names = ["/s", " ms", " service µs", " database µs"];
  return {
    title,
    columns: [what, ...["GET", "close"].flatMap((request) => names.map((name) => `${request}${name}`))],
    rows: points.map(({ x, get, close }) => [x.toLocaleString("en"), ...cells(get), ...cells(close)]),
  };
}

function plotOf(x: string, title: string, points: Point[]): Plot {
  const line = (name: string, of: (point: Point) => number) => ({
    name,
    points: points.map((point) => ({ x: point.x, y: of(point) })),
  });
  return {
    name: `growth-${x}`,
    title,
    x,
    y: "CPU, µs per request",
    lines: [
      line("GET case, service", ({ get }) => get.service),
      line("GET case, database", ({ get }) => get.postgres),
      line("close, service", ({ close }) => close.service),
      line("close, database", ({ close }) => close.postgres),
    ],
  };
}
