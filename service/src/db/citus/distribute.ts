import { escapeIdentifier, type Client } from "pg";
import { advisoryLocks } from "../postgres/advisory-locks.ts";
import type { Database, Queryable, Row } from "../postgres/database.ts";
import { unprepared, type Statement } from "../postgres/sql.ts";
import { createPageFunction, pageFunction } from "./node-pages.ts";
import { askFunction, createAskFunction } from "./nodes.ts";
import { distributedTables, localTables, referenceTables, type Placement } from "./tables.ts";

// What the operator has to do first.
export class ClusterFault extends Error {}

export const shardsDefault = 32;
export const shardsMax = 1_024;
const column = "tenant_id";
const [firstTable] = distributedTables;

// Where a table should be, and where it is. `is` is null if there is no such table.
export type TablePlacement = { table: string; is: Placement | null; should: Placement };

// Returns the tables that are not where they should be.
export async function findMisplaced(client: Client): Promise<TablePlacement[]> {
  await checkCluster(client);
  return misplaced(client);
}

// Distributes the tables of a migrated database, all of them or none. Rows that are there move to the shards. Does nothing to
// tables that are in their place, so it can be repeated. Locks every table until it ends, so no service may run meanwhile.
export async function distribute(database: Database, shards: number): Promise<TablePlacement[]> {
  const client = await database.connect();
  try {
    await checkCluster(client);
    await client.query("select pg_advisory_lock($1)", [advisoryLocks.migrations]);
    const wrong = await misplaced(client);
    const missing = wrong.filter(({ is }) => is === null).map(({ table }) => table);
    if (missing.length > 0)
      throw new ClusterFault(`the database lacks tables: ${missing.join(", ")}; run casehound migrate first`);
    const first = wrong.find(({ is, should }) => is !== "local" || should === "local");
    if (first) throw new ClusterFault(`the table ${first.table} is ${first.is}, but must be ${first.should}: move it back first`);
    if (wrong.length > 0) await place(client, wrong, shards);
    await setUpNodes(client);
    return wrong;
  } finally {
    await client.end();
  }
}

async function checkCluster(client: Client): Promise<void> {
  const { rows: extensions } = await client.query("select 1 from pg_extension where extname = 'citus'");
  if (extensions.length === 0)
    throw new ClusterFault("the database is not a Citus cluster: the extension citus is missing; plain PostgreSQL needs nothing");
  const { rows } = await client.query<{ workers: number; has_coordinator: boolean }>(`
    select count(*) filter (where shouldhaveshards)::int as workers, coalesce(bool_or(groupid = 0), false) as has_coordinator
    from pg_dist_node
    where isactive`);
  if (!rows[0]?.has_coordinator)
    throw new ClusterFault(
      "the coordinator does not know its own address: run select citus_set_coordinator_host('<host>') first",
    );
  if (rows[0].workers === 0)
    throw new ClusterFault("the cluster has no node for tenants: run select citus_add_node('<host>', <port>) first");
}

function misplaced(client: Client): Promise<TablePlacement[]> {
  return listMisplaced({ query: async <R extends Row>(asked: Statement) => (await client.query<R>(asked)).rows });
}

// Needs the extension.
export async function listMisplaced(database: Queryable): Promise<TablePlacement[]> {
  const rows = await database.query<{ table: string; is: Placement }>(
    unprepared(`
    select c.relname as table,
      case when p.partmethod = 'h' then 'distributed' when p.partmethod = 'n' and p.repmodel = 't' then 'reference' else 'local' end as is
    from pg_class as c
    left join pg_dist_partition as p on p.logicalrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`),
  );
  const found = new Map(rows.map((row) => [row.table, row.is]));
  return wanted().flatMap(({ table, should }) => {
    const is = found.get(table) ?? null;
    return is === should ? [] : [{ table, is, should }];
  });
}

function wanted(): Omit<TablePlacement, "is">[] {
  return [
    ...localTables.map((table) => ({ table, should: "local" as const })),
    ...referenceTables.map((table) => ({ table, should: "reference" as const })),
    ...distributedTables.map((table) => ({ table, should: "distributed" as const })),
  ];
}

async function place(client: Client, tables: TablePlacement[], shards: number): Promise<void> {
  await client.query("begin");
  try {
    // Foreign keys to the reference tables allow only one connection to each worker.
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    const keys = await dropForeignKeys(client, tables);
    for (const { table, should } of tables) await placeTable(client, { table, should }, shards);
    for (const { table, name, text } of keys) await client.query(`alter table ${table} add constraint ${name} ${text}`);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
  // The rows that were copied are still in the local tables, where nothing reads them.
  for (const { table } of tables) await client.query("select truncate_local_data_after_distributing_table($1)", [table]);
  // Until autovacuum visited the nodes, each page of a list would be sorted from all rows of its tenant.
  for (const { table } of tables) await client.query(`analyze ${table}`);
}

async function placeTable(client: Client, { table, should }: Omit<TablePlacement, "is">, shards: number): Promise<void> {
  if (should === "reference") await client.query("select create_reference_table($1)", [table]);
  else if (table === firstTable)
    await client.query("select create_distributed_table($1, $2, colocate_with => 'none', shard_count => $3)", [
      table,
      column,
      shards,
    ]);
  else await client.query("select create_distributed_table($1, $2, colocate_with => $3)", [table, column, firstTable]);
}

type ForeignKey = { table: string; name: string; text: string };

// Foreign keys are dropped, and added again when all tables are in their place. Citus refuses one between a local and a distributed
// table. It also begins to manage local tables that have a foreign key to a reference table, and then cannot distribute them if
// they have an identity column.
async function dropForeignKeys(client: Client, tables: TablePlacement[]): Promise<ForeignKey[]> {
  const names = tables.map(({ table }) => table);
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as text
     from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace
       and (conrelid::regclass::text = any($1) or confrelid::regclass::text = any($1))
     order by 1, 2`,
    [names],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

// What the service sets on its own connections does not reach those of the coordinator to the nodes. A node's session gets the
// settings of the role, and "set local" of a transaction if the last of these allows it.
const nodeSettings = {
  enable_seqscan: "off",
  jit: "off",
  timezone: "UTC",
  datestyle: "ISO",
  "citus.propagate_set_commands": "local",
};

// The coordinator passes these on to all nodes.
async function setUpNodes(client: Client): Promise<void> {
  await client.query(createAskFunction);
  await client.query(createPageFunction);
  // Delegated even inside a transaction. The tenant is the first parameter of each.
  for (const signature of [`${askFunction}(uuid, text)`, `${pageFunction}(uuid, text, text, text, boolean)`])
    await client.query("select create_distributed_function($1, 'tenant', colocate_with => $2, force_delegation => true)", [
      signature,
      firstTable,
    ]);
  const { rows } = await client.query<{ role: string; name: string }>("select current_user as role, current_database() as name");
  const [{ role, name } = { role: "", name: "" }] = rows;
  await client.query("set citus.enable_alter_role_propagation = on");
  for (const [setting, value] of Object.entries(nodeSettings))
    await client.query(`alter role ${escapeIdentifier(role)} in database ${escapeIdentifier(name)} set ${setting} = '${value}'`);
}
