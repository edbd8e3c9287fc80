import type { NotificationSettings, Settings } from "../domain/notification.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type PersonKey = { tenant_id: string; user_id: string };

// Undefined if the person has never changed them.
export async function findNotifications(
  database: Queryable,
  { tenant_id, user_id }: PersonKey,
): Promise<NotificationSettings | undefined> {
  const [row] = await database.query<{ settings: Settings; notifications_version: number }>(sql`
    select settings, notifications_version
    from notification_settings
    where tenant_id = ${tenant_id} and user_id = ${user_id}`);
  return row && { ...row.settings, notifications_version: row.notifications_version };
}

type Saved = { settings: NotificationSettings; isOn: boolean; nextAt: string };

// A person who had nothing switched on before gets only later events. A person who wants e-mails at once cannot get the next one
// earlier by saving.
export async function saveNotifications(
  tx: Queryable,
  { tenant_id, user_id }: PersonKey,
  { settings: { notifications_version: version, ...settings }, isOn, nextAt }: Saved,
): Promise<void> {
  await tx.query(sql`
    insert into notification_settings as s (tenant_id, user_id, settings, notifications_version, is_on, position, next_at)
    select ${tenant_id}::uuid, ${user_id}::uuid, ${JSON.stringify(settings)}::jsonb, ${version}::integer, ${isOn}::boolean,
      last_event_id, ${nextAt}::timestamptz
    from event_counters
    where tenant_id = ${tenant_id}
    on conflict (tenant_id, user_id) do update
    set settings = excluded.settings,
      notifications_version = excluded.notifications_version,
      is_on = excluded.is_on,
      position = case when s.is_on then s.position else excluded.position end,
      next_at = case
        when s.settings ->> 'pace' = excluded.settings ->> 'pace' and s.is_on then greatest(s.next_at, excluded.next_at)
        else excluded.next_at
      end`);
}

// Locks the person, so that two requests cannot both apply to one version of the settings. Returns false if there is none.
export async function lockPerson(tx: Queryable, { tenant_id, user_id }: PersonKey): Promise<boolean> {
  const rows = await tx.query(sql`
    select user_id
    from users
    where tenant_id = ${tenant_id} and user_id = ${user_id}
    for no key update`);
  return rows.length > 0;
}

const peopleMax = 200;

// People with events that no mail has covered, and no mail on its way. Tenants take turns.
export async function listPeopleDue(database: Queryable, now: string): Promise<PersonKey[]> {
  return askTenants<PersonKey & Row>(
    database,
    sql`
    select s.tenant_id, s.user_id
    from notification_settings as s
    join event_counters as c using (tenant_id)
    where s.is_on and s.next_at <= ${now}::timestamptz and s.position < c.last_event_id
      and not exists (
        select
        from notification_mails as m
        where m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.state = 'WAITING'
      )
    order by row_number() over (partition by s.tenant_id order by s.next_at), s.next_at
    limit ${peopleMax}`,
  );
}

export type DuePerson = {
  settings: Settings;
  position: number;
  last_event_id: number;
  // Whether all events that no mail has covered happened after the mail became due.
  is_later: boolean;
  time_zone: string;
  due_times: { days: number[]; days_off: string[] } | null;
};

// Skips a person whom another process has locked, and one who is no longer due.
export async function lockPersonDue(tx: Queryable, key: PersonKey, now: string): Promise<DuePerson | undefined> {
  const [row] = await tx.query<DuePerson & Row>(sql`
    select s.settings, s.position, c.last_event_id, t.time_zone, d.due_times,
      coalesce((
        select e.occurred_at > s.next_at
        from events as e
        where e.tenant_id = s.tenant_id and e.event_id > s.position
        order by e.event_id
        limit 1
      ), false) as is_later
    from notification_settings as s
    join event_counters as c using (tenant_id)
    join tenants as t using (tenant_id)
    left join detection_settings as d using (tenant_id)
    where s.tenant_id = ${key.tenant_id} and s.user_id = ${key.user_id}
      and s.is_on and s.next_at <= ${now}::timestamptz and s.position < c.last_event_id
    for update of s skip locked`);
  return row;
}

export async function savePosition(
  tx: Queryable,
  { tenant_id, user_id }: PersonKey,
  { position, nextAt }: { position: number; nextAt: string },
): Promise<void> {
  await tx.query(sql`
    update notification_settings
    set position = ${position}, next_at = ${nextAt}
    where tenant_id = ${tenant_id} and user_id = ${user_id}`);
}

// Makes a person due earlier than planned, because there was no news.
export async function saveEarlierLook(tx: Queryable, { tenant_id, user_id }: PersonKey, nextAt: string): Promise<void> {
  await tx.query(sql`
    update notification_settings
    set next_at = least(next_at, ${nextAt}::timestamptz)
    where tenant_id = ${tenant_id} and user_id = ${user_id} and settings ->> 'pace' = 'at_once'`);
}

export type Recipient = {
  slug: string;
  time_zone: string;
  notification_details: "none" | "ids";
  email: string;
  name: string;
  role: string;
  role_scopes: string[] | null;
  settings: Settings;
};

// The person, with everything that decides what an e-mail may contain. Undefined if the person is disabled or wants nothing.
export async function findRecipient(database: Queryable, { tenant_id, user_id }: PersonKey): Promise<Recipient | undefined> {
  const [row] = await database.query<Recipient & Row>(sql`
    select t.slug, t.time_zone, t.notification_details, u.email, u.name, u.role, r.scopes as role_scopes, s.settings
    from users as u
    join tenants as t using (tenant_id)
    join notification_settings as s using (tenant_id, user_id)
    left join tenant_roles as r on r.tenant_id = u.tenant_id and r.role = u.role
    where u.tenant_id = ${tenant_id} and u.user_id = ${user_id} and not u.is_disabled and s.is_on`);
  return row;
}
