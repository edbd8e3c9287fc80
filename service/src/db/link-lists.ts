import {
  accountsOfValueMax,
  linksOfAccountMax,
  sharersMax,
  type AccountLink,
  type LinkKind,
  type LinkedAccount,
  type Neighbour,
  type SeenWith,
  type SharedLink,
  type Standing,
} from "../domain/link.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// The kind as stored in the table: account-device, account-ip.
function storedKind(kind: LinkKind): string {
  return `account-${kind}`;
}

// The latest links of an account, each with the number of other accounts that share it.
export async function listLinksOfAccount(database: Queryable, tenantId: string, id: string): Promise<AccountLink[]> {
  return database.query<Row & AccountLink>(sql`
    select substr(l.kind, 9) as kind, l.b as value, l.first_seen, l.last_seen, s.sharers - 1 as shared_with
    from (
      select kind, b, first_seen, last_seen
      from links
      where tenant_id = ${tenantId} and kind = any(array['account-device', 'account-ip']) and a = ${id}
      order by last_seen desc
      limit ${linksOfAccountMax}
    ) as l
    cross join lateral (
      select count(*) as sharers
      from (
        select 1
        from links
        where tenant_id = ${tenantId} and kind = l.kind and b = l.b
        order by a
        limit ${sharersMax + 1}
      ) as counted
    ) as s`);
}

type StandingRow = Row & {
  website_account_id: string;
  is_blocked: boolean | null;
  is_quarantined: boolean | null;
  is_fraudulent: boolean | null;
  case_id: string | null;
  overall_risk_score: number | null;
  primary_fraud_label: NonNullable<LinkedAccount["open_case"]>["primary_fraud_label"] | null;
  case_created_at: string | null;
};

function standingOf(row: StandingRow): Standing {
  const { case_id, overall_risk_score, primary_fraud_label, case_created_at: created_at } = row;
  const isOpen = case_id !== null && overall_risk_score !== null && primary_fraud_label !== null && created_at !== null;
  return {
    website_account_id: row.website_account_id,
    is_blocked: row.is_blocked ?? false,
    is_quarantined: row.is_quarantined ?? false,
    is_fraudulent: row.is_fraudulent ?? false,
    ...(isOpen && { open_case: { case_id, overall_risk_score, primary_fraud_label, created_at } }),
  };
}

// Accounts seen with a device or an address, ordered by id. The subject is computed inside the subquery, because under row-level
// security no index is used for an expression that is built in a join.
export async function listAccountsOf(
  database: Queryable,
  tenantId: string,
  page: { kind: LinkKind; value: string; after: string | null; limit: number },
): Promise<LinkedAccount[]> {
  const rows = await database.query<StandingRow & SeenWith>(sql`
    select l.a as website_account_id, l.first_seen, l.last_seen, a.is_blocked, a.is_quarantined, a.is_fraudulent,
      c.case_id, c.overall_risk_score, c.primary_fraud_label, c.created_at as case_created_at
    from (
      select a, 'account:' || a as subject, first_seen, last_seen
      from links
      where tenant_id = ${tenantId} and kind = ${storedKind(page.kind)} and b = ${page.value} and a > ${page.after ?? ""}
      order by a
      limit ${page.limit}
    ) as l
    left join accounts as a on a.tenant_id = ${tenantId} and a.website_account_id = l.a
    left join cases as c on c.tenant_id = ${tenantId} and c.subject = l.subject and c.status = 'OPEN'
    order by l.a`);
  return rows.map((row) => ({ ...standingOf(row), first_seen: row.first_seen, last_seen: row.last_seen }));
}

export async function findStandings(database: Queryable, tenantId: string, ids: string[]): Promise<Map<string, Standing>> {
  const rows = await database.query<StandingRow>(sql`
    select i.id as website_account_id, a.is_blocked, a.is_quarantined, a.is_fraudulent,
      c.case_id, c.overall_risk_score, c.primary_fraud_label, c.created_at as case_created_at
    from unnest(${ids}::text[], ${ids.map((id) => `account:${id}`)}::text[]) as i (id, subject)
    left join accounts as a on a.tenant_id = ${tenantId} and a.website_account_id = i.id
    left join cases as c on c.tenant_id = ${tenantId} and c.subject = i.subject and c.status = 'OPEN'`);
  return new Map(rows.map((row) => [row.website_account_id, standingOf(row)]));
}

type SharedRow = Pick<SharedLink, "kind" | "value" | "accounts">;

// How many accounts of each device or address are looked at to tell how suspicious it is.
const judgedMax = 30;

// Devices and addresses recently seen with these accounts that other accounts share, the most suspicious first. With n accounts,
// of which b have an open case or a flag, the measure is b * b / n: a ring of 14 comes before a pair, and a pair before an office
// with hundreds of accounts.
export async function listShared(
  database: Queryable,
  tenantId: string,
  wanted: { ids: string[]; limit: number },
): Promise<SharedRow[]> {
  return database.query<Row & SharedRow>(sql`
    with own as (
      select distinct l.kind, l.b
      from unnest(${wanted.ids}::text[]) as i (id)
      cross join unnest(array['account-device', 'account-ip']) as k (kind)
      cross join lateral (
        select kind, b
        from links
        where tenant_id = ${tenantId} and kind = k.kind and a = i.id
        order by last_seen desc
        limit 20
      ) as l
    )
    select substr(o.kind, 9) as kind, o.b as value, s.accounts
    from own as o
    cross join lateral (
      select count(*) as accounts
      from (
        select 1
        from links
        where tenant_id = ${tenantId} and kind = o.kind and b = o.b
        limit ${sharersMax + 1}
      ) as counted
    ) as s
    cross join lateral (
      select avg(case when c.case_id is not null or a.is_blocked or a.is_quarantined or a.is_fraudulent then 1.0 else 0.0 end) as share
      from (
        select a, 'account:' || a as subject
        from links
        where tenant_id = ${tenantId} and kind = o.kind and b = o.b and s.accounts > 1
        order by a
        limit ${judgedMax}
      ) as l
      left join accounts as a on a.tenant_id = ${tenantId} and a.website_account_id = l.a
      left join cases as c
        on c.tenant_id = ${tenantId} and c.subject = l.subject and c.status = 'OPEN' and c.overall_risk_score >= 3
    ) as j
    where s.accounts > 1
    order by s.accounts * j.share * j.share * (case o.kind when 'account-device' then 3 else 1 end) desc, s.accounts, o.kind, o.b
    limit ${wanted.limit}`);
}

export type SeenLink = { kind: LinkKind; value: string; account: string; last_seen: string };

// The activity with which each account was last seen with the device or address, in the given order. Activity is received soon
// after it occurs, so only the next 50 activities of the account are searched.
export async function listLastActivities(
  database: Queryable,
  tenantId: string,
  links: SeenLink[],
): Promise<({ decision: string; user_agent: string | null } | undefined)[]> {
  if (links.length === 0) return [];
  const rows = await database.query<Row & { position: number; decision: string; user_agent: string | null }>(sql`
    select t.position::int as position, a.decision, u.user_agent
    from unnest(
      ${links.map((each) => each.kind)}::text[],
      ${links.map((each) => each.value)}::text[],
      ${links.map((each) => each.account)}::text[],
      ${links.map((each) => each.last_seen)}::timestamptz[]
    ) with ordinality as t (kind, value, account, last_seen, position)
    cross join lateral (
      select decision, agent_key
      from (
        select received_at, device_id, ip, agent_key, decision
        from activities
        where tenant_id = ${tenantId}
          and website_account_id = t.account
          and received_at >= t.last_seen - interval '10 minutes'
          and received_at < t.last_seen + interval '1 day'
        order by received_at
        limit 50
      ) as near
      where case t.kind when 'device' then device_id = t.value else ip = t.value end
      order by received_at desc
      limit 1
    ) as a
    left join user_agents as u on u.tenant_id = ${tenantId} and u.agent_key = a.agent_key`);
  const byPosition = new Map(rows.map(({ position, ...row }) => [position, row]));
  return links.map((_, index) => byPosition.get(index + 1));
}

// For each of these values, the accounts in question and some of the others.
export async function listNeighbours(
  database: Queryable,
  tenantId: string,
  wanted: { ids: string[]; shared: SharedRow[] },
): Promise<Neighbour[]> {
  return database.query<Row & Neighbour>(sql`
    select v.kind, v.value, n.a as website_account_id, n.first_seen, n.last_seen
    from unnest(${wanted.shared.map((each) => each.kind)}::text[], ${wanted.shared.map((each) => each.value)}::text[])
      with ordinality as v (kind, value, position)
    cross join lateral (
      select a, first_seen, last_seen, min(place) as place
      from (
        (
          select a, first_seen, last_seen, 0 as place
          from links
          where tenant_id = ${tenantId} and kind = 'account-' || v.kind and b = v.value and a = any(${wanted.ids}::text[])
        )
        union all
        (
          select a, first_seen, last_seen, 1 as place
          from links
          where tenant_id = ${tenantId} and kind = 'account-' || v.kind and b = v.value
          order by a
          limit ${accountsOfValueMax}
        )
      ) as both_ways
      group by a, first_seen, last_seen
      order by min(place), a
      limit ${accountsOfValueMax}
    ) as n
    order by v.position, n.place, n.a`);
}
