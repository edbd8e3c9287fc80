import { sharersMax } from "../domain/link.ts";
import { accountsNamedMax, type CaseHit, type OrderHit, type SharedHit, type TextRange } from "../domain/search.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { withinMs } from "./postgres/time-limit.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// Everything here reads at most a few hundred rows, whatever is searched for and however much is stored, except the functions whose
// name ends with Parts or Words. An index of parts collects all its matches before it returns the first, so those get a time limit.

// A part of the text of every second id is found among these.
const sampleAccounts = 1_000;
const partsLimitMs = 150;

export type NamedAccount = { website_account_id: string; value: string };

export async function listAccountsFrom(
  database: Queryable,
  tenantId: string,
  range: TextRange,
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ website_account_id: string }>(sql`
    select website_account_id
    from accounts
    where tenant_id = ${tenantId} and website_account_id >= ${range.from} and website_account_id < ${range.until}
    order by website_account_id
    limit ${limit}`);
  return rows.map((row) => row.website_account_id);
}

export async function listAccountsOfCrmId(
  database: Queryable,
  tenantId: string,
  crmId: string,
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ website_account_id: string }>(sql`
    select website_account_id
    from accounts
    where tenant_id = ${tenantId} and crm_key = hashtextextended(${crmId}, 0) and crm_account_id = ${crmId}
    order by website_account_id
    limit ${limit}`);
  return rows.map((row) => row.website_account_id);
}

export async function listSampledAccounts(
  database: Queryable,
  tenantId: string,
  pattern: string,
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ website_account_id: string }>(sql`
    select website_account_id
    from (
      select website_account_id
      from accounts
      where tenant_id = ${tenantId}
      order by website_account_id
      limit ${sampleAccounts}
    ) as sample
    where website_account_id ilike ${pattern}
    limit ${limit}`);
  return rows.map((row) => row.website_account_id);
}

export async function listAccountParts(tx: Queryable, tenantId: string, pattern: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ website_account_id: string }>(sql`
    select website_account_id
    from search_account_parts(${tenantId}, ${pattern}, ${limit}) as website_account_id`);
  return rows.map((row) => row.website_account_id);
}

export async function listEmailsFrom(
  database: Queryable,
  tenantId: string,
  range: TextRange,
  limit: number,
): Promise<NamedAccount[]> {
  return database.query<NamedAccount>(sql`
    select a as website_account_id, b as value
    from links
    where tenant_id = ${tenantId} and kind = 'account-email' and b >= ${range.from} and b < ${range.until}
    order by b, a
    limit ${limit}`);
}

export async function listSampledEmails(
  database: Queryable,
  tenantId: string,
  pattern: string,
  limit: number,
): Promise<NamedAccount[]> {
  return database.query<NamedAccount>(sql`
    select website_account_id, value
    from (
      select a as website_account_id, b as value
      from links
      where tenant_id = ${tenantId} and kind = 'account-email'
      order by b, a
      limit ${sampleAccounts}
    ) as sample
    where value ilike ${pattern}
    limit ${limit}`);
}

export async function listEmailParts(tx: Queryable, tenantId: string, pattern: string, limit: number): Promise<NamedAccount[]> {
  return tx.query<NamedAccount>(sql`
    select website_account_id, email as value
    from search_email_parts(${tenantId}, ${pattern}, ${limit})`);
}

// Returns null if the search takes too long.
export function withinTime<T>(tx: Queryable, search: () => Promise<T>): Promise<T | null> {
  return withinMs(tx, partsLimitMs, search);
}

export async function listCaseIds(
  database: Queryable,
  tenantId: string,
  ids: { least: string; most: string },
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ case_id: string }>(sql`
    select case_id
    from cases
    where tenant_id = ${tenantId} and case_id >= ${ids.least}::uuid and case_id <= ${ids.most}::uuid
    order by case_id desc
    limit ${limit}`);
  return rows.map((row) => row.case_id);
}

// Cases about a device, an address or something else that is not an account.
export async function listCasesAbout(
  database: Queryable,
  tenantId: string,
  subjects: TextRange[],
  limit: number,
): Promise<{ case_id: string; subject: string }[]> {
  return database.query<{ case_id: string; subject: string }>(sql`
    select c.case_id, c.subject
    from unnest(${subjects.map((each) => each.from)}::text[], ${subjects.map((each) => each.until)}::text[]) as s (least, most)
    cross join lateral (
      select case_id, subject
      from cases
      where tenant_id = ${tenantId} and website_account_id = 'UNKNOWN' and subject >= s.least and subject < s.most
      order by subject
      limit ${limit}
    ) as c
    limit ${limit}`);
}

type CaseFacts = Omit<CaseHit, "matched" | "value">;
type CaseFactsRow = Row & Omit<CaseFacts, "subject"> & { subject: NonNullable<CaseHit["subject"]> | null };

export async function findCaseFacts(database: Queryable, tenantId: string, ids: string[]): Promise<Map<string, CaseFacts>> {
  const rows = await database.query<CaseFactsRow>(sql`
    select case_id, website_account_id, status, created_at, overall_risk_score, primary_fraud_label,
      case when website_account_id = 'UNKNOWN' then document::json #> '{details,subject}' end as subject
    from cases
    where tenant_id = ${tenantId} and case_id = any(${plainArray(ids)}::uuid[])`);
  return new Map(rows.map(({ subject, ...row }) => [row.case_id, { ...row, ...(subject !== null && { subject }) }]));
}

export type SharedKind = "account-device" | "account-ip" | "account-payee";

// The values in these ranges. Each step of the walk jumps to the next value, so a device of a million accounts costs one step.
export async function listLinkedValues(
  database: Queryable,
  tenantId: string,
  kind: SharedKind,
  { ranges, limit }: { ranges: TextRange[]; limit: number },
): Promise<string[]> {
  const rows = await database.query<{ value: string }>(sql`
    select v.value
    from unnest(${ranges.map((each) => each.from)}::text[], ${ranges.map((each) => each.until)}::text[]) as r (least, most)
    cross join lateral (
      with recursive walk (value) as (
        (
          select b
          from links
          where tenant_id = ${tenantId} and kind = ${kind} and b >= r.least and b < r.most
          order by b
          limit 1
        )
        union all
        select (
          select b
          from links
          where tenant_id = ${tenantId} and kind = ${kind} and b > walk.value and b < r.most
          order by b
          limit 1
        )
        from walk
        where walk.value is not null
      )
      select value
      from walk
      where value is not null
      limit ${limit}
    ) as v
    limit ${limit}`);
  return rows.map((row) => row.value);
}

export async function findShared(
  database: Queryable,
  tenantId: string,
  kind: SharedKind,
  values: string[],
): Promise<SharedHit[]> {
  return database.query<Row & SharedHit>(sql`
    select v.value, s.accounts, s.website_account_ids, s.last_seen
    from unnest(${values}::text[]) with ordinality as v (value, position)
    cross join lateral (
      select count(*) as accounts, (array_agg(a order by a))[1:${accountsNamedMax}] as website_account_ids, max(last_seen) as last_seen
      from (
        select a, last_seen
        from links
        where tenant_id = ${tenantId} and kind = ${kind} and b = v.value
        order by a
        limit ${sharersMax + 1}
      ) as seen
    ) as s
    where s.accounts > 0
    order by v.position`);
}

type OrderRow = Row & { order_id: string; occurred_at: string; website_account_id: string | null; case_id: string | null };

// An order may have several payments. They are read together, and the latest one is shown.
export async function listOrdersFrom(
  database: Queryable,
  tenantId: string,
  range: TextRange,
  limit: number,
): Promise<OrderHit[]> {
  const rows = await database.query<OrderRow>(sql`
    select distinct on (order_id) order_id, occurred_at, website_account_id, case_id
    from (
      select order_id, occurred_at, website_account_id, case_id
      from activities
      where tenant_id = ${tenantId} and order_id is not null and order_id >= ${range.from} and order_id < ${range.until}
      order by order_id
      limit ${limit * 10}
    ) as found
    order by order_id, case_id is null, occurred_at desc
    limit ${limit}`);
  return rows.map(({ order_id, occurred_at, website_account_id, case_id }) => ({
    order_id,
    occurred_at,
    ...(website_account_id !== null && { website_account_id }),
    ...(case_id !== null && { case_id }),
  }));
}
