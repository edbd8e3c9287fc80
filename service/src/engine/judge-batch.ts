import { setImmediate as nextTurn } from "node:timers/promises";
import type { Turn } from "../db/activities.ts";
import type { ClaimedActivity } from "../db/inbox.ts";
import { keptIp } from "../detection/kept-ip.ts";
import type { RuleSet } from "../detection/score.ts";
import { Campaigns } from "../domain/campaign.ts";
import { defaultPolicy } from "../domain/policy.ts";
import type { seeAccounts } from "./accounts.ts";
import { believeBatch } from "./belief.ts";
import type { Batch } from "./cases.ts";
import { Damper } from "./damper.ts";
import type { Enrichment } from "./enrichment.ts";
import { isSuspended, judgeOne, type Bench, type Enriched, type Judged, type Suspended } from "./judging.ts";
import { Snoozer } from "./snoozer.ts";

const sliceMs = 20;

type Given = {
  batch: Batch;
  turn: Turn;
  set: RuleSet;
  claimed: ClaimedActivity[];
  isHistory: boolean;
  see?: typeof seeAccounts;
};

// Judges activities one after the other, in order of their times. Writes nothing, unless `see` does.
export async function judgeBatch(enrichment: Enrichment, { batch, turn, set, claimed, isHistory, see }: Given) {
  const { now } = batch;
  const told = inOrder(claimed.map((each) => ({ id_key: each.id_key, event: enrichment.enrich(each.activity) })));
  const events = told.map(({ event }) => event);
  const keepIp = (ip: string) => keptIp(ip, turn);
  const { standing, memory, believed, accounts } = await believeBatch({ batch, turn, events, keepIp, ...(see && { see }) });
  const enriched = told.flatMap(({ id_key }, index) => (believed[index] ? [{ id_key, event: believed[index] }] : []));
  const campaigns = new Campaigns(turn.campaigns);
  const damper = new Damper(Buffer.from(turn.ip_key).toString("hex"), { isHistory });
  const snoozer = new Snoozer({ until: set.snoozedUntil ?? null, now, isHistory });
  const bench: Bench = { memory, set, campaigns, damper, snoozer, keepIp, nowMs: Date.parse(now) };
  const begun: (Judged | Suspended)[] = [];
  let sliceBegan = performance.now();
  for (const each of enriched) {
    begun.push(judgeOne(bench, each));
    // Yield, so that requests in the same process do not wait for a whole batch.
    if (performance.now() - sliceBegan < sliceMs) continue;
    await nextTurn();
    sliceBegan = performance.now();
  }
  const waiting = begun.filter(isSuspended).flatMap(({ leads }) => leads);
  await damper.load(batch, waiting);
  await snoozer.load(batch, waiting);
  const judged = begun.map((each) => (isSuspended(each) ? each.resume() : each));
  return { standing, memory, believed, accounts, campaigns, snoozer, judged, policy: set.policy ?? defaultPolicy };
}

// Sorts by event time, whatever order the events arrived in. Events with the same time keep the order in which they were sent.
function inOrder(events: Enriched[]): Enriched[] {
  return events.toSorted((a, b) => a.event.at - b.event.at || sentOrder(a, b) || compareText(a.id_key, b.id_key));
}

function sentOrder({ event: { activity: a } }: Enriched, { event: { activity: b } }: Enriched): number {
  return compareText(a.received_at, b.received_at) || (a.place ?? 0) - (b.place ?? 0);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
