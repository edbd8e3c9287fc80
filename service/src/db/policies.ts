import { sourcesByRank } from "../domain/label.ts";
import { defaultPolicy, orderedRow, untriedTypes, type Policy, type PolicyDefinition } from "../domain/policy.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

type PolicyRow = Row & { policy_version: number; definition: PolicyDefinition; updated_at: string; updated_by: string };

function toPolicy({ definition, ...row }: PolicyRow): Policy {
  // jsonb does not keep the order of members, so restore the order in which people read them.
  const { mode, rows } = definition;
  return { mode, rows: rows.map(orderedRow), ...row };
}

// Returns the current version. A tenant that has never changed its policy has the default policy.
export async function findPolicy(database: Queryable, tenantId: string): Promise<Policy> {
  const [newest] = await listPolicyVersions(database, tenantId, 1);
  if (!newest) throw new Error(`tenant ${tenantId} does not exist`);
  return newest;
}

// Newest first. The default policy is as old as the tenant.
export async function listPolicyVersions(database: Queryable, tenantId: string, limit: number): Promise<Policy[]> {
  const rows = await database.query<PolicyRow>(sql`
    select policy_version, definition, updated_at, updated_by
    from policies
    where tenant_id = ${tenantId}
    union all
    select 1, ${JSON.stringify(defaultPolicy)}::jsonb, created_at, 'system'
    from tenants
    where tenant_id = ${tenantId}
    order by policy_version desc
    limit ${limit}`);
  return rows.map(toPolicy);
}

// The caller has locked the tenant's settings.
export async function insertPolicyVersion(tx: Queryable, tenantId: string, policy: Policy): Promise<void> {
  const { policy_version, updated_at, updated_by, ...definition } = policy;
  await tx.query(sql`
    insert into policies (tenant_id, policy_version, definition, updated_at, updated_by)
    values (${tenantId}, ${policy_version}, ${JSON.stringify(definition)}, ${updated_at}, ${updated_by})`);
  await tx.query(sql`
    update detection_settings
    set policy_version = ${policy_version}
    where tenant_id = ${tenantId}`);
}

export type KnownFraud = { id_key: string; received_at: string };

// Returns the activities since this time that are known frauds, according to the source that takes precedence. Reads only the
// latest labels.
export async function listKnownFrauds(
  database: Queryable,
  tenantId: string,
  { since, max }: { since: string; max: number },
): Promise<KnownFraud[]> {
  return database.query<Row & KnownFraud>(sql`
    select id_key, received_at
    from (
      select distinct on (id_key) id_key, received_at, y
      from (
        select id_key, received_at, y, source
        from labels
        where tenant_id = ${tenantId} and y is not null and labelled_at >= ${since}
        order by labelled_at desc, id_key desc
        limit ${max}
      ) as latest
      order by id_key, array_position(${sourcesByRank}::text[], source::text), y desc
    ) as decided
    where y = 1 and received_at >= ${since}`);
}

// How many activities were in the same situation. What comes from the decision is empty if there was no evidence.
export type SituationCount = {
  type: string;
  score: number;
  is_fraud: boolean;
  rules: Record<string, number> | null;
  elsewhere: string[] | null;
  is_unusual: boolean;
  is_raised: boolean;
  quiet: string[] | null;
  lists: string[] | null;
  activities: number;
};

// Counts the activities that servers sent in this span. Almost all of them have no evidence, so their decisions are not parsed.
// The features come last in a decision and are cut off, because they are most of its text.
export async function countSituations(
  reader: Queryable,
  tenantId: string,
  { from, until, frauds }: { from: string; until: string; frauds: string[] },
): Promise<SituationCount[]> {
  const { text, values } = sql`
    select type, score, is_fraud, rules, elsewhere, is_unusual, is_raised, quiet, lists, count(*) as activities
    from (
      select a.type, a.score, f.id_key is not null as is_fraud, head -> 'r' as rules, head -> 'o' -> 1 as elsewhere, quiet,
        (head -> 'b') - 0 as lists,
        coalesce(login > 0, false) as is_unusual,
        coalesce((head -> 'm' ->> 1)::float8 > 0, false) as is_raised
      from activities as a
      left join unnest(${plainArray(frauds)}::uuid[]) as f (id_key) on f.id_key = a.id_key
      cross join lateral (
        select case
          when a.decision like '{"v":%,"f":"%'
            and (a.decision like '%"r":{%' or a.decision like '%"b":[%' or a.decision not similar to '{"v":[0-9]+,"l":(0|-[0-9.]+),%')
            then (split_part(a.decision, ',"f":"', 1) || '}')::jsonb
        end as head
      ) as h
      left join lateral (
        select sum((part ->> 1)::float8) filter (where part ->> 0 like 'login.%' or part ->> 0 = 'quiet.login.ratio') as login,
          jsonb_agg(substr(part ->> 0, 7) order by part ->> 0) filter (where part ->> 0 like 'quiet.%') as quiet
        from jsonb_array_elements(head -> 'c') as part
      ) as c on head ? 'c'
      where a.tenant_id = ${tenantId}
        and a.received_at >= ${from}
        and a.received_at < ${until}
        and a.origin = 'server'
        and a.type <> all(${[...untriedTypes]}::text[])
    ) as situations
    group by type, score, is_fraud, rules, elsewhere, is_unusual, is_raised, quiet, lists`;
  return reader.query<Row & SituationCount>({ name: "", text, values });
}
