import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// `started` tells servers apart. `behind_ms` is null if the server is no standby, or has received nothing yet.
export type ServerState = {
  version: string;
  is_standby: boolean;
  is_read_only: boolean;
  started: string;
  behind_ms: number | null;
};

export async function findServerState(database: Queryable): Promise<ServerState> {
  const [state] = await database.query<ServerState>(sql`
    select current_setting('server_version') as version,
      pg_is_in_recovery() as is_standby,
      current_setting('transaction_read_only') = 'on' as is_read_only,
      pg_postmaster_start_time()::text as started,
      case
        when not pg_is_in_recovery() then null
        when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
        else (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::float8
      end as behind_ms`);
  if (!state) throw new Error("the database did not return its state");
  return state;
}
