import { once } from "node:events";
import { Worker as Thread } from "node:worker_threads";
import type { DatabaseAddress } from "../db/postgres/connections.ts";
import type { Database } from "../db/postgres/database.ts";
import type { TrainingSpan } from "../db/training.ts";
import type { Comparison, Drift, Model } from "../domain/model.ts";

// Compares a challenger with what was served in a time span.
export type ShadowJob = {
  tenantId: string;
  model: Pick<Model, "model_id" | "moment"> & { offset: number };
  span: TrainingSpan;
  threshold: number;
};
// Measures the drift of a champion.
export type DriftJob = { tenantId: string; model: Model; now: string };
export type ThreadData = {
  address: DatabaseAddress;
  asked: { kind: "compare"; job: ShadowJob } | { kind: "watch"; job: DriftJob };
};

// Measures models in a thread, because comparing 100,000 ratings takes 1.5 s, during which the process could not answer requests.
export class ThreadMeasurer {
  readonly #database: Database;
  readonly #signal: AbortSignal;

  constructor(database: Database, signal: AbortSignal) {
    this.#database = database;
    this.#signal = signal;
  }

  async compare(job: ShadowJob): Promise<Comparison> {
    // The cast is safe: the kind of job decides what the thread returns.
    return (await this.#run({ kind: "compare", job })) as Comparison;
  }

  async watch(job: DriftJob): Promise<Drift> {
    return (await this.#run({ kind: "watch", job })) as Drift;
  }

  // Fails if the process stops meanwhile, or if the thread fails.
  async #run(asked: ThreadData["asked"]): Promise<unknown> {
    const workerData: ThreadData = { address: this.#database.address, asked };
    const thread = new Thread(new URL("./measuring-thread.ts", import.meta.url), { workerData });
    // Without a listener, an error after the result would end the process.
    thread.on("error", () => {});
    try {
      const [result] = await once(thread, "message", { signal: this.#signal });
      return result;
    } finally {
      await thread.terminate();
    }
  }
}
