import { isPassing } from "@casehound/client";

export type Unsaved = { id: number; label: string; attempts: number };

const firstPauseMs = 400;
const pauseMsMax = 15_000;
// With the pauses above, this is about ten minutes.
const attemptsMax = 45;

// Every change goes through the outbox. If the service cannot be reached, the same bytes are resent under the same key until it
// answers. Meanwhile the change counts as unsaved, and the shell shows it.
export class Outbox {
  readonly #unsaved = new Map<number, Unsaved>();
  readonly #listeners = new Set<() => void>();
  readonly #sleepers = new Set<() => void>();
  readonly #pauseMs: number;
  #last = 0;
  #shown: readonly Unsaved[] = [];

  constructor(pauseMs = firstPauseMs) {
    this.#pauseMs = pauseMs;
  }

  // `onDelay` is called once, when the first attempt could not reach the service.
  async deliver<T>(label: string, send: () => Promise<T>, onDelay: () => void = () => {}): Promise<T> {
    const id = ++this.#last;
    try {
      for (let attempts = 1; ; attempts++) {
        try {
          return await send();
        } catch (error) {
          if (!isPassing(error) || attempts >= attemptsMax) throw error;
          this.#unsaved.set(id, { id, label, attempts });
          this.#tell();
          if (attempts === 1) onDelay();
          await this.#sleep(Math.min(this.#pauseMs * 2 ** (attempts - 1), pauseMsMax) * (0.75 + Math.random() / 2));
        }
      }
    } finally {
      if (this.#unsaved.delete(id)) this.#tell();
    }
  }

  // Retries at once, because the network is back or a person pressed "Try now".
  wake(): void {
    for (const rouse of this.#sleepers) rouse();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  unsaved = (): readonly Unsaved[] => this.#shown;

  #tell(): void {
    this.#shown = [...this.#unsaved.values()];
    for (const listener of this.#listeners) listener();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const rouse = () => {
        clearTimeout(timer);
        this.#sleepers.delete(rouse);
        resolve();
      };
      const timer = setTimeout(rouse, ms);
      this.#sleepers.add(rouse);
    });
  }
}
