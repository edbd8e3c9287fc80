import type { Logger } from "pino";
import { analyzeActivity, makePartition, isDayMissing } from "../db/activities.ts";
import { listTenantsImporting } from "../db/history.ts";
import { listTenantsWithWork, listWaitingDays, type TenantWork } from "../db/inbox.ts";
import type { Database } from "../db/postgres/database.ts";
import { isUnscorable } from "../db/unscorable.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { BatchTurns } from "./batch-turns.ts";
import { batchMax, detectBatch, detectOldest, type Detector, type Pass } from "./detect.ts";
import { workHistory } from "./history.ts";
import { nextPagesMax, pageBatchMax, pagesMaxFirst, pagesMs } from "./page-batches.ts";
import { Worker } from "./worker.ts";

const idleMs = 100;
const faultMs = 1_000;
const analyzeFirst = 2_000;
const analyzeFactor = 5;

// `turns`: shared by all batches of this process, so that urgent and ordinary batches alternate. `isCovered`: whether the urgent
// lane is scoring the tenant's server activity now.
type LoopOptions = {
  detector: Detector;
  log: Logger;
  onPass: (pass: Pass) => void;
  turns?: BatchTurns;
  isCovered?: (tenantId: string) => boolean;
};

// A turn scores server activity first: one batch of each tenant that has some. Then it scores page activity for a short time, one
// batch per tenant. So a flood of page events delays server activity only by that time, and a flood from one tenant does not
// starve the others. Imported history comes last.
export class Engine extends Worker {
  readonly #options: LoopOptions;
  #scored = 0;
  #analyzeAt = analyzeFirst;
  #pagesMax = pagesMaxFirst;
  // The tenant whose page activity was scored last. The next turn continues after it.
  #pagedTenant = "";
  readonly #turns: BatchTurns;

  constructor(options: LoopOptions) {
    super();
    this.#options = options;
    this.#turns = options.turns ?? new BatchTurns();
  }

  // For activity that the urgent lane scored.
  noteScored(scored: number): void {
    this.#scored += scored;
  }

  protected async turn(): Promise<number> {
    const total: Total = { scored: 0, opened: 0, joined: 0, hasFailed: false };
    const first = await this.#list(total, listTenantsWithWork);
    const isCovered = this.#options.isCovered ?? (() => false);
    const fromServers = first.filter(({ has_server, tenant_id }) => has_server && !isCovered(tenant_id));
    const behind = new Set<string>();
    for (const { tenant_id } of fromServers) {
      const scored = await this.#score(total, tenant_id, (detector) => scoreBatch(detector, tenant_id, this.#pagesMax));
      if (scored > batchMax / 2) behind.add(tenant_id);
    }
    // A batch of server activity may have included the tenant's page activity, so list again.
    await this.#scorePages(total, fromServers.length > 0 ? await this.#list(total, listTenantsWithWork) : first);
    // A tenant's history waits while its servers send activity faster than it is scored.
    const importing = await this.#list(total, listTenantsImporting);
    for (const tenantId of importing.filter((each) => !behind.has(each)))
      await this.#score(total, tenantId, async (detector) => listed(await workHistory(detector, tenantId)));
    this.#options.onPass(total);
    this.#scored += total.scored;
    await this.#seeGrowth();
    // If any tenant made progress, continue at once: one tenant's failure must not delay the others.
    if (total.scored > 0) return 0;
    return total.hasFailed ? faultMs : idleMs;
  }

  async #list<T>(total: Total, list: (database: Database) => Promise<T[]>): Promise<T[]> {
    return list(this.#options.detector.database).catch((error: unknown) => {
      this.#failed(total, error);
      return [];
    });
  }

  async #scorePages(total: Total, waiting: TenantWork[]): Promise<void> {
    const tenants = waiting.filter(({ has_pages }) => has_pages).map(({ tenant_id }) => tenant_id);
    const next = Math.max(
      0,
      tenants.findIndex((each) => each > this.#pagedTenant),
    );
    const untilMs = performance.now() + pagesMs;
    for (const tenantId of [...tenants.slice(next), ...tenants.slice(0, next)]) {
      if (performance.now() >= untilMs) return;
      this.#pagedTenant = tenantId;
      const began = performance.now();
      const scored = await this.#score(total, tenantId, (detector) => scorePages(detector, tenantId, this.#pagesMax));
      this.#pagesMax = nextPagesMax(this.#pagesMax, { scored, tookMs: performance.now() - began });
    }
  }

  async #score(total: Total, tenantId: string, score: (detector: Detector) => Promise<Faulty[]>): Promise<number> {
    if (this.signal.aborted) return 0;
    const { detector, log } = this.#options;
    // A failure for one tenant must not hold up the next.
    const scoring = this.#turns.run(tenantId, () => score(detector));
    const passes = await scoring.catch((error: unknown) => {
      this.#failed(total, error, tenantId);
      return [];
    });
    for (const { scored, opened, joined, fault } of passes) {
      total.scored += scored;
      total.opened += opened;
      total.joined += joined;
      if (fault !== undefined) log.error({ err: fault, tenant_id: tenantId }, "an activity cannot be scored and was set aside");
    }
    return passes.reduce((sum, { scored }) => sum + scored, 0);
  }

  async #seeGrowth(): Promise<void> {
    if (this.#scored < this.#analyzeAt) return;
    this.#analyzeAt = this.#scored * analyzeFactor;
    const { detector, log } = this.#options;
    await detector.database
      .transaction((tx) => analyzeActivity(tx))
      .catch((error: unknown) => {
        log.warn({ err: error }, "the planner's statistics could not be refreshed; retrying later");
      });
  }

  #failed(total: Total, error: unknown, tenantId?: string): void {
    total.hasFailed = true;
    this.#options.log.error({ err: error, tenant_id: tenantId }, "a pass of the engine failed and will be retried");
  }
}

type Total = Pass & { hasFailed: boolean };
type Faulty = Pass & { fault?: unknown };

// One activity that cannot be scored fails its whole batch. Then each origin is searched separately, so that a bad page event
// does not slow down server activity.
async function scoreBatch(detector: Detector, tenantId: string, alongMax: number): Promise<Faulty[]> {
  try {
    return listed(await detectBatch(detector, tenantId, { alongMax }));
  } catch (error) {
    if (!isDayMissing(error) && !isUnscorable(error)) throw error;
  }
  const server = await searchOrigin(detector, tenantId, "server");
  return server ? [server, ...listed(await searchOrigin(detector, tenantId, "browser"))] : [];
}

async function scorePages(detector: Detector, tenantId: string, size: number): Promise<Faulty[]> {
  return listed(await searchOrigin(detector, tenantId, "browser", size));
}

// Null means that another engine holds the tenant.
function listed(pass: Faulty | null): Faulty[] {
  return pass ? [pass] : [];
}

// Scores the activities before the faulty one in smaller batches, one per pass. When the faulty one is the oldest, it is set
// aside. Urgent activity does not come first here, because a stream of it would keep the search from the faulty one for ever. Partitions are created in advance. If one is missing anyway, it is created here, outside the batch, because its lock
// waits for every other engine's batch.
async function searchOrigin(
  detector: Detector,
  tenantId: string,
  only: RecordedActivity["origin"],
  sizeMax = pageBatchMax,
): Promise<Faulty | null> {
  let areDaysMade = false;
  for (const size of [sizeMax, 64, 8]) {
    try {
      return await detectBatch(detector, tenantId, { size, only, isInOrder: true });
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
