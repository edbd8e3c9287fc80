import {
  closingWithoutId,
  type Approval,
  type ApprovalCase,
  type ApprovalListItem,
  type ApprovalStatus,
  type Closing,
} from "../domain/approval.ts";
import { databasePattern, type Erased } from "../domain/erasure.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql, statement } from "./postgres/sql.ts";

// A request is stale once one of its cases has another version, or its account is gone. This follows from the cases, so no change of
// a case has to look for requests. The number of requests that wait is limited, so reading them all is cheap. $1 is the tenant.
const statusNow = `
  case
    when a.status <> 'PENDING' then a.status
    when a.expires_at <= now() then 'EXPIRED'
    when exists (
      select 1
      from approval_cases as w
      left join cases as c on c.tenant_id = $1 and c.case_id = w.case_id
      where w.tenant_id = $1 and w.approval_id = a.approval_id and c.case_version is distinct from w.case_version
    ) then 'STALE'
    when a.website_account_id is not null and not exists (
      select 1
      from accounts as e
      where e.tenant_id = $1 and e.website_account_id = a.website_account_id
    ) then 'STALE'
    else 'PENDING'
  end`;

const columns = `a.approval_id, a.because, a.cases as case_count, a.website_account_id, a.closing, a.note, a.requested_at,
    a.requested_by, a.requested_by_id, a.expires_at, a.decided_at, a.decided_by, a.decision_note,
    (
      select case_id
      from approval_cases as f
      where f.tenant_id = $1 and f.approval_id = a.approval_id
      order by position
      limit 1
    ) as case_id`;

type Stored = Row & {
  approval_id: string;
  status: ApprovalStatus;
  because: ApprovalListItem["because"];
  case_count: number;
  case_id: string | null;
  website_account_id: string | null;
  closing: Closing;
  note: string;
  requested_at: string;
  requested_by: string;
  requested_by_id: string;
  expires_at: string;
  decided_at: string | null;
  decided_by: string | null;
  decision_note: string;
};
// `requested_by_id` is the person's user_id.
export type StoredApproval = ApprovalListItem & { requested_by_id: string };

function toApproval(row: Stored): StoredApproval {
  const { approval_id, status, because, case_count, closing, requested_at, requested_by, requested_by_id, expires_at } = row;
  const { case_id, website_account_id, note, decided_at, decided_by, decision_note } = row;
  return {
    approval_id,
    status,
    because,
    case_count,
    ...(case_id !== null && { case_id }),
    ...(website_account_id !== null && { website_account_id }),
    closing,
    ...(note !== "" && { note }),
    requested_at,
    requested_by,
    requested_by_id,
    expires_at,
    ...(decided_at !== null && { decided_at }),
    ...(decided_by !== null && { decided_by }),
    ...(decision_note !== "" && { decision_note }),
  };
}

export type ApprovalFilter = {
  status?: ApprovalStatus | undefined;
  case_id?: string | undefined;
  website_account_id?: string | undefined;
};
type Page = { filter: ApprovalFilter; before: string | null; limit: number };

// Newest first. Ids contain the time.
export async function listApprovals(database: Queryable, tenantId: string, page: Page): Promise<StoredApproval[]> {
  const { status = null, case_id: caseId, website_account_id: account = null } = page.filter;
  if (caseId !== undefined && !isCanonicalUuid(caseId)) return [];
  // Staleness is only computed for requests that may still wait.
  const text = `
    select *
    from (
      select ${columns}, ${statusNow} as status
      from approvals as a
      where a.tenant_id = $1
        and ($2::uuid is null or a.approval_id < $2::uuid)
        and ($3::text is null or a.status = $3::text or (a.status = 'PENDING' and $3::text in ('STALE', 'EXPIRED')))
        and ($4::uuid is null or a.approval_id in (select approval_id from approval_cases where tenant_id = $1 and case_id = $4::uuid))
        and ($5::text is null or a.website_account_id = $5::text)
    ) as found
    where $3::text is null or status = $3::text
    order by approval_id desc
    limit $6`;
  const rows = await database.query<Stored>(
    statement(text, [tenantId, page.before, status, caseId ?? null, account, page.limit]),
  );
  return rows.map(toApproval);
}

export async function findApproval(database: Queryable, tenantId: string, id: string): Promise<StoredApproval | undefined> {
  if (!isCanonicalUuid(id)) return undefined;
  const text = `select ${columns}, ${statusNow} as status from approvals as a where a.tenant_id = $1 and a.approval_id = $2`;
  const [row] = await database.query<Stored>(statement(text, [tenantId, id]));
  return row && toApproval(row);
}

// Whoever decides a request holds this lock. Its cases are locked afterwards, so `status` may become stale before that.
export async function lockApproval(tx: Queryable, tenantId: string, id: string): Promise<StoredApproval | undefined> {
  if (!isCanonicalUuid(id)) return undefined;
  await tx.query(sql`
    select 1
    from approvals
    where tenant_id = ${tenantId} and approval_id = ${id}
    for update`);
  return findApproval(tx, tenantId, id);
}

export type WantedCase = { case_id: string; case_version: number };

// In the order in which they were sent.
export async function listWantedCases(database: Queryable, tenantId: string, id: string): Promise<WantedCase[]> {
  return database.query<Row & WantedCase>(sql`
    select case_id, case_version
    from approval_cases
    where tenant_id = ${tenantId} and approval_id = ${id}
    order by position`);
}

type ApprovalCaseRow = Row & Omit<ApprovalCase, "subject"> & { subject: NonNullable<ApprovalCase["subject"]> | null };

export async function listApprovalCases(database: Queryable, tenantId: string, id: string): Promise<ApprovalCase[]> {
  const rows = await database.query<ApprovalCaseRow>(sql`
    select w.case_id, w.case_version, c.case_version as current_version, c.status, c.website_account_id, c.overall_risk_score,
      c.primary_fraud_label,
      case when c.website_account_id = 'UNKNOWN' then c.document::json #> '{details,subject}' end as subject
    from approval_cases as w
    join cases as c on c.tenant_id = ${tenantId} and c.case_id = w.case_id
    where w.tenant_id = ${tenantId} and w.approval_id = ${id}
    order by w.position`);
  return rows.map(({ subject, ...row }) => ({ ...row, ...(subject !== null && { subject }) }));
}

// When the latest approved close of this case was requested.
export async function findRequestTime(database: Queryable, tenantId: string, caseId: string): Promise<string | undefined> {
  const [row] = await database.query<{ requested_at: string }>(sql`
    select a.requested_at
    from approval_cases as w
    join approvals as a on a.tenant_id = ${tenantId} and a.approval_id = w.approval_id
    where w.tenant_id = ${tenantId} and w.case_id = ${caseId} and a.status = 'APPROVED'
    order by a.decided_at desc
    limit 1`);
  return row?.requested_at;
}

// Stores what can no longer be approved, so that it does not count among the requests that wait.
export async function saveOutdated(tx: Queryable, tenantId: string): Promise<void> {
  const text = `
    update approvals as u
    set status = s.status
    from (
      select a.approval_id, ${statusNow} as status
      from approvals as a
      where a.tenant_id = $1 and a.status = 'PENDING'
    ) as s
    where u.tenant_id = $1 and u.approval_id = s.approval_id and u.status = 'PENDING' and s.status <> 'PENDING'`;
  await tx.query(statement(text, [tenantId]));
}

type Waiting = { all: number; own: number };

// `own` are those of one person.
export async function countWaiting(database: Queryable, tenantId: string, userId: string): Promise<Waiting> {
  const [row] = await database.query<Row & Waiting>(sql`
    select count(*) as all, count(*) filter (where requested_by_id = ${userId}) as own
    from approvals
    where tenant_id = ${tenantId} and status = 'PENDING'`);
  return row ?? { all: 0, own: 0 };
}

// Those that others requested. A client has no id, and sees all.
export async function countForOthers(database: Queryable, tenantId: string, userId: string | null): Promise<number> {
  const text = `
    select count(*) as count
    from approvals as a
    where a.tenant_id = $1
      and a.status = 'PENDING'
      and a.requested_by_id is distinct from $2::uuid
      and ${statusNow} = 'PENDING'`;
  const [row] = await database.query<{ count: number }>(statement(text, [tenantId, userId]));
  return row?.count ?? 0;
}

export type NewStored = Pick<Approval, "approval_id" | "because" | "closing" | "requested_at" | "requested_by" | "expires_at"> & {
  requested_by_id: string;
  website_account_id: string | null;
  note: string;
  cases: WantedCase[];
};

export async function insertApproval(tx: Queryable, tenantId: string, made: NewStored): Promise<void> {
  await tx.query(sql`
    insert into approvals (tenant_id, approval_id, status, closing, because, cases, website_account_id, note, requested_at,
      requested_by, requested_by_id, expires_at)
    values (${tenantId}, ${made.approval_id}, 'PENDING', ${JSON.stringify(made.closing)}, ${made.because}::text[],
      ${made.cases.length}, ${made.website_account_id}, ${made.note}, ${made.requested_at}, ${made.requested_by},
      ${made.requested_by_id}, ${made.expires_at})`);
  if (made.cases.length === 0) return;
  await tx.query(sql`
    insert into approval_cases (tenant_id, approval_id, position, case_id, case_version, expires_at)
    select ${tenantId}::uuid, ${made.approval_id}::uuid, w.position, w.case_id, w.case_version, ${made.expires_at}::timestamptz
    from unnest(
      ${plainArray(made.cases.map((each) => each.case_id))}::uuid[],
      ${plainArray(made.cases.map((each) => each.case_version))}::int[]
    ) with ordinality as w (case_id, case_version, position)`);
}

export async function saveDecision(
  tx: Queryable,
  tenantId: string,
  saved: { approval_id: string; status: ApprovalStatus; decided_at: string; decided_by: string; decision_note: string },
): Promise<void> {
  await tx.query(sql`
    update approvals
    set status = ${saved.status}, decided_at = ${saved.decided_at}, decided_by = ${saved.decided_by},
      decision_note = ${saved.decision_note}
    where tenant_id = ${tenantId} and approval_id = ${saved.approval_id}`);
}

// What was written about the account's own cases may say anything about the person, so it is deleted. Elsewhere, only the id is
// replaced. The erasure changes the cases' versions, so nobody can approve what is left of a request.
export async function eraseAccountFromApprovals(
  tx: Queryable,
  tenantId: string,
  { id, pseudonym, caseIds }: Erased & { caseIds: string[] },
): Promise<void> {
  await tx.query(sql`
    update approvals as a
    set note = '', decision_note = '', closing = (a.closing::jsonb - 'reason' - 'list_entries')::json
    where a.tenant_id = ${tenantId}
      and (
        a.website_account_id = ${id}
        or a.approval_id in (select approval_id from approval_cases where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[]))
      )`);
  await tx.query(sql`
    update approvals
    set website_account_id = ${pseudonym}
    where tenant_id = ${tenantId} and website_account_id = ${id}`);
  const [plain, json] = [databasePattern(id, { isJson: false }), databasePattern(id, { isJson: true })];
  await tx.query(sql`
    update approvals
    set note = regexp_replace(note, ${plain}, ${pseudonym}, 'g'),
      decision_note = regexp_replace(decision_note, ${plain}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and (note ~ ${plain} or decision_note ~ ${plain})`);
  // Only in its texts: an account may be called `account` or `is_blocked`.
  const rows = await tx.query<Row & { approval_id: string; closing: Closing }>(sql`
    select approval_id, closing
    from approvals
    where tenant_id = ${tenantId} and closing::text ~ ${json}`);
  for (const { approval_id, closing } of rows)
    await tx.query(sql`
      update approvals
      set closing = ${JSON.stringify(closingWithoutId(closing, { id, pseudonym }))}
      where tenant_id = ${tenantId} and approval_id = ${approval_id}`);
}
