import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Findings, Proof } from "../part.ts";
import { oddAnswers } from "../standby/trials.ts";
import { administrate } from "./administration.ts";
import type { ClusterNode } from "./node.ts";
import { countAnswers, type Settled, type Town } from "./town.ts";

type Wanted = Pick<Proof, "random"> & { town: Town; onDone: (what: string) => void };

const underLoadMsMax = 300;
const cleanUpMsMax = 60_000;
const away = "bad-gateway";
const countOf = (tenants: Settled[], what: string) => countAnswers(tenants).get(what) ?? 0;
const getOn = (tenants: Settled[]) => Promise.all(tenants.map(({ load }) => load.untilAllGetOn()));

// The shards of a tenant move to the other worker and back while all tenants write.
export async function moves({ town, random, onDone }: Wanted, count: number): Promise<Findings> {
  const [moved] = town.tenants;
  if (!moved) throw new Error("there is no tenant");
  const before = failures(town.tenants);
  const client = await town.database.connect();
  const took: number[] = [];
  try {
    for (let round = 0; round < count; round++) {
      await getOn(town.tenants);
      await sleep(random.between(0, underLoadMsMax));
      const from = await town.placeOf(moved.load.tenantId);
      const to = town.tenants.find(({ place }) => place.port !== from.port || place.host !== from.host)?.place;
      const target = to ?? moved.place;
      await cleanUp(client);
      const began = performance.now();
      await client.query("select citus_move_shard_placement($1::bigint, $2, $3, $4, $5)", [
        from.shard,
        from.host,
        from.port,
        target.host,
        target.port,
      ]);
      took.push(performance.now() - began);
      await getOn(town.tenants);
      onDone("moves of a shard");
    }
  } finally {
    await client.end();
  }
  const failed = failures(town.tenants) - before;
  return {
    figures: {
      "shards moved under load": took.length,
      "longest move": `${Math.round(Math.max(...took))} ms`,
      "failed requests meanwhile": failed,
    },
    violations: failed === 0 ? [] : [`${failed} requests failed while a shard moved`],
  };
}

// The former shards of a move are dropped later, and a shard cannot move to where they still are.
async function cleanUp(client: Client): Promise<void> {
  const deadline = Date.now() + cleanUpMsMax;
  while ((await client.query("select 1 from pg_dist_cleanup limit 1")).rows.length > 0) {
    if (Date.now() > deadline) throw new Error("the former shards were not dropped");
    await client.query("call citus_cleanup_orphaned_resources()");
    await sleep(100);
  }
}

function failures(tenants: Settled[]): number {
  return ["no answer", away, "internal-error", "service-unavailable"].reduce((sum, what) => sum + countOf(tenants, what), 0);
}

// A worker is killed under load. Only its tenants may notice.
export async function workerKills({ town, random, onDone }: Wanted, workers: ClusterNode[], count: number): Promise<Findings> {
  const violations: string[] = [];
  let [theirs, others] = [0, 0];
  for (let round = 0; round < count; round++) {
    const worker = workers[round % workers.length];
    if (!worker) break;
    const places = await Promise.all(town.tenants.map(({ load }) => town.placeOf(load.tenantId)));
    const isHit = (_: Settled, at: number) => places[at]?.port === worker.node.port;
    const hit = town.tenants.filter(isHit);
    const spared = town.tenants.filter((each, at) => !isHit(each, at));
    await getOn(town.tenants);
    await sleep(random.between(0, underLoadMsMax));
    const [hitBefore, sparedBefore] = [countOf(hit, away), failures(spared)];
    worker.kill();
    while (countOf(hit, away) === hitBefore) await sleep(10);
    await getOn(spared);
    for (const { load } of spared) await untilScored(load.caller);
    const [first] = spared;
    if (round === 0 && first) violations.push(...(await administrate(town, first, "down")));
    const failed = failures(spared) - sparedBefore;
    others += failed;
    if (failed > 0) violations.push(`${failed} requests of other tenants failed while ${worker.name} was down`);
    await worker.start();
    await getOn(town.tenants);
    theirs += countOf(hit, away) - hitBefore;
    onDone("kills of a worker");
  }
  for (const tenant of town.tenants) violations.push(...(await administrate(town, tenant, "up")));
  return {
    figures: {
      "kills of a worker under load": count,
      "answers of 502 to its tenants": theirs,
      "failed requests of the others": others,
    },
    violations,
  };
}

// Posts a fraud report and waits until the engine has opened its case.
async function untilScored(caller: Settled["load"]["caller"]): Promise<void> {
  const account = `meanwhile-${randomUUID()}`;
  const activity = {
    activity_id: account,
    type: "fraud_report",
    occurred_at: new Date().toISOString(),
    website_account_id: account,
  };
  const sent = await caller.call({ method: "POST", path: "/activities", body: { activities: [activity] } });
  if (sent?.status !== 202) throw new Error(`a report was not accepted: ${sent?.status}`);
  for (;;) {
    const answer = await caller.call({ method: "GET", path: `/cases?website_account_id=${account}` });
    if (answer?.text.includes('"case_id"')) return;
    await sleep(50);
  }
}

// The coordinator is killed under load. Nobody is served until it is back.
export async function coordinatorKills(
  { town, random, onDone }: Wanted,
  coordinator: ClusterNode,
  count: number,
): Promise<Findings> {
  const pauses: number[] = [];
  for (let round = 0; round < count; round++) {
    await getOn(town.tenants);
    await sleep(random.between(0, underLoadMsMax));
    const before = town.tenants.map((each) => countOf([each], away));
    coordinator.kill();
    const killedMs = performance.now();
    while (town.tenants.some((each, at) => countOf([each], away) === before[at])) await sleep(10);
    await coordinator.start();
    await getOn(town.tenants);
    pauses.push(performance.now() - killedMs);
    onDone("kills of the coordinator");
  }
  return {
    figures: {
      "kills of the coordinator under load": pauses.length,
      "until all tenants were served again, longest": `${Math.round(Math.max(...pauses))} ms`,
    },
    violations: [],
  };
}

// Compares what was acknowledged with the database, tenant by tenant.
export async function auditAll(town: Town): Promise<Findings> {
  let [states, scored] = [0, 0];
  for (const { load } of town.tenants) {
    const found = await load.audited(town.database);
    states += found.states;
    scored += found.scored;
  }
  const ledgers = town.tenants.map(({ load }) => load.ledger);
  const sum = (pick: (ledger: (typeof ledgers)[number]) => number) => ledgers.reduce((total, each) => total + pick(each), 0);
  return {
    figures: {
      tenants: town.tenants.length,
      "requests under load": sum(({ requests }) => requests),
      "no known outcome, sent again under the same key": sum(({ unknown }) => unknown),
      "found by a replay to have been applied": sum(({ replays }) => replays),
      "acknowledged changes, each found once": sum(({ changes }) => changes.size),
      "states looked up": states,
      "activities scored, each once": scored,
      "acknowledged writes lost": sum(({ violations }) => violations.length),
    },
    violations: [
      ...ledgers.flatMap(({ violations }) => violations),
      ...town.tenants.flatMap(({ load }) => oddAnswers(load.caller, new Set(["internal-error", "no answer"]))),
    ],
  };
}
