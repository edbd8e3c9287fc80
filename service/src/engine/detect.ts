import {
  appendScored,
  claimTurn,
  isDayMissing,
  proveClaims,
  saveAssessedAt,
  saveCampaigns,
  saveTurn,
  type Turn,
} from "../db/activities.ts";
import type { Answer } from "../db/assessments.ts";
import type { ClaimedActivity } from "../db/inbox.ts";
import { claimActivities, type Claim } from "../db/inbox-claims.ts";
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
import type { RuleSet } from "../detection/score.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { withCases } from "../domain/decision.ts";
import { believed as asBelieved } from "../domain/evidence.ts";
import { answerBatch } from "./answers.ts";
import { identityCounts } from "./belief.ts";
import { isAssessing, type BriefBatches } from "./brief-batches.ts";
import { openOrJoin, type Batch, type CaseWork, type Clock } from "./cases.ts";
import type { Enrichment } from "./enrichment.ts";
import { Damper } from "./damper.ts";
import { judgeBatch } from "./judge-batch.ts";
import type { Judged } from "./judging.ts";
import { restMs } from "./pattern-budget.ts";
import { quarantineByPolicy } from "./policy.ts";
import { labelReports, type Report } from "./report-labels.ts";
import type { RuleSets } from "./rule-sets.ts";
import { tallyBatch } from "./tally.ts";
import type { Verdicts } from "./verdicts.ts";

export const batchMax = 1_000;
export const urgentMax = 500;

export type Pass = { scored: number; opened: number; joined: number; answers?: Answer[] };
export type Detector = {
  database: Database;
  clock: Clock;
  enrichment: Enrichment;
  ruleSets: RuleSets;
  // The requests of this process that wait for answers to assessments.
  verdicts?: Verdicts;
  brief?: BriefBatches;
};

// `isPatient`: wait briefly for the tenant's turn, and fail as contended if it stays taken.
type Wanted = Partial<Claim> & { isPatient?: boolean };

// Processes one batch of one tenant in one transaction. After a crash the batch runs again with the same result. Returns null if
// another engine holds the tenant. While the tenant's servers send assessments, batches are small, because an assessment has to
// wait for the batch before it.
export async function detectBatch(
  detector: Detector,
  tenantId: string,
  { isPatient, ...claim }: Wanted = {},
): Promise<Pass | null> {
  const { database, clock, brief } = detector;
  const wanted: Claim = { size: batchMax, ...claim };
  let briefBegan: number | null = null;
  const run = async (tx: Queryable): Promise<Pass | null> => {
    const turn = await claimTurn(tx, tenantId, isPatient);
    if (!turn) return null;
    briefBegan = brief && isAssessing(turn, clock.now()) ? performance.now() : null;
    return scoreOldest(detector, { tx, tenantId, turn, claim: briefBegan === null ? wanted : briefly(wanted, brief) });
  };
  // Somebody waits for a patient batch, and planning the statements of a small batch takes longer than running them.
  const pass = await (isPatient === true ? database.tryOnce(run, { keepsPlans: true }) : database.transaction(run));
  if (pass && briefBegan !== null) brief?.measure({ scored: pass.scored, tookMs: performance.now() - briefBegan });
  detector.verdicts?.deliver(tenantId, pass?.answers ?? []);
  await saveLimitedRules(detector, tenantId);
  return pass;
}

// An urgent batch has its own limits. A batch that is already small is left as it is, because it may be searching for an activity
// that cannot be scored.
function briefly(wanted: Claim, brief: BriefBatches | undefined): Claim {
  if (!brief || wanted.urgentMax !== undefined || wanted.size <= brief.max) return wanted;
  return { ...wanted, size: brief.max, urgentMax };
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
  const pass = await detector.database.transaction(async (tx): Promise<(Pass & { fault?: unknown }) | null> => {
    const turn = await claimTurn(tx, tenantId);
    if (!turn) return null;
    await markBefore(tx);
    try {
      return await scoreOldest(detector, { tx, tenantId, turn, claim: { size: 1, only, isInOrder: true } });
    } catch (fault) {
      const isDayImpossible = areDaysMade && isDayMissing(fault);
      if (!isUnscorable(fault) && !isDayImpossible) throw fault;
      // We still hold the tenant's turn, so this activity is still the oldest.
      await returnToMark(tx);
      await setAsideOldest(tx, tenantId, { origin: only, fault: String(fault), now: detector.clock.now() });
      return { scored: 0, opened: 0, joined: 0, fault };
    }
  });
  detector.verdicts?.deliver(tenantId, pass?.answers ?? []);
  return pass;
}

type Oldest = { tx: Queryable; tenantId: string; turn: Turn; claim: Claim };

async function scoreOldest(detector: Detector, { tx, tenantId, turn, claim }: Oldest): Promise<Pass> {
  const [claimed, set] = await Promise.all([claimActivities(tx, tenantId, claim), detector.ruleSets.current(tx, tenantId)]);
  if (claimed.length === 0) return { scored: 0, opened: 0, joined: 0 };
  return scoreClaimed(detector, { tx, tenantId, turn, set, claimed, isHistory: false });
}

type Claimed = Pick<Oldest, "tx" | "tenantId" | "turn"> & { set: RuleSet; claimed: ClaimedActivity[]; isHistory: boolean };

// The engine learns from imported history what is usual, and stores the decisions. But history opens no cases, and does not
// change what is known about current campaigns or about what the tenant's servers and pages send now.
export async function scoreClaimed(detector: Detector, { tx, tenantId, turn, set, claimed, isHistory }: Claimed): Promise<Pass> {
  const { clock } = detector;
  const now = clock.now();
  const due = set.dueTimes && { due: { times: set.dueTimes, zone: turn.time_zone } };
  const batch: Batch = { tx, tenantId, clock, now, ...due };
  const activities = claimed.map((each) => each.activity);
  const { standing, memory, believed, accounts, campaigns, snoozer, judged, policy } = await judgeBatch(detector.enrichment, {
    batch,
    turn,
    set,
    claimed,
    isHistory,
  });
  const found = judged.flatMap((each) => each.found);
  const cases = await openOrJoin(batch, isHistory ? [] : found, accounts.flags);
  const changed = standing.after(memory.countTied());
  const underWay = campaigns.changed();
  const isLocal = (id_key: string) => detector.verdicts?.isWaiting(tenantId, id_key) ?? false;
  const isAssessment = judged.some(({ evidence }) => evidence);
  // Start all writes together: the database executes one while the next is being encoded.
  const writing = Promise.all([
    appendScored(
      tx,
      tenantId,
      judged.map((each) => ({ ...toScored(each, cases), isImported: isHistory })),
    ),
    memory.save(now),
    tallyBatch(tx, tenantId, {
      // With the current time as the time of receipt, imported activity counts as late, so no per-minute metrics are made for old
      // days.
      activities: isHistory ? activities.map((each) => ({ ...each, received_at: now })) : activities,
      startedSessions: memory.started,
    }),
    saveHits(batch, judged),
    saveCases(tx, tenantId, cases.joined),
    insertCaseClaims(tx, tenantId, cases.claims),
    saveMembers(tx, tenantId, cases.members.all()),
    Damper.save(batch, found, cases),
    !isHistory && underWay && saveCampaigns(tx, tenantId, underWay),
    !isHistory && changed && saveTurn(tx, tenantId, changed),
    proveClaims(tx, tenantId, memory.listProved()),
    addIdentityCounts(tx, tenantId, identityCounts(believed)),
    isAssessment && !isAssessing(turn, now, 0.5) && saveAssessedAt(tx, tenantId, now),
  ]);
  // The answers come last, because they may have to wait until an answer at the deadline is committed, and the other way round.
  const answering = answerBatch(batch, { judged, policy, cases, flags: accounts.flags, isLocal });
  const [{ answers, events }] = await Promise.all([answering, writing]);
  await labelReports(batch, reportsIn(judged, cases.made));
  const quarantined = isHistory ? [] : await quarantineByPolicy(batch, policy, { judged, flags: accounts.flags });
  const ended = await snoozer.save(batch);
  await appendEvents(tx, tenantId, [...accounts.events, ...cases.events, ...quarantined, ...ended, ...events]);
  return { scored: claimed.length, opened: cases.opened, joined: cases.joinedFindings, answers };
}

async function saveHits({ tx, tenantId }: Batch, judged: Judged[]): Promise<void> {
  const hits = judged.flatMap((each) => each.hits);
  await Promise.all([
    addRuleHits(tx, tenantId, [
      ...hits.map(({ rule_id, is_shadow, day }) => ({ rule_id, is_shadow, day, hits: 1 })),
      ...judged.flatMap((each) => each.listHits),
    ]),
    addRuleSubjects(
      tx,
      tenantId,
      hits.map(({ day: _day, ...hit }) => ({ ...hit, hits: 1 })),
    ),
  ]);
}

// Only the reports of servers label anything: anybody can send as a page.
function reportsIn(judged: Judged[], made: Map<Found, { case_id: string }>): Report[] {
  return judged
    .filter(({ activity, source }) => activity.type === "fraud_report" && source === "server")
    .map(({ activity, found }) => ({ activity, case_id: found.flatMap((each) => made.get(each)?.case_id ?? [])[0] ?? null }));
}

function toScored(
  { found, hits: _hits, listHits: _listHits, evidence: _evidence, labels: _labels, isOfAccount: _isOfAccount, ...judged }: Judged,
  { made, caseOf }: CaseWork,
) {
  const [first] = found.flatMap((each) => made.get(each) ?? []);
  const counted = found.flatMap(({ subject, finding }): [string, number][] => {
    const caseId = caseOf.get(subject);
    return caseId === undefined ? [] : [[caseId, asBelieved(finding).score]];
  });
  const isSaidByRow = counted.length === 0 || (counted.length === 1 && counted[0]?.[0] === first?.case_id);
  return {
    ...judged,
    ...(!isSaidByRow && { decision: withCases(judged.decision, counted) }),
    ip: judged.activity.ip ?? null,
    prediction_id: first?.prediction_id ?? judged.activity.prediction_id ?? null,
    case_id: first?.case_id ?? null,
  };
}
