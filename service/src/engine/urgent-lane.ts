import type { Logger } from "pino";
import { isDayMissing } from "../db/activities.ts";
import { isUnscorable } from "../db/unscorable.ts";
import { Semaphore } from "../concurrency/semaphore.ts";
import { Failure } from "../domain/failure.ts";
import type { BatchTurns } from "./batch-turns.ts";
import { detectBatch, urgentMax, type Detector, type Pass } from "./detect.ts";

// Tenants whose urgent batches run at once. Each of them has a connection.
const atOnceMax = 4;
// How often a batch is tried again at once. Each time it waits briefly for the tenant's turn.
const attemptsMax = 50;

type LaneOptions = {
  detector: Detector;
  log: Logger;
  onPass: (pass: Pass) => void;
  // The turns that the batches of this process take, so that urgent batches and others alternate.
  turns: BatchTurns;
  // Called if something may be left for the engine's own turn.
  onLeft: () => void;
};

// A tenant that is running or waiting. `isWokenAgain`: it was woken since its batch began. `isBehind`: its last batch was full
// or failed.
type State = { isWokenAgain: boolean; isBehind: boolean };

// Scores activity whose sender waits for the verdict, as soon as it is told that there is some. A batch takes along what else is
// waiting, if it is not too much. So what arrived before is known, and a stream of assessments does not stop the rest.
export class UrgentLane {
  readonly #options: LaneOptions;
  readonly #running = new Semaphore({ atOnceMax });
  readonly #tenants = new Map<string, State>();
  #isStopped = false;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  wake(tenantId: string): void {
    const known = this.#tenants.get(tenantId);
    if (known) known.isWokenAgain = true;
    if (known || this.#isStopped) return;
    const state = { isWokenAgain: false, isBehind: false };
    this.#tenants.set(tenantId, state);
    this.#ended = Promise.all([this.#ended, this.#work(tenantId, state)]);
  }

  // Whether urgent batches take everything that the tenant's servers send, so that no other batch is needed now.
  isCovering(tenantId: string): boolean {
    return this.#tenants.get(tenantId)?.isBehind === false;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #work(tenantId: string, state: State): Promise<void> {
    let failures = 0;
    do {
      const isDone = await this.#running.run(tenantId, () =>
        this.#options.turns.run(tenantId, () => {
          // Whoever woke the lane until now has stored its activity, so this batch takes it.
          state.isWokenAgain = false;
          return this.#score(tenantId, state);
        }),
      );
      failures = isDone ? 0 : failures + 1;
      state.isWokenAgain ||= !isDone && failures < attemptsMax;
    } while (state.isWokenAgain && !this.#isStopped);
    this.#tenants.delete(tenantId);
    if (failures > 0) this.#options.onLeft();
  }

  // Returns false if somebody else has the tenant's turn. Then the turns of this process are released for a moment, so that the
  // engine's pass does not have to wait either.
  async #score(tenantId: string, state: State): Promise<boolean> {
    const { detector, log, onPass, onLeft } = this.#options;
    const size = detector.brief?.max;
    try {
      const claim = size === undefined ? {} : { size, alongMax: size };
      const pass = await detectBatch(detector, tenantId, { isPatient: true, urgentMax, ...claim });
      if (pass) onPass(pass);
      state.isBehind = size !== undefined && (pass?.scored ?? 0) >= size;
      if (state.isBehind) onLeft();
    } catch (error) {
      if (error instanceof Failure && error.code === "transaction-contended") return false;
      // The engine's own turn searches for the activity that cannot be scored.
      if (!isDayMissing(error) && !isUnscorable(error))
        log.error({ err: error, tenant_id: tenantId }, "an urgent batch failed and is left to the engine's next pass");
      state.isBehind = true;
      onLeft();
    }
    return true;
  }
}
