import { daysKept, shownOnceADay, type QuarantineCount, type QuarantineEntry, type Rejection } from "../domain/quarantine.ts";
import { uuidV7Floor } from "../domain/uuid.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// A page that sends only invalid events must not fill the store. Beyond this limit, the rest of the day is only counted.
// Concurrent writers may exceed the limit by what they write.
const entriesADayMax = 1000;
const dayMs = 24 * 60 * 60 * 1000;

export type NewEntry = Rejection & { quarantine_id: string };

// Counts all entries, and stores as many as there is room for.
export async function insertQuarantine(tx: Queryable, tenantId: string, entries: NewEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const first = await addCounts(tx, tenantId, entries);
  const shown = entries.filter((entry) => !shownOnceADay.has(entry.reason) || first.delete(entry.reason));
  const nowMs = Math.max(...entries.map((entry) => Date.parse(entry.received_at)));
  await deleteOldQuarantine(tx, tenantId, nowMs);
  await tx.query(sql`
    insert into quarantine (tenant_id, quarantine_id, received_at, reason, detail, excerpt)
    select c.tenant_id, e.quarantine_id, e.received_at, e.reason, e.detail, e.excerpt
    from event_counters as c
    cross join unnest(
      ${shown.map((entry) => entry.quarantine_id)}::uuid[],
      ${shown.map((entry) => entry.received_at)}::timestamptz[],
      ${shown.map((entry) => entry.reason)}::text[],
      ${shown.map((entry) => entry.detail)}::text[],
      ${shown.map((entry) => entry.excerpt)}::text[]
    ) with ordinality as e (quarantine_id, received_at, reason, detail, excerpt, position)
    where c.tenant_id = ${tenantId} and e.position <= ${entriesADayMax} - (
      select count(*)
      from quarantine
      where tenant_id = ${tenantId} and quarantine_id >= ${uuidV7Floor(nowMs - (nowMs % dayMs))}::uuid
    )`);
}

// The id contains the time.
async function deleteOldQuarantine(tx: Queryable, tenantId: string, nowMs: number): Promise<void> {
  await tx.query(sql`
    delete from quarantine
    where tenant_id = ${tenantId} and quarantine_id < ${uuidV7Floor(nowMs - daysKept * dayMs)}::uuid`);
}

// Returns the reasons that occurred for the first time that day. Sorted, so that two writers wait for each other instead of
// deadlocking.
async function addCounts(tx: Queryable, tenantId: string, entries: NewEntry[]): Promise<Set<string>> {
  const dayOf = ({ received_at }: NewEntry) => Math.floor(Date.parse(received_at) / dayMs);
  const given = [...Map.groupBy(entries, (entry) => `${dayOf(entry)} ${entry.reason}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...more]]) =>
      first
        ? [{ day: dayOf(first), reason: first.reason, count: [first, ...more].reduce((sum, { count }) => sum + count, 0) }]
        : [],
    );
  const rows = await tx.query<{ day: number; reason: string; count: number }>(sql`
    insert into quarantine_counts as q (tenant_id, day, reason, count)
    select c.tenant_id, date '1970-01-01' + g.day, g.reason, g.count
    from event_counters as c
    cross join unnest(
      ${plainArray(given.map(({ day }) => day))}::int[],
      ${given.map(({ reason }) => reason)}::text[],
      ${plainArray(given.map(({ count }) => count))}::int[]
    ) as g (day, reason, count)
    where c.tenant_id = ${tenantId}
    order by g.day, g.reason
    on conflict (tenant_id, day, reason) do update
    set count = q.count + excluded.count
    returning q.day - date '1970-01-01' as day, q.reason, q.count`);
  const counts = new Map(rows.map(({ day, reason, count }) => [`${day} ${reason}`, count]));
  return new Set(given.flatMap(({ day, reason, count }) => (counts.get(`${day} ${reason}`) === count ? [reason] : [])));
}

export type QuarantinePage = { reason?: string; before: string | null; limit: number; now: string };

// Newest first. A tenant has so few entries that filtering by reason needs no index.
export async function listQuarantine(database: Queryable, tenantId: string, page: QuarantinePage): Promise<QuarantineEntry[]> {
  return database.query<QuarantineEntry & Row>(sql`
    select quarantine_id, received_at, reason, detail, excerpt
    from quarantine
    where tenant_id = ${tenantId}
      and quarantine_id >= ${uuidV7Floor(Date.parse(page.now) - daysKept * dayMs)}::uuid
      and (${page.before}::uuid is null or quarantine_id < ${page.before}::uuid)
      and (${page.reason ?? null}::text is null or reason = ${page.reason ?? null}::text)
    order by quarantine_id desc
    limit ${page.limit}`);
}

export async function listQuarantineCounts(database: Queryable, tenantId: string, now: string): Promise<QuarantineCount[]> {
  const since = new Date(Date.parse(now) - (daysKept - 1) * dayMs).toISOString().slice(0, 10);
  return database.query<QuarantineCount & Row>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, reason, count
    from quarantine_counts
    where tenant_id = ${tenantId} and day >= ${since}::date
    order by quarantine_counts.day desc, reason`);
}
