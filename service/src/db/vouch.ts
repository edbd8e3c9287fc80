import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// For a transaction that acknowledges what an earlier one has written. With a synchronous standby, the earlier commit may have
// given up waiting for the standby, and a transaction that writes nothing does not wait at all. This writes a record, so that the
// commit waits until the standby has everything.
export async function vouch(tx: Queryable): Promise<void> {
  await tx.query(sql`
    select pg_logical_emit_message(true, 'casehound', '') as written
    where current_setting('synchronous_standby_names') <> '' and pg_current_xact_id_if_assigned() is null`);
}
