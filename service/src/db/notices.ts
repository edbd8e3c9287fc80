import type { Note } from "../domain/note.ts";
import { noticesMax, type NewNotice, type Notice } from "../domain/notice.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// An approval request has its own id in place of a note's, and may have no case.
type About = Pick<Note, "note_id" | "created_at" | "created_by"> & { case_id: string | null };

// Adds notices about a note to the inboxes of people. Each person keeps only the newest notices.
export async function insertNotices(
  tx: Queryable,
  tenantId: string,
  { note, told }: { note: About; told: NewNotice[] },
): Promise<void> {
  if (told.length === 0) return;
  const ids = told.map((each) => each.user_id);
  await tx.query(sql`
    insert into notices (tenant_id, user_id, notice_id, kind, case_id, created_at, created_by)
    select ${tenantId}::uuid, t.user_id, ${note.note_id}::uuid, t.kind, ${note.case_id}::uuid, ${note.created_at}::timestamptz,
      ${note.created_by}
    from unnest(${ids}::uuid[], ${told.map((each) => each.kind)}::text[]) as t (user_id, kind)
    order by t.user_id`);
  await tx.query(sql`
    delete from notices as n
    using unnest(${ids}::uuid[]) as t (user_id)
    cross join lateral (
      select notice_id
      from notices
      where tenant_id = ${tenantId} and user_id = t.user_id
      order by notice_id desc
      offset ${noticesMax}
      limit 1
    ) as first_too_many
    where n.tenant_id = ${tenantId} and n.user_id = t.user_id and n.notice_id <= first_too_many.notice_id`);
}

type Nullable = "handed_to" | "case_id" | "subject" | "status" | "decision";
type NoticeRow = Row & Omit<Notice, Nullable | "approval_id"> & { [K in Nullable]: NonNullable<Notice[K]> | null };
type NoticePage = { user_id: string; isUnread: boolean; before: string | null; limit: number };

// Newest first. Ids contain the time.
export async function listNotices(database: Queryable, tenantId: string, page: NoticePage): Promise<Notice[]> {
  const rows = await database.query<NoticeRow>(sql`
    select n.notice_id, n.kind, n.case_id, coalesce(c.website_account_id, a.website_account_id, 'UNKNOWN') as website_account_id,
      case when c.website_account_id = 'UNKNOWN' then c.document::json #> '{details,subject}' end as subject, c.status, coalesce(t.text, a.decision_note, '') as text, t.handed_to, a.status as decision, n.created_at, n.created_by,
      n.read_at is not null as is_read
    from notices as n
    left join cases as c on c.tenant_id = ${tenantId} and c.case_id = n.case_id
    left join case_notes as t on t.tenant_id = ${tenantId} and t.case_id = n.case_id and t.note_id = n.notice_id
    left join approvals as a on a.tenant_id = ${tenantId} and a.approval_id = n.notice_id and n.kind = 'approval'
    where n.tenant_id = ${tenantId}
      and n.user_id = ${page.user_id}
      and (not ${page.isUnread}::boolean or n.read_at is null)
      and (${page.before}::uuid is null or n.notice_id < ${page.before}::uuid)
    order by n.notice_id desc
    limit ${page.limit}`);
  return rows.map(({ handed_to, case_id, subject, status, decision, ...row }) => ({
    ...row,
    ...(case_id !== null && { case_id }),
    ...(subject !== null && { subject }),
    ...(status !== null && { status }),
    ...(handed_to !== null && { handed_to }),
    ...(row.kind === "approval" && { approval_id: row.notice_id, ...(decision !== null && { decision }) }),
  }));
}

export async function countUnread(database: Queryable, tenantId: string, userId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from notices
    where tenant_id = ${tenantId} and user_id = ${userId} and read_at is null`);
  return row?.count ?? 0;
}

// Ids of other people's notices are ignored, like ids that do not exist.
export async function saveRead(
  tx: Queryable,
  tenantId: string,
  { user_id, notice_ids, now }: { user_id: string; notice_ids: string[]; now: string },
): Promise<void> {
  await tx.query(sql`
    update notices
    set read_at = ${now}
    where tenant_id = ${tenantId}
      and user_id = ${user_id}
      and notice_id = any(${notice_ids}::uuid[])
      and read_at is null`);
}

export async function deleteNoticesOf(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  await tx.query(sql`
    delete from notices
    where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[])`);
}
