import { Batcher, type BatcherOptions } from "../../concurrency/batcher.ts";

// Point reads of one event-loop turn share a statement per tenant. No read joins a statement that was already sent, and nothing
// is cached, so every read is current.
export function gatherReads<T>(load: (tenantId: string, ids: string[]) => Promise<Map<string, T>>) {
  const reads = new Batcher<string, T | undefined>(
    async (tenantId, ids) => {
      const found = await load(tenantId, [...new Set(ids)]);
      return ids.map((id) => found.get(id));
    },
    { togetherMax: 500, atOnceMax: Infinity, besideMin: 0 },
  );
  return (tenantId: string, id: string): Promise<T | undefined> => reads.add(tenantId, id);
}

// Writes of one tenant share transactions. If enough are waiting, two run at once: the database works on one while the other is
// prepared.
export function gatherWrites<W, R>(
  run: (tenantId: string, together: W[]) => Promise<R[]>,
  options: Partial<BatcherOptions<W>> = {},
) {
  const writes = new Batcher(run, { togetherMax: 50, atOnceMax: 2, ...options });
  return (tenantId: string, write: W): Promise<R> => writes.add(tenantId, write);
}
