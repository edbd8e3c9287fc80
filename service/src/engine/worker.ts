import { setTimeout as sleep } from "node:timers/promises";

// Something that runs by itself, turn after turn, until it is stopped. A turn never throws: what fails is told and tried again.
export abstract class Worker {
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  // Returns how long to rest before the next one.
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

  async #run(): Promise<void> {
    const { signal } = this;
    while (!signal.aborted) await sleep(await this.turn(), undefined, { signal }).catch(() => {});
  }
}
