import type { TenantDatabase, Transaction } from "../db/postgres/database.ts";
import { Failure } from "../domain/failure.ts";
import type { Reply } from "./http/problem.ts";

// Runs one transaction for changes that arrived together. `work` returns a reply for each change that it made. For the others the
// result is null, which means that the change must be tried alone.
export async function tryTogether<U>(
  database: TenantDatabase,
  updates: U[],
  work: (tx: Transaction) => Promise<Map<U, Reply>>,
): Promise<(Reply | null)[]> {
  try {
    const replies = await database.tryOnce(work, { keepsPlans: true });
    return updates.map((update) => replies.get(update) ?? null);
  } catch (error) {
    // Nothing was changed, and one of the changes may be the cause, so each is tried alone.
    const isCertain = !(error instanceof Failure) || error.code === "transaction-contended";
    if (isCertain) return updates.map(() => null);
    throw error;
  }
}
