import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// A device or an address that an account used, an e-mail address that it had, or a payee that it paid. `b` is the device's or the
// payee's id, the address as the tenant's IP policy stores it, or the e-mail address in lower case.
export const linkKinds = ["account-device", "account-ip", "account-email", "account-payee"] as const;
export type Link = { kind: (typeof linkKinds)[number]; a: string; b: string };
export type SeenLink = Link & { first_seen: string; last_seen: string };

export async function findLinks(tx: Queryable, tenantId: string, links: Link[]): Promise<SeenLink[]> {
  return tx.query<SeenLink>(sql`
    select i.kind, i.a, i.b, l.first_seen, l.last_seen
    from unnest(
      ${links.map((link) => link.kind)}::text[],
      ${links.map((link) => link.a)}::text[],
      ${links.map((link) => link.b)}::text[]
    ) as i (kind, a, b)
    cross join lateral (
      select first_seen, last_seen
      from links
      where tenant_id = ${tenantId} and kind = i.kind and a = i.a and b = i.b
      limit 1
    ) as l`);
}

export async function saveLinks(tx: Queryable, tenantId: string, links: SeenLink[]): Promise<void> {
  const sorted = links.toSorted((a, b) => (`${a.kind}\0${a.a}\0${a.b}` < `${b.kind}\0${b.a}\0${b.b}` ? -1 : 1));
  await tx.query(sql`
    insert into links (tenant_id, kind, a, b, first_seen, last_seen)
    select ${tenantId}::uuid, s.*
    from unnest(
      ${sorted.map((link) => link.kind)}::text[],
      ${sorted.map((link) => link.a)}::text[],
      ${sorted.map((link) => link.b)}::text[],
      ${sorted.map((link) => link.first_seen)}::timestamptz[],
      ${sorted.map((link) => link.last_seen)}::timestamptz[]
    ) as s
    on conflict (tenant_id, kind, a, b) do update
    set first_seen = least(links.first_seen, excluded.first_seen),
      last_seen = greatest(links.last_seen, excluded.last_seen)`);
}

// By account: how many of its cases were confirmed as fraud, and how many were false positives.
export async function findOutcomeCounts(
  tx: Queryable,
  tenantId: string,
  subjects: string[],
): Promise<Map<string, { confirmed: number; false_positives: number }>> {
  const rows = await tx.query<{ subject: string; confirmed: number; false_positives: number }>(sql`
    select subject,
      count(*) filter (where disposition = 'CONFIRMED_FRAUD') as confirmed,
      count(*) filter (where disposition = 'FALSE_POSITIVE') as false_positives
    from (
      select distinct on (case_id) subject, disposition
      from outcomes
      where tenant_id = ${tenantId} and subject = any(${subjects}::text[])
      order by case_id, case_version desc
    ) as latest
    group by subject`);
  return new Map(rows.map((row) => [row.subject, row]));
}

export type FraudOnDevice = {
  device_id: string;
  website_account_id: string;
  decided_at: string;
  is_fraudsters: boolean;
  accounts: number;
};

// For each device: which of its accounts have a confirmed fraud and when that was last confirmed, and how many accounts were
// active on the device in all, up to 1,000. They are counted once per device, not once per fraud, because a shared device may have
// hundreds of each. A device is the fraudster's if the account was made for fraud, or if the device came to the account as a
// second one on the day before the case. The other devices of an account that was taken over, or that a script used, are the
// victim's and are left out.
export async function findConfirmedOnDevices(tx: Queryable, tenantId: string, devices: string[]): Promise<FraudOnDevice[]> {
  return tx.query<FraudOnDevice>(sql`
    with linked as (
      select l.b as device_id, l.a as website_account_id, o.decided_at, c.primary_fraud_label as label,
        coalesce(
          c.primary_fraud_label = 'Synthetic'
            or l.first_seen between c.created_at - interval '1 day' and c.created_at
            and exists (
              select 1
              from links as earlier
              where earlier.tenant_id = ${tenantId}
                and earlier.kind = 'account-device'
                and earlier.a = l.a
                and earlier.first_seen < l.first_seen
            ),
          true
        ) as is_fraudsters
      from outcomes as o
      left join cases as c on c.tenant_id = ${tenantId} and c.case_id = o.case_id
      join links as l on l.tenant_id = ${tenantId} and l.kind = 'account-device' and l.a = o.website_account_id
      where o.tenant_id = ${tenantId}
        and o.disposition = 'CONFIRMED_FRAUD'
        and l.b = any(${devices}::text[])
        and not exists (
          select 1
          from outcomes as later
          where later.tenant_id = ${tenantId} and later.case_id = o.case_id and later.case_version > o.case_version
        )
    ),
    frauds as materialized (
      select device_id, website_account_id, max(decided_at) as decided_at, bool_or(is_fraudsters) as is_fraudsters
      from linked
      where is_fraudsters or label = 'Organic'
      group by device_id, website_account_id
      limit 1000
    )
    select f.device_id, f.website_account_id, f.decided_at, f.is_fraudsters, users.accounts
    from (select distinct device_id from frauds) as d
    cross join lateral (
      select count(*) as accounts
      from (
        select 1
        from links as l
        where l.tenant_id = ${tenantId} and l.kind = 'account-device' and l.b = d.device_id
        limit 1000
      ) as seen
    ) as users
    join frauds as f on f.device_id = d.device_id`);
}
