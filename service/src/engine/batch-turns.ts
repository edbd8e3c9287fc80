import { Semaphore } from "../concurrency/semaphore.ts";

// The batches of one tenant in this process run one after the other, in order of arrival, so urgent batches and others alternate.
export class BatchTurns extends Semaphore {
  constructor() {
    super({ atOnceOfOneMax: 1 });
  }
}
