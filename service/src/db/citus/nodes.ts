import { setTimeout as sleep } from "node:timers/promises";
import { escapeLiteral } from "pg";
import type { Queryable, Row } from "../postgres/database.ts";
import { pageFunction } from "./node-pages.ts";
import { sql, unprepared, type Statement } from "../postgres/sql.ts";

// Shards move rarely. Until this is over, a moved shard is asked for on its former node, which still has it or fails.
const layoutMs = 5_000;

// `distribute` creates it on every node. It runs a statement of one text on the node of a tenant, as the user who calls it.
export const askFunction = "casehound_ask";

export const createAskFunction = `
  create or replace function ${askFunction}(tenant uuid, question text) returns text language plpgsql as $$
  declare
    answer text;
  begin
    execute question into answer;
    return answer;
  end $$`;

type Shard = { node: string; port: number; group: string; table: string; name: string; key: string };

export type NodeState = { name: string; fault: string | null };
type Layout = { loadedMs: number; shards: Promise<Shard[]> };

const clusters = new WeakMap<Queryable, Promise<boolean>>();
const layouts = new WeakMap<Queryable, Layout>();

// Whether the tables are distributed over a Citus cluster. Asked once for each database.
export async function isCluster(database: Queryable): Promise<boolean> {
  if (database.isCluster === true) return true;
  const known = clusters.get(database);
  if (known) return known;
  const asking = findCluster(database);
  clusters.set(database, asking);
  asking.catch(() => clusters.delete(database));
  return asking;
}

async function findCluster(database: Queryable): Promise<boolean> {
  const [extension] = await database.query(sql`select 1 as found from pg_extension where extname = 'citus'`);
  if (!extension) return false;
  return (
    (await database.query(unprepared("select 1 as found from pg_dist_partition where logicalrelid = to_regclass('activities')")))
      .length > 0
  );
}

// Whether `distribute` of this release or a later one has set up the nodes.
export async function canAskNodes(database: Queryable): Promise<boolean> {
  return (
    (await database.query(unprepared("select 1 as found from pg_proc where proname = any($1)", [[askFunction, pageFunction]])))
      .length === 2
  );
}

// Asks about all tenants. In a cluster, each node answers for its tenants in one statement, and a node that is down answers for
// none, so it does not keep the others' tenants waiting. The statement must only read, and must not relate rows of different
// tenants: an order or a limit applies to each shard. There, values come back as in JSON.
export async function askTenants<R extends Row>(database: Queryable, asked: Statement): Promise<R[]> {
  if (!(await isCluster(database))) return database.query<R>(asked);
  const rounds = roundsOf.get(database) ?? new Rounds(database);
  roundsOf.set(database, rounds);
  // The statement decides the type of its rows.
  return (await rounds.ask(asked)) as R[];
}

// For statements whose rows are only the ids of tenants.
export async function askTenantIds(database: Queryable, asked: Statement): Promise<string[]> {
  const rows = await askTenants<{ tenant_id: string }>(database, asked);
  return rows.map((row) => row.tenant_id);
}

type Question = { asked: Statement; resolve: (rows: Row[]) => void; reject: (error: unknown) => void };

// While there is nothing to do, a process asks each node once a second.
const idleRoundMs = 1_000;
const busyRoundMs = 20;
const roundsOf = new WeakMap<Queryable, Rounds>();

// Questions that are asked at about the same time go to each node together. Otherwise the polls of ten workers would be dozens of
// statements a second on every node of an idle cluster.
class Rounds {
  readonly #database: Queryable;
  #waiting: Question[] = [];
  #nextMs = 0;
  #isPlanned = false;

  constructor(database: Queryable) {
    this.#database = database;
  }

  ask(asked: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#plan();
    });
  }

  // Questions that are asked during a round wait for the next one.
  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0) return;
    this.#isPlanned = true;
    const pauseMs = Math.max(0, this.#nextMs - performance.now());
    setTimeout(() => void this.#run(), pauseMs);
  }

  async #run(): Promise<void> {
    const questions = this.#waiting;
    this.#waiting = [];
    try {
      const answers = await askNodes(
        this.#database,
        questions.map(({ asked }) => asked),
      );
      const isIdle = answers.every((rows) => rows.length === 0);
      this.#nextMs = performance.now() + (isIdle ? idleRoundMs : busyRoundMs);
      for (const [at, { resolve }] of questions.entries()) resolve(answers[at] ?? []);
    } catch (error) {
      this.#nextMs = performance.now() + idleRoundMs;
      for (const { reject } of questions) reject(error);
    } finally {
      this.#isPlanned = false;
      this.#plan();
    }
  }
}

// Returns the rows of each question.
async function askNodes(database: Queryable, questions: Statement[]): Promise<Row[][]> {
  const shards = await layoutOf(database);
  const nodes = [...Map.groupBy(shards, ({ node, port }) => `${node}:${port}`).values()];
  const answers = await Promise.allSettled(nodes.map((own) => ask(database, own[0]?.key, commandOf(questions, own))));
  const good = answers.filter((answer) => answer.status === "fulfilled").map(({ value }) => JSON.parse(value) as Row[][]);
  if (good.length < answers.length) layouts.delete(database);
  if (good.length === 0 && answers.length > 0)
    throw new Error("no node of the cluster answers", { cause: answers.find(isRejected)?.reason });
  return questions.map((_, at) => good.flatMap((rows) => rows[at] ?? []));
}

const isRejected = (answer: PromiseSettledResult<unknown>): answer is PromiseRejectedResult => answer.status === "rejected";

// The function runs on the node that has the shard of the key, over the connection that the coordinator keeps. Not prepared,
// because a plan for all keys could not name the node.
async function ask(database: Queryable, key: string | undefined, command: string): Promise<string> {
  const [row] = await database.query<{ answer: string }>(
    unprepared(`select ${askFunction}($1::uuid, $2::text) as answer`, [key, command]),
  );
  if (!row) throw new Error("the node gave no answer");
  return row.answer;
}

function layoutOf(database: Queryable): Promise<Shard[]> {
  const known = layouts.get(database);
  if (known && performance.now() - known.loadedMs < layoutMs) return known.shards;
  const shards = loadLayout(database);
  layouts.set(database, { loadedMs: performance.now(), shards });
  shards.catch(() => layouts.delete(database));
  return shards;
}

// Reads the metadata on the coordinator. Partitions are left out, because nobody asks about them. The key of a node is any that
// belongs to it: a random one, or a tenant, because no random one finds the shard of a single tenant.
function loadLayout(database: Queryable): Promise<Shard[]> {
  return database.query<Shard & Row>(
    unprepared(`
    with keys as materialized (
      select distinct on (p.groupid) p.groupid, k.key
      from (
        select gen_random_uuid() as key from generate_series(1, 200)
        union all
        select tenant_id from tenants
      ) as k
      join pg_dist_placement as p on p.shardid = get_shard_id_for_distribution_column('event_counters', k.key)
    )
    select n.nodename as node, n.nodeport as port, s.shardminvalue as group, c.relname as table,
      shard_name(s.logicalrelid, s.shardid) as name, k.key
    from pg_dist_shard as s
    join pg_class as c on c.oid = s.logicalrelid and not c.relispartition
    join pg_dist_placement as p using (shardid)
    join pg_dist_node as n using (groupid)
    join keys as k using (groupid)
    where s.shardminvalue is not null and n.isactive and n.noderole = 'primary'`),
  );
}

// One statement for all shards of a node.
function commandOf(questions: Statement[], shards: Shard[]): string {
  const groups = [...Map.groupBy(shards, ({ group }) => group).values()].map(
    (group) => new Map(group.map(({ table, name }) => [table, name])),
  );
  const parts = questions.map((asked) => {
    const filled = fill(asked);
    const texts = groups.map((names) => `(${rename(filled, names)})`);
    return `(select coalesce(json_agg(answer), '[]') from (${texts.join(" union all ")}) as answer)`;
  });
  return `select json_build_array(${parts.join(", ")})`;
}

function fill({ text, values }: Statement): string {
  return text.replaceAll(/\$(\d+)/g, (_, at: string) => literal(values[Number(at) - 1]));
}

// Replaces the names of tables with those of a shard's.
function rename(text: string, names: Map<string, string>): string {
  return text.replaceAll(/\b(from|join)\s+(\w+)\b/g, (whole, word: string, table: string) => {
    const name = names.get(table);
    return name === undefined ? whole : `${word} ${name}`;
  });
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return escapeLiteral(value);
  throw new Error("only texts and numbers can be asked about in a cluster");
}

const askingMaxMs = 2_000;

// Asks every node, also the coordinator, whether it answers. Returns why one does not.
export async function listNodes(database: Queryable): Promise<NodeState[]> {
  const nodes = await database.query<{ host: string; port: number }>(
    unprepared("select nodename as host, nodeport as port from pg_dist_node where noderole = 'primary' order by groupid"),
  );
  return Promise.all(nodes.map((node) => askNode(database, node)));
}

async function askNode(database: Queryable, { host, port }: { host: string; port: number }): Promise<NodeState> {
  const asking = database.query<{ success: boolean; result: string }>(
    sql`select success, result from master_run_on_worker(${[host]}::text[], ${[port]}::int[], array['select 1'], false)`,
  );
  const silence = sleep(askingMaxMs, [{ success: false, result: "it does not answer" }], { ref: false });
  const name = `${host}:${port}`;
  try {
    const [answer] = await Promise.race([asking, silence]);
    return { name, fault: answer?.success === true ? null : (answer?.result ?? "it gave no answer").replaceAll(/\s+/g, " ") };
  } catch (error) {
    return { name, fault: error instanceof Error ? error.message : String(error) };
  }
}

type NodeCount = { all: number; reachable: number };

const countedMs = 1_000;
const counts = new WeakMap<Queryable, { untilMs: number; count: Promise<NodeCount> }>();

// For the readiness probe, which says nothing about addresses. Anyone can call it as often as they like, so its callers share one
// look at the nodes.
export function countNodes(database: Queryable): Promise<NodeCount> {
  const known = counts.get(database);
  if (known && performance.now() < known.untilMs) return known.count;
  const look = { untilMs: Number.POSITIVE_INFINITY, count: lookAtNodes(database) };
  counts.set(database, look);
  const settle = () => void (look.untilMs = performance.now() + countedMs);
  look.count.then(settle, settle);
  return look.count;
}

async function lookAtNodes(database: Queryable): Promise<NodeCount> {
  const nodes = await listNodes(database);
  return { all: nodes.length, reachable: nodes.filter(({ fault }) => fault === null).length };
}
