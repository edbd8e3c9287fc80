// What the patterns of one tenant's rules may cost an engine that works for all tenants. All times are in milliseconds.
const budget = {
  // Saved up while nothing is spent, and how far it may be overdrawn before every pattern rests.
  burstMs: 250,
  // Added for each second that passes, and for each event: ten usual patterns take less.
  perSecondMs: 50,
  perEventMs: 0.02,
  // What one event may cost before the slowest rules rest, and before all rest that have not shown to be cheap.
  eventMs: 5,
  eventMsMax: 100,
  // A rule that takes less on average is not what costs so much.
  slowMs: 0.05,
};
export const restMs = 5 * 60 * 1000;
const recentCalls = 64;

type Spent = { ms: number; calls: number; limitedUntil: number };

// Belongs to the tenant and not to a version of its rules: to save a rule again must not buy new time.
export class PatternBudget {
  readonly #now: () => number;
  readonly #rules = new Map<string, Spent>();
  #working: readonly string[] = [];
  #creditMs = budget.burstMs;
  #filledAt: number;
  #event: object | null = null;
  #eventMs = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#filledAt = now();
  }

  // The rules with patterns from now on. What was spent by rules of these ids stays spent.
  use(ruleIds: readonly string[]): void {
    this.#working = ruleIds;
  }

  isLimited(ruleId: string): boolean {
    return this.#now() < this.#of(ruleId).limitedUntil;
  }

  // Returns the rules that rest from now on. Those that cost most go first. If the tenant is deep in debt all the same, all go.
  spend(ruleId: string, ms: number, event: object): string[] {
    const now = this.#now();
    this.#fill(now, event);
    this.#creditMs -= ms;
    this.#eventMs += ms;
    this.#note(ruleId, ms);
    if (this.#creditMs >= 0 && this.#eventMs <= budget.eventMs) return [];
    const working = this.#working.filter((id) => this.#of(id).limitedUntil <= now);
    const resting = working.filter(this.#restsNow(working));
    for (const id of resting) this.#rest(id, now);
    return resting;
  }

  #restsNow(working: string[]): (ruleId: string) => boolean {
    if (this.#creditMs < -budget.burstMs) return () => true;
    const averages = working.map((id) => averageOf(this.#of(id))).filter((average) => average !== null);
    const mean = averages.reduce((sum, average) => sum + average, 0) / Math.max(averages.length, 1);
    const isEventOver = this.#eventMs > budget.eventMsMax;
    const least = isEventOver ? budget.slowMs : Math.max(mean, budget.slowMs);
    return (id) => {
      const average = averageOf(this.#of(id));
      return average === null ? isEventOver : average >= least;
    };
  }

  // A slow one is counted anew when it comes back: it may have been mended.
  #rest(ruleId: string, now: number): void {
    const spent = this.#of(ruleId);
    spent.limitedUntil = now + restMs;
    if ((averageOf(spent) ?? 0) >= budget.slowMs) spent.ms = spent.calls = 0;
  }

  #of(ruleId: string): Spent {
    const known = this.#rules.get(ruleId);
    if (known) return known;
    const made = { ms: 0, calls: 0, limitedUntil: 0 };
    this.#rules.set(ruleId, made);
    return made;
  }

  #fill(now: number, event: object): void {
    const isNext = event !== this.#event;
    const earned = ((now - this.#filledAt) / 1000) * budget.perSecondMs + (isNext ? budget.perEventMs : 0);
    this.#creditMs = Math.min(this.#creditMs + earned, budget.burstMs);
    this.#filledAt = now;
    if (!isNext) return;
    this.#event = event;
    this.#eventMs = 0;
  }

  // Only the last calls count, or a rule could be cheap for long and then cost what it likes.
  #note(ruleId: string, ms: number): void {
    const spent = this.#of(ruleId);
    const kept = spent.calls < recentCalls ? 1 : 0.5;
    spent.ms = spent.ms * kept + ms;
    spent.calls = spent.calls * kept + 1;
  }
}

function averageOf({ ms, calls }: Spent): number | null {
  return calls === 0 ? null : ms / calls;
}
