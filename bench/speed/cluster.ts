// What a request costs on a Citus cluster, compared with an ordinary database on the same server with the same rows.
import { setTimeout as sleep } from "node:timers/promises";
import { countUnscored } from "../../service/src/db/inbox.ts";
import { changeUrl, connectTo } from "../../service/test/launch.ts";
import { dropTestDatabases, findPostmaster, listNodes, urlOfNode, type Node } from "../../service/test/citus.ts";
import { percentile } from "../machine.ts";
import { newBatches } from "./activities.ts";
import { cases, openStores, withServices, type Served, type Wanted } from "./cluster-stores.ts";
import { worksFor, type Work } from "./cluster-works.ts";
import { cpuBetween, readCpu, type Cpu } from "./cpu.ts";
import type { Shot } from "./drive.ts";
import type { Context, Findings, Part, Scale, Target } from "./part.ts";
import type { Store } from "./store.ts";

const ratioMax = 3;
const pollsMax = 2;
const connections = 16;
const batchEvents = 50;
// `reads`, `lists` and `closes` are requests in a round.
type Effort = {
  rounds: number;
  reads: number;
  lists: number;
  closes: number;
  batches: number;
  settleSeconds: number;
  idleSeconds: number;
};
const efforts: Record<Scale, Effort> = {
  quick: { rounds: 1, reads: 400, lists: 40, closes: 60, batches: 10, settleSeconds: 3, idleSeconds: 5 },
  full: { rounds: 5, reads: 2_000, lists: 300, closes: 300, batches: 40, settleSeconds: 15, idleSeconds: 30 },
};
// Each connection runs a statement a few times before PostgreSQL keeps a plan for it.
const warmUps = 12;
const pollMs = 20;
const roles = "api,collector,engine";

type Measured = { work: Work; plain: Cpu; cluster: Cpu; ratios: number[] };

export const cluster: Part = { name: "cluster", title: "A Citus cluster", run };

async function run(context: Context): Promise<Findings> {
  const url = process.env["CITUS_DATABASE_URL"];
  if (url === undefined) return { tables: [], notes: ["Not run: `CITUS_DATABASE_URL` names no coordinator."] };
  const found = await Promise.all((await listNodes(url)).map((node) => findPostmaster(url, node)));
  const servers = found.filter((each) => each !== null).map(({ pid }) => pid);
  if (servers.length < found.length) return { tables: [], notes: ["Not run: a node of the cluster is on another machine."] };
  const stops: (() => Promise<void>)[] = [() => dropTestDatabases(url)];
  const atEnd = (stop: () => Promise<void>) => void stops.unshift(stop);
  try {
    const stores = await openStores(context, url);
    for (const { store } of stores) atEnd(() => store.database.end());
    const measured = await withServices(context, { stores, servers, roles: "api" }, (served) => measureAll(context, served));
    const scored = await withServices(context, { stores, servers, roles }, (served) => measureScoring(context, served));
    const idle = await countPolls(context, url, { stores: stores.slice(1), servers, roles });
    return report([...measured, scored], idle);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function measureAll(context: Context, served: Served[]): Promise<Measured[]> {
  const effort = efforts[context.scale];
  const works = worksFor(effort);
  const measured: Measured[] = [];
  for (const [index, work] of works.entries()) {
    context.progress(index, works.length, `requests on a cluster, ${work.name}`);
    for (const each of served) {
      const shots = await work.shots(each);
      await ask(context, each, work.isChange === true ? shots : repeated(shots, warmUps * connections));
    }
    measured.push(await inTurns(effort.rounds, work, served, async (each) => ask(context, each, await work.shots(each))));
  }
  return measured;
}

const cpuOf = ({ store, service, servers }: Served) => ({
  services: [service.pid],
  postgres: servers,
  database: nameOf(store),
});

const nameOf = ({ url }: Pick<Store, "url">) => new URL(url).pathname.slice(1);

function repeated(shots: Shot[], count: number): Shot[] {
  return Array.from({ length: count }, (_, index) => shots[index % shots.length]).filter((shot) => shot !== undefined);
}

// Returns the CPU per request of the service and of all servers of the cluster.
async function ask({ driver }: Context, served: Served, shots: Shot[]): Promise<Cpu> {
  const { service } = served;
  const of = cpuOf(served);
  const before = readCpu(of);
  const headers = { authorization: `Bearer ${service.tokens[0]}` };
  const driven = await driver.run({ url: service.url, headers, connections, seconds: 120, shots, once: true, key: true });
  if (driven.failed > 0) throw new Error(`${driven.failed} of ${driven.requests} failed: ${driver.failure}`);
  return cpuBetween(before, readCpu(of), driven.requests);
}

async function inTurns(rounds: number, work: Work, served: Served[], one: (served: Served) => Promise<Cpu>): Promise<Measured> {
  const found: Record<string, Cpu[]> = { plain: [], cluster: [] };
  for (let round = 0; round < rounds; round++)
    for (const each of round % 2 === 0 ? served : served.toReversed()) found[each.name]?.push(await one(each));
  const { plain = [], cluster: distributed = [] } = found;
  const ratios = distributed.map((each, round) => each.postgres / (plain[round]?.postgres ?? Number.NaN));
  return { work, plain: medianOf(plain), cluster: medianOf(distributed), ratios };
}

const median = (values: number[]) => percentile(values, 0.5);

function medianOf(costs: Cpu[]): Cpu {
  return { service: median(costs.map((each) => each.service)), postgres: median(costs.map((each) => each.postgres)) };
}

// Sends events and waits until all of them are scored. Returns the CPU per event.
async function measureScoring(context: Context, served: Served[]): Promise<Measured> {
  const { batches, rounds } = efforts[context.scale];
  const work: Work = {
    name: `an event, accepted in a batch of ${batchEvents} and scored`,
    isAimed: false,
    shots: async () => [],
  };
  const score = async (each: Served): Promise<Cpu> => {
    const { store, service } = each;
    const of = cpuOf(each);
    const before = readCpu(of);
    const path = `/v2/${store.tenants[0]?.slug}/activities`;
    const shots = newBatches(batchEvents, batches).map((activities): Shot => {
      return { method: "POST", path, body: JSON.stringify({ activities }), expect: 202 };
    });
    const headers = { authorization: `Bearer ${service.tokens[0]}` };
    const driven = await context.driver.run({ url: service.url, headers, connections, seconds: 120, shots, once: true });
    if (driven.failed > 0) throw new Error(`${driven.failed} batches were not accepted: ${context.driver.failure}`);
    while ((await countUnscored(store.database)) > 0) await sleep(pollMs);
    return cpuBetween(before, readCpu(of), batches * batchEvents);
  };
  context.progress(0, 1, "events scored on a cluster");
  for (const each of served) await score(each);
  return inTurns(rounds, work, served, score);
}

type Polls = { node: string; idle: number; alone: number };

// Counts the transactions per second on each node while the service has nothing to do, and without the service.
async function countPolls(context: Context, url: string, wanted: Wanted): Promise<Polls[]> {
  const nodes = await listNodes(url);
  const databases = wanted.stores.map(({ store }) => nameOf(store));
  const { settleSeconds, idleSeconds } = efforts[context.scale];
  const countOn = async (node: Node) => {
    const client = await connectTo({ connectionString: changeUrl(urlOfNode(url, node), { database: "postgres" }) });
    const { rows } = await client.query<{ done: number }>(
      "select sum(xact_commit + xact_rollback)::float8 as done from pg_stat_database where datname = any($1)",
      [databases],
    );
    await client.end();
    return rows[0]?.done ?? 0;
  };
  const perSecond = async (what: string) => {
    context.progress(0, 1, what);
    await sleep(settleSeconds * 1000);
    const before = await Promise.all(nodes.map(countOn));
    await sleep(idleSeconds * 1000);
    const after = await Promise.all(nodes.map(countOn));
    return after.map((done, index) => (done - (before[index] ?? 0)) / idleSeconds);
  };
  const idle = await withServices(context, wanted, () => perSecond("idle polls of a cluster"));
  const alone = await perSecond("a cluster without the service");
  return nodes.map(({ host, port }, at) => ({ node: `${host}:${port}`, idle: idle[at] ?? 0, alone: alone[at] ?? 0 }));
}

const micros = (value: number) => Math.round(value).toLocaleString("en");
const ratioText = (ratios: number[]) =>
  `${percentile(ratios, 0.5).toFixed(1)} (${Math.min(...ratios).toFixed(1)} to ${Math.max(...ratios).toFixed(1)})`;

function report(measured: Measured[], idle: Polls[]): Findings {
  const most = Math.max(...idle.map((each) => each.idle - each.alone));
  const targets = measured
    .filter(({ work }) => work.isAimed)
    .map(({ work: { name }, ratios }): Target => {
      const ratio = percentile(ratios, 0.5);
      return {
        name: `database CPU on a cluster, ${name}`,
        wanted: `at most ${ratioMax} times`,
        measured: ratioText(ratios),
        isReached: ratio <= ratioMax,
      };
    });
  return {
    targets: [
      ...targets,
      {
        name: "idle polls of a cluster, on the node with the most",
        wanted: `at most ${pollsMax} a second`,
        measured: most.toFixed(2),
        isReached: most <= pollsMax,
      },
    ],
    tables: [
      {
        title: "CPU on a Citus cluster",
        note: `A coordinator and its workers, all on this machine, beside an ordinary database with the same ${cases.toLocaleString("en")} cases on the coordinator's server. Database CPU is that of the connections to the database on all nodes together. Medians of ${measured[0]?.ratios.length} rounds, in turns, ${connections} connections.`,
        columns: ["request", "database, plain µs", "database, cluster µs", "ratio", "service, plain µs", "service, cluster µs"],
        rows: measured.map(({ work, plain, cluster: distributed, ratios }) => [
          work.name,
          micros(plain.postgres),
          micros(distributed.postgres),
          ratioText(ratios),
          micros(plain.service),
          micros(distributed.service),
        ]),
      },
      {
        title: "Idle polls of a Citus cluster",
        note: "Transactions a second on each node, the coordinator first, while a service with all roles has nothing to do, and without it.",
        columns: ["node", "with the service", "without"],
        rows: idle.map((each) => [each.node, each.idle.toFixed(2), each.alone.toFixed(2)]),
      },
    ],
  };
}
