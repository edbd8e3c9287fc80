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

// Writes of one tenant share a transaction: those that come in while one is under way are the next. Each gets its own outcome.
export function gatherWrites<W, R>(run: (tenantId: string, together: W[]) => Promise<R[]>, { atOnceMax = 100 } = {}) {
  type Submitted = { write: W; resolve: (outcome: R) => void; reject: (error: unknown) => void };
  const lines = new Map<string, Submitted[]>();

  async function work(tenantId: string, line: Submitted[]): Promise<void> {
    while (line.length > 0) {
      const together = line.splice(0, atOnceMax);
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
    }
    lines.delete(tenantId);
  }

  return (tenantId: string, write: W): Promise<R> =>
    new Promise((resolve, reject) => {
      const submitted = { write, resolve, reject };
      const line = lines.get(tenantId);
      if (line) line.push(submitted);
      else {
        const begun = [submitted];
        lines.set(tenantId, begun);
        setImmediate(() => void work(tenantId, begun));
      }
    });
}
