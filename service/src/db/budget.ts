import type { DayCount } from "../domain/budget.ts";
import { sourcesByRank, type LabelCount } from "../domain/label.ts";
import { isImported } from "./activities.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql, statement } from "./postgres/sql.ts";

const subjectsMax = 20_000;

// Returns the highest log-odds of each subject on one day, by time of receipt. Subjects that are suspicious enough for a case are
// named, with the case. All others are only counted. The subject is the one that a case would have: the campaign or the address
// of a failed log-in or a sign-up, the campaign of a declined payment, and the account of anything else. Page activity that
// counts for no account is left out, because anybody can send it: a few addresses could otherwise raise the thresholds until a
// takeover opens no case. Almost all activity has log-odds of 0, so it is filtered out before the number is parsed.
export async function listDayCounts(
  reader: Queryable,
  tenantId: string,
  { day, campaignRules }: { day: string; campaignRules: string[] },
): Promise<DayCount[]> {
  const patterns = campaignRules.map((id) => `%"${id}":%`);
  return reader.query<Row & DayCount>(sql`
    select subject, case_id, log_odds, count(*) as subjects
    from (
      select max(log_odds) as log_odds, max(case_id::text) as case_id, case when max(score) >= 3 then subject end as subject
      from (
        select score, case_id, substring(decision from '"l":(-?[0-9.]+)')::float8 as log_odds,
          case
            when (type in ('login_failed', 'signup') or document like '%"declined"%') and decision like any(${patterns}::text[])
              then 'campaign'
            when type in ('login_failed', 'signup') then coalesce(ip, device_id, session_id, id_key::text)
            else coalesce(website_account_id, device_id, session_id, ip, id_key::text)
          end as subject
        from activities
        where tenant_id = ${tenantId}
          and received_at >= ${day}::timestamptz
          and received_at < ${day}::timestamptz + interval '1 day'
          and (origin = 'server' or website_account_id is not null)
          and decision like '{"v":%'
          and decision not like '{"v":%,"l":0,%'
          and decision not like '{"v":%,"l":-%'
      ) as suspicious
      group by suspicious.subject
      order by 1 desc
      limit ${subjectsMax}
    ) as highest
    where log_odds > 0
    group by subject, case_id, log_odds`);
}

export async function hasDecisions(reader: Queryable, tenantId: string, day: string): Promise<boolean> {
  const rows = await reader.query(sql`
    select 1 as found
    from activities
    where tenant_id = ${tenantId}
      and received_at >= ${day}::timestamptz
      and received_at < ${day}::timestamptz + interval '1 day'
    limit 1`);
  return rows.length > 0;
}

export async function findBudget(database: Queryable, tenantId: string): Promise<number | null> {
  const [row] = await database.query<{ cases_per_day: number | null }>(sql`
    select cases_per_day
    from detection_settings
    where tenant_id = ${tenantId}`);
  return row?.cases_per_day ?? null;
}

export async function saveBudget(tx: Queryable, tenantId: string, casesPerDay: number | null): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set cases_per_day = ${casesPerDay}
    where tenant_id = ${tenantId}`);
}

// Counting 50,000 labels takes 0.5 s. With a million, the statement would be cancelled.
export const labelsMax = 20_000;

// Counts the labelled activities since then by type and score, and the frauds among them. Only the latest labels are counted. With
// `isLive`, imported history is left out: nobody acted on its scores.
export async function countLabels(
  database: Queryable,
  tenantId: string,
  { since, max = labelsMax, isLive = false }: { since: string; max?: number; isLive?: boolean },
): Promise<LabelCount[]> {
  const text = `
    select a.type, a.score, count(*) as labels, sum(l.y) as frauds
    from (
      select distinct on (id_key) id_key, received_at, y
      from (
        select id_key, received_at, y, source
        from labels
        where tenant_id = $1 and y is not null and event_at >= $2
        order by labelled_at desc, id_key desc
        limit $3
      ) as latest
      order by id_key, array_position($4::text[], source::text), y desc
    ) as l
    join activities as a on a.tenant_id = $1 and a.received_at = l.received_at and a.id_key = l.id_key
    ${isLive ? `where not ${isImported}` : ""}
    group by a.type, a.score`;
  return database.query<Row & LabelCount>(statement(text, [tenantId, since, max, sourcesByRank]));
}
