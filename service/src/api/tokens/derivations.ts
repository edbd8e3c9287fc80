import { Semaphore } from "../../concurrency/semaphore.ts";
import { Failure } from "../../domain/failure.ts";

type Limits = { atOnceMax: number; waitingMax: number; waitingOfOneMax?: number; detail: string };

// Deriving a hash takes memory and a thread that everything else needs too. So few run at a time, and beyond a short queue the
// caller is asked to come back. One key may take only a part of the queue, so a guesser does not keep the others out.
export class Derivations extends Semaphore {
  constructor({ detail, ...limits }: Limits) {
    super({ ...limits, refusal: () => new Failure("rate-limited", detail, { headers: { "retry-after": "1" } }) });
  }
}
