import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Findings, Proof } from "../part.ts";
import type { WatchedCaller } from "../writers/load.ts";
import { House } from "./house.ts";
import { Name } from "./name.ts";

type Wanted = Pick<Proof, "random" | "scale"> & { onDone: (what: string) => void };

const writersMax = 8;
const underLoadMsMax = 300;
// How long writes may pause after a promotion.
const pauseMsMax = 1_000;
const ms = (value: number) => `${Math.round(value)} ms`;

// The primary is killed under load, and the standby that has confirmed every change takes over.
export async function takeOvers(wanted: Wanted, count: number): Promise<Findings> {
  const { random, scale, onDone } = wanted;
  const house = await House.open(true);
  const pauses: number[] = [];
  const promotions: number[] = [];
  try {
    await house.start(scale === "full" ? { WORKERS: "2" } : {});
    await house.work(writersMax, random);
    for (let round = 0; round < count && house.ledger.violations.length === 0; round++) {
      await house.untilAllGetOn();
      await sleep(random.between(0, underLoadMsMax));
      let first = Promise.resolve(0);
      const { killedMs, promotedMs } = await house.pair.takeOver(() => (first = house.caller.firstWrite()));
      const firstMs = await first;
      promotions.push(promotedMs - killedMs);
      pauses.push(Math.max(0, firstMs - promotedMs));
      await house.untilAllGetOn();
      await house.pair.repair();
      onDone("failovers");
    }
    const { states, scored } = await house.audited();
    const longest = Math.max(...pauses);
    const tooLong = scale === "full" && longest >= pauseMsMax ? [`writes paused for ${ms(longest)} after a promotion`] : [];
    const { ledger } = house;
    return {
      figures: {
        "failovers by a synchronous standby": pauses.length,
        "from the kill to the end of the promotion, longest": ms(Math.max(...promotions)),
        "from there to the first acknowledged write, median": ms(pauses.toSorted((a, b) => a - b)[pauses.length >> 1] ?? 0),
        "from there to the first acknowledged write, longest": ms(longest),
        "requests under load": ledger.requests,
        "no known outcome, sent again under the same key": ledger.unknown,
        "found by a replay to have been applied": ledger.replays,
        "acknowledged changes, each found once": ledger.changes.size,
        "states looked up": states,
        "activities scored, each once": scored,
        "acknowledged writes lost": ledger.violations.length,
      },
      violations: [...ledger.violations, ...tooLong, ...oddAnswers(house.caller, new Set(["internal-error"]))],
    };
  } finally {
    await house.close();
  }
}

// Answers that a failover does not explain. A connection that is lost during COMMIT is an internal-error.
export function oddAnswers(caller: WatchedCaller, more: Set<string>): string[] {
  const usual = new Set(["done", "bad-gateway", "rate-limited", "service-unavailable", "transaction-contended", ...more]);
  return [...caller.answers].flatMap(([what, times]) => (usual.has(what) ? [] : [`${times} answers were ${what}`]));
}

// Without synchronous replication, the standby may miss the last changes. They are counted.
export async function losses({ random, onDone }: Wanted, count: number): Promise<Findings> {
  const house = await House.open(false);
  const lost: number[] = [];
  let sent = 0;
  try {
    await house.start();
    const post = async (id: string): Promise<boolean> => {
      const activity = { activity_id: id, type: "login_failed", occurred_at: new Date().toISOString(), website_account_id: id };
      const body = { activities: [activity] };
      return (await house.caller.call({ method: "POST", path: "/activities", body }))?.status === 202;
    };
    for (let round = 0; round < count; round++) {
      const acknowledged: string[] = [];
      const load = { isUp: true };
      const writers = Array.from({ length: writersMax }, async () => {
        while (load.isUp) {
          const id = random.uuid();
          if ((await post(id)) && load.isUp) acknowledged.push(id);
        }
      });
      await sleep(300 + random.between(0, underLoadMsMax));
      await house.pair.takeOver(() => (load.isUp = false));
      await Promise.all(writers);
      const client = await house.pair.primary.connect();
      const seen = await settled(client, acknowledged);
      await client.end();
      sent += acknowledged.length;
      lost.push(acknowledged.length - seen);
      await house.pair.repair();
      onDone("failovers without confirmation");
    }
    return {
      figures: {
        "failovers by an asynchronous standby": lost.length,
        "acknowledged before them": sent,
        "lost by them": lost.reduce((sum, each) => sum + each, 0),
        "lost by one of them, most": Math.max(...lost),
      },
      violations: oddAnswers(house.caller, new Set(["internal-error"])),
    };
  } finally {
    await house.close();
  }
}

// How many of them are there once the engine has scored everything.
async function settled(client: Client, ids: string[]): Promise<number> {
  while ((await client.query("select 1 from inbox limit 1")).rows.length > 0) await sleep(20);
  const { rows } = await client.query<{ there: number }>(
    "select count(distinct activity_id)::int as there from activities where activity_id = any($1::text[])",
    [ids],
  );
  return rows[0]?.there ?? 0;
}

// DATABASE_URL has one name, which points to the read-only standby for a while.
export async function laggingName({ random, onDone }: Wanted, count: number): Promise<Findings> {
  const house = await House.open(true);
  const name = await Name.open(house.pair.primary.port);
  const pauses: number[] = [];
  const violations: string[] = [];
  try {
    await house.start({ DATABASE_URL: `postgresql://casehound@127.0.0.1:${name.port}/postgres` });
    await house.work(writersMax, random);
    for (let round = 0; round < count && house.ledger.violations.length === 0; round++) {
      await house.untilAllGetOn();
      name.target = house.pair.standby.port;
      name.cut();
      const before = house.caller.acknowledged;
      await sleep(1_000);
      const inFlight = house.caller.acknowledged - before;
      if (inFlight > writersMax) violations.push(`${inFlight} writes were acknowledged by a read-only server`);
      const ready = await fetch(`http://127.0.0.1:${house.port}/readyz`);
      if (ready.ok) violations.push("/readyz returned 200 while the name pointed to a read-only server");
      const first = house.caller.firstWrite();
      const movedMs = performance.now();
      name.target = house.pair.primary.port;
      pauses.push((await first) - movedMs);
      onDone("moves of the name");
    }
    await house.untilAllGetOn();
    await house.audited();
    return {
      figures: {
        "times a name pointed to a read-only server": pauses.length,
        "from its correction to the first acknowledged write, longest": ms(Math.max(...pauses)),
      },
      violations: [...violations, ...house.ledger.violations, ...oddAnswers(house.caller, new Set(["internal-error"]))],
    };
  } finally {
    await house.close();
    await name.close();
  }
}

// Every change needs the standby's confirmation, and the standby is down: nothing is acknowledged.
export async function missingStandby({ random, onDone }: Wanted, seconds: number): Promise<Findings> {
  const house = await House.open(true);
  try {
    await house.start();
    await house.work(writersMax, random);
    await house.untilAllGetOn();
    await house.pair.standby.kill();
    const downMs = performance.now();
    while (performance.now() < downMs + seconds * 1_000) {
      await sleep(500);
      onDone("looks while the standby is down");
    }
    const early =
      house.caller.last.sentMs > downMs
        ? [`a write was acknowledged ${ms(house.caller.last.sentMs - downMs)} after the standby had died`]
        : [];
    const unconfirmed = house.caller.answers.get("internal-error") ?? 0;
    await house.pair.standby.start();
    await house.untilAllGetOn();
    await house.audited();
    return {
      figures: {
        "seconds without the standby that must confirm": seconds,
        "changes that it did not confirm, none acknowledged": unconfirmed,
      },
      violations: [...early, ...house.ledger.violations],
    };
  } finally {
    await house.close();
  }
}
