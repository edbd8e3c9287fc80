import {
  judgedOf,
  shareOf,
  undoMinutes,
  type JudgedPrecision,
  type MoneyFigures,
  type PersonDay,
  type PersonFigures,
} from "../domain/figures.ts";
import type { LockedCase } from "./cases.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql, statement } from "./postgres/sql.ts";

// Everything here reads the closes of a period from one index, which contains all that is counted. So the cost depends on how many
// cases were closed in the period, and not on how many there are.

export type Period = { from: string; to: string };
type Page<P> = { after: P | null; limit: number };

const counted = `count(*) as closed,
  count(*) filter (where disposition = 'CONFIRMED_FRAUD') as confirmed,
  count(*) filter (where disposition = 'FALSE_POSITIVE') as false_positives,
  count(*) filter (where disposition = 'INCONCLUSIVE') as inconclusive,
  count(*) filter (where disposition is null) as none,
  round((percentile_cont(0.5) within group (order by extract(epoch from closed_at - created_at)::float8))::numeric)::bigint as median_seconds,
  round((percentile_cont(0.9) within group (order by extract(epoch from closed_at - created_at)::float8))::numeric)::bigint as p90_seconds`;

export type DayPlace = [day: string, closed_by: string];

// By day, and then by person.
export async function listPersonDays(
  database: Queryable,
  tenantId: string,
  { from, to }: Period,
  { after, limit }: Page<DayPlace>,
): Promise<PersonDay[]> {
  const [day = from, closer = ""] = after ?? [];
  const text = `
    select to_char(closed_at at time zone 'UTC', 'YYYY-MM-DD') as day, closer as closed_by, ${counted}
    from cases
    where tenant_id = $1 and closed_at >= $2::timestamptz and closed_at < $3::timestamptz
    group by 1, 2
    having (to_char(closed_at at time zone 'UTC', 'YYYY-MM-DD'), closer) > ($4, $5)
    order by 1, 2
    limit $6`;
  const [first, last] = [`${day.slice(0, 10)}T00:00:00Z`, `${to}T00:00:00Z`];
  return database.query<Row & PersonDay>(statement(text, [tenantId, first, last, day, closer, limit]));
}

// By name.
export async function listPersonFigures(
  database: Queryable,
  tenantId: string,
  { from, to }: Period,
  { after, limit }: Page<string>,
): Promise<PersonFigures[]> {
  const text = `
    with closes as (
      select closer as closed_by, ${counted}
      from cases
      where tenant_id = $1 and closed_at >= $2::timestamptz and closed_at < $3::timestamptz
      group by closer
    ),
    overturned as (
      select closed_by, count(*) as overturned
      from overturned_closes
      where tenant_id = $1
        and closed_at >= $2::timestamptz
        and closed_at < $3::timestamptz
        and reopened_at >= closed_at + make_interval(mins => ${undoMinutes})
      group by closed_by
    )
    select closed_by, coalesce(closed, 0) as closed, coalesce(confirmed, 0) as confirmed,
      coalesce(false_positives, 0) as false_positives, coalesce(inconclusive, 0) as inconclusive, coalesce(none, 0) as none,
      coalesce(median_seconds, 0) as median_seconds, coalesce(p90_seconds, 0) as p90_seconds,
      coalesce(overturned, 0) as overturned
    from closes
    full join overturned using (closed_by)
    where $4::text is null or closed_by > $4::text
    order by closed_by
    limit $5`;
  const values = [tenantId, `${from}T00:00:00Z`, `${to}T00:00:00Z`, after, limit];
  const rows = await database.query<Row & Omit<PersonFigures, "overturned_share">>(statement(text, values));
  return rows.map((row) => ({ ...row, overturned_share: shareOf(row.overturned, row.closed) ?? 0 }));
}

type JudgedRow = Row & Omit<JudgedPrecision, "kind" | "precision">;

// By the stored id.
export async function listPrecision(
  database: Queryable,
  tenantId: string,
  { from, to }: Period,
  { after, limit }: Page<string>,
): Promise<(JudgedPrecision & { place: string })[]> {
  const rows = await database.query<JudgedRow>(sql`
    select j.id,
      count(*) filter (where c.disposition = 'CONFIRMED_FRAUD') as confirmed,
      count(*) filter (where c.disposition = 'FALSE_POSITIVE') as false_positives,
      count(*) filter (where c.disposition = 'INCONCLUSIVE') as inconclusive
    from cases as c
    cross join lateral unnest(string_to_array(c.judged, ' ')) as j (id)
    where c.tenant_id = ${tenantId}
      and c.closed_at >= ${`${from}T00:00:00Z`}::timestamptz
      and c.closed_at < ${`${to}T00:00:00Z`}::timestamptz
      and c.disposition is not null
      and j.id <> ''
      and (${after}::text is null or j.id > ${after}::text)
    group by j.id
    order by j.id
    limit ${limit}`);
  return rows.map(({ id, confirmed, false_positives, inconclusive }) => ({
    ...judgedOf(id),
    confirmed,
    false_positives,
    inconclusive,
    precision: shareOf(confirmed, false_positives),
    place: id,
  }));
}

export async function listMoney(
  database: Queryable,
  tenantId: string,
  { from, to }: Period,
  { after, limit }: Page<string>,
): Promise<MoneyFigures[]> {
  return database.query<Row & MoneyFigures>(sql`
    select m.currency, count(*) as cases, sum(m.payments)::bigint as payments, sum(m.amount)::float8 as amount
    from cases as c
    join case_money as m on m.tenant_id = ${tenantId} and m.case_id = c.case_id
    where c.tenant_id = ${tenantId}
      and c.closed_at >= ${`${from}T00:00:00Z`}::timestamptz
      and c.closed_at < ${`${to}T00:00:00Z`}::timestamptz
      and c.disposition = 'CONFIRMED_FRAUD'
      and (${after}::text is null or m.currency > ${after}::text)
    group by m.currency
    order by m.currency
    limit ${limit}`);
}

// The cases were just reopened. Their last state was the close.
export async function insertOverturned(tx: Queryable, tenantId: string, reopened: LockedCase[]): Promise<void> {
  const closes = reopened.flatMap(({ document: { case_id, current_state: now, state_history: earlier } }) => {
    const close = earlier.at(-1);
    if (close?.case_status !== "CLOSED") return [];
    const { changed_at: closed_at, changed_by: closed_by, disposition = null } = close;
    return [{ case_id, closed_at, closed_by, disposition, reopened_at: now.changed_at }];
  });
  if (closes.length === 0) return;
  await tx.query(sql`
    insert into overturned_closes (tenant_id, case_id, closed_at, closed_by, disposition, reopened_at)
    select ${tenantId}::uuid, o.*
    from unnest(
      ${closes.map((each) => each.case_id)}::uuid[],
      ${closes.map((each) => each.closed_at)}::timestamptz[],
      ${closes.map((each) => each.closed_by)}::text[],
      ${closes.map((each) => each.disposition)}::text[],
      ${closes.map((each) => each.reopened_at)}::timestamptz[]
    ) as o
    on conflict do nothing`);
  await tx.query(sql`
    delete from case_money
    where tenant_id = ${tenantId} and case_id = any(${plainArray(closes.map((each) => each.case_id))}::uuid[])`);
}

// ISO 4217 for "no currency".
const noCurrency = "XXX";

// Adds up the payments that the labels of these cases name. The labels were just stored.
export async function saveMoney(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  await tx.query(sql`
    insert into case_money (tenant_id, case_id, currency, payments, amount)
    select p.tenant_id, p.case_id, coalesce(p.payment ->> 'currency', ${noCurrency}), count(*),
      sum((p.payment ->> 'amount')::numeric)
    from (
      select distinct on (l.tenant_id, l.case_id, a.id_key) l.tenant_id, l.case_id, a.document::jsonb -> 'payment' as payment
      from labels as l
      join activities as a on a.tenant_id = ${tenantId} and a.id_key = l.id_key and a.received_at = l.received_at
      where l.tenant_id = ${tenantId}
        and l.case_id = any(${plainArray(caseIds)}::uuid[])
        and l.y = 1
        and l.source in ('case', 'report')
        and a.type in ('payment', 'transfer')
    ) as p
    where p.payment ->> 'amount' is not null
      and (p.payment ->> 'amount')::numeric > 0
      and p.payment ->> 'status' is distinct from 'declined'
    group by 1, 2, 3
    on conflict (tenant_id, case_id, currency) do update
    set payments = excluded.payments, amount = excluded.amount`);
}
