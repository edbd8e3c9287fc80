import type { CaseDocument } from "../domain/case.ts";
import { beginningOf, broadPattern, caseWithoutId, databasePattern, isTelling, type Erased } from "../domain/erasure.ts";
import { deleteActivitiesOfAccount, type DeletedActivity } from "./activities.ts";
import { eraseAccountFromApprovals } from "./approvals.ts";
import { deleteAssessmentsOf } from "./assessments.ts";
import { deleteLabelsOf } from "./labels.ts";
import { eraseAccountFromMembers } from "./case-members.ts";
import { deleteTraitsOf } from "./case-traits.ts";
import { eraseAccountFromTemplates } from "./closing-settings.ts";
import { lockCasesById, type LockedCase } from "./cases.ts";
import { linkKinds } from "./links.ts";
import { eraseAccountFromLists } from "./list-erasure.ts";
import type { Queryable } from "./postgres/database.ts";
import { eraseAccountFromOutcomes } from "./outcomes.ts";
import { eraseAccountFromNotes } from "./notes.ts";
import { deleteNoticesOf } from "./notices.ts";
import { eraseAccountFromMails } from "./notification-mails.ts";
import { eraseAccountFromRules } from "./rule-report.ts";
import { deleteChecksOf } from "./random-checks.ts";
import { deleteSnoozesOfAccount } from "./snoozes.ts";
import { sql } from "./postgres/sql.ts";
import { entityKey } from "./states.ts";
import { eraseAccountFromViews } from "./views.ts";

const casesMax = 5_000;

// The id as JSON writes it.
function needleOf(id: string): string {
  return JSON.stringify(beginningOf(id)).slice(1, -1);
}

// Locks the account's own cases, and those cases that its activity or its sources led to and whose text contains its id. They are
// found through indexes, because searching the text of every case would take minutes.
export async function lockCasesNaming(tx: Queryable, tenantId: string, id: string): Promise<LockedCase[]> {
  const needle = needleOf(id);
  const rows = await tx.query<{ case_id: string }>(sql`
    with source as (
      select 'device:' || b as subject
      from links
      where tenant_id = ${tenantId} and kind = 'account-device' and a = ${id}
      union
      select 'session:' || session_id
      from sessions
      where tenant_id = ${tenantId} and website_account_id = ${id}
    ),
    linked as (
      select case_id
      from activities
      where tenant_id = ${tenantId} and website_account_id = ${id} and case_id is not null
      union
      select case_id
      from case_claims
      where tenant_id = ${tenantId} and website_account_id = ${id}
      union
      select case_id
      from case_members
      where tenant_id = ${tenantId} and website_account_id = ${id}
      union
      select c.case_id
      from source as s
      join cases as c on c.tenant_id = ${tenantId} and c.subject = s.subject and c.website_account_id = 'UNKNOWN'
      limit ${casesMax}
    )
    select c.case_id
    from linked as l
    join cases as c on c.tenant_id = ${tenantId} and c.case_id = l.case_id
    where position(${needle} in c.document) > 0 or position(${beginningOf(id)} in c.subject) > 0
    union
    select case_id
    from cases
    where tenant_id = ${tenantId} and website_account_id = ${id} and website_account_id <> 'UNKNOWN'`);
  return lockCasesById(
    tx,
    tenantId,
    rows.map((row) => row.case_id),
  );
}

// Erases everything that leads from stored data to the account, except its cases, its events, the inbox and the account itself,
// which other functions erase. The caller holds the tenant's turn, because otherwise an engine would write back what it holds in
// memory.
export async function eraseAccountTraces(tx: Queryable, tenantId: string, erased: Erased): Promise<void> {
  await deleteActivitiesOfAccount(tx, tenantId, erased.id);
  // The account's sessions also contain activity from before it signed in.
  const anonymous = await tx.query<DeletedActivity>(sql`
    delete from activities
    where tenant_id = ${tenantId}
      and website_account_id is null
      and session_id = any(array(
        select session_id
        from sessions
        where tenant_id = ${tenantId} and website_account_id = ${erased.id}
      ))
    returning id_key, type`);
  await deleteLabelsOf(tx, tenantId, anonymous);
  await deleteAssessmentsOf(tx, tenantId, anonymous);
  await tx.query(sql`
    delete from sessions
    where tenant_id = ${tenantId} and website_account_id = ${erased.id}`);
  await tx.query(sql`
    delete from links
    where tenant_id = ${tenantId} and kind = any(${linkKinds}::text[]) and a = ${erased.id}`);
  // Others may have paid the account, or the account's id may be somebody's e-mail address.
  await tx.query(sql`
    delete from links
    where tenant_id = ${tenantId} and kind = any(array['account-email', 'account-payee']) and b = ${erased.id}`);
  await tx.query(sql`
    delete from entity_states
    where tenant_id = ${tenantId} and kind = 'account' and key = ${entityKey("account", erased.id)}`);
  await tx.query(sql`
    delete from case_claims
    where tenant_id = ${tenantId} and website_account_id = ${erased.id}`);
  await eraseAccountFromMembers(tx, tenantId, erased);
  const own = await findOwnCases(tx, tenantId, erased);
  await eraseAccountFromNotes(tx, tenantId, { ...erased, caseIds: own });
  await deleteNoticesOf(tx, tenantId, own);
  await eraseAccountFromApprovals(tx, tenantId, { ...erased, caseIds: own });
  await deleteTraitsOf(tx, tenantId, own);
  await deleteChecksOf(tx, tenantId, own);
  await deleteSnoozesOfAccount(tx, tenantId, erased);
  await eraseAccountFromRules(tx, tenantId, erased);
  await eraseAccountFromOutcomes(tx, tenantId, erased);
  await eraseAccountFromViews(tx, tenantId, erased);
  await eraseAccountFromTemplates(tx, tenantId, erased);
  await eraseAccountFromMails(tx, tenantId, erased);
  await eraseAccountFromLists(tx, tenantId, erased);
  await eraseFromTexts(tx, tenantId, erased);
}

// The account's cases may already have its pseudonym.
async function findOwnCases(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<string[]> {
  const rows = await tx.query<{ case_id: string }>(sql`
    select case_id
    from cases
    where tenant_id = ${tenantId}
      and website_account_id = any(${[id, pseudonym]}::text[])
      and website_account_id <> 'UNKNOWN'`);
  return rows.map((row) => row.case_id);
}

// Erases texts that quote what a sender sent. Quarantine entries are kept only for a while anyway, so they are deleted whole.
async function eraseFromTexts(tx: Queryable, tenantId: string, { id, pseudonym }: Erased): Promise<void> {
  const [plain, json] = [databasePattern(id, { isJson: false }), databasePattern(id, { isJson: true })];
  await tx.query(sql`
    delete from quarantine
    where tenant_id = ${tenantId} and (excerpt ~ ${plain} or excerpt ~ ${broadPattern(id)})`);
  await tx.query(sql`
    delete from unscorable
    where tenant_id = ${tenantId} and (activity ~ ${json} or fault ~ ${plain} or fault ~ ${json})`);
  await tx.query(sql`
    update webhook_deliveries
    set last_error = regexp_replace(last_error, ${plain}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and last_error ~ ${plain}`);
  if (!isTelling(id)) return;
  await tx.query(sql`
    update user_agents
    set user_agent = regexp_replace(user_agent, ${plain}, ${pseudonym}, 'g')
    where tenant_id = ${tenantId} and position(${beginningOf(id)} in user_agent) > 0 and user_agent ~ ${plain}`);
}

// Activity that led to a case and quotes the id, although nobody was signed in.
export async function deleteEvidenceNaming(tx: Queryable, tenantId: string, { document }: LockedCase, id: string): Promise<void> {
  const predictions = Object.values(document.fraud_occurrences).map((each) => each.prediction_id);
  const deleted = await tx.query<DeletedActivity>(sql`
    delete from activities
    where tenant_id = ${tenantId}
      and prediction_id = any(${predictions}::uuid[])
      and website_account_id is null
      and (
        document ~ ${databasePattern(id, { isJson: true })}
        or device_id ~ ${databasePattern(id, { isJson: false })}
        or session_id ~ ${databasePattern(id, { isJson: false })}
      )
    returning id_key, type`);
  await deleteLabelsOf(tx, tenantId, deleted);
  await deleteAssessmentsOf(tx, tenantId, deleted);
}

// No member of a stored reply is an account id, but a note or a device name in a reply may quote one.
export async function eraseFromReplies(tx: Queryable, tenantId: string, caseIds: string[], erased: Erased): Promise<void> {
  const rows = await tx.query<{ key: string; reply: string }>(sql`
    select key, reply
    from idempotency_keys
    where tenant_id = ${tenantId}
      and case_id = any(${caseIds}::uuid[])
      and position(${needleOf(erased.id)} in reply) > 0
      and status = 200`);
  for (const { key, reply } of rows) {
    // The cast is safe: saveReply and insertReplies wrote this reply for a case.
    const { data } = JSON.parse(reply) as { data: CaseDocument };
    await tx.query(sql`
      update idempotency_keys
      set reply = ${JSON.stringify({ data: caseWithoutId(data, erased) })}
      where tenant_id = ${tenantId} and key = ${key}`);
  }
}
