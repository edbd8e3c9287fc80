import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// What decides whether a close needs a second person.

const countedMax = 1_000;

type Closer = { actor: string; mailbox: string | null; since: string };

// How many cases somebody has closed alone since then, and that are still closed. Members of an attack that the engine is still
// closing for that person count as closed. `mailbox` is the end of a person's name in `changed_by`: names can change, but e-mail
// addresses do not. The names are found by stepping from closer to closer in an index, so only the person's own closes are read.
// Every case was touched when it was closed or later.
export async function countOwnCloses(database: Queryable, tenantId: string, { actor, mailbox, since }: Closer): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    with recursive closers as (
      (
        select closer
        from cases
        where ${mailbox}::text is not null and tenant_id = ${tenantId} and closer is not null
        order by closer
        limit 1
      )
      union all
      select (
        select closer
        from cases
        where tenant_id = ${tenantId} and closer > p.closer
        order by closer
        limit 1
      )
      from closers as p
      where p.closer is not null
    ),
    names as (
      select ${actor}::text collate "C" as closer
      union
      select closer
      from closers
      where right(closer, length(${mailbox}::text)) = ${mailbox}::text
    ),
    own as (
      select c.case_id
      from names as n
      cross join lateral (
        select case_id
        from cases
        where tenant_id = ${tenantId}
          and closer = n.closer
          and touched_at > ${since}::timestamptz
          and closed_at > ${since}::timestamptz
          and approver is null
        order by touched_at desc
        limit ${countedMax}
      ) as c
      limit ${countedMax}
    ),
    closing as (
      select 1
      from own as o
      join member_closes as p on p.tenant_id = ${tenantId} and p.case_id = o.case_id
      join case_members as m on m.tenant_id = ${tenantId} and m.case_id = p.case_id and m.own_case_id > p.closed_to
      join cases as c on c.tenant_id = ${tenantId} and c.case_id = m.own_case_id and c.status = 'OPEN'
      limit ${countedMax}
    )
    select (select count(*) from own) + (select count(*) from closing) as count`);
  return row?.count ?? 0;
}

// ISO 4217 for "no currency".
const noCurrency = "XXX";

export type CaseEvidence = { case_id: string; prediction_ids: string[] };
export type CaseMoney = { case_id: string; currency: string; amount: number };

// Adds up the payments and transfers behind the evidence of each case, and those that its reports named. These are the payments that
// the figures would count if the case were confirmed (`saveMoney` in db/figures.ts).
export async function sumMoney(database: Queryable, tenantId: string, evidence: CaseEvidence[]): Promise<CaseMoney[]> {
  if (evidence.length === 0) return [];
  const pairs = evidence.flatMap(({ case_id, prediction_ids }) => prediction_ids.map((id) => [case_id, id] as const));
  const rows = await database.query<Row & CaseMoney>(sql`
    with behind as (
      select w.case_id, a.id_key, a.document::jsonb -> 'payment' as payment
      from unnest(${plainArray(pairs.map(([id]) => id))}::uuid[], ${plainArray(pairs.map(([, id]) => id))}::uuid[])
        as w (case_id, prediction_id)
      join activities as a on a.tenant_id = ${tenantId} and a.prediction_id = w.prediction_id
      where a.type in ('payment', 'transfer')
      union
      select l.case_id, a.id_key, a.document::jsonb -> 'payment'
      from labels as l
      join activities as a on a.tenant_id = ${tenantId} and a.id_key = l.id_key and a.received_at = l.received_at
      where l.tenant_id = ${tenantId}
        and l.case_id = any(${plainArray(evidence.map((each) => each.case_id))}::uuid[])
        and l.y = 1
        and l.source = 'report'
        and a.type in ('payment', 'transfer')
    )
    select case_id, coalesce(payment ->> 'currency', ${noCurrency}) as currency, sum((payment ->> 'amount')::numeric)::float8 as amount
    from behind
    where payment ->> 'amount' is not null
      and (payment ->> 'amount')::numeric > 0
      and payment ->> 'status' is distinct from 'declined'
    group by 1, 2`);
  return rows;
}

// Keeps two requests of one person from passing the limit together. Waits for the other one to commit. Returns false
// if the closer has no row to lock, because an issuer outside the service made its token.
export async function lockCloser(
  tx: Queryable,
  tenantId: string,
  closer: { user_id: string } | { client_id: string },
): Promise<boolean> {
  const rows =
    "user_id" in closer
      ? await tx.query(sql`
          select 1
          from users
          where tenant_id = ${tenantId} and user_id = ${closer.user_id}
          for no key update`)
      : await tx.query(sql`
          select 1
          from clients
          where tenant_id = ${tenantId} and client_id = ${closer.client_id}
          for no key update`);
  return rows.length > 0;
}

export type ActivePerson = { name: string; email: string; user_id: string; role: string; own_scopes: string[] | null };

// People who can sign in, with the scopes of their role if it is one of the tenant's own. In order of their names.
export async function listActivePeople(database: Queryable, tenantId: string): Promise<ActivePerson[]> {
  return database.query<Row & ActivePerson>(sql`
    select u.name, u.email, u.user_id, u.role, r.scopes as own_scopes
    from users as u
    left join tenant_roles as r on r.tenant_id = ${tenantId} and r.role = u.role
    where u.tenant_id = ${tenantId} and not u.is_disabled and (u.password_hash is not null or u.external_subject is not null)
    order by u.name, u.user_id`);
}
