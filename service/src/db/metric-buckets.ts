import type { LevelRange, MetricLevel, TimeRange } from "../domain/metric.ts";
import type { Queryable } from "./postgres/database.ts";
import { sql, statement } from "./postgres/sql.ts";

// Longer than any sketch.
export const wholeSketch = 2 ** 31 - 1;

const sketchNames = ["sessions", "identified", "ids"] as const;
export type SketchName = (typeof sketchNames)[number];
type Sketches = Record<SketchName, Uint8Array>;

export type BucketKey = { level: MetricLevel; at: number };
export type MetricBucket = BucketKey & { total_events: number; session_starts: number } & Sketches;

// Additions of all tenants share one sequence. A tenant's additions are merged when one of them gets a multiple of this number.
const additionsMax = 96;

type BucketRow = Sketches & { level: MetricLevel; bucket: string; total_events: number; session_starts: number };

function toBucket({ bucket, ...row }: BucketRow): MetricBucket {
  return { ...row, at: Date.parse(bucket) };
}

// No row locks: only the holder of the tenant's turn writes buckets.
export async function findBuckets(tx: Queryable, tenantId: string, keys: BucketKey[]): Promise<MetricBucket[]> {
  const rows = await tx.query<BucketRow>(sql`
    select m.level, m.bucket, m.total_events, m.session_starts, m.sessions, m.identified, m.ids
    from unnest(${keys.map((key) => key.level)}::text[], ${keys.map((key) => time(key.at))}::timestamptz[]) as k (level, bucket)
    cross join lateral (
      select level, bucket, total_events, session_starts, sessions, identified, ids
      from metric_buckets
      where tenant_id = ${tenantId} and level = k.level and bucket = k.bucket
      limit 1
    ) as m`);
  return rows.map(toBucket);
}

export async function insertBuckets(tx: Queryable, tenantId: string, buckets: MetricBucket[]): Promise<void> {
  if (buckets.length > 0) await tx.query(statement(insertText("metric_buckets"), insertValues(tenantId, buckets)));
}

// Returns whether it is time to merge the additions into their buckets.
export async function insertAdditions(tx: Queryable, tenantId: string, additions: MetricBucket[]): Promise<boolean> {
  const text = `${insertText("metric_additions")} returning addition_id`;
  const rows = await tx.query<{ addition_id: number }>(statement(text, insertValues(tenantId, additions)));
  return rows.some(({ addition_id }) => addition_id % additionsMax === 0);
}

// No row locks, as in findBuckets.
export async function takeAdditions(tx: Queryable, tenantId: string): Promise<MetricBucket[]> {
  const rows = await tx.query<BucketRow>(sql`
    delete from metric_additions
    where tenant_id = ${tenantId}
    returning level, bucket, total_events, session_starts, sessions, identified, ids`);
  return rows.map(toBucket);
}

function insertText(table: "metric_buckets" | "metric_additions"): string {
  return `
    insert into ${table} (tenant_id, level, bucket, total_events, session_starts, sessions, identified, ids)
    select $1::uuid, n.level, n.bucket, n.total_events, n.session_starts,
      substring(b.bytes from n.sessions for n.sessions_length),
      substring(b.bytes from n.identified for n.identified_length),
      substring(b.bytes from n.ids for n.ids_length)
    from (select $2::bytea as bytes) as b, unnest(
      $3::text[], $4::timestamptz[], $5::bigint[], $6::bigint[], $7::int[], $8::int[], $9::int[], $10::int[], $11::int[], $12::int[]
    ) as n (
      level, bucket, total_events, session_starts, sessions, sessions_length, identified, identified_length, ids, ids_length
    )`;
}

function insertValues(tenantId: string, buckets: MetricBucket[]): unknown[] {
  const { bytes, places } = joinSketches(buckets);
  return [
    tenantId,
    bytes,
    buckets.map((each) => each.level),
    buckets.map((each) => time(each.at)),
    buckets.map((each) => each.total_events),
    buckets.map((each) => each.session_starts),
    ...sketchNames.flatMap((name) => [places[name].starts, places[name].lengths]),
  ];
}

export type BucketChange = BucketKey & { total_events: number; session_starts: number } & Record<SketchName, Uint8Array | null>;

// Adds to the counts. A sketch that is null is left unchanged, so its pages are not rewritten.
export async function saveBuckets(tx: Queryable, tenantId: string, changes: BucketChange[]): Promise<void> {
  if (changes.length === 0) return;
  const { bytes, places } = joinSketches(changes);
  await tx.query(sql`
    update metric_buckets as m
    set total_events = m.total_events + n.total_events,
      session_starts = m.session_starts + n.session_starts,
      sessions = coalesce(substring(b.bytes from n.sessions for n.sessions_length), m.sessions),
      identified = coalesce(substring(b.bytes from n.identified for n.identified_length), m.identified),
      ids = coalesce(substring(b.bytes from n.ids for n.ids_length), m.ids)
    from (select ${bytes}::bytea as bytes) as b, unnest(
      ${changes.map((each) => each.level)}::text[],
      ${changes.map((each) => time(each.at))}::timestamptz[],
      ${changes.map((each) => each.total_events)}::bigint[],
      ${changes.map((each) => each.session_starts)}::bigint[],
      ${places.sessions.starts}::int[],
      ${places.sessions.lengths}::int[],
      ${places.identified.starts}::int[],
      ${places.identified.lengths}::int[],
      ${places.ids.starts}::int[],
      ${places.ids.lengths}::int[]
    ) as n (
      level, bucket, total_events, session_starts, sessions, sessions_length, identified, identified_length, ids, ids_length
    )
    where m.tenant_id = ${tenantId} and m.level = n.level and m.bucket = n.bucket`);
}

type Places = { starts: number[]; lengths: (number | null)[] };

// Sends all sketches as one byte string, which the server splits. An array of them would be sent as text, at twice the length.
function joinSketches(changes: Record<SketchName, Uint8Array | null>[]): { bytes: Buffer; places: Record<SketchName, Places> } {
  const pieces: Uint8Array[] = [];
  let end = 1;
  const place = (name: SketchName): Places => {
    const placed = changes.map(({ [name]: sketch }) => {
      const start = end;
      if (sketch) pieces.push(sketch);
      end += sketch?.length ?? 0;
      return { start, length: sketch?.length ?? null };
    });
    return { starts: placed.map((each) => each.start), lengths: placed.map((each) => each.length) };
  };
  const places = { sessions: place("sessions"), identified: place("identified"), ids: place("ids") };
  return { bytes: Buffer.concat(pieces), places };
}

// One statement, so that buckets of several levels and additions are consistent. A bucket with additions has several rows. Of a
// bucket with one row, this reads only the first bytes of each sketch, as many as requested: large sketches are stored outside the
// row and are not read further.
export async function listBuckets(
  database: Queryable,
  tenantId: string,
  { ranges, bytes }: { ranges: LevelRange[]; bytes: Record<SketchName, number> },
): Promise<MetricBucket[]> {
  const rows = await database.query<BucketRow>(sql`
    with added as materialized (
      select level, bucket, total_events, session_starts, sessions, identified, ids
      from metric_additions
      where tenant_id = ${tenantId}
    )
    select m.level, m.bucket, m.total_events, m.session_starts, m.sessions, m.identified, m.ids
    from unnest(
      ${ranges.map((range) => range.level)}::text[],
      ${ranges.map((range) => time(range.from))}::timestamptz[],
      ${ranges.map((range) => time(range.to))}::timestamptz[]
    ) as r (level, since, before)
    cross join lateral (
      select b.level, b.bucket, b.total_events, b.session_starts,
        substring(b.sessions from 1 for case when a.is_alone then ${bytes.sessions}::int else ${wholeSketch}::int end) as sessions,
        substring(b.identified from 1 for case when a.is_alone then ${bytes.identified}::int else ${wholeSketch}::int end) as identified,
        substring(b.ids from 1 for case when a.is_alone then ${bytes.ids}::int else ${wholeSketch}::int end) as ids
      from metric_buckets as b
      cross join lateral (
        select not exists (select from added where added.level = b.level and added.bucket = b.bucket) as is_alone
      ) as a
      where b.tenant_id = ${tenantId} and b.level = r.level and b.bucket >= r.since and b.bucket < r.before
      union all
      select level, bucket, total_events, session_starts, sessions, identified, ids
      from added
      where added.level = r.level and added.bucket >= r.since and added.bucket < r.before
    ) as m`);
  return rows.map(toBucket);
}

export async function hasEvents(database: Queryable, tenantId: string, { from, to }: TimeRange): Promise<boolean> {
  const rows = await database.query(sql`
    (
      select 1 as found
      from metric_buckets
      where tenant_id = ${tenantId} and level = 'day' and bucket >= ${time(from)} and bucket < ${time(to)}
      limit 1
    )
    union all
    select 1
    from metric_additions
    where tenant_id = ${tenantId} and level = 'day' and bucket >= ${time(from)} and bucket < ${time(to)}
    limit 1`);
  return rows.length > 0;
}

function time(at: number): string {
  return new Date(at).toISOString();
}
