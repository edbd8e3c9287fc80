import { claimTurn, listPartitions, makePartition, type Turn } from "../db/activities.ts";
import { claimHistory, deleteFinishedImport, findHistoryClock, type ClaimedPast } from "../db/history.ts";
import { saveLabels, type NewLabelRow } from "../db/labels.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { insertUnscorable, isUnscorable, markBefore, returnToMark } from "../db/unscorable.ts";
import { labelSources } from "../domain/label.ts";
import { saveLimitedRules, scoreClaimed, type Detector, type Pass } from "./detect.ts";
import { countLabels } from "./labels.ts";

// Smaller than a live batch, because live activity of the same tenant has to wait until it ends.
const historyMax = 500;
const sizes = [historyMax, 16];

type HistoryPass = Pass & { fault?: unknown };
type Given = { tx: Queryable; tenantId: string; turn: Turn };

// Scores the oldest history of a tenant, at most one day of it, in one transaction. After a crash it runs again with the same
// result. Returns null if another engine has the tenant's turn.
async function detectHistory(detector: Detector, tenantId: string, size = historyMax): Promise<Pass | null> {
  const pass = await detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    return turn && scoreNext(detector, { tx, tenantId, turn }, await claimHistory(tx, tenantId, size));
  });
  await saveLimitedRules(detector, tenantId);
  return pass;
}

// Sets the oldest activity aside if it cannot be scored, as for the inbox. Otherwise the import would never end.
export async function workHistory(detector: Detector, tenantId: string): Promise<HistoryPass | null> {
  await makeDay(detector, tenantId);
  for (const size of sizes) {
    try {
      return await detectHistory(detector, tenantId, size);
    } catch (error) {
      if (!isUnscorable(error)) throw error;
    }
  }
  return detectOldestPast(detector, tenantId);
}

// Old days have no partition yet. It is created outside the batch, because its lock waits for every other engine's batch.
async function makeDay({ database }: Detector, tenantId: string): Promise<void> {
  const day = (await findHistoryClock(database, tenantId))?.slice(0, 10);
  if (day === undefined || (await listPartitions(database)).includes(day)) return;
  await database.transaction((tx) => makePartition(tx, day));
}

async function detectOldestPast(detector: Detector, tenantId: string): Promise<HistoryPass | null> {
  return detector.database.transaction(async (tx) => {
    const turn = await claimTurn(tx, tenantId);
    if (!turn) return null;
    const [oldest] = await claimHistory(tx, tenantId, 1);
    if (!oldest) return scoreNext(detector, { tx, tenantId, turn }, []);
    await markBefore(tx);
    try {
      return await scoreNext(detector, { tx, tenantId, turn }, [oldest]);
    } catch (fault) {
      if (!isUnscorable(fault)) throw fault;
      await returnToMark(tx);
      const { id_key, activity } = oldest;
      const { received_at, website_account_id = null } = activity;
      const setAside = { received_at, id_key, website_account_id, activity: JSON.stringify(activity) };
      await insertUnscorable(tx, tenantId, { oldest: setAside, fault: String(fault), now: detector.clock.now() });
      return { scored: 0, opened: 0, joined: 0, fault };
    }
  });
}

async function scoreNext(detector: Detector, { tx, tenantId, turn }: Given, past: ClaimedPast[]): Promise<Pass> {
  const [first] = past;
  if (!first) {
    await deleteFinishedImport(tx, tenantId);
    return { scored: 0, opened: 0, joined: 0 };
  }
  const now = detector.clock.now();
  // Count the labels that were known at that time, as a live batch of that day would have.
  while ((await countLabels({ tx, tenantId, now, turn, knownBy: first.activity.received_at })) > 0);
  const set = await detector.ruleSets.current(tx, tenantId);
  const pass = await scoreClaimed(detector, { tx, tenantId, turn: turnOfThen(turn), set, claimed: past, isHistory: true });
  await saveLabels(tx, tenantId, fraudsIn(past, now));
  return pass;
}

// What the tenant's servers and pages send today says nothing about the past: there may have been no browser tag then.
function turnOfThen(turn: Turn): Turn {
  return { ...turn, told: {}, tied_sessions: 0, heard_sessions: 0, browser_at: null, campaigns: {} };
}

function fraudsIn(past: ClaimedPast[], now: string): NewLabelRow[] {
  return past.flatMap(({ id_key, activity, known_at, actor }): NewLabelRow[] => {
    if (known_at === null) return [];
    const { received_at } = activity;
    const from = { source: "api" as const, weight: labelSources.api.weight, case_id: null, case_version: null, actor };
    return [{ activity: { id_key, received_at }, y: 1, event_at: received_at, labelled_at: now, known_at, ...from }];
  });
}
