import type { Model } from "../domain/model.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type Rated = { types: readonly string[]; since: string };

export async function listChampions(database: Queryable): Promise<{ tenant_id: string; model_id: string }[]> {
  return askTenants<Row & { tenant_id: string; model_id: string }>(
    database,
    sql`
    select tenant_id, model_id
    from models
    where state = 'CHAMPION'`,
  );
}

export async function countDriftedModels(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from models
    where state = 'CHAMPION' and (figures #>> '{drift,is_drifted}')::boolean`);
  return row?.count ?? 0;
}

// The latest decisions about activity of these types.
export async function listLatestDecisions(
  reader: Queryable,
  tenantId: string,
  { types, since, limit }: Rated & { limit: number },
): Promise<string[]> {
  const rows = await reader.query<{ decision: string }>(sql`
    select decision
    from activities
    where tenant_id = ${tenantId}
      and received_at >= ${since}
      and type = any(${[...types]}::text[])
      and origin = 'server'
    order by received_at desc, id_key desc
    limit ${limit}`);
  return rows.map((row) => row.decision);
}

export type RaisedRow = { account: string; decision: string };

// Activity that this model rated and that is suspicious enough for a case. Known frauds are left out.
export async function listRaised(
  reader: Queryable,
  tenantId: string,
  { types, since, model_id, limit }: Rated & Pick<Model, "model_id"> & { limit: number },
): Promise<RaisedRow[]> {
  return reader.query<Row & RaisedRow>(sql`
    select coalesce(website_account_id, id_key::text) as account, decision
    from activities as a
    where tenant_id = ${tenantId}
      and received_at >= ${since}
      and type = any(${[...types]}::text[])
      and score >= 3
      and decision like ${`%"m":["${model_id.slice(0, 12)}"%`}
      and not exists (
        select 1
        from labels as l
        where l.tenant_id = ${tenantId} and l.id_key = a.id_key and l.y = 1
      )
    order by received_at desc, id_key desc
    limit ${limit}`);
}

export type FraudCounts = { last_7_days: number; before: number };

// How many activities of these types became known as frauds in the last 7 days and in the 28 days before, per day.
export async function countKnownFrauds(
  reader: Queryable,
  tenantId: string,
  { types, now }: { types: readonly string[]; now: string },
): Promise<FraudCounts> {
  const [row] = await reader.query<Row & FraudCounts>(sql`
    select count(distinct l.id_key) filter (where l.known_at >= ${now}::timestamptz - interval '7 days') / 7.0::float8 as last_7_days,
      count(distinct l.id_key) filter (where l.known_at < ${now}::timestamptz - interval '7 days') / 28.0::float8 as before
    from labels as l
    join activities as a on a.tenant_id = l.tenant_id and a.received_at = l.received_at and a.id_key = l.id_key
    where l.tenant_id = ${tenantId}
      and l.y = 1
      and l.labelled_at >= ${now}::timestamptz - interval '35 days'
      and l.known_at >= ${now}::timestamptz - interval '35 days'
      and a.type = any(${[...types]}::text[])`);
  return row ?? { last_7_days: 0, before: 0 };
}
