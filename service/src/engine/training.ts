import { Worker as Thread } from "node:worker_threads";
import type { Logger } from "pino";
import { appendEvents } from "../db/events.ts";
import { claimRun, lockTraining, saveRunEnding, saveRunProgress, type ClaimedRun, type RunLease } from "../db/model-runs.ts";
import { deleteModelsBeyond, findReleasedRules, insertModel, listModels, saveModelStates } from "../db/models.ts";
import type { Database, Transaction } from "../db/postgres/database.ts";
import { readAs } from "../db/reader.ts";
import { findDetection, lockSettings } from "../db/rules.ts";
import { modelsKeptMax, retire, stateEvents, type RunProgress, type StateChange } from "../domain/model.ts";
import { watchChampions } from "./drift.ts";
import { measureChallengers } from "./promotion.ts";
import { drawChecks } from "./random-checks.ts";
import { queueDueRuns } from "./training-schedule.ts";
import type { ThreadData, ThreadMessage } from "./training-thread.ts";
import type { Trained, TrainingJob, Untrained } from "./training-work.ts";
import { Worker } from "./worker.ts";

const leaseSeconds = 30;
const saveEveryMs = 2_000;
const begunMax = 3;
const idleMs = 1_000;
const faultMs = 5_000;
const scheduleEveryMs = 10 * 60_000;

type Clock = { now: () => string; newId: (at?: string) => string };
export type TrainingOptions = { database: Database; clock: Clock; log: Logger };

// Trains models one at a time, each in its own thread, so that detection and requests do not have to wait.
export class TrainingRunner extends Worker {
  readonly #options: TrainingOptions;
  #scheduledAt = -Infinity;

  constructor(options: TrainingOptions) {
    super();
    this.#options = options;
  }

  protected async turn(): Promise<number> {
    const { database, log } = this.#options;
    try {
      await this.#schedule();
      const claimed = await claimRun(database, leaseSeconds);
      if (!claimed) return idleMs;
      return (await workRun(this.#options, claimed, this.signal)) ? 0 : faultMs;
    } catch (error) {
      log.error({ err: error }, "the next model could not be trained; it will be retried");
      return faultMs;
    }
  }

  async #schedule(): Promise<void> {
    if (performance.now() - this.#scheduledAt < scheduleEveryMs) return;
    this.#scheduledAt = performance.now();
    const measuring = { ...this.#options, signal: this.signal };
    await watchChampions(measuring);
    await measureChallengers(measuring);
    await queueDueRuns(this.#options);
    await drawChecks(this.#options);
  }
}

// Returns false if the run failed, or if another process is training for this tenant. A failed run is started again, here or in
// another process, up to `begunMax` times in all.
export async function workRun(options: TrainingOptions, claimed: ClaimedRun, signal: AbortSignal): Promise<boolean> {
  const { database, clock, log } = options;
  const { tenant_id, run_id, begun, moment } = claimed;
  const hold = new RunKeeper(database, claimed);
  const fail = (reason: string) =>
    hold.end((tx, lease) => saveRunEnding(tx, lease, { status: "FAILED", reason, now: clock.now() }));
  const putBack = (times: number) => hold.end((tx, lease) => saveRunEnding(tx, lease, { status: "QUEUED", begun: times }));
  if (begun > begunMax) {
    await fail(`Training was started ${begunMax} times and never finished.`);
    return true;
  }
  const { reader: held, end } = await readAs(database.address);
  try {
    if (!(await lockTraining(held, tenant_id))) {
      await putBack(begun - 1);
      return false;
    }
    const job = await jobOf(options, claimed);
    const result = await runThread({ address: database.address, job }, hold, signal);
    if (result === null) await putBack(begun - 1);
    else await hold.end((tx, lease) => saveResult(tx, { lease, claimed, result, clock }));
    return true;
  } catch (error) {
    log.error({ err: error, tenant_id, run_id, moment }, "a model could not be trained");
    if (begun >= begunMax) await fail("The model could not be trained. The service's log says why.");
    else await putBack(begun);
    return false;
  } finally {
    await end().catch(() => {});
  }
}

async function jobOf({ database, clock }: TrainingOptions, { tenant_id, moment }: ClaimedRun): Promise<TrainingJob> {
  const { thresholds } = await findDetection(database, tenant_id);
  const released = await findReleasedRules(database, tenant_id);
  return { tenantId: tenant_id, moment, asOf: clock.now(), thresholds, released };
}

// Returns null if it was stopped, by the signal or because another process has taken over the run.
function runThread(data: ThreadData, hold: RunKeeper, signal: AbortSignal): Promise<Trained | Untrained | null> {
  const thread = new Thread(new URL("./training-thread.ts", import.meta.url), { workerData: data });
  return new Promise((resolve, reject) => {
    let result: Trained | Untrained | null = null;
    const stop = () => void thread.terminate();
    const renewing = setInterval(() => {
      hold.keep().then((isHeld) => isHeld || stop(), stop);
    }, saveEveryMs);
    signal.addEventListener("abort", stop, { once: true });
    // The signal may have been aborted before the listener was added.
    if (signal.aborted) stop();
    thread.on("message", (message: ThreadMessage) => {
      if ("progress" in message) hold.progress = message.progress;
      else ({ result } = message);
    });
    thread.on("error", reject);
    thread.on("exit", () => {
      clearInterval(renewing);
      signal.removeEventListener("abort", stop);
      resolve(result);
    });
  });
}

// The lease on a run, renewed while the thread works. It is lost if another process takes over the run.
class RunKeeper {
  readonly #database: Database;
  #lease: RunLease | null;
  // Saves run one after the other, because each one changes the lease.
  #saving: Promise<void> = Promise.resolve();
  progress: RunProgress = { phase: "reading", percent: 0 };

  constructor(database: Database, { tenant_id, run_id, lease_until }: RunLease) {
    this.#database = database;
    this.#lease = { tenant_id, run_id, lease_until };
  }

  async keep(): Promise<boolean> {
    await this.#next(async (lease) => {
      const saved = { progress: this.progress, leaseSeconds };
      this.#lease = await this.#database.transaction((tx) => saveRunProgress(tx, lease, saved));
    });
    return this.#lease !== null;
  }

  // `work` must save the run's ending. If the lease was lost, everything that it did is rolled back.
  async end(work: (tx: Transaction, lease: RunLease) => Promise<boolean>): Promise<void> {
    await this.#next(async (lease) => {
      await this.#database
        .transaction(async (tx) => {
          if (!(await work(tx, lease))) throw new LostLease();
        })
        .catch((error: unknown) => {
          if (!(error instanceof LostLease)) throw error;
        });
      this.#lease = null;
    });
  }

  async #next(work: (lease: RunLease) => Promise<void>): Promise<void> {
    const before = this.#saving;
    const run = async () => {
      await before.catch(() => {});
      if (this.#lease) await work(this.#lease);
    };
    this.#saving = run();
    await this.#saving;
  }
}

class LostLease extends Error {}

type Result = { lease: RunLease; claimed: ClaimedRun; result: Trained | Untrained; clock: Clock };

// Stores the model as the challenger of its moment, with the end of its run, in one transaction.
async function saveResult(tx: Transaction, { lease, claimed, result, clock }: Result): Promise<boolean> {
  const { tenant_id: tenantId, moment, created_by } = claimed;
  const now = clock.now();
  if ("reason" in result) return saveRunEnding(tx, lease, { status: "DONE", model_id: null, reason: result.reason, now });
  await lockSettings(tx, tenantId, now);
  const { model_id } = result;
  const isNew = await insertModel(tx, tenantId, { ...result, moment, created_at: now, created_by });
  const reason = isNew ? null : "The same labels gave a model that already exists.";
  if (!(await saveRunEnding(tx, lease, { status: "DONE", model_id, reason, now }))) return false;
  if (!isNew) return true;
  const challenger = (await listModels(tx, tenantId)).find((each) => each.moment === moment && each.state === "CHALLENGER");
  const made: StateChange = { model_id, state: "CHALLENGER", by: created_by, at: now };
  const retired = challenger ? retire(challenger, { name: "system", now }) : [];
  await saveModelStates(tx, tenantId, [...retired, made]);
  await deleteModelsBeyond(tx, tenantId, { moment, keptMax: modelsKeptMax });
  const resource = { type: "model" as const, id: model_id };
  const data = { moment, rows: result.figures.rows, frauds: result.figures.frauds };
  await appendEvents(tx, tenantId, [
    ...stateEvents(retired, { moment }),
    { type: "model.trained", occurred_at: now, actor: created_by, resource, data },
  ]);
  return true;
}
