import { accountSubject } from "../domain/activity.ts";
import { databasePattern, type Erased } from "../domain/erasure.ts";
import { noOutcomes, type Outcomes } from "../domain/rule.ts";
import { deleteMemberCloses } from "./case-members.ts";
import type { LockedCase } from "./cases.ts";
import { insertOverturned } from "./figures.ts";
import { takeBackLabels } from "./label-work.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// An investigator's verdict when closing a case, and the subject it is about.
export type Outcome = {
  case_id: string;
  case_version: number;
  subject: string;
  website_account_id: string;
  disposition: string;
  decided_at: string;
  decided_by: string;
};

export async function insertOutcomes(tx: Queryable, tenantId: string, outcomes: Outcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query(sql`
    insert into outcomes (tenant_id, case_id, case_version, subject, website_account_id, disposition, decided_at, decided_by)
    select ${tenantId}::uuid, o.*
    from unnest(
      ${outcomes.map((each) => each.case_id)}::uuid[],
      ${outcomes.map((each) => each.case_version)}::int[],
      ${outcomes.map((each) => each.subject)}::text[],
      ${outcomes.map((each) => each.website_account_id)}::text[],
      ${outcomes.map((each) => each.disposition)}::text[],
      ${outcomes.map((each) => each.decided_at)}::timestamptz[],
      ${outcomes.map((each) => each.decided_by)}::text[]
    ) as o`);
}

// Saves the outcomes of cases that were just closed, and deletes those of cases that were reopened. The event log keeps both.
export async function saveOutcomes(tx: Queryable, tenantId: string, changed: LockedCase[]): Promise<void> {
  const outcomes = changed.flatMap(({ document, subject }): Outcome[] => {
    const { case_id, case_version, website_account_id, current_state: state } = document;
    if (document.status !== "CLOSED" || !state.disposition) return [];
    const { disposition, changed_at: decided_at, changed_by: decided_by } = state;
    return [{ case_id, case_version, subject, website_account_id, disposition, decided_at, decided_by }];
  });
  const reopened = changed.filter(({ document }) => document.status === "OPEN");
  const opened = reopened.map(({ document }) => document.case_id);
  // In this order: an engine may be making labels of an outcome that is deleted here.
  await Promise.all([
    insertOutcomes(tx, tenantId, outcomes),
    deleteOutcomes(tx, tenantId, opened),
    takeBackLabels(tx, tenantId, opened),
    deleteMemberCloses(tx, tenantId, opened),
    insertOverturned(tx, tenantId, reopened),
  ]);
}

async function deleteOutcomes(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  await tx.query(sql`delete from outcomes where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[])`);
}

type CountRow = Row & Outcomes & { rule_id: string; is_shadow: boolean };

// By rule, live and shadow. Each subject counts once, by its last outcome if that came after the first hit. The query starts from
// the outcomes, because each one takes a person and there are few.
export async function countOutcomes(
  database: Queryable,
  tenantId: string,
  wanted: { rule_ids: string[]; hit_since: string | null },
): Promise<(rule: { rule_id: string; is_shadow: boolean }) => Outcomes> {
  const rows = await database.query<CountRow>(sql`
    with latest as (
      select distinct on (subject) subject, disposition, decided_at
      from outcomes
      where tenant_id = ${tenantId}
      order by subject, decided_at desc, case_version desc
    )
    select s.rule_id, s.is_shadow,
      count(*) filter (where o.disposition = 'CONFIRMED_FRAUD') as confirmed,
      count(*) filter (where o.disposition = 'FALSE_POSITIVE') as false_positives,
      count(*) filter (where o.disposition = 'INCONCLUSIVE') as inconclusive
    from latest as o
    join rule_subjects as s on s.tenant_id = ${tenantId} and s.subject = o.subject and s.first_at <= o.decided_at
    where s.rule_id = any(${wanted.rule_ids}::text[])
      and (${wanted.hit_since}::timestamptz is null or s.last_at >= ${wanted.hit_since}::timestamptz)
    group by s.rule_id, s.is_shadow`);
  const counted = new Map(
    rows.map(({ rule_id, is_shadow, ...outcomes }) => [`${rule_id} ${is_shadow}`, outcomes satisfies Outcomes]),
  );
  return ({ rule_id, is_shadow }) => counted.get(`${rule_id} ${is_shadow}`) ?? noOutcomes;
}

// The same for subjects that no table holds: those that a draft rule would have hit.
export async function countOutcomesOf(
  database: Queryable,
  tenantId: string,
  subjects: ReadonlyMap<string, string>,
): Promise<Outcomes> {
  const [row] = await database.query<Row & Outcomes>(sql`
    with latest as (
      select distinct on (o.subject) o.disposition, o.decided_at, s.first_at
      from unnest(${[...subjects.keys()]}::text[], ${[...subjects.values()]}::timestamptz[]) as s (subject, first_at)
      join outcomes as o on o.tenant_id = ${tenantId} and o.subject = s.subject
      order by o.subject, o.decided_at desc, o.case_version desc
    )
    select count(*) filter (where disposition = 'CONFIRMED_FRAUD') as confirmed,
      count(*) filter (where disposition = 'FALSE_POSITIVE') as false_positives,
      count(*) filter (where disposition = 'INCONCLUSIVE') as inconclusive
    from latest
    where first_at <= decided_at`);
  return row ?? noOutcomes;
}

// Labels are kept under the pseudonym that the account's cases have from now on. The name of a source may contain the account's
// id too.
export async function eraseAccountFromOutcomes(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  await tx.query(sql`
    update outcomes
    set subject = ${accountSubject(pseudonym)}, website_account_id = ${pseudonym}
    where tenant_id = ${tenantId} and subject = ${accountSubject(id)}`);
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    update outcomes
    set subject = regexp_replace(subject, ${pattern}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and website_account_id = 'UNKNOWN' and subject ~ ${pattern}`);
}
