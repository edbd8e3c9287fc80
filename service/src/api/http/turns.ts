import { Semaphore } from "../../concurrency/semaphore.ts";
import { partOf } from "../../concurrency/share.ts";
import { Limited } from "./limited.ts";

export type TurnLimits = { atOnceMax: number; waitingMax: number; waitMsMax: number };

// Each key has its own slots and its own queue, so a caller that sends many requests delays only itself.
export class Turns extends Semaphore {
  constructor({ atOnceMax, waitingMax, waitMsMax }: TurnLimits) {
    const detail = "Too many requests are under way. Nothing was applied: retry after a short delay.";
    const headers = {
      "retry-after": "1",
      "ratelimit-policy": `"waiting";q=${atOnceMax + waitingMax};qu="concurrent-requests"`,
      ratelimit: '"waiting";r=0;t=1',
    };
    const refusal = () => new Limited("waiting", detail, headers);
    super({ atOnceOfOneMax: partOf(atOnceMax), waitingOfOneMax: partOf(waitingMax), waitMsMax, refusal });
  }
}
