import { lockAccount } from "../db/accounts.ts";
import { listWantedCases, lockApproval, saveDecision, type StoredApproval } from "../db/approvals.ts";
import { appendEvents } from "../db/events.ts";
import { insertNotices } from "../db/notices.ts";
import type { Queryable, Transaction } from "../db/postgres/database.ts";
import { lockRoleScopes } from "../db/roles.ts";
import { findUser } from "../db/users.ts";
import { findList } from "../db/value-lists.ts";
import { changeAccount } from "../domain/account.ts";
import { Approval, ApprovalDecision, approvalEvent, scopesOfClosing, type Closing } from "../domain/approval.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { changesOf, requireApproval, requireClosingReach } from "./approvals.ts";
import { accountNoun } from "./account-update.ts";
import { actEvents, saveActs } from "./case-acts.ts";
import { decideCases, saveDecided } from "./case-changes.ts";
import { invalid } from "./http/validate.ts";
import { mayAddEntries } from "./list-entries.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

// The request is locked first, so one of several concurrent decisions is applied and the others see it.
function decide(services: Services, { caller, params, body }: Call<ApprovalDecision>): Promise<Reply> {
  const { tenant_id: tenantId, actor: decided_by } = caller;
  const id = params["approval_id"] ?? "";
  const { status, note: decision_note = "" } = body;
  const now = services.now();
  return services.database.transaction(async (tx) => {
    const found = await lockApproval(tx, tenantId, id);
    if (!found) throw notFound("Approval", id);
    requireRole(found, caller, status);
    // A repeat changes nothing.
    if (found.status === status && found.decided_by === decided_by) return dataReply(await requireApproval(tx, tenantId, id));
    if (found.status !== "PENDING" && !(found.status === "STALE" && found.decided_at === undefined)) throw tooLate(found);
    await saveDecision(tx, tenantId, { approval_id: id, status, decided_at: now, decided_by, decision_note });
    const event = approvalEvent(found, { by: decided_by, at: now, status });
    const asked = { found, caller, now, newId: services.newId };
    if (status !== "WITHDRAWN") await tellRequester(tx, caller, { found, now });
    if (status !== "APPROVED") await appendEvents(tx, tenantId, [event]);
    else if (found.website_account_id === undefined) await closeApproved(tx, asked, event);
    else await changeApproved(tx, asked, event);
    return dataReply(await requireApproval(tx, tenantId, id));
  });
}

// Approving needs another person. A client can reject, because that applies nothing.
function requireRole({ requested_by_id: first }: StoredApproval, { person }: Caller, status: ApprovalDecision["status"]): void {
  const isFirst = person?.user_id === first;
  if (status === "WITHDRAWN") {
    if (!isFirst) throw new Failure("access-denied", "Only the person who requested approval can withdraw the request.");
    return;
  }
  if (isFirst) throw new Failure("access-denied", "You cannot approve or reject your own request. You can withdraw it.");
  if (status === "APPROVED" && !person)
    throw new Failure("access-denied", "Only a person who is signed in can approve a request.");
}

function tooLate({ status, decided_by: by }: StoredApproval): Failure {
  const who = by === undefined ? "" : ` by ${by}`;
  return invalid([{ field: "status", message: `must not be set, because the request is already ${status}${who}` }]);
}

type Asked = { found: StoredApproval; caller: Caller; now: string; newId: () => string };

// The requester's change with the approver's scopes: both have seen exactly this, and the log names both.
async function closeApproved(tx: Transaction, { found, caller, now, newId }: Asked, event: DomainEvent): Promise<void> {
  const { tenant_id: tenantId, actor: approvedBy } = caller;
  await requireFirst(tx, tenantId, found);
  await requireClosingReach(tx, caller, found.closing);
  const cases = await listWantedCases(tx, tenantId, found.approval_id);
  const wanted = changesOf({ ...found.closing, cases });
  const first = { ...caller, actor: found.requested_by };
  const { outcomes, changed } = await decideCases(tx, { caller: first, wanted, now, newId, approvedBy });
  // One case that cannot be closed rolls everything back.
  for (const { result } of outcomes) if (result instanceof Failure) throw result;
  await requireSameLists(tx, tenantId, found);
  await saveDecided(tx, tenantId, { outcomes, changed }, [event]);
}

// A change of an account has no version. It is merged into the account as it is now, like any other change of flags.
async function changeApproved(tx: Transaction, { found, caller, now }: Asked, event: DomainEvent): Promise<void> {
  const { tenant_id: tenantId, actor: approvedBy } = caller;
  await requireFirst(tx, tenantId, found);
  await requireClosingReach(tx, caller, found.closing);
  const { website_account_id: id = "", closing, requested_by: by } = found;
  const before = await lockAccount(tx, tenantId, id);
  if (!before) throw notFound(accountNoun, id);
  const { account: flags = {} } = closing;
  const acted = { before, after: changeAccount(before, flags, now) };
  await saveActs(tx, tenantId, [acted]);
  await appendEvents(tx, tenantId, [...actEvents(acted, flags, { by, approvedBy }), event]);
}

// A requester who may no longer make this change does not count as one of the two people.
async function requireFirst(tx: Queryable, tenantId: string, found: StoredApproval): Promise<void> {
  const { requested_by_id: id, requested_by: by, closing } = found;
  const user = await findUser(tx, tenantId, id);
  if (!user || user.is_disabled) throw notApprovable(`${by} is disabled`);
  const scopes = new Set<string>(await lockRoleScopes(tx, tenantId, user.role));
  const lacking = ["update:case", ...scopesOfClosing(closing)].find((wanted) => !scopes.has(wanted));
  if (lacking !== undefined) throw notApprovable(`${by} no longer has the scope ${lacking}`);
  for (const name of listsOf(closing)) {
    const list = await findList(tx, tenantId, name);
    if (list && !(await mayAddEntries(tx, { tenant_id: tenantId, scopes }, list)))
      throw notApprovable(`${by} may no longer add entries to the list ${name}`);
  }
}

function listsOf({ list_entries: entries = [] }: Closing): Set<string> {
  return new Set(entries.map(({ list }) => list));
}

// The name of a list stays the same when its kind changes, or when it is deleted and created again. The close has locked the lists.
async function requireSameLists(tx: Queryable, tenantId: string, { closing, requested_at }: StoredApproval): Promise<void> {
  for (const name of listsOf(closing)) {
    const list = await findList(tx, tenantId, name);
    if (list && list.updated_at > requested_at) throw notApprovable(`the list ${name} has changed since the request`);
  }
}

function notApprovable(why: string): Failure {
  return invalid([{ field: "status", message: `must not be APPROVED, because ${why}` }]);
}

async function tellRequester(
  tx: Queryable,
  caller: Caller,
  { found, now }: { found: StoredApproval; now: string },
): Promise<void> {
  const note = { note_id: found.approval_id, case_id: found.case_id ?? null, created_at: now, created_by: caller.actor };
  await insertNotices(tx, caller.tenant_id, { note, told: [{ user_id: found.requested_by_id, kind: "approval" }] });
}

export const approvalDecisionOperations: Operation[] = [
  operation({
    id: "decideApproval",
    method: "PUT",
    path: "/approvals/{approval_id}",
    scope: "update:case",
    tag: "Approvals",
    summary: "Approve, reject or withdraw an approval request",
    description:
      "`APPROVED` applies the close in one transaction, to exactly the versions that the requester saw. If a case has changed since, the response is 409, nothing is applied, and the request is `STALE`. Only another person can approve, and needs every scope that the close needs. The requester must still have them. `changed_by` is then the requester, and `approved_by` the approver. Anybody but the requester can reject, and only the requester can withdraw. Repeating a decision changes nothing. For a request that was already decided or has expired, the response is 422. The same applies if a list or an own disposition of the request has changed since.",
    body: ApprovalDecision,
    success: { status: 200, description: "The request after the decision", schema: Approval },
    problems: ["bad-request", "item-not-found", "item-version-conflict", "transaction-contended"],
    example: { status: "REJECTED", note: "Please call the customer first." },
    handle: decide,
  }),
];
