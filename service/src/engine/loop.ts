import type { Logger } from "pino";
import { analyzeActivity, makePartition, isDayMissing } from "../db/activities.ts";
import { listTenantsWithWork, listWaitingDays } from "../db/inbox.ts";
import { isUnscorable } from "../db/unscorable.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { detectBatch, detectOldest, type Detector, type Pass } from "./detect.ts";
import { Worker } from "./worker.ts";

const idleMs = 100;
const faultMs = 1_000;
const analyzeFirst = 2_000;
const analyzeFactor = 5;

type LoopOptions = { detector: Detector; log: Logger; onPass: (pass: Pass) => void };

// Lists the tenants that have work and gives each one batch before any gets a second, so that a flood from one tenant does not
// starve the others.
export class Engine extends Worker {
  readonly #options: LoopOptions;
  #scored = 0;
  #analyzeAt = analyzeFirst;

  constructor(options: LoopOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    const { detector, onPass } = this.#options;
    const { database } = detector;
    const total: Pass = { scored: 0, opened: 0, joined: 0 };
    const tenants = await listTenantsWithWork(database).catch((error: unknown) => this.#failed(error));
    let hasFailed = tenants === null;
    for (const tenantId of tenants ?? []) {
      if (this.signal.aborted) break;
      // A failure for one tenant must not hold up the next.
      const passes = await scoreBatch(detector, tenantId).catch((error: unknown) => {
        hasFailed = true;
        return this.#failed(error, tenantId);
      });
      for (const { scored, opened, joined, fault } of passes ?? []) {
        total.scored += scored;
        total.opened += opened;
        total.joined += joined;
        if (fault !== undefined)
          this.#options.log.error({ err: fault, tenant_id: tenantId }, "an activity cannot be scored and was set aside");
      }
    }
    onPass(total);
    await this.#seeGrowth(total.scored);
    // If any tenant made progress, continue at once: one tenant's failure must not delay the others.
    if (total.scored > 0) return 0;
    return hasFailed ? faultMs : idleMs;
  }

  async #seeGrowth(scored: number): Promise<void> {
    this.#scored += scored;
    if (this.#scored < this.#analyzeAt) return;
    this.#analyzeAt = this.#scored * analyzeFactor;
    const { detector, log } = this.#options;
    await detector.database
      .transaction((tx) => analyzeActivity(tx))
      .catch((error: unknown) => {
        log.warn({ err: error }, "the planner's statistics could not be refreshed; retrying later");
      });
  }

  #failed(error: unknown, tenantId?: string): null {
    this.#options.log.error({ err: error, tenant_id: tenantId }, "a pass of the engine failed and will be retried");
    return null;
  }
}

const sizes = [undefined, 64, 8];

type Faulty = Pass & { fault?: unknown };

// One activity that cannot be scored fails its whole batch. Then each origin is searched separately, so that a bad page event
// does not slow down server activity.
async function scoreBatch(detector: Detector, tenantId: string): Promise<Faulty[]> {
  try {
    return listed(await detectBatch(detector, tenantId));
  } catch (error) {
    if (!isDayMissing(error) && !isUnscorable(error)) throw error;
  }
  const server = await searchOrigin(detector, tenantId, "server");
  return server ? [server, ...listed(await searchOrigin(detector, tenantId, "browser"))] : [];
}

// Null means that another engine holds the tenant.
function listed(pass: Faulty | null): Faulty[] {
  return pass ? [pass] : [];
}

// Scores the activities before the faulty one in smaller batches, one per pass. When the faulty one is the oldest, it is set
// aside. Partitions are created in advance. If one is missing anyway, it is created here, outside the batch, because its lock
// waits for every other engine's batch.
async function searchOrigin(detector: Detector, tenantId: string, only: RecordedActivity["origin"]): Promise<Faulty | null> {
  let areDaysMade = false;
  for (const size of sizes) {
    try {
      return await detectBatch(detector, tenantId, size, only);
    } catch (error) {
      const isMissing = isDayMissing(error);
      if (isMissing && !areDaysMade) await makeDays(detector, tenantId);
      else if (!isMissing && !isUnscorable(error)) throw error;
      areDaysMade ||= isMissing;
    }
  }
  try {
    return await detectOldest(detector, tenantId, { only, areDaysMade });
  } catch (error) {
    if (areDaysMade || !isDayMissing(error)) throw error;
  }
  await makeDays(detector, tenantId);
  return detectOldest(detector, tenantId, { only, areDaysMade: true });
}

async function makeDays({ database }: Detector, tenantId: string): Promise<void> {
  for (const day of await listWaitingDays(database, tenantId)) await database.transaction((tx) => makePartition(tx, day));
}
