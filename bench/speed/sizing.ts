// What a load would need, computed from the measurements.
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Store } from "./store.ts";

// CPU in microseconds per request; the median latency in milliseconds.
export type Cost = { requests: number; perSecond: number; p50: number; service: number; postgres: number };
export type Pair = { get: Cost; close: Cost };

type Measured = {
  // Measured on the largest store, at the usual number of connections.
  usual: Pair;
  cases: number;
  // Database connections that one process of the service had open.
  backends: number;
  // Bytes of write-ahead log per close.
  wal: number;
  overTenants: (Pair & { x: number })[];
  processes: (Pair & { x: number })[];
};

const rates = [1_000, 100_000, 1_000_000];
// Assumed, not measured: how busy a core may be on average, the cores of a service machine and of the largest database machine,
// and the share of closes.
const assumed = { busy: 0.6, serviceCores: 8, databaseCores: 64, closes: 0.2 };

export async function connectionsOf(store: Store): Promise<number> {
  const [row] = await store.database.query<{ count: number }>(
    statement(
      `select count(*) as count
       from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name = 'casehound'`,
      [],
    ),
  );
  return row?.count ?? 0;
}

export async function walBytes(store: Store, closeSome: () => Promise<{ requests: number }>): Promise<number> {
  const written = async () => {
    const [row] = await store.database.query<{ bytes: number }>(
      statement("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as bytes", []),
    );
    return row?.bytes ?? 0;
  };
  const before = await written();
  const { requests } = await closeSome();
  return ((await written()) - before) / requests;
}

const whole = (value: number) => Math.ceil(value).toLocaleString("en");
const micros = (value: number) => `${value.toFixed(0)} µs`;

function computedRow(rate: number, { usual: { get, close }, backends, wal }: Measured): string[] {
  const [closes, gets] = [rate * assumed.closes, rate * (1 - assumed.closes)];
  const cores = (of: "service" | "postgres") => (gets * get[of] + closes * close[of]) / 1e6 / assumed.busy;
  const processes = Math.max(1, Math.ceil(cores("service")));
  const databases = Math.max(1, Math.ceil(cores("postgres") / assumed.databaseCores));
  return [
    rate.toLocaleString("en"),
    cores("service").toFixed(1),
    whole(cores("service") / assumed.serviceCores),
    cores("postgres").toFixed(1),
    String(databases),
    whole((processes * backends) / databases),
    `${((closes * wal) / 1e6 / databases).toFixed(1)} MB/s`,
  ];
}

const line = (cells: string[]) => `| ${cells.join(" | ")} |`;

function table(columns: string[], rows: string[][]): string {
  return [line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

export function sizingPage(measured: Measured): string {
  const { usual, overTenants, processes } = measured;
  const share = `${assumed.closes * 100} %`;
  const [one, many] = [overTenants[0], overTenants.at(-1)];
  const [single, double] = processes;
  return `# Sizing

\`npm run bench\` writes this page. The cost of a request is measured on the machine of the run. What a load would need is computed from
that cost, and has not been tested.

## Measured

CPU time per request, in a store of ${measured.cases.toLocaleString("en")} cases:

${table(
  ["request", "service", "database"],
  [
    ["GET case", micros(usual.get.service), micros(usual.get.postgres)],
    ["close", micros(usual.close.service), micros(usual.close.postgres)],
  ],
)}

- A close writes ${(measured.wal / 1024).toFixed(1)} kB of the database's write-ahead log.
- A process of the service had ${measured.backends} open connections to the database.
- Closes of one tenant: ${whole(one?.close.perSecond ?? 0)} per second. Closes of ${many?.x.toLocaleString("en")} tenants: ${whole(many?.close.perSecond ?? 0)} per second. Generator, service and database share this machine's cores, so these are not the limits of the service or the database.
- Two processes instead of one: ${((double?.get.perSecond ?? 0) / (single?.get.perSecond ?? 1)).toFixed(2)} times the GETs per second, ${((double?.close.perSecond ?? 0) / (single?.close.perSecond ?? 1)).toFixed(2)} times the closes, on the same cores as the database and the generators.

## Computed

${share} of the requests are closes, and the rest are GETs of cases. Assumptions: cores are ${assumed.busy * 100} % busy, a service machine has
${assumed.serviceCores} cores with one process each, the largest database machine has ${assumed.databaseCores} cores, and all cores are as fast as those of this machine.

${table(
  [
    "requests/s",
    "service cores",
    "service machines",
    "database cores",
    "databases",
    "connections per database",
    "WAL per database",
  ],
  rates.map((rate) => computedRow(rate, measured)),
)}

- The service is stateless: its machines can be behind any load balancer, and more machines need only more database connections.
- With more than one database, tenants are distributed over them. Every key begins with the tenant and no request touches two tenants,
  so a tenant can be moved as a whole. Requests must be routed to the tenant's database in front of the service; this is not built.
- A Citus cluster routes them ([production](guide/production.md#a-citus-cluster-experimental)): one address, and each tenant on one node.
- A large tenant can have a shard of its own, which can be moved to a node of its own:
  \`select isolate_tenant_to_new_shard('event_counters', '<tenant_id>', cascade_option => 'CASCADE', shard_transfer_mode => 'auto')\`.
- A single tenant cannot be distributed. Its closes take their event numbers from one counter, one after the other. Its activity could be
  stored apart from its cases, but this is not built. Splitting a tenant further would change what the contract promises about the
  order of its feed and about its keys.
- If a database would have more than a few hundred connections, let processes open fewer connections. A pooler
  works only in session mode, so it does not help.
- Disks are not included: each commit waits until the write-ahead log is on disk.
`;
}
