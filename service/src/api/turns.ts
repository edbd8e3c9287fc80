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

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? this.#open(key);
    if (line.atWork < this.#limits.atOnceMax) line.atWork++;
    else await this.#wait(line);
    try {
      return await work();
    } finally {
      this.#leave(key, line);
    }
  }

  #open(key: string): Line {
    const line = { atWork: 0, waiting: [] };
    this.#lines.set(key, line);
    return line;
  }

  #wait({ waiting }: Line): Promise<void> {
    if (waiting.length >= this.#limits.waitingMax) throw this.#tooMany();
    return new Promise((go, refuse) => waiting.push({ sinceMs: performance.now(), go, refuse }));
  }

  // The place is passed on, so that nobody slips in between. Who has waited too long is told so: it has most likely gone.
  #leave(key: string, line: Line): void {
    const nowMs = performance.now();
    for (let next = line.waiting.shift(); next; next = line.waiting.shift()) {
      if (nowMs - next.sinceMs <= this.#limits.waitMsMax) return next.go();
      next.refuse(this.#tooMany());
    }
    if (--line.atWork === 0) this.#lines.delete(key);
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
