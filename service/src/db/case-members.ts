import type { Erased } from "../domain/erasure.ts";
import type { CaseMember, MemberState } from "../domain/member.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type SavedMember = {
  case_id: string;
  account: string;
  state: MemberState;
  seen_at: string;
  own_case_id: string | null;
};

export async function findMembers(
  tx: Queryable,
  tenantId: string,
  wanted: { case_id: string; accounts: string[] },
): Promise<Map<string, MemberState>> {
  const rows = await tx.query<{ website_account_id: string; state: MemberState }>(sql`
    select website_account_id, state
    from case_members
    where tenant_id = ${tenantId}
      and case_id = ${wanted.case_id}
      and website_account_id = any(${wanted.accounts}::text[])`);
  return new Map(rows.map((row) => [row.website_account_id, row.state]));
}

// Sorted, so that two writers wait for each other instead of deadlocking.
export async function saveMembers(tx: Queryable, tenantId: string, members: SavedMember[]): Promise<void> {
  if (members.length === 0) return;
  await tx.query(sql`
    insert into case_members (tenant_id, case_id, website_account_id, state, seen_at, own_case_id)
    select ${tenantId}::uuid, m.*
    from unnest(
      ${members.map((each) => each.case_id)}::uuid[],
      ${members.map((each) => each.account)}::text[],
      ${members.map((each) => each.state)}::text[],
      ${members.map((each) => each.seen_at)}::timestamptz[],
      ${members.map((each) => each.own_case_id)}::uuid[]
    ) as m (case_id, account, state, seen_at, own_case_id)
    order by m.case_id, m.account
    on conflict (tenant_id, case_id, website_account_id) do update
    set state = excluded.state,
      own_case_id = coalesce(case_members.own_case_id, excluded.own_case_id)`);
}

// The last row of a page. Rows are sorted by state, entered accounts first, and then by account.
export type MemberPlace = [state: MemberState, account: string];

export async function listMembers(
  database: Queryable,
  tenantId: string,
  page: { case_id: string; after: MemberPlace | null; limit: number },
): Promise<CaseMember[]> {
  const [state = null, account = null] = page.after ?? [];
  const rows = await database.query<Row & Required<CaseMember>>(sql`
    select m.website_account_id, m.state, m.seen_at, c.case_id, c.status as case_status
    from (
      select website_account_id, state, seen_at, own_case_id
      from case_members
      where tenant_id = ${tenantId}
        and case_id = ${page.case_id}
        and (
          ${state}::text is null
          or (state <= ${state}::text and (state < ${state}::text or website_account_id > ${account}::text))
        )
      order by state desc, website_account_id
      limit ${page.limit}
    ) as m
    left join cases as c on c.tenant_id = ${tenantId} and c.case_id = m.own_case_id
    order by m.state desc, m.website_account_id`);
  return rows.map(({ case_id, case_status, ...row }) => ({ ...row, ...(case_id !== null && { case_id, case_status }) }));
}

export type MemberClose = { case_id: string; closed_to: string };

// The ids of the open cases that this attack opened, after the id `closed_to`.
export async function listOwnOpenCases(
  database: Queryable,
  tenantId: string,
  { case_id, closed_to, limit }: MemberClose & { limit: number },
): Promise<string[]> {
  const rows = await database.query<{ case_id: string }>(sql`
    select c.case_id
    from case_members as m
    join cases as c on c.tenant_id = m.tenant_id and c.case_id = m.own_case_id and c.status = 'OPEN'
    where m.tenant_id = ${tenantId} and m.case_id = ${case_id} and m.own_case_id > ${closed_to}::uuid
    order by m.own_case_id
    limit ${limit}`);
  return rows.map((row) => row.case_id);
}

export async function insertMemberCloses(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  await tx.query(sql`
    insert into member_closes (tenant_id, case_id)
    select ${tenantId}::uuid, unnest(${caseIds}::uuid[])`);
}

// Skips a row that is locked because its case is being reopened.
export async function claimMemberClose(
  tx: Queryable,
  tenantId: string,
): Promise<(MemberClose & { document: string | null }) | undefined> {
  const [row] = await tx.query<Row & MemberClose & { document: string | null }>(sql`
    select m.case_id, m.closed_to, c.document
    from member_closes as m
    left join cases as c on c.tenant_id = m.tenant_id and c.case_id = m.case_id
    where m.tenant_id = ${tenantId}
    order by m.case_id
    limit 1
    for update of m skip locked`);
  return row;
}

export async function saveMemberClose(tx: Queryable, tenantId: string, { case_id, closed_to }: MemberClose): Promise<void> {
  await tx.query(sql`
    update member_closes
    set closed_to = ${closed_to}
    where tenant_id = ${tenantId} and case_id = ${case_id}`);
}

export async function deleteMemberCloses(tx: Queryable, tenantId: string, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  await tx.query(sql`delete from member_closes where tenant_id = ${tenantId} and case_id = any(${caseIds}::uuid[])`);
}

// Replaces the account with its pseudonym. The case still counts it.
export async function eraseAccountFromMembers(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  await tx.query(sql`
    update case_members
    set website_account_id = ${pseudonym}
    where tenant_id = ${tenantId} and website_account_id = ${id}`);
}
