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

Written by \`npm run bench\`, from what it measured on its machine. What a request costs is measured; what a load would take is computed
from that, and nobody has tried it.

## Measured

CPU time a request, in a store of ${measured.cases.toLocaleString("en")} cases:

${table(
  ["request", "service", "database"],
  [
    ["GET case", micros(usual.get.service), micros(usual.get.postgres)],
    ["close", micros(usual.close.service), micros(usual.close.postgres)],
  ],
)}

- A close writes ${(measured.wal / 1024).toFixed(1)} kB of the database's log.
- A process of the service had ${measured.backends} connections to the database open.
- Closes of one tenant: ${whole(one?.close.perSecond ?? 0)} a second. Closes of ${many?.x.toLocaleString("en")} tenants: ${whole(many?.close.perSecond ?? 0)} a second. Generator, service and database share this machine's cores, so this is no limit of either.
- Two processes instead of one: ${((double?.get.perSecond ?? 0) / (single?.get.perSecond ?? 1)).toFixed(2)} times the GETs a second, ${((double?.close.perSecond ?? 0) / (single?.close.perSecond ?? 1)).toFixed(2)} times the closes, on the same cores as the database and the generators.

## Computed

Requests of which ${share} are closes and the rest GETs of cases. Assumed: cores are ${assumed.busy * 100} % busy, machines for the service
have ${assumed.serviceCores} cores and run a process on each, the largest machine for a database has ${assumed.databaseCores}, and cores are as fast as this one's.

${table(
  ["requests/s", "cores, service", "machines, service", "cores, databases", "databases", "connections, each", "log, each"],
  rates.map((rate) => computedRow(rate, measured)),
)}

- The service holds no state: its machines stand behind any load balancer, and more of them need nothing but connections.
- More than one database means that tenants are spread over them. Every key begins with the tenant and no request touches two,
  so that a tenant moves as a whole; which database a tenant is in has to be known in front of the service, which is not built.
- One tenant cannot be spread. Its closes take their numbers from one counter, one after the other.
- Where a database would have more than a few hundred connections, a pooler has to stand in front of it, or processes have to open fewer.
- Disks are not in this: each commit waits for the database's log to be on the disk.
`;
}
