import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
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

// The postmaster of a node's server, or null if the server is on another machine.
export async function findPostmaster(url: string, node: Node): Promise<{ pid: number; folder: string } | null> {
  const client = await connectTo({ connectionString: urlOfNode(url, node) });
  try {
    const { rows } = await client.query<{ text: string }>("select pg_read_file('postmaster.pid') as text");
    const [pid = "", folder = ""] = (rows[0]?.text ?? "").split("\n");
    return readlinkSync(`/proc/${pid}/cwd`) === folder ? { pid: Number(pid), folder } : null;
  } catch {
    return null;
  } finally {
    await client.end();
  }
}

// Creates an ordinary database on the coordinator's server.
export async function createPlainDatabase(url: string): Promise<string> {
  const name = clusterDatabaseName(randomUUID());
  const client = await connectTo({ connectionString: url });
  await client.query(noPropagation);
  await client.query(`create database ${name} encoding 'UTF8' template template0`);
  await client.end();
  return changeUrl(url, { database: name });
}

type Wanted = { name?: string; template?: string };

// Creates an empty database with the extension on every node, and returns its URL on the coordinator. With a template, the
// coordinator starts with a copy of that database.
async function createClusterDatabase(url: string, { name, template = "template0" }: Wanted): Promise<string> {
  const own = name ?? clusterDatabaseName(randomUUID());
  const nodes = await listNodes(url);
  const coordinator = nodes.find(({ isCoordinator }) => isCoordinator);
  if (!coordinator || nodes.length === 1)
    throw new Error("CITUS_DATABASE_URL: the database must know the coordinator's address and a worker");
  const workers = nodes.filter(({ isCoordinator }) => !isCoordinator);
  await onEach(url, [coordinator], [noPropagation, `create database ${own} encoding 'UTF8' template ${template}`]);
  await onEach(url, workers, [noPropagation, `create database ${own} encoding 'UTF8' template template0`]);
  const made = changeUrl(url, { database: own });
  await onEach(made, nodes, ["create extension citus"]);
  const client = await connectTo({ connectionString: made });
  await client.query("select citus_set_coordinator_host($1, $2)", [coordinator.host, coordinator.port]);
  for (const { host, port, isCoordinator } of nodes)
    if (!isCoordinator) await client.query("select citus_add_node($1, $2)", [host, port]);
  await client.end();
  return made;
}

// Creates such a database and distributes its tables. The template is the name of a database on the coordinator's server.
export async function createDistributedDatabase(url: string, wanted: Wanted = {}): Promise<string> {
  const made = await createClusterDatabase(url, wanted);
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
