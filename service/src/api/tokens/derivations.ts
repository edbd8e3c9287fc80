import { Failure } from "../../domain/failure.ts";

type Limits = { atOnceMax: number; waitingMax: number; waitingOfOneMax?: number; detail: string };
type Waiting = { key: string; go: () => void };

// Deriving a hash takes memory and a thread that everything else needs too. So only a few run at a time, and when the short queue
// is full, the caller is asked to retry. One key may fill only part of the queue, so somebody who guesses secrets does not block
// the others.
export class Derivations {
  readonly #limits: Limits;
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.atOnceMax) this.#running++;
    else await this.#turn(key);
    try {
      return await work();
    } finally {
      // Hands the slot directly to the next in the queue, so nobody else can take it in between.
      const next = this.#waiting.shift();
      if (next) next.go();
      else this.#running--;
    }
  }

  #turn(key: string): Promise<void> {
    const { waitingMax, waitingOfOneMax = waitingMax, detail } = this.#limits;
    const ofSame = this.#waiting.filter((each) => each.key === key).length;
    if (this.#waiting.length >= waitingMax || ofSame >= waitingOfOneMax) {
      throw new Failure("rate-limited", detail, { headers: { "retry-after": "1" } });
    }
    return new Promise((go) => this.#waiting.push({ key, go }));
  }
}
