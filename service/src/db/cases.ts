import type { CaseDocument } from "../domain/case.ts";
import { listItemText } from "../domain/case-item.ts";
import { hasNewEvidence } from "../domain/case-digest.ts";
import { judgedText } from "../domain/figures.ts";
import { reasonsOf } from "../domain/search.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import type { Queryable, Row, Transaction } from "./postgres/database.ts";
import { codeOf, lockTimeoutCode } from "./postgres/faults.ts";
import { joinJson, plainArray, sql, statement } from "./postgres/sql.ts";

// `text` is the stored document, ready to be sent. The flag belongs to the account and is stored in a column of its own.
export type StoredCase = { case_id: string; text: string; end_user_is_blocked: boolean };
export type LockedCase = { document: CaseDocument; subject: string; end_user_is_blocked: boolean };
// `contended`: cases that exist but that another transaction still holds.
export type LockedCases = { cases: Map<string, LockedCase>; contended: ReadonlySet<string> };

export async function findCases(database: Queryable, tenantId: string, ids: string[]): Promise<Map<string, StoredCase>> {
  const possible = ids.filter(isCanonicalUuid);
  if (possible.length === 0) return new Map();
  const rows = await database.query<StoredCase & Row>(sql`
    select case_id, document as text, end_user_is_blocked
    from cases
    where tenant_id = ${tenantId} and case_id = any(${plainArray(possible)}::uuid[])`);
  return new Map(rows.map((row) => [row.case_id, row]));
}

export async function findCaseVersion(database: Queryable, tenantId: string, id: string): Promise<number | undefined> {
  if (!isCanonicalUuid(id)) return undefined;
  const [row] = await database.query<{ case_version: number }>(sql`
    select case_version
    from cases
    where tenant_id = ${tenantId} and case_id = ${id}`);
  return row?.case_version;
}

export async function findAccountsOfCases(
  database: Queryable,
  tenantId: string,
  ids: string[],
): Promise<{ website_account_id: string }[]> {
  return database.query<{ website_account_id: string }>(sql`
    select distinct website_account_id
    from cases
    where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])
    order by website_account_id`);
}

export function caseText(stored: { text: string; end_user_is_blocked: boolean }): string {
  return `{"end_user_is_blocked":${stored.end_user_is_blocked},${stored.text.slice(1)}`;
}

type LockRow = { text: string; subject: string; end_user_is_blocked: boolean };

// Locks the cases that no other transaction holds, in key order. It does not show whether the others exist; `findCases` does.
async function lockFreeCases(tx: Queryable, tenantId: string, ids: string[]): Promise<LockedCase[]> {
  const rows = await tx.query<LockRow>(sql`
    select document as text, subject, end_user_is_blocked
    from cases
    where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])
    order by case_id
    for update skip locked`);
  return rows.map(locked);
}

// Each case comes with the idempotency key of its request. Locks the cases that no other transaction holds and whose key is new.
export async function lockFreshCases(
  tx: Queryable,
  tenantId: string,
  wanted: { case_id: string; key: string }[],
): Promise<Map<string, LockedCase>> {
  const rows = await tx.query<LockRow>(sql`
    select c.text, c.subject, c.end_user_is_blocked
    from unnest(
      ${plainArray(wanted.map((each) => each.case_id))}::uuid[],
      ${wanted.map((each) => each.key)}::text[]
    ) as w (case_id, key)
    cross join lateral (
      select document as text, subject, end_user_is_blocked
      from cases
      where tenant_id = ${tenantId} and case_id = w.case_id
      for update skip locked
    ) as c
    left join lateral (
      select 1 as known
      from idempotency_keys
      where tenant_id = ${tenantId} and key = w.key
      limit 1
    ) as k on true
    where k.known is null`);
  return byId(rows.map(locked));
}

// Waits for cases that other transactions hold. Those still held when the wait ends are returned as contended, and the
// transaction continues.
export async function lockCases(tx: Transaction, tenantId: string, ids: string[]): Promise<LockedCases> {
  const possible = ids.filter(isCanonicalUuid);
  if (possible.length === 0) return { cases: new Map(), contended: new Set() };
  // A transaction that is not patient fails with the lock timeout and is run again.
  if (tx.isPatient) await tx.query(sql`savepoint waiting`);
  try {
    return { cases: byId(await lockCasesById(tx, tenantId, possible)), contended: new Set() };
  } catch (error) {
    if (codeOf(error) !== lockTimeoutCode || !tx.isPatient) throw error;
    await tx.query(sql`rollback to savepoint waiting`);
  }
  const cases = byId(await lockFreeCases(tx, tenantId, possible));
  const existing = await findCases(tx, tenantId, possible);
  return { cases, contended: new Set([...existing.keys()].filter((id) => !cases.has(id))) };
}

// Locks in key order, so that overlapping lists wait for each other instead of deadlocking.
export async function lockCasesById(tx: Queryable, tenantId: string, ids: string[]): Promise<LockedCase[]> {
  const rows = await tx.query<LockRow>(sql`
    select document as text, subject, end_user_is_blocked
    from cases
    where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])
    order by case_id
    for update`);
  return rows.map(locked);
}

export async function lockOpenCase(tx: Queryable, tenantId: string, subject: string): Promise<LockedCase | undefined> {
  const [row] = await tx.query<LockRow>(sql`
    select document as text, subject, end_user_is_blocked
    from cases
    where tenant_id = ${tenantId} and subject = ${subject} and status = 'OPEN'
    for update`);
  return row && locked(row);
}

export async function findOpenCaseId(tx: Queryable, tenantId: string, subject: string): Promise<string | undefined> {
  const [row] = await tx.query<{ case_id: string }>(sql`
    select case_id
    from cases
    where tenant_id = ${tenantId} and subject = ${subject} and status = 'OPEN'`);
  return row?.case_id;
}

type Column = { name: string; type: string; of: (saved: LockedCase) => unknown; isFixed?: true };

// The type of columns that hold JSON text. A save sends the texts of all cases as one parameter.
const json = "json";

// The columns of a case other than its key and its document. Inserts and updates are built from this list. `isFixed` columns are
// set when the case is opened and never updated.
const columns: Column[] = [
  { name: "subject", type: "text", of: ({ subject }) => subject },
  { name: "website_account_id", type: "text", of: ({ document }) => document.website_account_id },
  { name: "end_user_is_blocked", type: "boolean", of: (saved) => saved.end_user_is_blocked },
  { name: "status", type: "text", of: ({ document }) => document.status },
  { name: "case_version", type: "int", of: ({ document }) => document.case_version },
  { name: "created_at", type: "timestamptz", of: ({ document }) => document.created_at, isFixed: true },
  { name: "updated_at", type: "timestamptz", of: ({ document }) => document.updated_at },
  { name: "overall_risk_score", type: "smallint", of: ({ document }) => document.details.overall_risk_score },
  { name: "primary_fraud_label", type: "text", of: ({ document }) => document.details.primary_fraud_label },
  { name: "recommended_action", type: "text", of: ({ document }) => document.details.recommended_action },
  { name: "due_at", type: "timestamptz", of: ({ document }) => document.due_at ?? null },
  { name: "has_new_evidence", type: "boolean", of: ({ document }) => hasNewEvidence(document) },
  { name: "closer", type: "text", of: ({ document }) => closingOf(document)?.changed_by ?? null },
  { name: "approver", type: "text", of: ({ document }) => closingOf(document)?.approved_by ?? null },
  { name: "disposition", type: "text", of: ({ document }) => closingOf(document)?.disposition ?? null },
  { name: "own_disposition", type: "text", of: ({ document }) => closingOf(document)?.own_disposition ?? null },
  { name: "closed_at", type: "timestamptz", of: ({ document }) => closingOf(document)?.changed_at ?? null },
  { name: "judged", type: "text", of: ({ document }) => judgedText(document) },
  { name: "reasons", type: "text", of: ({ document }) => reasonsOf(document) },
  { name: "item", type: json, of: ({ document }) => listItemText(document) },
  { name: "item_version", type: "int", of: ({ document }) => document.case_version },
];

function closingOf({ status, current_state }: CaseDocument): CaseDocument["current_state"] | null {
  return status === "CLOSED" ? current_state : null;
}

const changing = columns.filter(({ isFixed }) => isFixed === undefined);

const namesOf = (some: Column[]) => some.map(({ name }) => name).join(", ");
// The first three parameters are the tenant, the id and the document.
const parametersOf = (some: Column[]) =>
  some.map(({ type }, index) => `$${index + 4}::${type === json ? "text" : type}`).join(", ");
const listsOf = (some: Column[]) =>
  some
    .map(({ type }, index) => (type === json ? `string_to_array($${index + 4}, chr(1))` : `$${index + 4}::${type}[]`))
    .join(", ");

const insertText = `
    insert into cases (tenant_id, case_id, document, ${namesOf(columns)})
    values ($1, $2, $3, ${parametersOf(columns)})
    on conflict (tenant_id, subject) where status = 'OPEN' do nothing
    returning 1 as inserted`;

const saveText = `
    update cases as c
    set document = s.document, ${changing.map(({ name }) => `${name} = s.${name}`).join(", ")}
    from unnest($2::uuid[], string_to_array($3, chr(1)), ${listsOf(changing)})
      as s (case_id, document, ${namesOf(changing)})
    where c.tenant_id = $1 and c.case_id = s.case_id`;

// Returns false if the subject already has an OPEN case, which the caller then joins.
export async function insertCase(tx: Queryable, added: LockedCase): Promise<boolean> {
  const { tenant_id: tenantId, case_id: id } = added.document;
  const values = [tenantId, id, JSON.stringify(added.document), ...columns.map(({ of }) => of(added))];
  return (await tx.query(statement(insertText, values))).length === 1;
}

// Writes columns and document in one statement, so that they cannot disagree. The caller has locked the rows.
export async function saveCases(tx: Queryable, tenantId: string, saved: LockedCase[]): Promise<void> {
  if (saved.length === 0) return;
  const ids = saved.map(({ document }) => document.case_id);
  const documents = joinJson(saved.map(({ document }) => JSON.stringify(document)));
  const values = changing.map(({ type, of }) =>
    type === json ? joinJson(saved.map((each) => String(of(each)))) : saved.map(of),
  );
  await tx.query(statement(saveText, [tenantId, ids, documents, ...values]));
}

export async function saveBlockedFlags(
  tx: Queryable,
  tenantId: string,
  accounts: { website_account_id: string; is_blocked: boolean }[],
): Promise<void> {
  await tx.query(sql`
    update cases as c
    set end_user_is_blocked = a.is_blocked
    from unnest(
      ${accounts.map((each) => each.website_account_id)}::text[],
      ${plainArray(accounts.map((each) => each.is_blocked))}::boolean[]
    ) as a (website_account_id, is_blocked)
    where c.tenant_id = ${tenantId}
      and c.website_account_id = a.website_account_id
      and c.website_account_id <> 'UNKNOWN'
      and c.end_user_is_blocked <> a.is_blocked`);
}

function byId(cases: LockedCase[]): Map<string, LockedCase> {
  return new Map(cases.map((each) => [each.document.case_id, each]));
}

function locked(row: LockRow): LockedCase {
  // The cast is safe: only saveCases and insertCase write this text.
  const document = JSON.parse(row.text) as CaseDocument;
  return { document, subject: row.subject, end_user_is_blocked: row.end_user_is_blocked };
}

type OverdueCase = { case_id: string; case_version: number; due_at: string };

// Marks cases that have become overdue. A case that another transaction holds is left for the next turn, because it may just be
// closed. The mark and the events of the caller are one transaction, so each due time has one event, whatever crashes.
export async function claimOverdue(tx: Queryable, tenantId: string, limit: number): Promise<OverdueCase[]> {
  return tx.query<Row & OverdueCase>(sql`
    update cases as c
    set overdue_for = due_at
    where c.tenant_id = ${tenantId}
      and c.case_id = any(array(
        select case_id
        from cases
        where tenant_id = ${tenantId}
          and status = 'OPEN'
          and due_at is not null
          and due_at <= now()
          and overdue_for is distinct from due_at
        order by due_at
        limit ${limit}
        for update skip locked
      ))
    returning c.case_id, c.case_version, c.due_at`);
}
