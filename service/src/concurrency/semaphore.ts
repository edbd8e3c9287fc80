// The first of each pair counts all keys together, the second one key.
export type SemaphoreLimits = {
  atOnceMax?: number;
  atOnceOfOneMax?: number;
  waitingMax?: number;
  waitingOfOneMax?: number;
  // A caller that has waited longer than this has most likely given up, so it is refused instead of served.
  waitMsMax?: number;
  refusal?: () => Error;
};

type Waiter = { sinceMs: number; go: () => void; refuse: (error: Error) => void };
type KeyQueue = { key: string; running: number; waiting: Waiter[] };

const noLimits = { atOnceMax: Infinity, atOnceOfOneMax: Infinity, waitingMax: Infinity, waitingOfOneMax: Infinity };
const defaults = { ...noLimits, waitMsMax: Infinity, refusal: () => new Error("too many tasks are waiting") };

// Lets a bounded number of tasks run at once, and a bounded number wait. Keys take turns, so a key with many tasks delays only
// itself. Tasks of one key run in order of arrival. When the queue is full, the key with the most waiters
// loses its last one to a key with fewer, so a few keys cannot keep the others out.
export class Semaphore {
  readonly #limits: Required<SemaphoreLimits>;
  readonly #lines = new Map<string, KeyQueue>();
  // Lines that have a waiter, and room for it under the limit of one key, in the order of their turns.
  readonly #ready = new Set<KeyQueue>();
  #running = 0;
  #waiting = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = { ...defaults, ...limits };
  }

  // Keys that run or wait.
  get size(): number {
    return this.#lines.size;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.enter(key);
    if (turn) await turn;
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  // Takes a place, which the caller must leave again. Returns a promise only if the caller has to wait: most need not.
  enter(key: string): Promise<void> | null {
    const { atOnceMax, atOnceOfOneMax, waitingMax, waitingOfOneMax, refusal } = this.#limits;
    const line = this.#lines.get(key) ?? { key, running: 0, waiting: [] };
    const hasRoom = line.running < atOnceOfOneMax;
    const mustWait = !hasRoom || this.#running >= atOnceMax;
    if (mustWait && line.waiting.length >= waitingOfOneMax) throw refusal();
    if (mustWait && this.#waiting >= waitingMax && !this.#makeRoom(line)) throw refusal();
    this.#lines.set(key, line);
    if (!mustWait) return this.#take(line);
    this.#waiting++;
    if (hasRoom) this.#ready.add(line);
    return new Promise((go, refuse) => line.waiting.push({ sinceMs: performance.now(), go, refuse }));
  }

  // Hands the place to the next waiter at once, so no newcomer can take it in between.
  leave(key: string): void {
    const line = this.#lines.get(key);
    if (!line || line.running === 0) throw new Error("a place was released that nobody had taken");
    line.running--;
    this.#running--;
    this.#settle(line);
    for (const next of this.#ready) {
      if (this.#running >= this.#limits.atOnceMax) return;
      this.#ready.delete(next);
      this.#nextOf(next)?.go();
      // Queue the key behind the others.
      this.#settle(next);
    }
  }

  #take(line: KeyQueue): null {
    line.running++;
    this.#running++;
    return null;
  }

  // Refuses the last waiter of the longest line, unless the newcomer's line would then be the longer one.
  #makeRoom(own: KeyQueue): boolean {
    let longest = own;
    for (const line of this.#lines.values()) if (line.waiting.length > longest.waiting.length) longest = line;
    if (longest.waiting.length <= own.waiting.length + 1) return false;
    this.#waiting--;
    longest.waiting.pop()?.refuse(this.#limits.refusal());
    return true;
  }

  #nextOf(line: KeyQueue): Waiter | undefined {
    for (let next = line.waiting.shift(); next; next = line.waiting.shift()) {
      this.#waiting--;
      if (performance.now() - next.sinceMs > this.#limits.waitMsMax) next.refuse(this.#limits.refusal());
      else {
        this.#take(line);
        return next;
      }
    }
    return undefined;
  }

  #settle(line: KeyQueue): void {
    if (line.waiting.length > 0 && line.running < this.#limits.atOnceOfOneMax) this.#ready.add(line);
    else if (line.waiting.length === 0 && line.running === 0) this.#lines.delete(line.key);
  }
}
