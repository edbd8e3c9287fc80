import { findAccounts } from "../db/accounts.ts";
import { findTurn } from "../db/activities.ts";
import type { AssessedActivity } from "../db/assessments.ts";
import { activityKey } from "../db/inbox.ts";
import type { Queryable } from "../db/postgres/database.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import type { Assessment } from "../domain/assessment.ts";
import { answerTo } from "./answers.ts";
import type { Batch } from "./cases.ts";
import type { Detector } from "./detect.ts";
import { judgeBatch } from "./judge-batch.ts";

// Judges activities from what is stored now, without activity that is still waiting, and writes nothing. Several activities are
// judged together, as if they had come one after the other. Returns the answers by prediction id.
export async function judgeSnapshot(
  detector: Pick<Detector, "database" | "clock" | "enrichment" | "ruleSets">,
  tenantId: string,
  activities: AssessedActivity[],
): Promise<Map<string, Assessment>> {
  const { database, clock } = detector;
  const [turn, set] = await Promise.all([findTurn(database, tenantId), detector.ruleSets.current(database, tenantId)]);
  if (!turn) return new Map();
  const batch: Batch = { tx: database, tenantId, clock, now: clock.now() };
  const once = new Map(activities.map((activity) => [activityKey(activity), activity]));
  const claimed = [...once].map(([id_key, activity]) => ({ id_key, activity }));
  const { judged, accounts, policy } = await judgeBatch(detector.enrichment, {
    batch,
    turn,
    set,
    claimed,
    isHistory: false,
    see: readAccounts,
  });
  // No case has been opened or joined yet.
  const given = { flags: accounts.flags, caseOf: () => null, verdictFrom: "snapshot", now: clock.now() } as const;
  return new Map(
    judged.flatMap((each): [string, Assessment][] => {
      const answer = answerTo(each, policy, given);
      return answer ? [[answer.prediction_id, answer]] : [];
    }),
  );
}

async function readAccounts({ tx, tenantId }: { tx: Queryable; tenantId: string }, events: EnrichedActivity[]) {
  const ids = [...new Set(events.flatMap(({ activity }) => activity.website_account_id ?? []))];
  return { events: [], haveAfresh: false, flags: new Map(ids.length === 0 ? [] : await findAccounts(tx, tenantId, ids)) };
}
