import { setTimeout as sleep } from "node:timers/promises";

// A background job that runs turn after turn until it is stopped. A turn never throws: failures are logged and retried.
export abstract class Worker {
  readonly #stopping = new AbortController();
  #pausing: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();

  // Returns how many milliseconds to wait before the next turn.
  protected abstract turn(): Promise<number>;

  protected get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  // Ends the current pause between turns, if there is one.
  wake(): void {
    this.#pausing?.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this;
    while (!signal.aborted) {
      const pauseMs = await this.turn();
      this.#pausing = new AbortController();
      await sleep(pauseMs, undefined, { signal: AbortSignal.any([signal, this.#pausing.signal]) }).catch(() => {});
      this.#pausing = null;
    }
  }
}
