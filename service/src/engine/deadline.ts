export const late = Symbol("late");
export type Late = typeof late;

// Times since the request came in. All timers are cleared at the end.
export class Deadline {
  readonly deadlineMs: number;
  readonly #beganMs = performance.now();
  readonly #ends: (() => void)[] = [];
  readonly #writes: Promise<unknown>[] = [];

  constructor(deadlineMs: number) {
    this.deadlineMs = deadlineMs;
  }

  tookMs(): number {
    return Math.round(performance.now() - this.#beganMs);
  }

  at(ms: number): Promise<Late> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(late), Math.max(0, this.#beganMs + ms - performance.now()));
      this.onEnd(() => clearTimeout(timer));
    });
  }

  // Work that is not done by the deadline goes on, but nobody waits for it.
  before<T>(work: Promise<T>): Promise<T | Late> {
    return Promise.race([work, this.at(this.deadlineMs)]);
  }

  writing<T>(write: Promise<T>): Promise<T> {
    this.#writes.push(write);
    return write;
  }

  async allWritten(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  onEnd(end: () => void): void {
    this.#ends.push(end);
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}
