import type { IdentityDay, IdentitySecret, IdentitySource } from "../domain/identity.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

type SecretRow = Row & { secret_id: string; created_at: string; expires_at: string | null };

// Lists the valid secrets, newest first, without their text.
export async function listIdentitySecrets(database: Queryable, tenantId: string, now: string): Promise<IdentitySecret[]> {
  const rows = await database.query<SecretRow>(sql`
    select secret_id, created_at, expires_at
    from identity_secrets
    where tenant_id = ${tenantId} and (expires_at is null or expires_at > ${now}::timestamptz)
    order by expires_at desc nulls first, secret_id`);
  return rows.map(({ secret_id, created_at, expires_at }) => ({
    secret_id,
    created_at,
    ...(expires_at !== null && { expires_at }),
  }));
}

// Lets the current secret work until the given time. If it is null, all secrets end now.
export async function retireIdentitySecrets(tx: Queryable, tenantId: string, until: string | null): Promise<void> {
  if (until === null) await tx.query(sql`delete from identity_secrets where tenant_id = ${tenantId}`);
  else
    await tx.query(sql`
      update identity_secrets
      set expires_at = ${until}
      where tenant_id = ${tenantId} and expires_at is null`);
}

export async function insertIdentitySecret(
  tx: Queryable,
  tenantId: string,
  made: { secret_id: string; secret: string; created_at: string },
): Promise<void> {
  await tx.query(sql`
    insert into identity_secrets (tenant_id, secret_id, secret, created_at)
    values (${tenantId}, ${made.secret_id}, ${made.secret}, ${made.created_at})`);
}

export type IdentityCount = { day: string; source: IdentitySource; count: number };

// Sorted by key, so that two writers wait for each other instead of deadlocking.
export async function addIdentityCounts(tx: Queryable, tenantId: string, counts: IdentityCount[]): Promise<void> {
  if (counts.length === 0) return;
  await tx.query(sql`
    insert into identity_counts as c (tenant_id, day, source, count)
    select ${tenantId}::uuid, g.day, g.source, sum(g.count)
    from unnest(
      ${plainArray(counts.map((each) => each.day))}::date[],
      ${plainArray(counts.map((each) => each.source))}::text[],
      ${plainArray(counts.map((each) => each.count))}::bigint[]
    ) as g (day, source, count)
    group by g.day, g.source
    order by g.day, g.source
    on conflict (tenant_id, day, source) do update
    set count = c.count + excluded.count`);
}

// Returns every day of the range, including days without events.
export async function listIdentityDays(
  database: Queryable,
  tenantId: string,
  { from, to }: { from: string; to: string },
): Promise<IdentityDay[]> {
  return database.query<IdentityDay & Row>(sql`
    select to_char(d.day, 'YYYY-MM-DD') as day,
      coalesce(sum(c.count) filter (where c.source = 'signed'), 0)::bigint as signed,
      coalesce(sum(c.count) filter (where c.source = 'tied'), 0)::bigint as tied,
      coalesce(sum(c.count) filter (where c.source = 'unvouched'), 0)::bigint as unvouched,
      coalesce(sum(c.count) filter (where c.source = 'bad-token'), 0)::bigint as bad_token
    from generate_series(${from}::date, ${to}::date, '1 day') as d (day)
    left join identity_counts as c on c.tenant_id = ${tenantId} and c.day = d.day::date
    group by d.day
    order by d.day`);
}

// The last day on which a server of the tenant reported activity of an account; null if none ever did.
export async function findServerDay(database: Queryable, tenantId: string): Promise<string | null> {
  const [row] = await database.query<Row & { day: string | null }>(sql`
    select told ->> 'any' as day
    from engine_turns
    where tenant_id = ${tenantId}`);
  return row?.day ?? null;
}
