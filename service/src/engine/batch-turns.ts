import { Semaphore } from "../concurrency/semaphore.ts";

// Within a process, the batches of a tenant run one after the other, in order of arrival. So urgent and ordinary batches
// alternate.
export class BatchTurns extends Semaphore {
  constructor() {
    super({ atOnceOfOneMax: 1 });
  }
}
