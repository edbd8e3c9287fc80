import type { Queryable } from "./database.ts";
import { codeOf, statementTimeoutCode } from "./faults.ts";
import { unprepared } from "./sql.ts";

// Returns null if the read takes too long. The transaction continues. The rollback also ends the time limit, which would otherwise
// apply to all later statements.
export async function withinMs<T>(tx: Queryable, limitMs: number, read: () => Promise<T>): Promise<T | null> {
  await tx.query(unprepared("savepoint limited"));
  await tx.query(unprepared(`set local statement_timeout = ${limitMs}`));
  const found = await read().catch((error: unknown) => {
    if (codeOf(error) !== statementTimeoutCode) throw error;
    return null;
  });
  await tx.query(unprepared("rollback to savepoint limited"));
  return found;
}
