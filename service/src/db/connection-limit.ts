import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// How many connections this user may open to this database. Version 15 reserves fewer.
export async function readConnectionLimit(database: Queryable): Promise<number> {
  const [row] = await database.query<{ most: number }>(sql`
    select least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int,
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
      (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
    )::int as most`);
  return row?.most ?? 0;
}
