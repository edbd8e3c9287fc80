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
