export type BatcherOptions<I> = {
  // The most that a batch may weigh, unless a single item weighs more.
  togetherMax: number;
  weightOf?: (item: I) => number;
  // Batches that run at once, of one key and of all keys.
  atOnceMax: number;
  allAtOnceMax?: number;
  // A key's next batch begins beside a running one, or during a pause, only if this much is waiting: a small batch costs as much as
  // a large one.
  besideMin?: number;
  // With a pause, a batch begins at once, and the key's next one after the pause, or earlier if `besideMin` is waiting. Without a
  // pause, a batch begins at the end of the event-loop turn and takes whatever the turn brought.
  pause?: () => Promise<void>;
};

type Submitted<I, R> = { item: I; resolve: (outcome: R) => void; reject: (error: unknown) => void };
// `busy`: batches that run. `resting`: pauses that are not over. `isDue`: enough is waiting for the next batch.
type KeyQueue<I, R> = {
  key: string;
  waiting: Submitted<I, R>[];
  weight: number;
  busy: number;
  resting: number;
  isDue: boolean;
};

// Items of one key that arrive while a batch runs go together in the next one. Each gets its own outcome: `run` returns as many as
// it was given, in their order. If it throws, all items of the batch get the error. Keys take turns.
export class Batcher<I, R> {
  readonly #run: (key: string, together: I[]) => Promise<R[]>;
  readonly #options: Required<Omit<BatcherOptions<I>, "pause">> & Pick<BatcherOptions<I>, "pause">;
  readonly #lines = new Map<string, KeyQueue<I, R>>();
  // Lines with waiting items, in the order of their turns.
  readonly #turns = new Set<KeyQueue<I, R>>();
  #running = 0;
  #isScheduled = false;

  constructor(run: (key: string, together: I[]) => Promise<R[]>, options: BatcherOptions<I>) {
    this.#run = run;
    this.#options = { weightOf: () => 1, allAtOnceMax: Infinity, besideMin: options.togetherMax / 5, ...options };
  }

  add(key: string, item: I): Promise<R> {
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(key) ?? { key, waiting: [], weight: 0, busy: 0, resting: 0, isDue: false };
      this.#lines.set(key, line);
      line.waiting.push({ item, resolve, reject });
      line.weight += this.#options.weightOf(item);
      line.isDue ||= line.busy + line.resting === 0 || line.weight >= this.#options.besideMin;
      this.#turns.add(line);
      if (this.#mayBegin(line)) this.#schedule();
    });
  }

  #mayBegin({ isDue, busy }: KeyQueue<I, R>): boolean {
    return isDue && busy < this.#options.atOnceMax;
  }

  #schedule(): void {
    if (this.#options.pause) return this.#begin();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    for (const line of this.#turns) {
      if (this.#running >= this.#options.allAtOnceMax) return;
      if (!this.#mayBegin(line)) continue;
      void this.#occupy(line, "busy", this.#work(line.key, this.#take(line)));
      if (this.#options.pause) void this.#occupy(line, "resting", this.#options.pause());
    }
  }

  #take(line: KeyQueue<I, R>): Submitted<I, R>[] {
    let [count, weight] = [0, 0];
    for (const { item } of line.waiting) {
      const more = this.#options.weightOf(item);
      if (count > 0 && weight + more > this.#options.togetherMax) break;
      weight += more;
      count++;
    }
    const together = line.waiting.splice(0, count);
    line.weight -= weight;
    line.isDue = line.waiting.length > 0;
    this.#turns.delete(line);
    // Queue the key behind the others, with the items that did not fit.
    if (line.isDue) this.#turns.add(line);
    return together;
  }

  async #work(key: string, together: Submitted<I, R>[]): Promise<void> {
    this.#running++;
    try {
      const items = together.map(({ item }) => item);
      for (const [index, outcome] of (await this.#run(key, items)).entries()) together[index]?.resolve(outcome);
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
    this.#running--;
  }

  async #occupy(line: KeyQueue<I, R>, as: "busy" | "resting", ended: Promise<void>): Promise<void> {
    line[as]++;
    await ended;
    line[as]--;
    const isWaiting = line.waiting.length > 0;
    line.isDue = isWaiting && (line.resting === 0 || line.weight >= this.#options.besideMin);
    if (!isWaiting && line.busy + line.resting === 0) this.#lines.delete(line.key);
    // A batch that is about to begin collects until the end of the turn.
    if (!this.#isScheduled) this.#begin();
  }
}
