import { createDistributedDatabase, dropTestDatabases, listNodes } from "../service/test/citus.ts";
import { ClusterNode } from "./cluster/node.ts";
import { runSuites } from "./cluster/suites.ts";
import { Town } from "./cluster/town.ts";
import { auditAll, coordinatorKills, moves, workerKills } from "./cluster/trials.ts";
import { runHistories } from "./histories.ts";
import type { Findings, Part, Proof } from "./part.ts";

const counts = {
  short: { calls: 1_000, moves: 1, workerKills: 1, coordinatorKills: 1 },
  full: { calls: 20_000, moves: 4, workerKills: 6, coordinatorKills: 3 },
};
const writers = 3;

async function run(proof: Proof): Promise<Findings> {
  const url = process.env["CITUS_DATABASE_URL"];
  if (url === undefined) return { figures: { "not run": "CITUS_DATABASE_URL names no coordinator" }, violations: [] };
  try {
    // The short form is itself one of the slow tests, which run these suites anyway.
    const suites = proof.scale === "full" ? [await runSuites(proof, url)] : [];
    return merge([...suites, await histories(proof, url), await trials(proof, url)]);
  } finally {
    await dropTestDatabases(url);
  }
}

async function histories(proof: Proof, url: string): Promise<Findings> {
  return runHistories(proof, { databaseUrl: await createDistributedDatabase(url), calls: counts[proof.scale].calls });
}

async function trials({ scale, random, progress }: Proof, url: string): Promise<Findings> {
  const wanted = counts[scale];
  const made = await createDistributedDatabase(url);
  const nodes = await Promise.all((await listNodes(made)).map((node) => ClusterNode.find(made, node)));
  const own = nodes.filter((node) => node !== null);
  const areOwn = own.length === nodes.length;
  const coordinator = own.find(({ node }) => node.isCoordinator);
  const workers = own.filter(({ node }) => !node.isCoordinator);
  const town = await Town.open(made);
  const trial = (name: string, total: number) => {
    let done = 0;
    return { town, random: random.fork(name), onDone: (what: string) => progress(++done, total, what) };
  };
  try {
    await town.work(writers, random.fork("writers"));
    const found = [await moves(trial("moves", wanted.moves), wanted.moves)];
    if (areOwn && coordinator) {
      found.push(await workerKills(trial("workers", wanted.workerKills), workers, wanted.workerKills));
      found.push(await coordinatorKills(trial("coordinator", wanted.coordinatorKills), coordinator, wanted.coordinatorKills));
    } else found.push({ figures: { "kills of nodes": "not run, because the nodes are not on this machine" }, violations: [] });
    found.push(await auditAll(town));
    return merge(found);
  } finally {
    await town.close();
  }
}

function merge(found: Findings[]): Findings {
  return {
    figures: Object.assign({}, ...found.map(({ figures }) => figures)) as Findings["figures"],
    violations: found.flatMap(({ violations }) => violations),
  };
}

export const cluster: Part = {
  name: "cluster",
  title: "A Citus cluster",
  claim:
    "The tables are distributed over the nodes of the Citus cluster that `CITUS_DATABASE_URL` names. The tests of the contract, of races, isolation, the collector and the engine pass there, and each statement that they send is planned as one task on one node, except those that a list names with a reason. The histories hold there too. A shard moves under load without a failed request. A worker is killed under load: only its tenants get 502, the engine goes on scoring the others, and until it is back, no tenant can be created and no client revoked. A client whose revocation is refused keeps its access, and one whose revocation is acknowledged loses it. The coordinator is killed under load. Afterwards, no acknowledged change is missing, no key was applied twice, every accepted activity was scored once, and no feed has a gap. Without `CITUS_DATABASE_URL`, this part is not run.",
  run,
};
