// Limits the time that one tenant's patterns may take in an engine that serves all tenants. All times are in milliseconds.
const budget = {
  // The most that can be saved up, and how far the budget can be overdrawn before all rules with patterns are paused.
  burstMs: 250,
  // Added to the budget for each second and for each event. Ten typical patterns take less.
  perSecondMs: 50,
  perEventMs: 0.02,
  // If one event takes longer than `eventMs`, the slowest rules are paused. Above `eventMsMax`, all rules that are not known to
  // be cheap are paused.
  eventMs: 5,
  eventMsMax: 100,
  // A rule that takes less than this on average is not considered slow.
  slowMs: 0.05,
};
export const restMs = 5 * 60 * 1000;
const recentCalls = 64;

type Spent = { ms: number; calls: number; limitedUntil: number };

// The budget belongs to the tenant and not to a version of its rules, so that saving a rule again does not grant new time.
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

  // Sets the rules that have patterns from now on. Time that rules with these ids have already spent stays counted.
  use(ruleIds: readonly string[]): void {
    this.#working = ruleIds;
  }

  isLimited(ruleId: string): boolean {
    return this.#now() < this.#of(ruleId).limitedUntil;
  }

  // Returns the rules that are paused from now on. The most expensive are paused first. If the budget is overdrawn too far, all
  // are paused.
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

  // A slow rule's count starts again when it resumes, because the rule may have been fixed.
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

  // Weights recent calls more. Otherwise a rule that was cheap for a long time could become slow unnoticed.
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
