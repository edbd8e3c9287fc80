import { setImmediate as nextTurn } from "node:timers/promises";
import { appendScored, claimTurn, isDayMissing, proveClaims, saveCampaigns, saveTurn, type Turn } from "../db/activities.ts";
import { claimActivities, type Claim, type ClaimedActivity } from "../db/inbox.ts";
import { isUnscorable, markBefore, returnToMark, setAsideOldest } from "../db/unscorable.ts";
import { insertCaseClaims } from "../db/case-claims.ts";
import { saveMembers } from "../db/case-members.ts";
import { saveCases } from "../db/cases.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { addIdentityCounts } from "../db/identity.ts";
import { saveRuleLimits } from "../db/rule-limits.ts";
import { addRuleHits, addRuleSubjects } from "../db/rules.ts";
import type { Found } from "../detection/finding.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { Campaigns } from "../domain/campaign.ts";
import { believeBatch, identityCounts } from "./belief.ts";
import { openOrJoin, type Batch, type Clock } from "./cases.ts";
import { keptIp, type Enrichment } from "./enrichment.ts";
import { Damper } from "./damper.ts";
import { isSuspended, judgeOne, type Bench, type Enriched, type Judged, type Suspended } from "./judging.ts";
import { restMs } from "./pattern-budget.ts";
import { quarantineByPolicy } from "./policy.ts";
import { labelReports, type Report } from "./report-labels.ts";
import type { RuleSets } from "./rule-sets.ts";
import { Snoozer } from "./snoozer.ts";
import { tallyBatch } from "./tally.ts";

export const batchMax = 1_000;
const sliceMs = 20;

export type Pass = { scored: number; opened: number; joined: number };
export type Detector = { database: Database; clock: Clock; enrichment: Enrichment; ruleSets: RuleSets };

// Processes one batch of one tenant in one transaction. After a crash the batch runs again with the same result. Returns null if
// another engine holds the tenant.
export async function detectBatch(detector: Detector, tenantId: string, claim: Partial<Claim> = {}): Promise<Pass | null> {
  const pass = await detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    return turn && scoreOldest(detector, { tx, tenantId, turn, claim: { size: batchMax, ...claim } });
  });
  await saveLimitedRules(detector, tenantId);
  return pass;
}

// Saved outside the batch's transaction, because the batch may be rolled back.
export async function saveLimitedRules({ database, clock, ruleSets }: Detector, tenantId: string): Promise<void> {
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
      return await scoreOldest(detector, { tx, tenantId, turn, claim: { size: 1, only } });
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

type Oldest = { tx: Queryable; tenantId: string; turn: Turn; claim: Claim };

async function scoreOldest(detector: Detector, { tx, tenantId, turn, claim }: Oldest): Promise<Pass> {
  const claimed = await claimActivities(tx, tenantId, claim);
  if (claimed.length === 0) return { scored: 0, opened: 0, joined: 0 };
  return scoreClaimed(detector, { tx, tenantId, turn, claimed, isHistory: false });
}

type Claimed = Pick<Oldest, "tx" | "tenantId" | "turn"> & { claimed: ClaimedActivity[]; isHistory: boolean };

// The engine learns from imported history what is usual, and stores the decisions. But history opens no cases, and does not
// change what is known about current campaigns or about what the tenant's servers and pages send now.
export async function scoreClaimed(detector: Detector, { tx, tenantId, turn, claimed, isHistory }: Claimed): Promise<Pass> {
  const { clock } = detector;
  const now = clock.now();
  const batch: Batch = { tx, tenantId, clock, now };
  const activities = claimed.map((each) => each.activity);
  const told = inOrder(claimed.map((each) => ({ id_key: each.id_key, event: detector.enrichment.enrich(each.activity) })));
  const events = told.map(({ event }) => event);
  const set = await detector.ruleSets.current(tx, tenantId);
  const keepIp = (ip: string) => keptIp(ip, turn);
  const { standing, memory, believed, accounts } = await believeBatch({ batch, turn, events, keepIp });
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
  const found = judged.flatMap((each) => each.found);
  const cases = await openOrJoin(batch, isHistory ? [] : found, accounts.flags);
  const changed = standing.after(memory.countTied());
  const underWay = campaigns.changed();
  // Start all writes together: the database executes one while the next is being encoded.
  await Promise.all([
    appendScored(
      tx,
      tenantId,
      judged.map((each) => ({ ...toScored(each, cases.made), isImported: isHistory })),
    ),
    memory.save(now),
    // With the current time as the time of receipt, imported activity counts as late, so no per-minute metrics are made for old
    // days.
    tallyBatch(tx, tenantId, isHistory ? activities.map((each) => ({ ...each, received_at: now })) : activities, memory.started),
    saveHits(batch, judged),
    saveCases(tx, tenantId, cases.joined),
    insertCaseClaims(tx, tenantId, cases.claims),
    saveMembers(tx, tenantId, cases.members.all()),
    Damper.save(batch, found, cases),
    !isHistory && underWay && saveCampaigns(tx, tenantId, underWay),
    !isHistory && changed && saveTurn(tx, tenantId, changed),
    proveClaims(tx, tenantId, memory.listProved()),
    addIdentityCounts(tx, tenantId, identityCounts(believed)),
  ]);
  await labelReports(batch, reportsIn(judged, cases.made));
  const quarantined = isHistory ? [] : await quarantineByPolicy(batch, set.policy, { judged, flags: accounts.flags });
  const ended = await snoozer.save(batch);
  await appendEvents(tx, tenantId, [...accounts.events, ...cases.events, ...quarantined, ...ended]);
  return { scored: claimed.length, opened: cases.opened, joined: cases.joinedFindings };
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

function toScored(
  { found, hits: _hits, labels: _labels, isOfAccount: _isOfAccount, ...judged }: Judged,
  made: Map<Found, { case_id: string; prediction_id: string }>,
) {
  const [first] = found.flatMap((each) => made.get(each) ?? []);
  return {
    ...judged,
    ip: judged.activity.ip ?? null,
    prediction_id: first?.prediction_id ?? null,
    case_id: first?.case_id ?? null,
  };
}
