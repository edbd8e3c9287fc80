import type { Logger } from "pino";
import { countFraudsSince, findLastRun, findQuietHour, insertRun, listLabelledTenants } from "../db/model-runs.ts";
import { listModels } from "../db/models.ts";
import type { Database } from "../db/postgres/database.ts";
import { moments, type Moment } from "../domain/label.ts";
import { momentNames } from "../domain/moment.ts";
import { isInShadow, isTrainingDue } from "../domain/training.ts";

type Clock = { now: () => string; newId: (at?: string) => string };
type Options = { database: Database; clock: Clock; log: Logger };

// For tenants whose quiet hour it is, queues a run for each moment that has enough to learn from. If two engines do this at once,
// only one run is queued. A failure for one tenant does not hold up the others.
export async function queueDueRuns({ database, clock, log }: Options): Promise<void> {
  for (const tenantId of await listLabelledTenants(database)) {
    await queueRunsOf({ database, clock }, tenantId).catch((error: unknown) =>
      log.error({ err: error, tenant_id: tenantId }, "training could not be scheduled; it will be retried"),
    );
  }
}

async function queueRunsOf({ database, clock }: Omit<Options, "log">, tenantId: string): Promise<void> {
  const now = clock.now();
  if ((await findQuietHour(database, tenantId, now)) !== new Date(now).getUTCHours()) return;
  for (const moment of momentNames) {
    if (!(await isDue(database, tenantId, { moment, now }))) continue;
    const added = { run_id: clock.newId(now), moment, created_at: now, created_by: "system" };
    await database.transaction((tx) => insertRun(tx, tenantId, added));
  }
}

async function isDue(database: Database, tenantId: string, { moment, now }: { moment: Moment; now: string }): Promise<boolean> {
  const models = await listModels(database, tenantId);
  const challenger = models.find((each) => each.moment === moment && each.state === "CHALLENGER");
  if (challenger && isInShadow(challenger, now)) return false;
  const last = await findLastRun(database, tenantId, moment);
  const newFrauds = await countFraudsSince(database, tenantId, { types: moments[moment], since: last });
  return isTrainingDue({ last, newFrauds, now });
}
