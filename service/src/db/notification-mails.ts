import { databasePattern, type Erased } from "../domain/erasure.ts";
import type { MailState, NotificationMail } from "../domain/notification.ts";
import type { PersonKey } from "./notifications.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type NewMail = { mail_id: string; kind: "digest" | "test"; after: number; last: number; now: string };

// A digest waits to be sent. A test is sent by the process that inserts it, and counts as given up if that process dies.
export async function insertMail(tx: Queryable, { tenant_id, user_id }: PersonKey, mail: NewMail): Promise<void> {
  const state = mail.kind === "digest" ? "WAITING" : "DEAD";
  await tx.query(sql`
    insert into notification_mails (tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at)
    values (${tenant_id}, ${mail.mail_id}, ${user_id}, ${mail.kind}, ${mail.after}, ${mail.last}, ${state}, 0, ${mail.now}, ${mail.now})`);
}

type Counted = { ofPersonToday: number; testsOfPerson: number; ofTenantThisHour: number };

// Mails of the last 24 hours and of the last hour.
export async function countMails(tx: Queryable, { tenant_id, user_id }: PersonKey, now: string): Promise<Counted> {
  const [row] = await tx.query<Counted>(sql`
    select (
        select count(*)
        from notification_mails
        where tenant_id = ${tenant_id} and user_id = ${user_id} and created_at > ${now}::timestamptz - interval '24 hours'
      ) as "ofPersonToday",
      (
        select count(*)
        from notification_mails
        where tenant_id = ${tenant_id} and user_id = ${user_id} and kind = 'test'
          and created_at > ${now}::timestamptz - interval '1 hour'
      ) as "testsOfPerson",
      (
        select count(*)
        from notification_mails
        where tenant_id = ${tenant_id} and created_at > ${now}::timestamptz - interval '1 hour'
      ) as "ofTenantThisHour"`);
  return row ?? { ofPersonToday: 0, testsOfPerson: 0, ofTenantThisHour: 0 };
}

export type ClaimedMail = PersonKey & {
  mail_id: string;
  after_event: number;
  last_event: number;
  attempts: number;
  first_at: string;
  last_at: string;
};

type Claiming = { now: string; leaseUntil: string; lastTenantId: string | null };

// Claims a mail until the lease ends: the one of a tenant that has waited longest. Tenants take turns in the order of their ids,
// beginning after `lastTenantId`.
export async function claimMail(database: Queryable, claiming: Claiming): Promise<ClaimedMail | undefined> {
  const due = await listTenantsWithMails(database, claiming.now);
  const last = claiming.lastTenantId ?? "";
  const inTurn = [...due.filter((each) => each > last), ...due.filter((each) => each <= last)];
  for (const tenantId of inTurn) {
    const claimed = await claimMailOf(database, tenantId, claiming);
    if (claimed) return claimed;
  }
  return undefined;
}

// An index has the first mail of each tenant, so the other mails that wait are not read.
async function listTenantsWithMails(database: Queryable, now: string): Promise<string[]> {
  const rows = await askTenants<{ tenant_id: string }>(
    database,
    sql`
    with recursive firsts as (
      (
        select tenant_id, next_at
        from notification_mails
        where state = 'WAITING'
        order by tenant_id, next_at
        limit 1
      )
      union all
      select m.tenant_id, m.next_at
      from firsts as f
      cross join lateral (
        select tenant_id, next_at
        from notification_mails
        where state = 'WAITING' and tenant_id > f.tenant_id
        order by tenant_id, next_at
        limit 1
      ) as m
    )
    select tenant_id
    from firsts
    where next_at <= ${now}::timestamptz`,
  );
  return rows.map(({ tenant_id }) => tenant_id).toSorted();
}

// Skips a mail that another process is claiming.
async function claimMailOf(
  database: Queryable,
  tenantId: string,
  { now, leaseUntil }: Claiming,
): Promise<ClaimedMail | undefined> {
  const [row] = await database.query<ClaimedMail & Row>(sql`
    with due as (
      select mail_id
      from notification_mails
      where tenant_id = ${tenantId} and state = 'WAITING' and next_at <= ${now}::timestamptz
      order by next_at
      limit 1
      for update skip locked
    )
    update notification_mails as m
    set attempts = m.attempts + 1,
      next_at = ${leaseUntil}::timestamptz,
      first_at = coalesce(m.first_at, ${now}::timestamptz),
      last_at = ${now}::timestamptz
    from due
    where m.tenant_id = ${tenantId} and m.mail_id = due.mail_id
    returning m.tenant_id, m.user_id, m.mail_id, m.after_event, m.last_event, m.attempts, m.first_at, m.last_at`);
  return row;
}

type MailEnd = { state: MailState; next_at: string; error: string | null };

// If another process has claimed the mail since, because the lease ran out, that process decides its state.
export async function saveMailEnd(database: Queryable, claimed: ClaimedMail, { state, next_at, error }: MailEnd): Promise<void> {
  await database.query(sql`
    update notification_mails
    set state = ${state}, next_at = ${next_at}, last_error = ${error}
    where tenant_id = ${claimed.tenant_id} and mail_id = ${claimed.mail_id}
      and state = 'WAITING' and (last_at = ${claimed.last_at}::timestamptz or ${state} = 'SENT')`);
}

export async function saveTestEnd(
  database: Queryable,
  { tenant_id, mail_id, error, now }: { tenant_id: string; mail_id: string; error: string | null; now: string },
): Promise<void> {
  await database.query(sql`
    update notification_mails
    set state = ${error === null ? "SENT" : "DEAD"}, attempts = 1, first_at = ${now}, last_at = ${now}, last_error = ${error}
    where tenant_id = ${tenant_id} and mail_id = ${mail_id}`);
}

// For an e-mail without news.
export async function deleteMail(database: Queryable, { tenant_id, mail_id }: ClaimedMail): Promise<void> {
  await database.query(sql`
    delete from notification_mails
    where tenant_id = ${tenant_id} and mail_id = ${mail_id} and state = 'WAITING'`);
}

export async function findLastMail(
  database: Queryable,
  { tenant_id, user_id }: PersonKey,
): Promise<{ state: MailState; created_at: string } | undefined> {
  const [row] = await database.query<Row & { state: MailState; created_at: string }>(sql`
    select state, created_at
    from notification_mails
    where tenant_id = ${tenant_id} and user_id = ${user_id} and kind = 'digest'
    order by created_at desc
    limit 1`);
  return row;
}

type MailRow = Row &
  Omit<NotificationMail, "last_attempt_at" | "next_attempt_at" | "last_error"> & {
    last_at: string | null;
    next_at: string;
    last_error: string | null;
  };

type MailPage = { state: MailState | null; before: string | null; limit: number };

// Newest first. Ids contain the time.
export async function listMails(database: Queryable, tenantId: string, page: MailPage): Promise<NotificationMail[]> {
  const rows = await database.query<MailRow>(sql`
    select m.mail_id, m.user_id, u.email, m.kind, m.state, m.attempts, m.created_at, m.last_at, m.next_at, m.last_error
    from notification_mails as m
    join users as u using (tenant_id, user_id)
    where m.tenant_id = ${tenantId}
      and (${page.state}::text is null or m.state = ${page.state})
      and (${page.before}::uuid is null or m.mail_id < ${page.before}::uuid)
    order by m.mail_id desc
    limit ${page.limit}`);
  return rows.map(({ last_at, next_at, last_error, ...row }) => ({
    ...row,
    ...(last_at !== null && { last_attempt_at: last_at }),
    ...(row.state === "WAITING" && { next_attempt_at: next_at }),
    ...(last_error !== null && { last_error }),
  }));
}

// Counts over all tenants.
export async function countMailsByState(database: Queryable): Promise<{ waiting: number; dead: number }> {
  const [row] = await database.query<{ waiting: number; dead: number }>(sql`
    select (select count(*) from notification_mails where state = 'WAITING') as waiting,
      (select count(*) from notification_mails where state = 'DEAD' and kind = 'digest') as dead`);
  return row ?? { waiting: 0, dead: 0 };
}

// A mail server may quote the e-mail that it refused.
export async function eraseAccountFromMails(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    update notification_mails
    set last_error = regexp_replace(last_error, ${pattern}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and last_error ~ ${pattern}`);
}
