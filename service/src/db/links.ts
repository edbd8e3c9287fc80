import type { Queryable } from "./postgres/database.ts";
import { plainArray, sql, statement, textArray } from "./postgres/sql.ts";

// A device or an address that an account used, an e-mail address that it had, or a payee that it paid. `b` is the device's or the
// payee's id, the address as the tenant's IP policy stores it, or the e-mail address in lower case.
export const linkKinds = ["account-device", "account-ip", "account-email", "account-payee"] as const;
export type Link = { kind: (typeof linkKinds)[number]; a: string; b: string };
export type SeenLink = Link & { first_seen: string; last_seen: string };

export async function findLinks(tx: Queryable, tenantId: string, links: Link[]): Promise<SeenLink[]> {
  return tx.query<SeenLink>(sql`
    select i.kind, i.a, i.b, l.first_seen, l.last_seen
    from unnest(
      ${plainArray(links.map((link) => link.kind))}::text[],
      ${textArray(links.map((link) => link.a))}::text[],
      ${textArray(links.map((link) => link.b))}::text[]
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
      ${plainArray(sorted.map((link) => link.kind))}::text[],
      ${textArray(sorted.map((link) => link.a))}::text[],
      ${textArray(sorted.map((link) => link.b))}::text[],
      ${plainArray(sorted.map((link) => link.first_seen))}::timestamptz[],
      ${plainArray(sorted.map((link) => link.last_seen))}::timestamptz[]
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
  // When the account with the fraud was first active on the device.
  first_seen: string;
  is_fraudsters: boolean;
  accounts: number;
};

// Whether a stranger brought the device `l.b` to the account with the case `c`, which `o` confirmed.
const strangers = `
      left join lateral (
        select
          case
            when bool_or(e.is_evidence) then bool_or(e.is_evidence and e.is_on_device and not e.is_at_home)
            else l.first_seen between c.created_at - interval '1 day' and c.created_at
              and c.primary_fraud_label <> 'Organic'
              and not coalesce(bool_or(e.is_on_device and e.is_at_home), false)
          end as is_strangers
        from (
          select a.case_id = o.case_id and a.type <> 'fraud_report' as is_evidence, a.device_id = l.b as is_on_device,
            exists (
              select 1
              from links as home
              where home.tenant_id = $1
                and home.kind = 'account-ip'
                and home.a = l.a
                and home.b = a.ip
                and home.first_seen < c.created_at - interval '7 days'
            ) as is_at_home
          from (
            (
              select case_id, type, device_id, ip
              from activities
              where tenant_id = $1
                and website_account_id = l.a
                and received_at >= c.created_at - interval '1 day'
                and received_at <= c.created_at
              order by received_at desc
              limit 1000
            )
            union all
            (
              select case_id, type, device_id, ip
              from activities
              where tenant_id = $1
                and website_account_id = l.a
                and received_at > c.created_at
                and received_at <= o.decided_at
              order by received_at
              limit 1000
            )
          ) as a
          where a.case_id = o.case_id or a.device_id = l.b
        ) as e
        having l.first_seen >= c.created_at - interval '7 days'
          and exists (
            select 1
            from links as earlier
            where earlier.tenant_id = $1
              and earlier.kind = 'account-device'
              and earlier.a = l.a
              and earlier.first_seen < l.first_seen
          )
      ) as stranger on true`;

const confirmedOnDevices = `
    with linked as (
      select l.b as device_id, l.a as website_account_id, l.first_seen, o.decided_at, c.primary_fraud_label as label,
        c.case_id is null
          or coalesce(stranger.is_strangers, false)
          or (
            c.primary_fraud_label = 'Synthetic'
            and not exists (
              select 1
              from links as older
              where older.tenant_id = $1
                and older.kind = 'account-device'
                and older.a = l.a
                and older.first_seen < c.created_at - interval '30 days'
            )
          ) as is_fraudsters
      from outcomes as o
      left join cases as c on c.tenant_id = $1 and c.case_id = o.case_id
      join links as l on l.tenant_id = $1 and l.kind = 'account-device' and l.a = o.website_account_id
      ${strangers}
      where o.tenant_id = $1
        and o.disposition = 'CONFIRMED_FRAUD'
        and l.b = any($2::text[])
        and not exists (
          select 1
          from outcomes as later
          where later.tenant_id = $1 and later.case_id = o.case_id and later.case_version > o.case_version
        )
    ),
    frauds as materialized (
      select device_id, website_account_id, max(decided_at) as decided_at, min(first_seen) as first_seen,
        bool_or(is_fraudsters) as is_fraudsters
      from linked
      where is_fraudsters or (label = 'Organic' and first_seen <= decided_at)
      group by device_id, website_account_id
      limit 1000
    )
    select f.device_id, f.website_account_id, f.decided_at, f.first_seen, f.is_fraudsters, users.accounts
    from (select distinct device_id from frauds) as d
    cross join lateral (
      select count(*) as accounts
      from (
        select 1
        from links as l
        where l.tenant_id = $1 and l.kind = 'account-device' and l.b = d.device_id
        limit 1000
      ) as seen
    ) as users
    join frauds as f on f.device_id = d.device_id`;

// For each device: which of its accounts have a confirmed fraud, when that was last confirmed, and since when the account has used
// the device; and how many accounts were active on the device in all, up to 1,000. They are counted once per device, not once per
// fraud, because a shared device may have hundreds of each.
// A device is the fraudster's in two cases. Either the account was made for fraud, which is ruled out if it is older than 30 days.
// Or the account, which already had another device, first used this one in the week before the case, and the case has evidence
// from it. If the case has only reports, which name no device, the account must have first used it on the day before. A device
// that was used at an address the account had before that week does not count: it is a new phone at home, or a browser that
// forgets its id. All other devices of a victim are left out. The owner commits an Organic fraud, so the devices that the owner
// used before it was confirmed are included. Only activities next to the opening of the case are read, because anybody can send
// any number of them.
export async function findConfirmedOnDevices(tx: Queryable, tenantId: string, devices: string[]): Promise<FraudOnDevice[]> {
  const suspects = await findDevicesWithFrauds(tx, tenantId, devices);
  return suspects.length === 0 ? [] : tx.query<FraudOnDevice>(statement(confirmedOnDevices, [tenantId, suspects]));
}

// Most devices have no account with a confirmed fraud. The statement for those that have one names every day's partition, so
// merely preparing its run costs more than this look.
async function findDevicesWithFrauds(tx: Queryable, tenantId: string, devices: string[]): Promise<string[]> {
  const rows = await tx.query<{ device_id: string }>(sql`
    select distinct l.b as device_id
    from outcomes as o
    join links as l on l.tenant_id = ${tenantId} and l.kind = 'account-device' and l.a = o.website_account_id
    where o.tenant_id = ${tenantId}
      and o.disposition = 'CONFIRMED_FRAUD'
      and l.b = any(${devices}::text[])`);
  return rows.map((row) => row.device_id);
}
