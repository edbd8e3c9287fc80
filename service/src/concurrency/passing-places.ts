// `retriesMax`: how many of those that run at once may be retries. `slowAtOnceMax`: how many slow tasks may run besides the others.
// `slowAfterMs`: a task that takes longer is slow. `slowForMs`: how long its key counts as slow from then on.
type PlaceLimits = {
  atOnceMax: number;
  retriesMax: number;
  slowAtOnceMax: number;
  slowAfterMs: number;
  slowForMs: number;
};

// Retries come first: they never take all places, but first attempts could.
const lines = ["retry", "first", "slow"] as const;
type Line = (typeof lines)[number];
type Place = { line: Line };

// Lets a bounded number of tasks run at once, in order of arrival. A slow task passes its place on: from then on it takes one of a
// few places for slow tasks, and the next tasks of its key start there. So a few slow keys do not keep the others waiting. A task
// keeps its place only if all places for slow tasks are taken, and each key can do so once in `slowForMs`.
export class PassingPlaces {
  readonly #limits: PlaceLimits;
  readonly #slowUntilMs = new Map<string, number>();
  // Slow tasks that still have an ordinary place.
  readonly #overdue = new Set<Place>();
  readonly #running: Record<Line, number> = { first: 0, retry: 0, slow: 0 };
  readonly #waiting: Record<Line, (() => void)[]> = { first: [], retry: [], slow: [] };

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  async run<T>(key: string, work: () => Promise<T>, isRetry = false): Promise<T> {
    const isSlow = (this.#slowUntilMs.get(key) ?? 0) > performance.now();
    const place: Place = { line: isSlow ? "slow" : isRetry ? "retry" : "first" };
    await new Promise<void>((go) => {
      this.#waiting[place.line].push(go);
      this.#admit();
    });
    const timer = setTimeout(() => this.#passOn(key, place), this.#limits.slowAfterMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      this.#overdue.delete(place);
      this.#running[place.line]--;
      this.#admit();
    }
  }

  #passOn(key: string, place: Place): void {
    const nowMs = performance.now();
    for (const [each, untilMs] of this.#slowUntilMs) if (untilMs <= nowMs) this.#slowUntilMs.delete(each);
    this.#slowUntilMs.set(key, nowMs + this.#limits.slowForMs);
    if (place.line === "slow") return;
    this.#overdue.add(place);
    this.#admit();
  }

  // A task that is overdue comes before the slow ones that wait, because others wait for its place.
  #admit(): void {
    for (const place of this.#overdue) {
      if (!this.#hasRoom("slow")) break;
      this.#overdue.delete(place);
      this.#running[place.line]--;
      this.#running.slow++;
      place.line = "slow";
    }
    for (const line of lines)
      while (this.#waiting[line].length > 0 && this.#hasRoom(line)) {
        this.#running[line]++;
        this.#waiting[line].shift()?.();
      }
  }

  #hasRoom(line: Line): boolean {
    const { atOnceMax, retriesMax, slowAtOnceMax } = this.#limits;
    const { first, retry, slow } = this.#running;
    if (line === "slow") return slow < slowAtOnceMax;
    return first + retry < atOnceMax && (line === "first" || retry < retriesMax);
  }
}
