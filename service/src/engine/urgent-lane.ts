import type { Logger } from "pino";
import { isDayMissing } from "../db/activities.ts";
import { isUnscorable } from "../db/unscorable.ts";
import { PassingPlaces } from "../concurrency/passing-places.ts";
import { Failure } from "../domain/failure.ts";
import type { BatchTurns } from "./batch-turns.ts";
import { detectBatch, urgentMax, type Detector, type Pass } from "./detect.ts";

// How many tenants' urgent batches run at the same time. Each needs a connection. A slow batch, which most requests would not wait
// for, does not count as one of the four. So tenants whose database work is slow do not keep the others waiting. Nor do retries,
// which mostly wait for a turn that another engine has.
const limits = { atOnceMax: 4, retriesMax: 2, slowAtOnceMax: 3, slowAfterMs: 250, slowForMs: 60_000 };
// How many times in a row a batch is retried. Each time it waits briefly for the tenant's turn.
const attemptsMax = 50;

type LaneOptions = {
  detector: Detector;
  log: Logger;
  onPass: (pass: Pass) => void;
  // Shared by all batches of this process, so that urgent and ordinary batches alternate.
  turns: BatchTurns;
  // Called if activity may be left for the engine's next pass.
  onLeft: () => void;
};

// The state of a tenant whose batch is running or waiting. `isWokenAgain`: the tenant was woken since its batch began.
// `isBehind`: its last batch was full or failed.
type State = { isWokenAgain: boolean; isBehind: boolean };

// Scores activity whose sender waits for the verdict, as soon as it is woken. A batch also takes other waiting activity, up to a
// limit. So earlier activity counts in the verdict, and a stream of assessments does not starve the rest.
export class UrgentLane {
  readonly #options: LaneOptions;
  readonly #places = new PassingPlaces(limits);
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

  // Whether urgent batches take everything that the tenant's servers send, so that no ordinary batch is needed now.
  isCovering(tenantId: string): boolean {
    return this.#tenants.get(tenantId)?.isBehind === false;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #work(tenantId: string, state: State): Promise<void> {
    let failures = 0;
    const attempt = () =>
      this.#options.turns.run(tenantId, () => {
        // A caller stores its activity before it wakes the lane, so this batch takes the activity of every wake-up until now.
        state.isWokenAgain = false;
        return this.#score(tenantId, state);
      });
    do {
      const isDone = await this.#places.run(tenantId, attempt, failures > 0);
      failures = isDone ? 0 : failures + 1;
      state.isWokenAgain ||= !isDone && failures < attemptsMax;
    } while (state.isWokenAgain && !this.#isStopped);
    this.#tenants.delete(tenantId);
    if (failures > 0) this.#options.onLeft();
  }

  // Returns false if another engine has the tenant's turn. Then this process's turn is released for a moment, so that the
  // engine's own pass does not have to wait either.
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
      // The engine's own pass searches for the activity that cannot be scored.
      if (!isDayMissing(error) && !isUnscorable(error))
        log.error({ err: error, tenant_id: tenantId }, "an urgent batch failed and is left to the engine's next pass");
      state.isBehind = true;
      onLeft();
    }
    return true;
  }
}
