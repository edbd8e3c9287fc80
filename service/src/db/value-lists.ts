import type { EntriesChanged, Entry, ListType, StoredList } from "../domain/list.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

export type ListRow = StoredList & { entries: number };

// By name. Counting takes 0.1 s for a million entries.
export async function listLists(database: Queryable, tenantId: string): Promise<ListRow[]> {
  return database.query<Row & ListRow>(sql`
    select l.name, l.type, l.kind, l.label, l.description, l.created_at, l.created_by, l.updated_at, l.updated_by,
      (select count(*) from list_entries as e where e.tenant_id = ${tenantId} and e.list_name = l.name) as entries
    from lists as l
    where l.tenant_id = ${tenantId}
    order by l.name`);
}

export async function findList(database: Queryable, tenantId: string, name: string): Promise<StoredList | undefined> {
  const [row] = await database.query<Row & StoredList>(sql`
    select name, type, kind, label, description, created_at, created_by, updated_at, updated_by
    from lists
    where tenant_id = ${tenantId} and name = ${name}`);
  return row;
}

export async function findListTypes(database: Queryable, tenantId: string): Promise<Map<string, ListType>> {
  const rows = await database.query<{ name: string; type: ListType }>(sql`
    select name, type
    from lists
    where tenant_id = ${tenantId}`);
  return new Map(rows.map(({ name, type }) => [name, type]));
}

export async function insertList(tx: Queryable, tenantId: string, list: StoredList): Promise<void> {
  await tx.query(sql`
    insert into lists (tenant_id, name, type, kind, label, description, created_at, created_by, updated_at, updated_by)
    values (
      ${tenantId}, ${list.name}, ${list.type}, ${list.kind}, ${list.label}, ${list.description}, ${list.created_at},
      ${list.created_by}, ${list.updated_at}, ${list.updated_by}
    )`);
}

export async function saveList(tx: Queryable, tenantId: string, list: StoredList): Promise<void> {
  await tx.query(sql`
    update lists
    set kind = ${list.kind},
      label = ${list.label},
      description = ${list.description},
      updated_at = ${list.updated_at},
      updated_by = ${list.updated_by}
    where tenant_id = ${tenantId} and name = ${list.name}`);
}

export async function deleteList(tx: Queryable, tenantId: string, name: string): Promise<void> {
  await tx.query(sql`
    delete from list_entries
    where tenant_id = ${tenantId} and list_name = ${name}`);
  await tx.query(sql`
    delete from lists
    where tenant_id = ${tenantId} and name = ${name}`);
  await readAgain(tx, tenantId, name);
}

// Makes every process read all of the tenant's lists again.
export async function readAgain(tx: Queryable, tenantId: string, name: string): Promise<void> {
  await insertRemovals(tx, tenantId, [{ list_name: name, key: "" }]);
}

// The caller holds the lock on the settings, so the order of revisions is the order of commits.
export async function raiseListsRevision(tx: Queryable, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ lists_revision: number }>(sql`
    update detection_settings
    set lists_revision = lists_revision + 1
    where tenant_id = ${tenantId}
    returning lists_revision`);
  if (!row) throw new Error("the settings are locked but cannot be found");
  return row.lists_revision;
}

export async function countEntries(database: Queryable, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from list_entries
    where tenant_id = ${tenantId}`);
  return row?.count ?? 0;
}

export async function countEntriesOf(database: Queryable, tenantId: string, name: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from list_entries
    where tenant_id = ${tenantId} and list_name = ${name}`);
  return row?.count ?? 0;
}

export type KeyedEntry = {
  key: string;
  value: string;
  expires_at: string | null;
  reason: string | null;
  from_case_id: string | null;
};
export type EntryWrite = { list_name: string; now: string; actor: string; entries: KeyedEntry[] };

// An entry that is sent again with another expiry or reason replaces the first one. One that says the same stays as it is.
export async function saveEntries(tx: Queryable, tenantId: string, write: EntryWrite): Promise<EntriesChanged> {
  const { list_name, now, actor, entries } = write;
  if (entries.length === 0) return { added: 0, updated: 0, unchanged: 0 };
  const revision = await raiseListsRevision(tx, tenantId);
  const [row] = await tx.query<{ added: number; updated: number }>(sql`
    with written as (
      insert into list_entries as e (
        tenant_id, list_name, key, value, expires_at, reason, from_case_id, added_at, added_by, revision
      )
      select c.tenant_id, ${list_name}::text, n.key, n.value, n.expires_at, n.reason, n.from_case_id, ${now}::timestamptz,
        ${actor}::text, ${revision}::bigint
      from event_counters as c
      cross join unnest(
        ${entries.map((each) => each.key)}::text[],
        ${entries.map((each) => each.value)}::text[],
        ${plainArray(entries.map((each) => each.expires_at))}::timestamptz[],
        ${entries.map((each) => each.reason)}::text[],
        ${plainArray(entries.map((each) => each.from_case_id))}::uuid[]
      ) as n (key, value, expires_at, reason, from_case_id)
      where c.tenant_id = ${tenantId}
      on conflict (tenant_id, list_name, key) do update
      set value = excluded.value,
        expires_at = excluded.expires_at,
        reason = excluded.reason,
        from_case_id = excluded.from_case_id,
        added_at = excluded.added_at,
        added_by = excluded.added_by,
        revision = excluded.revision
      where (e.value, e.expires_at, e.reason, e.from_case_id)
        is distinct from (excluded.value, excluded.expires_at, excluded.reason, excluded.from_case_id)
      returning (xmax = 0) as is_new
    )
    select count(*) filter (where is_new) as added, count(*) filter (where not is_new) as updated
    from written`);
  const { added = 0, updated = 0 } = row ?? {};
  return { added, updated, unchanged: entries.length - added - updated };
}

// Returns the lists that contain exactly this key, by type and key.
export async function findListed(
  database: Queryable,
  tenantId: string,
  wanted: { type: ListType; key: string }[],
): Promise<(type: ListType, key: string) => string[]> {
  const rows = await database.query<{ name: string; type: ListType; key: string }>(sql`
    select l.name, l.type, e.key
    from lists as l
    join list_entries as e on e.tenant_id = l.tenant_id and e.list_name = l.name
    where l.tenant_id = ${tenantId} and e.key = any(${wanted.map(({ key }) => key)}::text[])
    order by l.name`);
  return (type, key) => rows.filter((row) => row.type === type && row.key === key).map(({ name }) => name);
}

type Removed = { list_name: string; keys: string[] };

// Returns how many there were.
export async function deleteEntries(tx: Queryable, tenantId: string, { list_name, keys }: Removed): Promise<number> {
  const rows = await tx.query<{ key: string }>(sql`
    delete from list_entries
    where tenant_id = ${tenantId} and list_name = ${list_name} and key = any(${keys}::text[])
    returning key`);
  const removed = rows.map(({ key }) => ({ list_name, key }));
  if (removed.length > 0) await insertRemovals(tx, tenantId, removed);
  return removed.length;
}

type Removal = { list_name: string; key: string };

async function insertRemovals(tx: Queryable, tenantId: string, removed: Removal[]): Promise<void> {
  const revision = await raiseListsRevision(tx, tenantId);
  await tx.query(sql`
    insert into list_removals (tenant_id, revision, list_name, key)
    select ${tenantId}::uuid, ${revision}::bigint, r.list_name, r.key
    from unnest(${removed.map((each) => each.list_name)}::text[], ${removed.map((each) => each.key)}::text[]) as r (list_name, key)`);
}

export type EntryRow = Omit<Entry, "is_expired" | "expires_at" | "reason" | "from_case_id"> & KeyedEntry;
type EntryPage = { list_name: string; after: string | null; limit: number; prefix: string };

// By key. The prefix is compared with keys.
export async function listEntries(database: Queryable, tenantId: string, page: EntryPage): Promise<EntryRow[]> {
  return database.query<Row & EntryRow>(sql`
    select key, value, expires_at, reason, from_case_id, added_at, added_by
    from list_entries
    where tenant_id = ${tenantId}
      and list_name = ${page.list_name}
      and key > ${page.after ?? ""}
      and key >= ${page.prefix}
      and starts_with(key, ${page.prefix})
    order by key
    limit ${page.limit}`);
}
