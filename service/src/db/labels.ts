import { ratedTypes, sourcesByRank, type ActivityLabel, type Label, type LabelSource } from "../domain/label.ts";
import { activityKey } from "./inbox.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql, statement } from "./postgres/sql.ts";

// An activity that can be labelled.
export type RatedActivity = { id_key: string; received_at: string; occurred_at: string };
export type NewLabelRow = {
  activity: Pick<RatedActivity, "id_key" | "received_at">;
  source: LabelSource;
  y: 0 | 1;
  weight: number;
  event_at: string;
  labelled_at: string;
  // Equal to labelled_at if the sender gave no time.
  known_at: string;
  case_id: string | null;
  case_version: number | null;
  actor: string;
};

// A label without a case. A primary key cannot contain a null.
const noCase = "00000000-0000-0000-0000-000000000000";
// Written out, because the planner must see that the query matches the condition of the index activities_rated.
export const isRated = `a.type in (${ratedTypes.map((type) => `'${type}'`).join(", ")})`;
// One order has one payment, or a few attempts.
const activitiesOfOrderMax = 20;

// Finds server activity by id. Locks it, so that an erasure either waits for its labels or has deleted it. The day of receipt
// selects the partition.
export async function lockRatedById(tx: Queryable, tenantId: string, ids: string[]): Promise<Map<string, RatedActivity[]>> {
  if (ids.length === 0) return new Map();
  const names = new Map(ids.map((activity_id) => [activityKey({ origin: "server", activity_id }), activity_id]));
  const text = `
    select f.id_key, f.received_at, f.occurred_at
    from unnest($2::uuid[]) as k (id_key)
    join activity_ids as i on i.tenant_id = $1 and i.id_key = k.id_key
    cross join lateral (
      select a.id_key, a.received_at, a.occurred_at
      from activities as a
      where a.tenant_id = $1
        and a.id_key = i.id_key
        and a.received_at >= i.received_on::timestamp at time zone 'UTC'
        and a.received_at < (i.received_on + 1)::timestamp at time zone 'UTC'
        and ${isRated}
      for key share
    ) as f`;
  const rows = await tx.query<Row & RatedActivity>(statement(text, [tenantId, plainArray([...names.keys()].toSorted())]));
  return Map.groupBy(rows, ({ id_key }) => names.get(id_key) ?? "");
}

// Finds server activity by order, the latest first. Locks it in the same way.
export async function lockRatedOfOrders(
  tx: Queryable,
  tenantId: string,
  orders: string[],
): Promise<Map<string, RatedActivity[]>> {
  if (orders.length === 0) return new Map();
  const text = `
    select o.order_id, f.id_key, f.received_at, f.occurred_at
    from unnest($2::text[]) as o (order_id)
    cross join lateral (
      select a.id_key, a.received_at, a.occurred_at
      from activities as a
      where a.tenant_id = $1 and a.order_id = o.order_id and a.origin = 'server' and ${isRated}
      order by a.received_at desc, a.id_key
      limit ${activitiesOfOrderMax}
      for key share
    ) as f`;
  const rows = await tx.query<Row & RatedActivity & { order_id: string }>(
    statement(text, [tenantId, [...new Set(orders)].toSorted()]),
  );
  return Map.groupBy(rows, ({ order_id }) => order_id);
}

// Stores labels and returns the keys of the activities whose label is new or different. A label without a time of its own does
// not change the time of the same label. Each activity appears once. Sorted, so that two senders wait for each other instead of
// deadlocking.
export async function saveLabels(tx: Queryable, tenantId: string, given: NewLabelRow[]): Promise<Set<string>> {
  if (given.length === 0) return new Set();
  const sorted = given.toSorted((a, b) => (a.activity.id_key < b.activity.id_key ? -1 : 1));
  const column = <T>(pick: (each: NewLabelRow) => T) => sorted.map(pick);
  const rows = await tx.query<{ id_key: string }>(sql`
    insert into labels as l (
      tenant_id, id_key, source, case_id, case_version, received_at, y, weight, event_at, labelled_at, known_at, actor
    )
    select ${tenantId}::uuid, n.*
    from unnest(
      ${plainArray(column((each) => each.activity.id_key))}::uuid[],
      ${plainArray(column((each) => each.source))}::text[],
      ${plainArray(column((each) => each.case_id ?? noCase))}::uuid[],
      ${plainArray(column((each) => each.case_version))}::int[],
      ${plainArray(column((each) => each.activity.received_at))}::timestamptz[],
      ${plainArray(column((each) => each.y))}::smallint[],
      ${plainArray(column((each) => each.weight))}::real[],
      ${plainArray(column((each) => each.event_at))}::timestamptz[],
      ${plainArray(column((each) => each.labelled_at))}::timestamptz[],
      ${plainArray(column((each) => each.known_at))}::timestamptz[],
      ${column((each) => each.actor)}::text[]
    ) as n
    on conflict (tenant_id, id_key, source, case_id) do update
    set case_version = excluded.case_version,
      y = excluded.y,
      weight = excluded.weight,
      labelled_at = excluded.labelled_at,
      known_at = excluded.known_at,
      actor = excluded.actor
    where l.y is distinct from excluded.y
      or (excluded.known_at <> excluded.labelled_at and l.known_at <> excluded.known_at)
    returning l.id_key`);
  return new Set(rows.map((row) => row.id_key));
}

export type LabelPosition = { labelled_at: string; id_key: string; source: string; case_id: string };
export type ListedLabel = Label & { position: LabelPosition };
export type LabelFilter = { activity_id?: string; order_id?: string; source?: LabelSource; since?: string };
type LabelPage = { filter: LabelFilter; before: LabelPosition | null; limit: number };

type LabelRow = Row &
  Omit<Label, "fraudulent" | "order_id" | "case_id"> & { y: 0 | 1; order_id: string | null; case_id: string; id_key: string };

// Newest first. Labels that were withdrawn are left out. Activities are looked up one by one, because the planner cannot know how
// few labels a page has.
export async function listLabels(database: Queryable, tenantId: string, page: LabelPage): Promise<ListedLabel[]> {
  const { activity_id, order_id, source, since } = page.filter;
  const { before } = page;
  const last = before && [before.labelled_at, before.id_key, before.source, before.case_id];
  const conditions: [condition: (...names: string[]) => string, ...values: unknown[]][] = [];
  if (activity_id !== undefined)
    conditions.push([(key) => `l.id_key = ${key}::uuid`, activityKey({ origin: "server", activity_id })]);
  if (order_id !== undefined) conditions.push([ofOrder, order_id]);
  if (source !== undefined) conditions.push([(name) => `l.source = ${name}`, source]);
  if (since !== undefined) conditions.push([(time) => `l.labelled_at >= ${time}::timestamptz`, since]);
  if (last) conditions.push([isBefore, ...last]);
  const values: unknown[] = [tenantId, page.limit];
  const wheres = conditions.map(([condition, ...given]) => condition(...given.map((value) => `$${values.push(value)}`)));
  const text = `
    select a.activity_id, a.order_id, l.source, l.y, l.weight, l.event_at, l.labelled_at, l.known_at, l.case_id, l.actor, l.id_key
    from labels as l
    cross join lateral (
      select activity_id, order_id
      from activities
      where tenant_id = $1 and received_at = l.received_at and id_key = l.id_key
      limit 1
    ) as a
    where ${["l.tenant_id = $1", "l.y is not null", ...wheres].join(" and ")}
    order by l.labelled_at desc, l.id_key desc, l.source desc, l.case_id desc
    limit $2`;
  const rows = await database.query<LabelRow>(statement(text, values));
  return rows.map(({ y, order_id: order, case_id, id_key, ...row }) => ({
    activity_id: row.activity_id,
    ...(order !== null && { order_id: order }),
    source: row.source,
    fraudulent: y === 1,
    weight: row.weight,
    event_at: row.event_at,
    labelled_at: row.labelled_at,
    known_at: row.known_at,
    ...(case_id !== noCase && { case_id }),
    actor: row.actor,
    position: { labelled_at: row.labelled_at, id_key, source: row.source, case_id },
  }));
}

// Returns the label that decides for each of these activities, if there is one.
export async function findDecidingLabels(
  database: Queryable,
  tenantId: string,
  keys: string[],
): Promise<Map<string, ActivityLabel>> {
  if (keys.length === 0) return new Map();
  const rows = await database.query<Pick<LabelRow, "id_key" | "source" | "y" | "known_at" | "case_id">>(sql`
    select distinct on (id_key) id_key, source, y, known_at, case_id
    from labels
    where tenant_id = ${tenantId} and id_key = any(${plainArray(keys)}::uuid[]) and y is not null
    order by id_key, array_position(${sourcesByRank}::text[], source), y desc, known_at`);
  return new Map(
    rows.map(({ id_key, source, y, known_at, case_id }) => [
      id_key,
      { fraudulent: y === 1, source, known_at, ...(case_id !== noCase && { case_id }) },
    ]),
  );
}

function ofOrder(order = ""): string {
  const keys = `select a.id_key from activities as a where a.tenant_id = $1 and a.order_id = ${order} and ${isRated} limit 1000`;
  return `l.id_key = any(array(${keys}))`;
}

function isBefore(at = "", key = "", source = "", caseId = ""): string {
  const place = `${at}::timestamptz, ${key}::uuid, ${source}::text collate "C", ${caseId}::uuid`;
  return `(l.labelled_at, l.id_key, l.source, l.case_id) < (${place})`;
}

// Deletes the labels of activities that were deleted. Send it after their deletion, so that it sees labels that were stored until
// then.
export async function deleteLabelsOf(
  tx: Queryable,
  tenantId: string,
  deleted: { id_key: string; type: string }[],
): Promise<void> {
  const keys = deleted.filter(({ type }) => ratedTypes.includes(type)).map(({ id_key }) => id_key);
  if (keys.length === 0) return;
  await tx.query(sql`
    delete from labels
    where tenant_id = ${tenantId} and id_key = any(${plainArray(keys)}::uuid[])`);
}
