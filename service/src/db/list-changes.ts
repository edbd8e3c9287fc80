import type { ListFacts, ListedKey } from "../domain/list.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Removals are deleted after a day. See `sweeps`.
export const removalsKeptMs = 24 * 60 * 60 * 1000;

export async function listDefinitions(database: Queryable, tenantId: string): Promise<ListFacts[]> {
  return database.query<Row & ListFacts>(sql`
    select name, type, kind, label
    from lists
    where tenant_id = ${tenantId}
    order by name`);
}

type Removal = { list_name: string; key: string };

// What was removed after that revision. An empty key means that all lists must be read again.
export async function listRemovals(database: Queryable, tenantId: string, since: number): Promise<Removal[]> {
  return database.query<Row & Removal>(sql`
    select list_name, key
    from list_removals
    where tenant_id = ${tenantId} and revision > ${since}`);
}

type EntryPosition = { revision: number; list_name: string; key: string };
export type ChangedEntry = ListedKey & { revision: number };

// The entries that were written after a position, in the order of their revisions. Planned for its values each time, because a
// generic plan would sort all entries for every page.
export async function listChangedEntries(
  database: Queryable,
  tenantId: string,
  { after, limit }: { after: EntryPosition; limit: number },
): Promise<ChangedEntry[]> {
  const { text, values } = sql`
    select list_name, key, expires_at, revision
    from list_entries
    where tenant_id = ${tenantId}
      and (revision, list_name, key)
        > (${after.revision}::bigint, ${after.list_name}::text collate "C", ${after.key}::text collate "C")
    order by revision, list_name, key
    limit ${limit}`;
  return database.query<Row & ChangedEntry>({ name: "", text, values });
}
