import type { CheckCounts } from "../domain/random-check.ts";
import { moments, ratedTypes, type Moment } from "../domain/label.ts";
import { momentOf } from "../domain/moment.ts";
import { isImported } from "./activities.ts";
import { countLabels, labelsMax } from "./budget.ts";
import { askTenantIds } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

export async function findChecksPerDay(database: Queryable, tenantId: string): Promise<number> {
  const [row] = await database.query<{ per_day: number }>(sql`
    select random_checks_per_day as per_day
    from detection_settings
    where tenant_id = ${tenantId}`);
  return row?.per_day ?? 0;
}

// The setting applies from today on, so that no cases are opened for earlier days.
export async function saveChecksPerDay(
  tx: Queryable,
  tenantId: string,
  { per_day, now }: { per_day: number; now: string },
): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set random_checks_per_day = ${per_day},
      random_checked_on = greatest(random_checked_on, (${now}::timestamptz at time zone 'UTC')::date - 1)
    where tenant_id = ${tenantId}`);
}

// Lists the tenants for which no activities of this day have been chosen yet.
export async function listUncheckedTenants(database: Queryable, day: string): Promise<string[]> {
  return askTenantIds(
    database,
    sql`
    select tenant_id
    from detection_settings
    where random_checks_per_day > 0 and (random_checked_on is null or random_checked_on < ${day}::date)`,
  );
}

// Returns how many activities to choose, or null if another process has already claimed the day.
export async function claimDay(tx: Queryable, tenantId: string, day: string): Promise<number | null> {
  const [row] = await tx.query<{ per_day: number }>(sql`
    update detection_settings
    set random_checked_on = ${day}::date
    where tenant_id = ${tenantId} and (random_checked_on is null or random_checked_on < ${day}::date)
    returning random_checks_per_day as per_day`);
  return row?.per_day ?? null;
}

export type Candidate = {
  id_key: string;
  received_at: string;
  occurred_at: string;
  type: string;
  score: 1 | 2;
  website_account_id: string;
  session_id: string | null;
  share: number;
  ofAccount: number;
};

// An activity with score 2 is five times as likely to be chosen, and so is a payment or transfer.
const share = "(case when score = 2 then 5 else 1 end * case when type in ('payment', 'transfer') then 5 else 1 end)";

// Lists rated activities of a day that have no case and were not imported, in a random order weighted by share. `total` is the sum
// of all shares, and `ofAccount` is the sum of the account's shares. Only one activity of each account is returned: otherwise
// somebody could log in again and again, so that nobody else would be checked.
export async function listCandidates(
  reader: Queryable,
  tenantId: string,
  { day, limit }: { day: string; limit: number },
): Promise<{ total: number; candidates: Candidate[] }> {
  const types = ratedTypes.map((type) => `'${type}'`).join(", ");
  const rows = await reader.query<Row & Candidate & { total: number }>({
    name: "",
    text: `
      select *, sum("ofAccount") over ()::float8 as total
      from (
        select distinct on (website_account_id) id_key, received_at, occurred_at, type, score, website_account_id, session_id,
          share, place, sum(share) over (partition by website_account_id)::float8 as "ofAccount"
        from (
          select *, -ln(1 - random()) / share as place
          from (
            select id_key, received_at, occurred_at, type, score, website_account_id, session_id, ${share} as share
            from activities
            where tenant_id = $1
              and received_at >= $2::date at time zone 'UTC'
              and received_at < ($2::date + 1) at time zone 'UTC'
              and origin = 'server'
              and type in (${types})
              and score <= 2
              and case_id is null
              and website_account_id is not null
              and not ${isImported}
          ) as rated
        ) as placed
        order by website_account_id, place
      ) as first
      order by place
      limit $3`,
    values: [tenantId, day, limit],
  });
  return { total: rows[0]?.total ?? 0, candidates: rows };
}

// Makes the activity evidence of a case. Returns false if it is gone or already has a case.
export async function attachActivity(
  tx: Queryable,
  tenantId: string,
  given: Pick<Candidate, "id_key" | "received_at"> & { case_id: string; prediction_id: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    update activities
    set case_id = ${given.case_id}, prediction_id = ${given.prediction_id}
    where tenant_id = ${tenantId}
      and received_at = ${given.received_at}
      and id_key = ${given.id_key}
      and case_id is null
    returning 1 as attached`);
  return rows.length > 0;
}

export type RandomCheck = Pick<Candidate, "id_key" | "received_at" | "type"> & { case_id: string; weight: number };

export async function insertChecks(tx: Queryable, tenantId: string, checks: RandomCheck[], now: string): Promise<void> {
  if (checks.length === 0) return;
  await tx.query(sql`
    insert into random_checks (tenant_id, case_id, id_key, received_at, type, weight, chosen_at)
    select ${tenantId}::uuid, c.case_id, c.id_key, c.received_at, c.type, c.weight, ${now}::timestamptz
    from unnest(
      ${plainArray(checks.map((each) => each.case_id))}::uuid[],
      ${plainArray(checks.map((each) => each.id_key))}::uuid[],
      ${plainArray(checks.map((each) => each.received_at))}::timestamptz[],
      ${checks.map((each) => each.type)}::text[],
      ${plainArray(checks.map((each) => each.weight))}::real[]
    ) as c (case_id, id_key, received_at, type, weight)`);
}

// Returns the weights of the random checks among these cases, by the key of their activity.
export async function findCheckWeights(tx: Queryable, tenantId: string, caseIds: string[]): Promise<Map<string, number>> {
  if (caseIds.length === 0) return new Map();
  const rows = await tx.query<{ id_key: string; weight: number }>(sql`
    select id_key, weight
    from random_checks
    where tenant_id = ${tenantId} and case_id = any(${plainArray(caseIds)}::uuid[])`);
  return new Map(rows.map(({ id_key, weight }) => [id_key, weight]));
}

// The outcome of the check's own case decides. Found frauds are counted from the day of the first check on, but only those among
// the latest `max` labels. Imported frauds do not count as found, because imported activity is never checked.
export async function countChecks(
  reader: Queryable,
  tenantId: string,
  { moment, since, max = labelsMax }: { moment: Moment; since: string; max?: number },
): Promise<CheckCounts> {
  const types = [...moments[moment]];
  const [checked] = await reader.query<Row & Omit<CheckCounts, "found"> & { first_at: string | null }>(sql`
    select count(*) as checks, count(l.y) as decided, coalesce(sum(l.y), 0)::int as frauds, min(c.received_at) as first_at,
      coalesce(sum(c.weight), 0)::float8 as "weightAll",
      coalesce(sum(c.weight) filter (where l.y is not null), 0)::float8 as "weightDecided",
      coalesce(sum(c.weight) filter (where l.y = 1), 0)::float8 as "weightFrauds"
    from random_checks as c
    left join labels as l on l.tenant_id = c.tenant_id and l.id_key = c.id_key and l.source = 'case' and l.case_id = c.case_id
    where c.tenant_id = ${tenantId} and c.received_at >= ${since} and c.type = any(${types}::text[])`);
  const none = { checks: 0, decided: 0, frauds: 0, found: 0, weightAll: 0, weightDecided: 0, weightFrauds: 0 };
  if (!checked || checked.first_at === null) return none;
  const { first_at, ...counts } = checked;
  const labels = await countLabels(reader, tenantId, { since: `${first_at.slice(0, 10)}T00:00:00.000Z`, max, isLive: true });
  const found = labels.filter(({ type, score }) => score >= 3 && momentOf(type) === moment);
  return { ...counts, found: found.reduce((sum, { frauds }) => sum + frauds, 0) };
}

export async function deleteChecksOf(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  await tx.query(sql`
    delete from random_checks
    where tenant_id = ${tenantId} and case_id = any(${plainArray(caseIds)}::uuid[])`);
}
