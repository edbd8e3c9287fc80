import { randomUUID } from "node:crypto";
import { Database } from "../src/db/postgres/database.ts";
import { distribute } from "../src/db/citus/distribute.ts";
import { migrate } from "../src/db/postgres/migrate.ts";
import { changeUrl, connectTo } from "./launch.ts";

// Distributing takes longer with every shard, and tests have few tenants.
const shards = 4;
const noPropagation = "set citus.enable_create_database_propagation = off";
// Of this run. Its workers get it from the environment.
const prefix = (process.env["CASEHOUND_CLUSTER_PREFIX"] ??= `test_${randomUUID().slice(0, 8)}`);

export type Node = { host: string; port: number; isCoordinator: boolean };

// The nodes of the database that CITUS_DATABASE_URL names.
export async function listNodes(url: string): Promise<Node[]> {
  const client = await connectTo({ connectionString: url });
  try {
    const { rows } = await client.query<Node>(
      `select nodename as host, nodeport as port, groupid = 0 as "isCoordinator" from pg_dist_node order by groupid`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

export function urlOfNode(url: string, { host, port }: Node): string {
  const changed = new URL(url);
  changed.hostname = host;
  changed.port = String(port);
  return changed.href;
}

export function clusterDatabaseName(name: string): string {
  return `${prefix}_${name.replaceAll("-", "")}`;
}

// Creates an empty database with the extension on every node, and returns its URL on the coordinator.
async function createClusterDatabase(url: string, name = clusterDatabaseName(randomUUID())): Promise<string> {
  const nodes = await listNodes(url);
  const coordinator = nodes.find(({ isCoordinator }) => isCoordinator);
  if (!coordinator || nodes.length === 1)
    throw new Error("CITUS_DATABASE_URL: the database must know the coordinator's address and a worker");
  await onEach(url, nodes, [noPropagation, `create database ${name} encoding 'UTF8' template template0`]);
  const made = changeUrl(url, { database: name });
  await onEach(made, nodes, ["create extension citus"]);
  const client = await connectTo({ connectionString: made });
  await client.query("select citus_set_coordinator_host($1, $2)", [coordinator.host, coordinator.port]);
  for (const { host, port, isCoordinator } of nodes)
    if (!isCoordinator) await client.query("select citus_add_node($1, $2)", [host, port]);
  await client.end();
  return made;
}

// The same with the tables, distributed.
export async function createDistributedDatabase(url: string, name?: string): Promise<string> {
  const made = await createClusterDatabase(url, name);
  const database = new Database({ connectionString: made });
  await migrate(database);
  await distribute(database, shards);
  await database.end();
  return made;
}

// Drops the databases that this process and its workers have made.
export async function dropTestDatabases(url: string): Promise<void> {
  const client = await connectTo({ connectionString: url });
  const { rows } = await client.query<{ name: string }>("select datname as name from pg_database where datname like $1", [
    `${prefix}%`,
  ]);
  await client.end();
  for (const { name } of rows) await dropClusterDatabase(url, name);
}

async function dropClusterDatabase(url: string, name: string): Promise<void> {
  await onEach(url, await listNodes(url), [noPropagation, `drop database if exists ${name} with (force)`]);
}

async function onEach(url: string, nodes: Node[], statements: string[]): Promise<void> {
  for (const node of nodes) {
    const client = await connectTo({ connectionString: urlOfNode(url, node) });
    for (const each of statements) await client.query(each);
    await client.end();
  }
}
