import { setImmediate as nextTurn } from "node:timers/promises";
import { insertSeenAccounts, saveSessionTimes, type Flags } from "../db/accounts.ts";
import { appendScored, claimTurn, isDayMissing, saveBrowserSeen, type Turn } from "../db/activities.ts";
import { claimActivities, type ClaimedActivity } from "../db/inbox.ts";
import { isUnscorable, markBefore, returnToMark, setAsideOldest } from "../db/unscorable.ts";
import { saveCases } from "../db/cases.ts";
import type { Database, Queryable } from "../db/database.ts";
import { appendEvents } from "../db/events.ts";
import { saveRuleLimits } from "../db/rule-limits.ts";
import { addRuleHits, addRuleSubjects, type RuleSubject } from "../db/rules.ts";
import { observe } from "../detection/features.ts";
import { findingsOf, type Found } from "../detection/finding.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import { decisionText, judge, type RuleSet, type Verdict } from "../detection/score.ts";
import type { RuleContext } from "../detection/vector.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import type { DomainEvent } from "../domain/event.ts";
import { hitSubject } from "../domain/rule.ts";
import { openOrJoin, type Batch, type Clock } from "./cases.ts";
import { keptIp, timeOf, type Enrichment } from "./enrichment.ts";
import { Memory } from "./memory.ts";
import { restMs } from "./pattern-budget.ts";
import type { RuleSets } from "./rule-sets.ts";
import { tallyBatch } from "./tally.ts";

const batchMax = 1_000;
const sliceMs = 20;
const browserFreshMs = 24 * 60 * 60 * 1000;
const browserNotedMs = 60 * 60 * 1000;

export type Pass = { scored: number; opened: number; joined: number };
export type Detector = { database: Database; clock: Clock; enrichment: Enrichment; ruleSets: RuleSets };

// What remains of an event once it is judged. Not its context, of some hundred values: a batch of those would be most of the
// engine's memory.
type Judged = {
  id_key: string;
  // As it is kept: its address by the tenant's policy.
  activity: RecordedActivity;
  score: number;
  decision: string;
  hits: Hit[];
  found: Found[];
};
type Hit = Omit<RuleSubject, "hits"> & { day: string };

// One batch of one tenant in one transaction: a crash anywhere runs it again, and it comes out the same. Null where another
// engine has the tenant.
export async function detectBatch(detector: Detector, tenantId: string, size = batchMax): Promise<Pass | null> {
  const pass = await detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    return turn && scoreOldest(detector, { tx, tenantId, turn, size });
  });
  await saveLimitedRules(detector, tenantId);
  return pass;
}

// Apart from the batch, which may be rolled back.
async function saveLimitedRules({ database, clock, ruleSets }: Detector, tenantId: string): Promise<void> {
  await ruleSets.saveLimited(tenantId, async (rule_ids) => {
    const limited_at = clock.now();
    const limited_until = new Date(Date.parse(limited_at) + restMs).toISOString();
    await database.transaction((tx) => saveRuleLimits(tx, tenantId, { rule_ids, limited_at, limited_until }));
  });
}

// The oldest alone. Where that one cannot be scored it is set aside, whole, and `fault` says why: it would hold up all that its
// tenant sends for ever.
export async function detectOldest(
  detector: Detector,
  tenantId: string,
  { areDaysMade }: { areDaysMade: boolean },
): Promise<(Pass & { fault?: unknown }) | null> {
  return detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    if (!turn) return null;
    await markBefore(tx);
    try {
      return await scoreOldest(detector, { tx, tenantId, turn, size: 1 });
    } catch (fault) {
      const isDayImpossible = areDaysMade && isDayMissing(fault);
      if (!isUnscorable(fault) && !isDayImpossible) throw fault;
      // The turn is still ours, so it is still the oldest.
      await returnToMark(tx);
      await setAsideOldest(tx, tenantId, { fault: String(fault), now: detector.clock.now() });
      return { scored: 0, opened: 0, joined: 0, fault };
    }
  });
}

type Oldest = { tx: Queryable; tenantId: string; turn: Turn; size: number };

async function scoreOldest(detector: Detector, { tx, tenantId, turn, size }: Oldest): Promise<Pass> {
  const { clock } = detector;
  const claimed = await claimActivities(tx, tenantId, size);
  if (claimed.length === 0) return { scored: 0, opened: 0, joined: 0 };
  const now = clock.now();
  const batch: Batch = { tx, tenantId, clock, now };
  const activities = claimed.map((each) => each.activity);
  const enriched = inOrder(claimed.map((each) => ({ claimed: each, event: detector.enrichment.enrich(each.activity) })));
  const { events, flags } = await seeAccounts(batch, enriched);
  const tenantHasBrowser = await seeBrowsers(batch, activities, turn.browser_at);
  const set = await detector.ruleSets.current(tx, tenantId);
  const keepIp = (ip: string) => keptIp(ip, turn);
  const memory = await Memory.load(
    { tx, tenantId, flags, tenantHasBrowser, keepIp },
    enriched.map(({ event }) => event),
  );
  const judged: Judged[] = [];
  let sliceBegan = performance.now();
  for (const each of enriched) {
    judged.push(judgeOne(memory, set, each, { keepIp, nowMs: Date.parse(now) }));
    // Requests of the same process must not wait for a whole batch.
    if (performance.now() - sliceBegan < sliceMs) continue;
    await nextTurn();
    sliceBegan = performance.now();
  }
  const cases = await openOrJoin(
    batch,
    judged.flatMap((each) => each.found),
    flags,
  );
  // Sent together: the database writes one while the next is being put into words.
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
  ]);
  await appendEvents(tx, tenantId, [...events, ...cases.events]);
  return { scored: claimed.length, opened: cases.opened, joined: cases.joinedFindings };
}

// The first activity that names an account creates it.
async function seeAccounts(
  { tx, tenantId, now }: Batch,
  inOrderOfTime: Enriched[],
): Promise<{ events: DomainEvent[]; flags: Map<string, Flags> }> {
  const times = new Map<string, number | null>();
  for (const { event } of inOrderOfTime) {
    const { website_account_id: id, session_id: session } = event.activity;
    if (id !== undefined) times.set(id, session === undefined ? (times.get(id) ?? null) : event.at);
  }
  if (times.size === 0) return { events: [], flags: new Map() };
  const created: string[] = [];
  const flags = new Map<string, Flags>();
  // An erasure that commits while we wait for its row takes the account away: then it is made again.
  for (
    let missing = [...times].map(([id, at]) => ({ id, session_at: at === null ? null : new Date(at).toISOString() }));
    missing.length > 0;
  ) {
    created.push(...(await insertSeenAccounts(tx, tenantId, { ids: missing.map(({ id }) => id), now })));
    for (const [id, each] of await saveSessionTimes(tx, tenantId, missing)) flags.set(id, each);
    missing = missing.filter(({ id }) => !flags.has(id));
  }
  const events = created.map((id): DomainEvent => ({
    type: "account.created",
    occurred_at: now,
    actor: "system",
    resource: { type: "end_user_account", id },
  }));
  return { events, flags };
}

// Whether the tenant's pages send events at all: without, that a session has none means nothing.
async function seeBrowsers(
  { tx, tenantId, now }: Batch,
  activities: RecordedActivity[],
  lastAt: string | null,
): Promise<boolean> {
  const ageMs = lastAt === null ? Infinity : Date.parse(now) - Date.parse(lastAt);
  const isHere = activities.some((activity) => activity.origin === "browser");
  if (isHere && ageMs > browserNotedMs) await saveBrowserSeen(tx, tenantId, now);
  return isHere || ageMs < browserFreshMs;
}

type Enriched = { claimed: ClaimedActivity; event: EnrichedActivity };

// By time, whatever order they came in.
function inOrder(events: Enriched[]): Enriched[] {
  return events.toSorted((a, b) => a.event.at - b.event.at || (a.claimed.id_key < b.claimed.id_key ? -1 : 1));
}

function judgeOne(
  memory: Memory,
  set: RuleSet,
  { claimed, event }: Enriched,
  { keepIp, nowMs }: { keepIp: (ip: string) => string; nowMs: number },
): Judged {
  const { context, ratio } = observe(memory.scene(event));
  const verdict = judge(context, set, ratio);
  memory.learnLogin(event);
  const { ip } = event.activity;
  const activity = ip === undefined ? event.activity : { ...event.activity, ip: keepIp(ip) };
  const found = findingsOf(verdict, { activity, at: event.at, network: event.network, context }, nowMs);
  return {
    id_key: claimed.id_key,
    activity,
    score: found.reduce<number>((most, { finding }) => Math.max(most, finding.score), verdict.score),
    decision: decisionText(verdict, context),
    hits: hitsOf(verdict, { activity, context, network: event.network }),
    found,
  };
}

function hitsOf({ fired, shadow }: Verdict, seen: { activity: RecordedActivity; context: RuleContext; network: string }): Hit[] {
  if (fired.length === 0 && shadow.length === 0) return [];
  const { activity, context, network } = seen;
  const { activity_id, website_account_id, occurred_at } = activity;
  const at = new Date(timeOf(activity)).toISOString();
  return [...fired, ...shadow].map(({ rule, sentence }, index) => ({
    rule_id: rule.rule_id,
    is_shadow: index >= fired.length,
    // When it happened, not when it was told.
    day: at.slice(0, 10),
    subject: hitSubject(activity, rule.about, network),
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

function toScored({ found, hits: _hits, ...judged }: Judged, made: Map<Found, { case_id: string; prediction_id: string }>) {
  const [first] = found.flatMap((each) => made.get(each) ?? []);
  return {
    ...judged,
    ip: judged.activity.ip ?? null,
    prediction_id: first?.prediction_id ?? null,
    case_id: first?.case_id ?? null,
  };
}
