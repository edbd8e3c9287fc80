import type { CaseDigest } from "@casehound/client";
import type { ConsoleClient } from "./client.ts";

// The most ids that one call accepts.
const idsMax = 100;

type Waiter = { resolve: (digest: CaseDigest | null) => void; reject: (error: unknown) => void };

// Each row requests its own digest. Requests made together are batched into one call. Null means that the case does not exist.
export function digestReader(client: Pick<ConsoleClient, "call">): (caseId: string) => Promise<CaseDigest | null> {
  const waiting = new Map<string, Waiter[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function read(batch: [string, Waiter[]][]): Promise<void> {
    try {
      const query = { case_ids: batch.map(([id]) => id).join(",") };
      const { case_digests: found } = await client.call("listCaseDigests", { query });
      const byId = new Map(found.map((digest) => [digest.case_id, digest]));
      for (const [id, waiters] of batch) for (const { resolve } of waiters) resolve(byId.get(id) ?? null);
    } catch (error) {
      for (const { reject } of batch.flatMap(([, waiters]) => waiters)) reject(error);
    }
  }

  function flush(): void {
    timer = undefined;
    const all = [...waiting];
    waiting.clear();
    for (let from = 0; from < all.length; from += idsMax) void read(all.slice(from, from + idsMax));
  }

  return (caseId) =>
    new Promise((resolve, reject) => {
      waiting.set(caseId, [...(waiting.get(caseId) ?? []), { resolve, reject }]);
      timer ??= setTimeout(flush);
    });
}
