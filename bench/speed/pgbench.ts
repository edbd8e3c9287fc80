// The limit of the database: pgbench with the service's statements, on the same tables.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "pg";
import { findCases } from "../../service/src/db/cases.ts";
import { sql, statement, type Statement } from "../../service/src/db/postgres/sql.ts";
import type { Bench } from "../machine.ts";
import type { Context } from "./part.ts";
import { recordClose, recording } from "./close-record.ts";
import type { Program } from "./pgbench-program.ts";
import type { Closable, Stand } from "./stand.ts";

export type Pgbenched = { transactions: number; perSecond: number; clients: number };

const run = promisify(execFile);
// Each case is a separate script, which every client must prepare first. Many would take a large part of a short run.
const casesRead = 20;
// Leave some connections for processes that inspect the database meanwhile.
const connectionsLeft = 5;

type Order = { program: Program; clients: number; scripts: string[]; variables: Record<string, string>; until: string[] };

async function pgbench({ folder, postgres }: Bench, order: Order): Promise<Pgbenched> {
  const { host, user, database } = postgres.address;
  const files = order.scripts.map((text, each) => {
    const file = join(folder, `pgbench-${each}.sql`);
    writeFileSync(file, text);
    return file;
  });
  const variables = Object.entries(order.variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]);
  const { clients } = order;
  const counts = ["-c", String(clients), "-j", String(Math.min(2, clients)), ...order.until];
  const args = ["-n", "-M", "prepared", ...counts, ...variables, ...files.flatMap((file) => ["-f", file])];
  const { PATH = "" } = process.env;
  const env = { PATH, ...order.program.env, PGHOST: host, PGUSER: user, PGDATABASE: database };
  const { stdout } = await run(order.program.file, args, { env, maxBuffer: 2 ** 26 });
  const figure = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
  const done = {
    transactions: figure(/actually processed: (\d+)/),
    perSecond: figure(/tps = ([\d.]+) \(without/),
    clients,
  };
  if (!(done.perSecond > 0) || figure(/failed transactions: (\d+)/) > 0) throw new Error(`pgbench says: ${stdout}`);
  return done;
}

// As many clients as wanted, or as the database still accepts.
async function clientsFor({ database }: Bench, wanted: number): Promise<number> {
  const [row] = await database.query<{ free: number }>(sql`
    select current_setting('max_connections')::int - (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as free`);
  return Math.max(1, Math.min(wanted, (row?.free ?? 0) - connectionsLeft));
}

// Reads one case per transaction, with the service's own statement.
export async function pgbenchReads(
  { bench, tenant, cases }: Stand,
  program: Program,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Pgbenched> {
  const read = cases.slice(0, casesRead);
  const [recorded] = await recordRead(bench, tenant.tenant_id, read[0] ?? "");
  if (!recorded) throw new Error("reading a case sent no statement");
  // The statement's values are its tenant and the list of its ids.
  const scripts = read.map((_id, each) => `${inline(recorded.text, (place) => (place === 1 ? ":tenant" : `:id${each}`))};\n`);
  const ids = read.map((id, each) => [`id${each}`, `{${id}}`] as const);
  const variables = { tenant: tenant.tenant_id, ...Object.fromEntries(ids) };
  const clients = await clientsFor(bench, connections);
  return pgbench(bench, { program, clients, scripts, variables, until: ["-T", String(Math.max(1, Math.round(seconds)))] });
}

async function recordRead({ database }: Bench, tenantId: string, caseId: string): Promise<Statement[]> {
  const recorded: Statement[] = [];
  await findCases(recording(database, recorded), tenantId, [caseId]);
  return recorded;
}

const inline = (text: string, value: (place: number) => string) =>
  text.replaceAll(/\$(\d+)/g, (_whole, place: string) => value(Number(place)));

// Creates a database function that does one close in one call, with the service's own statements and previously recorded values.
// Reading those values costs less than sending them.
export async function prepareCloses(
  { bench, tenant }: Stand,
  closable: Closable[],
  progress: Context["progress"],
): Promise<void> {
  const first = closable[0];
  if (!first) throw new Error("there is nothing to close");
  const client = await bench.database.connect();
  try {
    const shape: Shape[] = [];
    for (const each of await recordClose(bench, tenant, first)) shape.push(await describe(client, each));
    const columns = shape.flatMap(({ types }, each) => types.map((type, place) => `s${each}_p${place + 1} ${type}`));
    await client.query("drop table if exists bench.closes cascade");
    // Stored in the row itself and uncompressed, so that reading it is cheap.
    await client.query(`create unlogged table bench.closes (n bigint primary key, ${columns.join(", ")})
      with (toast_tuple_target = 8160)`);
    await client.query(functionText(shape));
    const places = Array.from({ length: columns.length + 1 }, (_, each) => `$${each + 1}`).join(", ");
    for (const [each, one] of closable.entries()) {
      progress(each, closable.length, "closes recorded for pgbench");
      const recorded = await recordClose(bench, tenant, one);
      if (recorded.map(({ text }) => text).join() !== shape.map(({ text }) => text).join())
        throw new Error("two closes used different statements");
      const values = [each + 1, ...recorded.flatMap(({ values: own }) => own)];
      await client.query(statement(`insert into bench.closes values (${places})`, values));
    }
    await client.query("vacuum analyze bench.closes");
  } finally {
    await client.end();
  }
}

type Shape = { text: string; types: string[]; hasRows: boolean };

async function describe(client: Client, { name, text }: Statement): Promise<Shape> {
  await client.query(`prepare "${name}" as ${text}`);
  const told = await client.query<{ types: string[]; has_rows: boolean }>(
    statement(
      `select parameter_types::text[] as types, result_types is not null as has_rows
       from pg_prepared_statements
       where name = $1`,
      [name],
    ),
  );
  const [row] = told.rows;
  if (!row) throw new Error("a statement could not be prepared");
  return { text, types: row.types, hasRows: row.has_rows };
}

function functionText(shape: Shape[]): string {
  const steps = shape.map(({ text, hasRows }, each) => {
    const step = inline(text, (place) => `given.s${each}_p${place}`);
    return `  ${step}${hasRows ? " into answer" : ""};`;
  });
  return `create function bench.close_case(place bigint) returns void language plpgsql as $body$
declare
  given bench.closes;
  answer record;
begin
  select * into strict given from bench.closes where n = place;
${steps.join("\n")}
end
$body$`;
}

const closeScript = `\\set i :i + 1
\\set n :client_id * :each + :i
select bench.close_case(:n);
`;

// Every client closes its own cases, one call for each.
export async function pgbenchCloses(
  { bench }: Stand,
  program: Program,
  { connections, closes }: { connections: number; closes: number },
): Promise<Pgbenched> {
  const clients = await clientsFor(bench, connections);
  const each = Math.floor(closes / clients);
  const variables = { i: "0", each: String(each) };
  return pgbench(bench, { program, clients, scripts: [closeScript], variables, until: ["-t", String(each)] });
}

export function tellClients({ clients }: Pgbenched, connections: number): string | null {
  if (clients === connections) return null;
  return `At ${connections} connections pgbench had ${clients} clients, because the database accepts no more next to the others.`;
}
