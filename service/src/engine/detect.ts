import { setImmediate as nextTurn } from "node:timers/promises";
import { insertSeenAccounts, saveSessionTimes, type Flags } from "../db/accounts.ts";
import {
  appendScored,
  claimActivities,
  claimTurn,
  isDayMissing,
  saveBrowserSeen,
  type ClaimedActivity,
  type Turn,
} from "../db/activities.ts";
import { isUnscorable, markBefore, returnToMark, setAsideOldest } from "../db/unscorable.ts";
import { saveCases } from "../db/cases.ts";
import type { Database, Queryable } from "../db/database.ts";
import { appendEvents } from "../db/events.ts";
import { addRuleHits, addRuleSubjects } from "../db/rules.ts";
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
import type { RuleSets } from "./rule-sets.ts";
import { tallyBatch } from "./tally.ts";

const batchMax = 1_000;
const sliceMs = 20;
const browserFreshMs = 24 * 60 * 60 * 1000;
const browserNotedMs = 60 * 60 * 1000;

export type Pass = { scored: number; opened: number; joined: number };
export type Detector = { database: Database; clock: Clock; enrichment: Enrichment; ruleSets: RuleSets };

type Judged = {
  claimed: ClaimedActivity;
  // As it is kept: its address by the tenant's policy.
  activity: RecordedActivity;
  verdict: Verdict;
  context: RuleContext;
  network: string;
  found: Found[];
};

// One batch of one tenant in one transaction: a crash anywhere runs it again, and it comes out the same. Null where another
// engine has the tenant.
export async function detectBatch(detector: Detector, tenantId: string, size = batchMax): Promise<Pass | null> {
  return detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    return turn && scoreOldest(detector, { tx, tenantId, turn, size });
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
  const { events, flags } = await seeAccounts(batch, activities);
  const tenantHasBrowser = await seeBrowsers(batch, activities, turn.browser_at);
  const set = await detector.ruleSets.current(tx, tenantId);
  const keepIp = (ip: string) => keptIp(ip, turn.ip_policy);
  const enriched = inOrder(claimed.map((each) => ({ claimed: each, event: detector.enrichment.enrich(each.activity) })));
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
  await memory.save(now);
  await tallyBatch(tx, tenantId, activities, memory.started);
  await saveHits(batch, judged);
  await saveCases(tx, tenantId, cases.joined);
  await appendScored(
    tx,
    tenantId,
    judged.map((each) => toScored(each, cases.made)),
  );
  await appendEvents(tx, tenantId, [...events, ...cases.events]);
  return { scored: claimed.length, opened: cases.opened, joined: cases.joinedFindings };
}

// The first activity that names an account creates it.
async function seeAccounts(
  { tx, tenantId, now }: Batch,
  activities: RecordedActivity[],
): Promise<{ events: DomainEvent[]; flags: Map<string, Flags> }> {
  const times = new Map<string, string | null>();
  for (const activity of activities) {
    const { website_account_id: id, session_id: session } = activity;
    if (id === undefined) continue;
    const at = new Date(timeOf(activity)).toISOString();
    const known = times.get(id) ?? null;
    times.set(id, session !== undefined && (known === null || at > known) ? at : known);
  }
  if (times.size === 0) return { events: [], flags: new Map() };
  const created: string[] = [];
  const flags = new Map<string, Flags>();
  // An erasure that commits while we wait for its row takes the account away: then it is made again.
  for (let missing = [...times].map(([id, session_at]) => ({ id, session_at })); missing.length > 0;) {
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
  return { claimed, activity, verdict, context, network: event.network, found };
}

async function saveHits({ tx, tenantId }: Batch, judged: Judged[]): Promise<void> {
  const hits = judged.flatMap(({ activity, verdict, context, network }) =>
    [
      ...verdict.fired.map((active) => ({ active, is_shadow: false })),
      ...verdict.shadow.map((active) => ({ active, is_shadow: true })),
    ].map(({ active, is_shadow }) => ({ activity, context, network, active, is_shadow, rule_id: active.rule.rule_id })),
  );
  if (hits.length === 0) return;
  await addRuleHits(
    tx,
    tenantId,
    hits.map(({ rule_id, is_shadow, activity }) => ({ rule_id, is_shadow, day: dayOf(activity), hits: 1 })),
  );
  await addRuleSubjects(
    tx,
    tenantId,
    hits.map(({ rule_id, is_shadow, activity, active, context, network }) => ({
      rule_id,
      is_shadow,
      subject: hitSubject(activity, active.rule.about, network),
      hits: 1,
      at: new Date(timeOf(activity)).toISOString(),
      last_activity: {
        activity_id: activity.activity_id,
        ...(activity.website_account_id !== undefined && { website_account_id: activity.website_account_id }),
        occurred_at: activity.occurred_at,
        sentence: active.sentence.render(context),
      },
    })),
  );
}

// When it happened, not when it was told.
function dayOf(activity: RecordedActivity): string {
  return new Date(timeOf(activity)).toISOString().slice(0, 10);
}

function toScored(
  { claimed, activity, verdict, context, found }: Judged,
  made: Map<Found, { case_id: string; prediction_id: string }>,
) {
  const [first] = found.flatMap((each) => made.get(each) ?? []);
  const score = Math.max(verdict.score, ...found.map(({ finding }) => finding.score));
  return {
    id_key: claimed.id_key,
    activity,
    ip: activity.ip ?? null,
    score,
    prediction_id: first?.prediction_id ?? null,
    case_id: first?.case_id ?? null,
    decision: decisionText(verdict, context),
  };
}
