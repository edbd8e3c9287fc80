import { Limited } from "./limited.ts";

export type TurnLimits = { atOnceMax: number; waitingMax: number; waitMsMax: number };

type Waiting = { sinceMs: number; go: () => void; refuse: (failure: Limited) => void };
type Line = { atWork: number; waiting: Waiting[] };

// Each key has so many places. Who finds none waits in the key's own line, so that whoever asks for much waits for itself and
// not the others for it.
export class Turns {
  readonly #limits: TurnLimits;
  readonly #lines = new Map<string, Line>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#lines.size;
  }

  // Takes a place, which must be left again. A promise only where there is none: most requests need not wait even a moment.
  enter(key: string): Promise<void> | null {
    const line = this.#lines.get(key);
    if (!line) {
      this.#lines.set(key, { atWork: 1, waiting: [] });
      return null;
    }
    if (line.atWork >= this.#limits.atOnceMax) return this.#wait(line);
    line.atWork++;
    return null;
  }

  // The place is passed on, so that nobody slips in between. Who has waited too long is told so: it has most likely gone.
  leave(key: string): void {
    const line = this.#lines.get(key);
    if (!line) throw new Error("a place was left that nobody had");
    for (let next = line.waiting.shift(); next; next = line.waiting.shift()) {
      if (performance.now() - next.sinceMs <= this.#limits.waitMsMax) return next.go();
      next.refuse(this.#tooMany());
    }
    if (--line.atWork === 0) this.#lines.delete(key);
  }

  #wait({ waiting }: Line): Promise<void> {
    if (waiting.length >= this.#limits.waitingMax) throw this.#tooMany();
    return new Promise((go, refuse) => waiting.push({ sinceMs: performance.now(), go, refuse }));
  }

  #tooMany(): Limited {
    const { atOnceMax, waitingMax } = this.#limits;
    return new Limited("waiting", "Too many requests are under way. Nothing was applied: retry after a short delay.", {
      "retry-after": "1",
      "ratelimit-policy": `"waiting";q=${atOnceMax + waitingMax};qu="concurrent-requests"`,
      ratelimit: '"waiting";r=0;t=1',
    });
  }
}
