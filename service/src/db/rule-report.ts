import { accountSubject } from "../domain/activity.ts";
import { databasePattern, type Erased } from "../domain/erasure.ts";
import { examplesShownMax, overlapSubjectsMax, type RuleExample, type RuleReport } from "../domain/rule-report.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import type { HitActivity } from "./rules.ts";
import { sql } from "./postgres/sql.ts";

type RuleKind = { rule_id: string; is_shadow: boolean };

// By rule, live and shadow, since that day.
export async function countHits(database: Queryable, tenantId: string, since: string): Promise<(rule: RuleKind) => number> {
  const rows = await database.query<Row & RuleKind & { hits: number }>(sql`
    select rule_id, is_shadow, sum(hits)::bigint as hits
    from rule_hits
    where tenant_id = ${tenantId} and day >= ${since}::date
    group by rule_id, is_shadow`);
  const counted = new Map(rows.map(({ rule_id, is_shadow, hits }) => [`${rule_id} ${is_shadow}`, hits]));
  return ({ rule_id, is_shadow }) => counted.get(`${rule_id} ${is_shadow}`) ?? 0;
}

// Each of the given days with its hits, including days without any.
export async function listHitsByDay(
  database: Queryable,
  tenantId: string,
  wanted: { rule_id: string; days: string[] },
): Promise<RuleReport["hits_per_day"]> {
  return database.query<RuleReport["hits_per_day"][number] & Row>(sql`
    select d.day,
      coalesce(sum(h.hits) filter (where not h.is_shadow), 0)::bigint as hits,
      coalesce(sum(h.hits) filter (where h.is_shadow), 0)::bigint as shadow_hits
    from unnest(${wanted.days}::text[]) as d (day)
    left join rule_hits as h
      on h.tenant_id = ${tenantId} and h.rule_id = ${wanted.rule_id} and h.day = d.day::date
    group by d.day
    order by d.day`);
}

// A subject counts for the period if its last hit is in it.
export async function countSubjects(
  database: Queryable,
  tenantId: string,
  wanted: { rule_id: string; since: string },
): Promise<{ subjects: number; shadow_subjects: number }> {
  const [row] = await database.query<{ subjects: number; shadow_subjects: number }>(sql`
    select count(*) filter (where not is_shadow) as subjects, count(*) filter (where is_shadow) as shadow_subjects
    from rule_subjects
    where tenant_id = ${tenantId} and rule_id = ${wanted.rule_id} and last_at >= ${wanted.since}`);
  return row ?? { subjects: 0, shadow_subjects: 0 };
}

type ExampleRow = Row & { subject: string; is_shadow: boolean; hits: number; last_activity: HitActivity };

export async function listExamples(
  database: Queryable,
  tenantId: string,
  wanted: { rule_id: string; since: string },
): Promise<RuleExample[]> {
  const rows = await database.query<ExampleRow>(sql`
    select s.subject, s.is_shadow, s.hits, s.last_activity
    from unnest(array[false, true]) as k (is_shadow)
    cross join lateral (
      select subject, is_shadow, hits, last_at, last_activity
      from rule_subjects
      where tenant_id = ${tenantId}
        and rule_id = ${wanted.rule_id}
        and is_shadow = k.is_shadow
        and last_at >= ${wanted.since}
      order by last_at desc
      limit ${examplesShownMax}
    ) as s
    order by s.last_at desc, s.subject, s.is_shadow
    limit ${examplesShownMax}`);
  return rows.map(({ last_activity, ...row }) => {
    const { activity_id, website_account_id: account, occurred_at, sentence } = last_activity;
    return { ...row, activity_id, ...(account !== undefined && { website_account_id: account }), occurred_at, sentence };
  });
}

export async function listOverlap(
  database: Queryable,
  tenantId: string,
  wanted: { rule_id: string; since: string },
): Promise<RuleReport["overlap"]> {
  return database.query<RuleReport["overlap"][number] & Row>(sql`
    with own as (
      select distinct s.subject
      from unnest(array[false, true]) as k (is_shadow)
      cross join lateral (
        select subject
        from rule_subjects
        where tenant_id = ${tenantId}
          and rule_id = ${wanted.rule_id}
          and is_shadow = k.is_shadow
          and last_at >= ${wanted.since}
        order by last_at desc
        limit ${overlapSubjectsMax}
      ) as s
    )
    select rule_id, count(*) as subjects
    from (
      select distinct o.rule_id, o.subject
      from own
      join rule_subjects as o on o.tenant_id = ${tenantId} and o.subject = own.subject
      where o.rule_id <> ${wanted.rule_id} and o.last_at >= ${wanted.since}
    ) as others
    group by rule_id
    order by subjects desc, rule_id`);
}

// The counts are kept under a name that identifies nobody. A source's latest activity, its sentence or its name may contain the
// id too.
export async function eraseAccountFromRules(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  const [subject, plain] = [accountSubject(id), databasePattern(id, { isJson: false })];
  await tx.query(sql`
    update rule_subjects
    set subject = case
        when subject = ${subject} then ${accountSubject(pseudonym)}
        when subject like 'account:%' then subject
        else regexp_replace(subject, ${plain}, ${pseudonym}, 'g')
      end,
      last_activity = last_activity
        || jsonb_object(array['sentence', regexp_replace(last_activity ->> 'sentence', ${plain}, ${pseudonym}, 'g')])
        || case
          when last_activity ->> 'website_account_id' = ${id} then jsonb_object(array['website_account_id', ${pseudonym}::text])
          else '{}'
        end
    where tenant_id = ${tenantId}
      and (
        subject = ${subject}
        or last_activity ->> 'website_account_id' = ${id}
        or last_activity ->> 'sentence' ~ ${plain}
        or (subject not like 'account:%' and subject ~ ${plain})
      )`);
}
