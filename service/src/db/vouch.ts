import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// For a transaction that acknowledges what an earlier one has written. The earlier commit may not have reached the synchronous
// standby, and a transaction that writes nothing does not wait for it. Writing this record makes its commit wait.
export async function vouch(tx: Queryable): Promise<void> {
  await tx.query(sql`
    select pg_logical_emit_message(true, 'casehound', '') as written
    where current_setting('synchronous_standby_names') <> '' and pg_current_xact_id_if_assigned() is null`);
}
