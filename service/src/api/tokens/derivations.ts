import { Semaphore } from "../../concurrency/semaphore.ts";
import { partOf } from "../../concurrency/share.ts";
import { Failure } from "../../domain/failure.ts";

type Limits = { atOnceMax?: number; atOnceOfOneMax?: number; waitingMax: number; waitingOfOneMax?: number; detail: string };

// Deriving a hash takes memory and a thread that everything else needs too. So only a few run at a time, and when the short queue
// is full, the caller is asked to retry. One key may fill only part of the queue, so somebody who guesses secrets does not block
// the others.
export class Derivations extends Semaphore {
  constructor({ detail, atOnceMax = Infinity, ...limits }: Limits) {
    super({
      ...limits,
      atOnceMax: partOf(atOnceMax),
      refusal: () => new Failure("rate-limited", detail, { headers: { "retry-after": "1" } }),
    });
  }
}
