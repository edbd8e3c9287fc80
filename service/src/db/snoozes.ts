import { accountSubject } from "../domain/activity.ts";
import { databasePattern, type Erased } from "../domain/erasure.ts";
import type { Ending, NewSnooze, Quiet, Snooze } from "../domain/snooze.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

type SnoozeRow = Row &
  Omit<Snooze, "value" | "last_kept_at" | "ended_at" | "ended_by" | "ended_because"> & {
    value: string | null;
    last_kept_at: string | null;
    ended_at: string | null;
    ended_by: string | null;
    ended_because: Ending | null;
  };

// A snooze expires at its `until` time. No process has to record that.
function toSnooze(row: SnoozeRow): Snooze {
  const { value, last_kept_at, ended_at, ended_by, ended_because, is_active, ...rest } = row;
  const expired = { ended_at: row.until, ended_by: "system", ended_because: "expired" as const };
  const ended = ended_at === null ? expired : { ended_at, ended_by: ended_by ?? "", ended_because: ended_because ?? "expired" };
  return {
    ...rest,
    ...(value !== null && { value }),
    ...(last_kept_at !== null && { last_kept_at }),
    is_active,
    ...(!is_active && ended),
  };
}

const columns =
  "snooze_id, case_id, subject, scope, value, rules, created_at, created_by, until, hits, kept, last_kept_at, ended_at, ended_by, ended_because";

export type SnoozePlace = [created_at: string, snooze_id: string];

// Newest first.
export async function listSnoozes(
  database: Queryable,
  tenantId: string,
  page: { now: string; isActive: boolean | null; after: SnoozePlace | null; limit: number },
): Promise<Snooze[]> {
  const [at = null, id = null] = page.after ?? [];
  const text = `
    select ${columns}, ended_at is null and until > $2::timestamptz as is_active
    from snoozes
    where tenant_id = $1
      and ($3::boolean is null or (ended_at is null and until > $2::timestamptz) = $3::boolean)
      and ($4::timestamptz is null or (created_at, snooze_id) < ($4::timestamptz, $5::uuid))
    order by created_at desc, snooze_id desc
    limit $6`;
  const rows = await database.query<SnoozeRow>({
    name: "listSnoozes",
    text,
    values: [tenantId, page.now, page.isActive, at, id, page.limit],
  });
  return rows.map(toSnooze);
}

// The caller has locked the tenant's settings, so nobody else can add a snooze meanwhile.
export async function countActiveSnoozes(tx: Queryable, tenantId: string, now: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*) as count
    from snoozes
    where tenant_id = ${tenantId} and ended_at is null and until > ${now}`);
  return row?.count ?? 0;
}

export async function insertSnoozes(tx: Queryable, tenantId: string, snoozes: NewSnooze[]): Promise<void> {
  for (const each of snoozes) {
    await tx.query(sql`
      insert into snoozes (
        tenant_id, snooze_id, case_id, subject, scope, value, rules, score, size, created_at, created_by, until
      )
      values (
        ${tenantId}, ${each.snooze_id}, ${each.case_id}, ${each.subject}, ${each.scope}, ${each.value}, ${each.rules},
        ${each.score}, ${each.size}, ${each.created_at}, ${each.created_by}, ${each.until}
      )`);
    await tx.query(sql`
      update detection_settings
      set snoozed_until = greatest(snoozed_until, ${each.until}::timestamptz)
      where tenant_id = ${tenantId}`);
  }
}

// Returns the active snoozes of these subjects.
export async function findQuiet(tx: Queryable, tenantId: string, wanted: { subjects: string[]; now: string }): Promise<Quiet[]> {
  return tx.query<Row & Quiet>(sql`
    select snooze_id, case_id, subject, scope, value, rules, score, size, until
    from snoozes
    where tenant_id = ${tenantId} and subject = any(${wanted.subjects}::text[]) and ended_at is null and until > ${wanted.now}
    order by snooze_id`);
}

export type QuietCount = { snooze_id: string; hits: number; kept: number; last_kept_at: string | null };

// Sort the rows, so that two writers wait for each other instead of deadlocking.
export async function addQuietCounts(tx: Queryable, tenantId: string, counts: QuietCount[]): Promise<void> {
  for (const { snooze_id, hits, kept, last_kept_at } of counts.toSorted((a, b) => (a.snooze_id < b.snooze_id ? -1 : 1))) {
    await tx.query(sql`
      update snoozes
      set hits = hits + ${hits}::bigint,
        kept = kept + ${kept}::bigint,
        last_kept_at = greatest(last_kept_at, ${last_kept_at}::timestamptz)
      where tenant_id = ${tenantId} and snooze_id = ${snooze_id}`);
  }
}

type EndingNow = { because: Ending; by: string; now: string };
export type Ended = Pick<Snooze, "snooze_id" | "case_id">;

// Ends the snoozes, and returns those that were still active.
export async function endSnoozes(
  tx: Queryable,
  tenantId: string,
  ids: string[],
  { because, by, now }: EndingNow,
): Promise<Ended[]> {
  if (ids.length === 0) return [];
  return tx.query<Row & Ended>(sql`
    update snoozes
    set ended_at = ${now}, ended_by = ${by}, ended_because = ${because}
    where tenant_id = ${tenantId} and snooze_id = any(${plainArray(ids.toSorted())}::uuid[]) and ended_at is null and until > ${now}
    returning snooze_id, case_id`);
}

export async function listSnoozesOfCases(tx: Queryable, tenantId: string, caseIds: string[]): Promise<string[]> {
  if (caseIds.length === 0) return [];
  const rows = await tx.query<{ snooze_id: string }>(sql`
    select snooze_id
    from snoozes
    where tenant_id = ${tenantId} and case_id = any(${plainArray(caseIds)}::uuid[]) and ended_at is null
    order by snooze_id
    for update`);
  return rows.map((row) => row.snooze_id);
}

// Returns the snoozes that were created before their subject was confirmed as a fraud.
export async function listSnoozesAbout(
  tx: Queryable,
  tenantId: string,
  confirmed: { subject: string; decided_at: string }[],
): Promise<string[]> {
  if (confirmed.length === 0) return [];
  const rows = await tx.query<{ snooze_id: string }>(sql`
    select s.snooze_id
    from unnest(
      ${confirmed.map((each) => each.subject)}::text[],
      ${confirmed.map((each) => each.decided_at)}::timestamptz[]
    ) as c (subject, decided_at)
    join snoozes as s on s.tenant_id = ${tenantId} and s.subject = c.subject and s.created_at <= c.decided_at
    where s.ended_at is null
    order by s.snooze_id
    for update of s`);
  return rows.map((row) => row.snooze_id);
}

// Returns whether the snooze exists.
export async function lockSnooze(tx: Queryable, tenantId: string, id: string): Promise<boolean> {
  const rows = await tx.query(sql`
    select 1 as found
    from snoozes
    where tenant_id = ${tenantId} and snooze_id = ${id}
    for update`);
  return rows.length > 0;
}

// What the evidence of a case names. Addresses are in the form that the tenant's ip_policy allows to be stored.
export type EvidenceNames = { device_id?: string; ip?: string; payee_id?: string };

export async function listEvidenceNames(tx: Queryable, tenantId: string, predictionIds: string[]): Promise<EvidenceNames[]> {
  if (predictionIds.length === 0) return [];
  const rows = await tx.query<{ device_id: string | null; ip: string | null; payee_id: string | null }>(sql`
    select distinct device_id, ip, document::jsonb -> 'payment' ->> 'payee_id' as payee_id
    from activities
    where tenant_id = ${tenantId} and prediction_id = any(${plainArray(predictionIds)}::uuid[])`);
  return rows.map(({ device_id, ip, payee_id }) => ({
    ...(device_id !== null && { device_id }),
    ...(ip !== null && { ip }),
    ...(payee_id !== null && { payee_id }),
  }));
}

type JudgedRules = { case_id: string; rules: string[] };

// Returns the largest size in the evidence of these rules in the case: the amount of a payment, or the number of accounts in an
// attack.
export async function findJudgedSize(tx: Queryable, tenantId: string, { case_id, rules }: JudgedRules): Promise<number> {
  const [row] = await tx.query<{ size: number | null }>(sql`
    select max(size) as size
    from case_traits
    where tenant_id = ${tenantId} and case_id = ${case_id} and rule_id = any(${rules}::text[])`);
  return row?.size ?? 0;
}

// The name of a device or a payee may contain the account's id.
export async function deleteSnoozesOfAccount(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  const pattern = databasePattern(id, { isJson: false });
  await tx.query(sql`
    delete from snoozes
    where tenant_id = ${tenantId}
      and (
        subject = any(${[accountSubject(id), accountSubject(pseudonym)]}::text[])
        or (subject not like 'account:%' and subject ~ ${pattern})
        or value ~ ${pattern}
      )`);
}
