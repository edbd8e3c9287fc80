import { setImmediate as nextTurn } from "node:timers/promises";
import { appendScored, claimTurn, isDayMissing, proveClaims, saveTurn, type Turn } from "../db/activities.ts";
import { claimActivities } from "../db/inbox.ts";
import { isUnscorable, markBefore, returnToMark, setAsideOldest } from "../db/unscorable.ts";
import { insertCaseClaims } from "../db/case-claims.ts";
import { saveCases } from "../db/cases.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { addIdentityCounts } from "../db/identity.ts";
import { saveRuleLimits } from "../db/rule-limits.ts";
import { addRuleHits, addRuleSubjects, type RuleSubject } from "../db/rules.ts";
import { observe } from "../detection/features.ts";
import { findingsOf, scoreOfFindings, type Found, type Observed as Seen } from "../detection/finding.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import { decisionText, judge, type RuleSet, type Verdict } from "../detection/score.ts";
import { timeOf, type RecordedActivity } from "../domain/activity.ts";
import { blockOf, hostOf } from "../domain/address.ts";
import { addressSubject, hitSubject } from "../domain/rule.ts";
import type { Source } from "../domain/source.ts";
import { believeBatch, identityCounts } from "./belief.ts";
import { openOrJoin, type Batch, type Clock } from "./cases.ts";
import { keptIp, type Enrichment } from "./enrichment.ts";
import type { Memory } from "./memory.ts";
import { restMs } from "./pattern-budget.ts";
import { labelReports, type Report } from "./report-labels.ts";
import type { RuleSets } from "./rule-sets.ts";
import { tallyBatch } from "./tally.ts";

const batchMax = 1_000;
const sliceMs = 20;

export type Pass = { scored: number; opened: number; joined: number };
export type Detector = { database: Database; clock: Clock; enrichment: Enrichment; ruleSets: RuleSets };

// What is kept of an event after it is judged. Its context of about a hundred values is dropped, because a batch of contexts
// would take most of the engine's memory.
type Judged = {
  id_key: string;
  // The activity as it is stored, with its address reduced by the tenant's ip_policy.
  activity: RecordedActivity;
  source: Source;
  claimed_account_id: string | null;
  score: number;
  decision: string;
  hits: Hit[];
  found: Found[];
};
type Hit = Omit<RuleSubject, "hits"> & { day: string };

// Processes one batch of one tenant in one transaction. After a crash the batch runs again with the same result. Returns null if
// another engine holds the tenant.
export async function detectBatch(
  detector: Detector,
  tenantId: string,
  size = batchMax,
  only?: RecordedActivity["origin"],
): Promise<Pass | null> {
  const pass = await detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    return turn && scoreOldest(detector, { tx, tenantId, turn, size, only });
  });
  await saveLimitedRules(detector, tenantId);
  return pass;
}

// Saved outside the batch's transaction, because the batch may be rolled back.
async function saveLimitedRules({ database, clock, ruleSets }: Detector, tenantId: string): Promise<void> {
  await ruleSets.saveLimited(tenantId, async (rule_ids) => {
    const limited_at = clock.now();
    const limited_until = new Date(Date.parse(limited_at) + restMs).toISOString();
    await database.transaction((tx) => saveRuleLimits(tx, tenantId, { rule_ids, limited_at, limited_until }));
  });
}

// Scores the oldest activity of one origin by itself. If that fails, the whole activity is set aside and `fault` gives the
// reason. Otherwise it would block its tenant's queue forever.
export async function detectOldest(
  detector: Detector,
  tenantId: string,
  { only, areDaysMade }: { only: RecordedActivity["origin"]; areDaysMade: boolean },
): Promise<(Pass & { fault?: unknown }) | null> {
  return detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    if (!turn) return null;
    await markBefore(tx);
    try {
      return await scoreOldest(detector, { tx, tenantId, turn, size: 1, only });
    } catch (fault) {
      const isDayImpossible = areDaysMade && isDayMissing(fault);
      if (!isUnscorable(fault) && !isDayImpossible) throw fault;
      // We still hold the tenant's turn, so this activity is still the oldest.
      await returnToMark(tx);
      await setAsideOldest(tx, tenantId, { origin: only, fault: String(fault), now: detector.clock.now() });
      return { scored: 0, opened: 0, joined: 0, fault };
    }
  });
}

type Oldest = { tx: Queryable; tenantId: string; turn: Turn; size: number; only: RecordedActivity["origin"] | undefined };

async function scoreOldest(detector: Detector, { tx, tenantId, turn, size, only }: Oldest): Promise<Pass> {
  const { clock } = detector;
  const claimed = await claimActivities(tx, tenantId, size, only);
  if (claimed.length === 0) return { scored: 0, opened: 0, joined: 0 };
  const now = clock.now();
  const batch: Batch = { tx, tenantId, clock, now };
  const activities = claimed.map((each) => each.activity);
  const told = inOrder(claimed.map((each) => ({ id_key: each.id_key, event: detector.enrichment.enrich(each.activity) })));
  const events = told.map(({ event }) => event);
  const set = await detector.ruleSets.current(tx, tenantId);
  const keepIp = (ip: string) => keptIp(ip, turn);
  const { standing, memory, believed, accounts } = await believeBatch({ batch, turn, events, keepIp });
  const enriched = told.flatMap(({ id_key }, index) => (believed[index] ? [{ id_key, event: believed[index] }] : []));
  const judged: Judged[] = [];
  let sliceBegan = performance.now();
  for (const each of enriched) {
    judged.push(judgeOne(memory, set, each, { keepIp, nowMs: Date.parse(now) }));
    // Yield, so that requests in the same process do not wait for a whole batch.
    if (performance.now() - sliceBegan < sliceMs) continue;
    await nextTurn();
    sliceBegan = performance.now();
  }
  const cases = await openOrJoin(
    batch,
    judged.flatMap((each) => each.found),
    accounts.flags,
  );
  const changed = standing.after(memory.countTied());
  // Start all writes together: the database executes one while the next is being encoded.
  await Promise.all([
    appendScored(
      tx,
      tenantId,
      judged.map((each) => toScored(each, cases.made)),
    ),
    memory.save(now),
    tallyBatch(tx, tenantId, activities, memory.started),
    saveHits(batch, judged),
    saveCases(tx, tenantId, cases.joined),
    insertCaseClaims(tx, tenantId, cases.claims),
    changed && saveTurn(tx, tenantId, changed),
    proveClaims(tx, tenantId, memory.listProved()),
    addIdentityCounts(tx, tenantId, identityCounts(believed)),
  ]);
  await labelReports(batch, reportsIn(judged, cases.made));
  await appendEvents(tx, tenantId, [...accounts.events, ...cases.events]);
  return { scored: claimed.length, opened: cases.opened, joined: cases.joinedFindings };
}

type Enriched = { id_key: string; event: EnrichedActivity };

// Sorts by event time, whatever order the events arrived in.
function inOrder(events: Enriched[]): Enriched[] {
  return events.toSorted((a, b) => a.event.at - b.event.at || (a.id_key < b.id_key ? -1 : 1));
}

function judgeOne(
  memory: Memory,
  set: RuleSet,
  { id_key, event }: Enriched,
  { keepIp, nowMs }: { keepIp: (ip: string) => string; nowMs: number },
): Judged {
  const { context, ratio, isShared } = observe(memory.scene(event));
  const verdict = judge(context, set, ratio);
  if (isShared) memory.learnLogin(event);
  if (verdict.score >= 3) memory.suspectHeld(event);
  const { ip } = event.activity;
  const activity = ip === undefined ? event.activity : { ...event.activity, ip: keepIp(ip) };
  const { source, claimed, at } = event;
  // Without an autonomous system the network is a block of addresses, which follows the tenant's ip_policy too.
  const network = event.network.includes("/") ? keepIp(event.network) : event.network;
  const crowd = crowdSubject(event, keepIp);
  const observed = { activity, source, claimed, crowd, at, address: addressSubject(ip, keepIp), network, context };
  const found = findingsOf(verdict, observed, nowMs);
  return {
    id_key,
    activity,
    source,
    claimed_account_id: activity.website_account_id === undefined ? (claimed ?? null) : null,
    score: scoreOfFindings(found, verdict, activity),
    decision: decisionText(verdict, context),
    hits: hitsOf(verdict, observed),
    found,
  };
}

function crowdSubject({ activity, crowd }: EnrichedActivity, keepIp: (ip: string) => string): string | null {
  const { device_id: device, ip } = activity;
  if (crowd === "device" && device !== undefined) return `device:${device}`;
  if (crowd === "ip" && ip !== undefined) return `ip:${hostOf(keepIp(ip))}`;
  return crowd === "block" && ip !== undefined ? `network:${keepIp(blockOf(ip))}` : null;
}

function hitsOf({ fired, shadow }: Verdict, observed: Seen): Hit[] {
  if (fired.length === 0 && shadow.length === 0) return [];
  const { activity, context } = observed;
  const { activity_id, website_account_id, occurred_at } = activity;
  const at = new Date(timeOf(activity)).toISOString();
  return [...fired, ...shadow].map(({ rule, sentence }, index) => ({
    rule_id: rule.rule_id,
    is_shadow: index >= fired.length,
    // The day on which it happened, not the day on which it was reported.
    day: at.slice(0, 10),
    subject: observed.crowd ?? hitSubject(activity, rule.about, observed),
    at,
    last_activity: {
      activity_id,
      ...(website_account_id !== undefined && { website_account_id }),
      occurred_at,
      sentence: sentence.render(context),
    },
  }));
}

async function saveHits({ tx, tenantId }: Batch, judged: Judged[]): Promise<void> {
  const hits = judged.flatMap((each) => each.hits);
  if (hits.length === 0) return;
  await addRuleHits(
    tx,
    tenantId,
    hits.map(({ rule_id, is_shadow, day }) => ({ rule_id, is_shadow, day, hits: 1 })),
  );
  await addRuleSubjects(
    tx,
    tenantId,
    hits.map(({ day: _day, ...hit }) => ({ ...hit, hits: 1 })),
  );
}

// Only the reports of servers label anything: anybody can send as a page.
function reportsIn(judged: Judged[], made: Map<Found, { case_id: string }>): Report[] {
  return judged
    .filter(({ activity, source }) => activity.type === "fraud_report" && source === "server")
    .map(({ activity, found }) => ({ activity, case_id: found.flatMap((each) => made.get(each)?.case_id ?? [])[0] ?? null }));
}

function toScored({ found, hits: _hits, ...judged }: Judged, made: Map<Found, { case_id: string; prediction_id: string }>) {
  const [first] = found.flatMap((each) => made.get(each) ?? []);
  return {
    ...judged,
    ip: judged.activity.ip ?? null,
    prediction_id: first?.prediction_id ?? null,
    case_id: first?.case_id ?? null,
  };
}
