import type { Logger } from "pino";
import { isDayMissing } from "../db/activities.ts";
import { isUnscorable } from "../db/unscorable.ts";
import { Semaphore } from "../concurrency/semaphore.ts";
import { Failure } from "../domain/failure.ts";
import { detectBatch, type Detector, type Pass } from "./detect.ts";

// Tenants whose urgent batches run at once. Each of them has a connection.
const atOnceMax = 4;
// How often a batch is tried again at once. Each time it waits briefly for the tenant's turn.
const attemptsMax = 50;

type LaneOptions = {
  detector: Detector;
  log: Logger;
  onPass: (pass: Pass) => void;
  // The turns that the batches of this process take, so that urgent batches and others alternate.
  turns: Semaphore;
  // Called if something may be left for the engine's own turn.
  onLeft: () => void;
};

// Scores activity whose sender waits for the verdict, as soon as it is told that there is some. A batch takes along what else is
// waiting, if it is not too much. So what arrived before is known, and a stream of assessments does not stop the rest.
export class UrgentLane {
  readonly #options: LaneOptions;
  readonly #running = new Semaphore({ atOnceMax });
  // The tenants that are running or waiting, each with whether it was woken again since its batch began.
  readonly #tenants = new Map<string, { isWokenAgain: boolean }>();
  #isStopped = false;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  wake(tenantId: string): void {
    const known = this.#tenants.get(tenantId);
    if (known) known.isWokenAgain = true;
    if (known || this.#isStopped) return;
    const state = { isWokenAgain: false };
    this.#tenants.set(tenantId, state);
    this.#ended = Promise.all([this.#ended, this.#work(tenantId, state)]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #work(tenantId: string, state: { isWokenAgain: boolean }): Promise<void> {
    let failures = 0;
    do {
      const isDone = await this.#running.run(tenantId, () =>
        this.#options.turns.run(tenantId, () => {
          // Whoever woke the lane until now has stored its activity, so this batch takes it.
          state.isWokenAgain = false;
          return this.#score(tenantId);
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
  async #score(tenantId: string): Promise<boolean> {
    const { detector, log, onPass, onLeft } = this.#options;
    const size = detector.brief?.max;
    try {
      const pass = await detectBatch(detector, tenantId, {
        isPatient: true,
        ...(size !== undefined && { size, alongMax: size }),
      });
      if (pass) onPass(pass);
      if (pass && size !== undefined && pass.scored >= size) onLeft();
    } catch (error) {
      if (error instanceof Failure && error.code === "transaction-contended") return false;
      // The engine's own turn searches for the activity that cannot be scored.
      if (!isDayMissing(error) && !isUnscorable(error))
        log.error({ err: error, tenant_id: tenantId }, "an urgent batch failed and is left to the engine's next pass");
      onLeft();
    }
    return true;
  }
}
