// Point reads of one event-loop turn share one statement, and one tenant: callers that come in while the turn lasts are
// collected, then asked for together. Nothing is kept for the next turn, so every read is current.
const gatheredMax = 500;

type Waiting<T> = { id: string; resolve: (found: T | undefined) => void; reject: (error: unknown) => void };

export function gatherReads<T>(load: (tenantId: string, ids: string[]) => Promise<Map<string, T>>) {
  let turn = new Map<string, Waiting<T>[]>();

  function flush(): void {
    const tenants = turn;
    turn = new Map();
    for (const [tenantId, waiting] of tenants) {
      for (let from = 0; from < waiting.length; from += gatheredMax)
        void answer(tenantId, waiting.slice(from, from + gatheredMax));
    }
  }

  async function answer(tenantId: string, waiting: Waiting<T>[]): Promise<void> {
    try {
      const found = await load(tenantId, [...new Set(waiting.map((each) => each.id))]);
      for (const each of waiting) each.resolve(found.get(each.id));
    } catch (error) {
      for (const each of waiting) each.reject(error);
    }
  }

  return (tenantId: string, id: string): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      if (turn.size === 0) setImmediate(flush);
      const waiting = turn.get(tenantId);
      if (waiting) waiting.push({ id, resolve, reject });
      else turn.set(tenantId, [{ id, resolve, reject }]);
    });
}

// Together no more than `togetherMax` of weight, unless one alone is more.
type GatheringOptions<W> = { togetherMax?: number; atOnceMax?: number; weightOf?: (write: W) => number };

// Writes of one tenant share transactions: those that come in while the last ones are under way are the next. Each gets its own
// outcome. Where enough are waiting there are two at a time, so that the database works on one while the other is made; with few
// each would be small, and cost as much as a large one.
export function gatherWrites<W, R>(
  run: (tenantId: string, together: W[]) => Promise<R[]>,
  { togetherMax = 50, atOnceMax = 2, weightOf = () => 1 }: GatheringOptions<W> = {},
) {
  type Submitted = { write: W; resolve: (outcome: R) => void; reject: (error: unknown) => void };
  type Line = { waiting: Submitted[]; weight: number; underWay: number };
  const worthOne = togetherMax / 5;
  const lines = new Map<string, Line>();

  function take(line: Line): Submitted[] {
    let [count, weight] = [0, 0];
    for (const { write } of line.waiting) {
      const more = weightOf(write);
      if (count > 0 && weight + more > togetherMax) break;
      weight += more;
      count++;
    }
    line.weight -= weight;
    return line.waiting.splice(0, count);
  }

  async function work(tenantId: string, line: Line): Promise<void> {
    for (let together = take(line); together.length > 0;) {
      try {
        const outcomes = await run(
          tenantId,
          together.map(({ write }) => write),
        );
        // As many as were asked for, in their order.
        for (const [index, outcome] of outcomes.entries()) together[index]?.resolve(outcome);
      } catch (error) {
        for (const each of together) each.reject(error);
      }
      together = take(line);
    }
    if (--line.underWay === 0) lines.delete(tenantId);
  }

  return (tenantId: string, write: W): Promise<R> =>
    new Promise((resolve, reject) => {
      const line = lines.get(tenantId) ?? { waiting: [], weight: 0, underWay: 0 };
      lines.set(tenantId, line);
      line.waiting.push({ write, resolve, reject });
      line.weight += weightOf(write);
      if (line.underWay === atOnceMax || (line.underWay > 0 && line.weight < worthOne)) return;
      line.underWay++;
      setImmediate(() => void work(tenantId, line));
    });
}
