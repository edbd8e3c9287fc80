import { ageHours, linkedCasesShownMax } from "../domain/case-digest.ts";
import { uuidV7Floor } from "../domain/uuid.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { openFacets, scoreOf } from "./facets.ts";
import { sql } from "./postgres/sql.ts";

export type TallyRow = { day: string; what: string; bucket: number; cases: number };

export async function listTallies(
  database: Queryable,
  tenantId: string,
  range: { from: string; to: string },
): Promise<TallyRow[]> {
  return database.query<Row & TallyRow>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, what, bucket, cases
    from case_tallies
    where tenant_id = ${tenantId} and day >= ${range.from}::date and day < ${range.to}::date`);
}

export type OpenCount = { score: number; cases: number; younger: number[] };

// Counts open cases by facet, and how many of them are younger than each of the ages. One index holds everything, because an id
// contains the time of creation.
export async function countOpen(database: Queryable, tenantId: string, nowMs: number): Promise<OpenCount[]> {
  const [hour, day, days3, week, month] = ageHours.map((hours) => uuidV7Floor(nowMs - hours * 3_600_000 + 1));
  const rows = await database.query<Row & Omit<OpenCount, "score"> & { facet: number }>(sql`
    select facet, count(*) as cases,
      array[
        count(*) filter (where sorted_id >= ${hour}::uuid),
        count(*) filter (where sorted_id >= ${day}::uuid),
        count(*) filter (where sorted_id >= ${days3}::uuid),
        count(*) filter (where sorted_id >= ${week}::uuid),
        count(*) filter (where sorted_id >= ${month}::uuid)
      ]::int[] as younger
    from cases
    where tenant_id = ${tenantId} and facet < ${openFacets.end}::smallint
    group by facet`);
  return rows.map(({ facet, ...counted }) => ({ ...counted, score: scoreOf(facet) }));
}

export type ViewCounts = {
  open: number;
  new_evidence: number;
  blocked_accounts: number;
  no_account: number;
  claimed_by_me: number;
  handed_to_me: number;
  overdue: number;
};

// Each count reads one slice of an index.
export async function countViews(
  database: Queryable,
  tenantId: string,
  { me, recipients }: { me: string; recipients: string[] },
): Promise<ViewCounts> {
  const { end, blockedFrom } = openFacets;
  const [row] = await database.query<Row & ViewCounts>(sql`
    select
      (select count(*) from cases where tenant_id = ${tenantId} and facet < ${end}::smallint) as open,
      (select count(*) from cases where tenant_id = ${tenantId} and has_new_evidence) as new_evidence,
      (select count(*) from cases where tenant_id = ${tenantId} and facet >= ${blockedFrom}::smallint and facet < ${end}::smallint) as blocked_accounts,
      (select count(*) from cases where tenant_id = ${tenantId} and facet < ${end}::smallint and website_account_id = 'UNKNOWN') as no_account,
      (
        select count(*)
        from case_leases as l
        join cases as c on c.tenant_id = ${tenantId} and c.case_id = l.case_id
        where l.tenant_id = ${tenantId} and l.claimed_by = ${me} and l.expires_at > now() and c.status = 'OPEN'
      ) as claimed_by_me,
      (
        select count(*)
        from case_handovers
        where tenant_id = ${tenantId} and handed_to = any(${recipients}::text[]) and not is_ended
      ) as handed_to_me,
      (select count(*) from cases where tenant_id = ${tenantId} and status = 'OPEN' and due_at <= now()) as overdue`);
  return row ?? { open: 0, new_evidence: 0, blocked_accounts: 0, no_account: 0, claimed_by_me: 0, handed_to_me: 0, overdue: 0 };
}

export type DigestRow = {
  case_id: string;
  details: string;
  // The current state if the case is closed.
  closing: string | null;
  has_new_evidence: boolean;
  is_blocked: boolean | null;
  is_quarantined: boolean | null;
  is_fraudulent: boolean | null;
  notes: number;
  claimed_by: string | null;
  claimed_at: string | null;
  expires_at: string | null;
  handed_to: string | null;
  handed_by: string | null;
  handed_at: string | null;
};

// Only the details are cut out of the document, because it may hold hundreds of occurrences. They are the text between the two
// member names; inside a string value, the quotes of such a name would be escaped.
export async function findDigests(database: Queryable, tenantId: string, ids: string[]): Promise<DigestRow[]> {
  return database.query<Row & DigestRow>(sql`
    select c.case_id,
      split_part(split_part(c.document, ',"details":', 2), ',"fraud_occurrences":', 1) as details,
      case when c.status = 'CLOSED' then split_part(split_part(c.document, ',"current_state":', 2), ',"state_history":', 1) end as closing,
      c.has_new_evidence, a.is_blocked, a.is_quarantined, a.is_fraudulent, l.claimed_by, l.claimed_at, l.expires_at,
      h.handed_to, h.handed_by, h.handed_at,
      (select count(*) from case_notes where tenant_id = ${tenantId} and case_id = c.case_id) as notes
    from cases as c
    left join accounts as a on a.tenant_id = ${tenantId} and a.website_account_id = c.website_account_id
    left join case_leases as l on l.tenant_id = ${tenantId} and l.case_id = c.case_id and l.expires_at > now()
    left join case_handovers as h on h.tenant_id = ${tenantId} and h.case_id = c.case_id and not h.is_ended
    where c.tenant_id = ${tenantId} and c.case_id = any(${ids}::uuid[])`);
}

export type LinkedCases = { case_id: string; linked_cases: number; linked_case_ids: string[] };

// By case: the other open cases that share a device or an address with it. Every step has a limit, so that a page of fifty costs
// the same however many accounts share one address.
export async function findLinkedCases(database: Queryable, tenantId: string, ids: string[]): Promise<Map<string, LinkedCases>> {
  const rows = await database.query<Row & LinkedCases>(sql`
    with wanted as (
      select case_id, subject, website_account_id
      from cases
      where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])
    ),
    things as (
      select w.case_id, l.kind, l.b
      from wanted as w
      cross join unnest(array['account-device', 'account-ip']) as k (kind)
      cross join lateral (
        select kind, b
        from links
        where tenant_id = ${tenantId} and kind = k.kind and a = w.website_account_id
        order by last_seen desc
        limit 10
      ) as l
      where w.website_account_id <> 'UNKNOWN'
      union all
      select case_id, 'account-device', substr(subject, 8)
      from wanted
      where starts_with(subject, 'device:')
      union all
      select case_id, 'account-ip', substr(subject, 4)
      from wanted
      where starts_with(subject, 'ip:')
    ),
    subjects as (
      select t.case_id, 'account:' || o.a as subject
      from things as t
      cross join lateral (
        select a
        from links
        where tenant_id = ${tenantId} and kind = t.kind and b = t.b
        order by a
        limit 50
      ) as o
      union
      select case_id, case kind when 'account-device' then 'device:' else 'ip:' end || b
      from things
    )
    select s.case_id, count(distinct c.case_id) as linked_cases,
      (array_agg(distinct c.case_id))[1:${linkedCasesShownMax}::int] as linked_case_ids
    from subjects as s
    cross join lateral (
      select case_id
      from cases
      where tenant_id = ${tenantId} and subject = s.subject and status = 'OPEN' and case_id <> s.case_id
      limit 1
    ) as c
    group by s.case_id`);
  return new Map(rows.map((row) => [row.case_id, row]));
}
