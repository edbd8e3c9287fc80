import type { PoolClient, QueryResult } from "pg";
import { isContended, notCommitted } from "./faults.ts";
import { unprepared } from "./sql.ts";
import { send } from "./wire.ts";

export async function commit(client: PoolClient): Promise<void> {
  let done: QueryResult;
  try {
    done = await send(client, unprepared("commit"));
  } catch (cause) {
    if (isContended(cause)) throw cause;
    throw notCommitted(cause);
  }
  if (done.command !== "COMMIT") throw new Error(`commit returned ${done.command}`);
}
