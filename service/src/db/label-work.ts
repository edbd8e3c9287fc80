import type { Payment, RecordedActivity } from "../domain/activity.ts";
import type { LabelSource } from "../domain/label.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { isRated, type RatedActivity } from "./labels.ts";
import { plainArray, sql, statement } from "./postgres/sql.ts";

// What the engine does with labels: it makes them from outcomes, and counts them as known frauds.
const unapplied = "y is distinct from applied_y and source <> 'account_report'";

// Jumps from tenant to tenant along an index of what is still to be done, so that one tenant's long backlog costs no more than a
// short one.
function tenantsIn(table: string, condition: string): string {
  return `
    with recursive waiting as (
      (select tenant_id from ${table} where ${condition} order by tenant_id limit 1)
      union all
      select (
        select t.tenant_id
        from ${table} as t
        where t.tenant_id > w.tenant_id and ${condition}
        order by t.tenant_id
        limit 1
      )
      from waiting as w
      where w.tenant_id is not null
    )
    select tenant_id
    from waiting
    where tenant_id is not null`;
}

export async function listTenantsWithLabelWork(database: Queryable): Promise<string[]> {
  const texts = [tenantsIn("labels", unapplied), tenantsIn("outcomes", "not is_labelled"), tenantsIn("member_closes", "true")];
  const found = await Promise.all(texts.map((text) => askTenants<{ tenant_id: string }>(database, statement(text, []))));
  return [...new Set(found.flat().map((row) => row.tenant_id))];
}

export type UnlabelledOutcome = {
  case_id: string;
  case_version: number;
  subject: string;
  disposition: string;
  decided_at: string;
  decided_by: string;
  document: string | null;
};

// Takes outcomes that have not become labels, and marks them as done. Skips one whose case is being reopened at this moment.
export async function claimOutcomes(tx: Queryable, tenantId: string, max: number): Promise<UnlabelledOutcome[]> {
  return tx.query<Row & UnlabelledOutcome>(sql`
    with claimed as (
      select case_id, case_version
      from outcomes
      where tenant_id = ${tenantId} and not is_labelled
      order by case_id
      limit ${max}
      for update skip locked
    ), done as (
      update outcomes as o
      set is_labelled = true
      from claimed as c
      where o.tenant_id = ${tenantId} and o.case_id = c.case_id and o.case_version = c.case_version
      returning o.case_id, o.case_version, o.subject, o.disposition, o.decided_at, o.decided_by
    )
    select d.case_id, d.case_version, d.subject, d.disposition, d.decided_at, d.decided_by, c.document
    from done as d
    left join cases as c on c.tenant_id = ${tenantId} and c.case_id = d.case_id`);
}

// The activities that became evidence under these ids.
export async function listRatedBehind(
  tx: Queryable,
  tenantId: string,
  predictions: string[],
): Promise<(RatedActivity & { prediction_id: string })[]> {
  if (predictions.length === 0) return [];
  const text = `
    select a.id_key, a.received_at, a.occurred_at, a.prediction_id
    from activities as a
    where a.tenant_id = $1 and a.prediction_id = any($2::uuid[]) and ${isRated}`;
  return tx.query<Row & RatedActivity & { prediction_id: string }>(statement(text, [tenantId, plainArray(predictions)]));
}

export type ReportedActivity = Pick<RatedActivity, "id_key" | "received_at"> & {
  case_id: string;
  source: LabelSource;
  event_at: string;
};

// The activities that reports in these cases named, or that were guessed from them.
export async function listReported(tx: Queryable, tenantId: string, caseIds: string[]): Promise<ReportedActivity[]> {
  if (caseIds.length === 0) return [];
  return tx.query<Row & ReportedActivity>(sql`
    select id_key, received_at, case_id, source, event_at
    from labels
    where tenant_id = ${tenantId}
      and case_id = any(${plainArray(caseIds)}::uuid[])
      and source in ('report', 'account_report')`);
}

// The account's latest payments and transfers in a span of event time.
export async function listValueActivities(
  tx: Queryable,
  tenantId: string,
  {
    account,
    received_from,
    from,
    until,
    limit,
  }: { account: string; received_from: string; from: string; until: string; limit: number },
): Promise<RatedActivity[]> {
  return tx.query<Row & RatedActivity>(sql`
    select id_key, received_at, occurred_at
    from activities
    where tenant_id = ${tenantId}
      and website_account_id = ${account}
      and received_at >= ${received_from}
      and occurred_at >= ${from}
      and occurred_at <= ${until}
      and origin = 'server'
      and type in ('payment', 'transfer')
    order by occurred_at desc, id_key
    limit ${limit}`);
}

// Takes the labels of these cases back. Labels that were counted stay without a value until an engine has subtracted them.
export async function takeBackLabels(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  const ids = plainArray(caseIds);
  await Promise.all([
    tx.query(sql`
      delete from labels
      where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[]) and source = 'case' and applied_y is null`),
    tx.query(sql`
      update labels
      set y = null
      where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[]) and source = 'case' and y is not null`),
  ]);
}

export type UnappliedLabel = {
  id_key: string;
  source: LabelSource;
  case_id: string;
  y: 0 | 1 | null;
  applied_y: 0 | 1 | null;
  received_at: string;
  event_at: string;
};

// Locks all labels of each activity that has a label to count: one that was known at `knownBy` and differs from what was counted.
export async function lockUnapplied(
  tx: Queryable,
  tenantId: string,
  { max, knownBy }: { max: number; knownBy: string },
): Promise<UnappliedLabel[]> {
  const text = `
    with pending as (
      select distinct id_key
      from labels
      where tenant_id = $1 and ${unapplied} and known_at <= $3::timestamptz
      order by id_key
      limit $2
    )
    select l.id_key, l.source, l.case_id, l.y, l.applied_y, l.received_at, l.event_at
    from pending as p
    join labels as l on l.tenant_id = $1 and l.id_key = p.id_key
    order by l.id_key, l.source, l.case_id
    for update of l`;
  return tx.query<Row & UnappliedLabel>(statement(text, [tenantId, max, knownBy]));
}

// The members of an activity that are needed to count its labels.
export type LabelledActivity = Pick<RecordedActivity, "type" | "origin" | "website_account_id" | "device_id"> & Payment;

type LabelledRow = Row & {
  id_key: string;
  type: string;
  origin: RecordedActivity["origin"];
  website_account_id: string | null;
  device_id: string | null;
  document: string;
};

export async function findLabelled(
  tx: Queryable,
  tenantId: string,
  keys: Pick<RatedActivity, "id_key" | "received_at">[],
): Promise<Map<string, LabelledActivity>> {
  const rows = await tx.query<LabelledRow>(sql`
    select a.id_key, a.type, a.origin, a.website_account_id, a.device_id, a.document
    from unnest(
      ${plainArray(keys.map((each) => each.received_at))}::timestamptz[],
      ${plainArray(keys.map((each) => each.id_key))}::uuid[]
    ) as k (received_at, id_key)
    join activities as a on a.tenant_id = ${tenantId} and a.received_at = k.received_at and a.id_key = k.id_key`);
  return new Map(
    rows.map(({ id_key, type, origin, website_account_id: account, device_id: device, document }) => {
      // Only appendScored writes this column, so its type is known.
      const { payment } = JSON.parse(document) as { payment?: Payment };
      return [
        id_key,
        {
          type,
          origin,
          ...(account !== null && { website_account_id: account }),
          ...(device !== null && { device_id: device }),
          ...payment,
        },
      ];
    }),
  );
}

// Marks these labels, and no others of their activities, as counted.
export async function saveApplied(tx: Queryable, tenantId: string, labels: UnappliedLabel[]): Promise<void> {
  const keys = [
    plainArray(labels.map((each) => each.id_key)),
    plainArray(labels.map((each) => each.source)),
    plainArray(labels.map((each) => each.case_id)),
  ];
  await Promise.all([
    tx.query(sql`
      delete from labels as l
      using unnest(${keys[0]}::uuid[], ${keys[1]}::text[], ${keys[2]}::uuid[]) as k (id_key, source, case_id)
      where l.tenant_id = ${tenantId} and l.id_key = k.id_key and l.source = k.source and l.case_id = k.case_id and l.y is null`),
    tx.query(sql`
      update labels as l
      set applied_y = l.y
      from unnest(${keys[0]}::uuid[], ${keys[1]}::text[], ${keys[2]}::uuid[]) as k (id_key, source, case_id)
      where l.tenant_id = ${tenantId} and l.id_key = k.id_key and l.source = k.source and l.case_id = k.case_id
        and l.y is distinct from l.applied_y`),
  ]);
}
