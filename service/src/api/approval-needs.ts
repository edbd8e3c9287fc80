import { listOwnOpenCases } from "../db/case-members.ts";
import { findCases } from "../db/cases.ts";
import { countOwnCloses, lockCloser, sumMoney, type CaseEvidence } from "../db/approval-needs.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { lockSettings } from "../db/rules.ts";
import {
  bulkMinutesDefault,
  mayNeedApproval,
  reasonsFor,
  type ApprovalReason,
  type StoredApprovalSettings,
} from "../domain/approval-settings.ts";
import type { CaseDocument } from "../domain/case.ts";
import { Failure } from "../domain/failure.ts";
import { findApprovalSettings } from "./approval-settings.ts";
import type { Outcome } from "./case-changes.ts";
import type { Caller } from "./operation.ts";

// If an attack has more open members than this, their payments are not added up.
const membersMax = 500;
const beforeAllIds = "00000000-0000-0000-0000-000000000000";

type Closing = { caller: Caller; outcomes: Outcome[]; now: string };

// Refuses closes that need a second person. It runs after the changes were decided, so it counts only cases that really close.
export async function requireNoApproval(tx: Queryable, settings: StoredApprovalSettings, closing: Closing): Promise<void> {
  const { caller } = closing;
  if (!mayNeedApproval(settings, { isPerson: caller.person !== undefined })) return;
  if (settings.bulk_over !== undefined && closedBy(closing.outcomes).length > 0) await lockCounted(tx, closing);
  const because = await reasonsOfClosing(tx, settings, closing);
  if (because.length > 0) throw approvalNeeded(caller, because);
}

// Clients of other issuers share one lock.
async function lockCounted(tx: Queryable, { caller, now }: Closing): Promise<void> {
  const { tenant_id: tenantId } = caller;
  if (!(await lockCloser(tx, tenantId, closerOf(caller)))) await lockSettings(tx, tenantId, now);
}

// The same for a change of an account's flags without a close.
export async function requireBlockable(tx: Queryable, caller: Caller): Promise<void> {
  const settings = await findApprovalSettings(tx, caller.tenant_id);
  const isBound = mayNeedApproval(settings, { isPerson: caller.person !== undefined });
  if (isBound && settings.blocking) throw approvalNeeded(caller, ["blocking"]);
}

const words: Record<ApprovalReason, string> = {
  bulk: "it would exceed the number of cases that one person may close",
  blocking: "it blocks an account",
  amount: "the payments in a case exceed the limit",
};

// 403, because the caller may not do this alone, and a retry does not help.
function approvalNeeded({ slug, person }: Caller, because: ApprovalReason[]): Failure {
  const why = because.map((reason) => words[reason]).join(" and ");
  const how = person
    ? `Request approval with POST /v2/${slug}/approvals.`
    : "Only a person who is signed in can request approval, so a person has to make this change.";
  return new Failure("access-denied", `This change needs a second person because ${why}. ${how}`);
}

// Why these closes need a second person. Empty if they do not.
export async function reasonsOfClosing(
  tx: Queryable,
  settings: StoredApprovalSettings,
  { caller, outcomes, now }: Closing,
): Promise<ApprovalReason[]> {
  const closed = closedBy(outcomes);
  if (closed.length === 0) return [];
  const members = await listMembers(tx, caller.tenant_id, closed);
  const isUncounted = members.length > membersMax;
  const hasLimits = settings.amounts.length > 0 && !isUncounted;
  const evidence = hasLimits ? [...closed.map(evidenceOf), ...(await evidenceOfMembers(tx, caller.tenant_id, members))] : [];
  return reasonsFor(settings, {
    closes: closed.length + members.length,
    recent: settings.bulk_over === undefined ? 0 : await countRecent(tx, caller, { settings, now }),
    isBlocking: closed.some(({ acted }) => acted !== undefined && acted.after.is_blocked && !acted.before.is_blocked),
    money: await sumMoney(tx, caller.tenant_id, evidence),
    isUncounted,
  });
}

type Closed = Exclude<Outcome["result"], Failure> & Pick<Outcome["update"], "change">;

// Closing a closed case, or reopening one, needs no second person.
function closedBy(outcomes: Outcome[]): Closed[] {
  return outcomes.flatMap(({ update: { change }, result }) =>
    change.status === "CLOSED" && !(result instanceof Failure) && result.events.length > 0 ? [{ ...result, change }] : [],
  );
}

function closerOf({ person, actor }: Caller): { user_id: string } | { client_id: string } {
  return person ? { user_id: person.user_id } : { client_id: actor };
}

function countRecent(
  tx: Queryable,
  { tenant_id, actor, person }: Caller,
  { settings, now }: { settings: StoredApprovalSettings; now: string },
): Promise<number> {
  const since = new Date(Date.parse(now) - (settings.bulk_minutes ?? bulkMinutesDefault) * 60_000).toISOString();
  return countOwnCloses(tx, tenant_id, { actor, mailbox: person ? actor.slice(actor.lastIndexOf("<")) : null, since });
}

// The open cases that the engine would close together with these.
async function listMembers(tx: Queryable, tenantId: string, closed: Closed[]): Promise<string[]> {
  const found: string[] = [];
  for (const { after, change } of closed) {
    if (change.members !== "same") continue;
    const page = { case_id: after.document.case_id, closed_to: beforeAllIds, limit: membersMax + 1 };
    found.push(...(await listOwnOpenCases(tx, tenantId, page)));
  }
  return found;
}

function evidenceOf({ after: { document } }: Pick<Closed, "after">): CaseEvidence {
  return evidenceIn(document);
}

function evidenceIn({ case_id, fraud_occurrences: occurrences }: CaseDocument): CaseEvidence {
  return { case_id, prediction_ids: Object.values(occurrences).map((each) => each.prediction_id) };
}

async function evidenceOfMembers(tx: Queryable, tenantId: string, ids: string[]): Promise<CaseEvidence[]> {
  const found = await findCases(tx, tenantId, ids);
  // The cast is safe: only saveCases and insertCase write documents.
  return [...found.values()].map(({ text }) => evidenceIn(JSON.parse(text) as CaseDocument));
}
