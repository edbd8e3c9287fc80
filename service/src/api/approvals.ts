import { Type } from "typebox";
import { lockAccount } from "../db/accounts.ts";
import { listActivePeople } from "../db/approval-needs.ts";
import {
  countWaiting,
  findApproval,
  insertApproval,
  listApprovalCases,
  listApprovals,
  saveOutdated,
  type ApprovalFilter,
  type StoredApproval,
} from "../db/approvals.ts";
import { appendEvents } from "../db/events.ts";
import { claimKey, saveReply } from "../db/keys.ts";
import type { Queryable, Transaction } from "../db/postgres/database.ts";
import { lockSettings } from "../db/rules.ts";
import {
  Approval,
  ApprovalCheck,
  ApprovalListItem,
  NewApproval,
  approvalDays,
  approvalEvent,
  approvalStatuses,
  closingOf,
  innerFaults,
  newApprovalFaults,
  ownWaitingMax,
  scopesOfClosing,
  waitingMax,
  type Closing,
} from "../domain/approval.ts";
import { mayNeedApproval, type ApprovalReason } from "../domain/approval-settings.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { requireReach, scopesOfRole } from "../domain/role.ts";
import { actorOf } from "../domain/user.ts";
import { accountNoun } from "./account-update.ts";
import { reasonsOfClosing } from "./approval-needs.ts";
import { findApprovalSettings } from "./approval-settings.ts";
import { decideCases, type Update } from "./case-changes.ts";
import { requireListingReach } from "./case-listings.ts";
import { fingerprint } from "./case-update.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import { invalid } from "./http/validate.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const dayMs = 24 * 60 * 60 * 1000;
const approversShown = 20;
const noun = "Approval";

const ApprovalQuery = Type.Object({
  status: Type.Optional(Type.Enum([...approvalStatuses])),
  case_id: Type.Optional(Type.String({ description: "Only requests about this case." })),
  website_account_id: Type.Optional(Type.String({ description: "Only requests about this account that close no case." })),
  limit: Limit,
  cursor: Cursor,
});

function list(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId } = call.caller;
  const { status, case_id, website_account_id } = call.query as ApprovalFilter;
  return listPage<StoredApproval, string>(services, call, {
    id: "listApprovals",
    path: "/approvals",
    name: "approvals",
    key: { status: status ?? "", case_id: case_id ?? "", website_account_id: website_account_id ?? "" },
    read: (before, limit) =>
      listApprovals(services.database, tenantId, { filter: { status, case_id, website_account_id }, before, limit }),
    positionOf: ({ approval_id }) => approval_id,
    show: (found) => found.map(shown),
  });
}

function shown({ requested_by_id: _id, ...approval }: StoredApproval): ApprovalListItem {
  return approval;
}

async function read({ database }: Services, { caller, params }: Call): Promise<Reply> {
  return dataReply(await requireApproval(database, caller.tenant_id, params["approval_id"] ?? ""));
}

export async function requireApproval(database: Queryable, tenantId: string, id: string): Promise<Approval> {
  const found = await findApproval(database, tenantId, id);
  if (!found) throw notFound(noun, id);
  return { ...shown(found), cases: await listApprovalCases(database, tenantId, id) };
}

type Judged = { because: ApprovalReason[]; case_ids: string[]; disposition?: Closing["disposition"] };

// Decides the close as if it were applied now, so a request that could not be approved is refused at once. Nothing is saved.
async function judge(
  { newId }: Services,
  tx: Transaction,
  caller: Caller,
  asked: { body: NewApproval; now: string },
): Promise<Judged> {
  const { body, now } = asked;
  const { tenant_id: tenantId } = caller;
  const settings = await findApprovalSettings(tx, tenantId);
  const isBound = mayNeedApproval(settings, { isPerson: caller.person !== undefined });
  const { website_account_id: id } = body;
  if (id !== undefined) {
    // Locked, so that an erasure either sees the request or makes the account unknown to it.
    const account = await lockAccount(tx, tenantId, id);
    if (!account) throw notFound(accountNoun, id);
    const isBlocking = body.account?.is_blocked === true && !account.is_blocked;
    return { because: isBound && settings.blocking && isBlocking ? ["blocking"] : [], case_ids: [] };
  }
  const wanted = changesOf(body);
  const { outcomes } = await decideCases(tx, { caller, wanted, now, newId });
  for (const { result } of outcomes) if (result instanceof Failure) throw result;
  const done = outcomes.flatMap(({ result }, index) =>
    result instanceof Failure || result.events.length > 0
      ? []
      : [{ field: `cases[${index}].case_id`, message: "is the id of a case that is already closed" }],
  );
  if (done.length > 0) throw invalid(done);
  const because = isBound ? await reasonsOfClosing(tx, settings, { caller, outcomes, now }) : [];
  // What an own disposition counts as can change. The second person must approve what it counts as now.
  const disposition = outcomes[0]?.update.change.disposition;
  return { because, case_ids: wanted.map((each) => each.id), ...(disposition && { disposition }) };
}

type Wanted = Pick<Update, "id" | "change">;

export function changesOf({ cases = [], ...body }: NewApproval): Wanted[] {
  const change = { ...closingOf(body), status: "CLOSED" as const };
  return cases.map(({ case_id: id, case_version }) => ({ id, change: { ...change, case_version } }));
}

// The caller needs the scopes of the close itself.
export async function requireClosingReach(
  database: Queryable,
  caller: Caller,
  body: Pick<NewApproval, "account" | "list_entries">,
) {
  requireReach(caller, scopesOfClosing(body));
  if (body.list_entries !== undefined) await requireListingReach(database, caller, body.list_entries);
}

function requireSound(body: NewApproval): void {
  const faults = innerFaults(body);
  if (faults.length > 0) throw invalid(faults);
}

async function check(services: Services, { caller, body }: Call<NewApproval>): Promise<Reply> {
  requireSound(body);
  await requireClosingReach(services.database, caller, body);
  const now = services.now();
  const { because } = await services.database.transaction((tx) => judge(services, tx, caller, { body, now }));
  const people = caller.scopes.has("read:case") ? await listActivePeople(services.database, caller.tenant_id) : [];
  const needed = ["update:case", ...scopesOfClosing(body)];
  const approvers = people.filter(({ user_id, role, own_scopes }) => {
    const scopes = scopesOfRole(role, own_scopes);
    return user_id !== caller.person?.user_id && needed.every((scope) => scopes.includes(scope));
  });
  const data: ApprovalCheck = {
    needs_approval: because.length > 0,
    because,
    approvers: approvers.slice(0, approversShown).map(actorOf),
  };
  return dataReply(data);
}

async function create(services: Services, { caller, body, key }: Call<NewApproval>): Promise<Reply> {
  const { tenant_id: tenantId, person, actor: requested_by } = caller;
  if (!person) throw new Failure("access-denied", "Only a person who is signed in can request approval.");
  requireSound(body);
  await requireClosingReach(services.database, caller, body);
  const now = services.now();
  const claim = { key, fingerprint: fingerprint({ method: "POST", path: "/approvals", body }), caseId: null, now };
  return services.database.transaction(async (tx) => {
    const known = await claimKey(tx, tenantId, claim);
    if (known) return replayed(tx, tenantId, known.body);
    const { because, case_ids, disposition } = await judge(services, tx, caller, { body, now });
    await requireRoom(tx, tenantId, { user_id: person.user_id, now });
    const approval_id = services.newId(now);
    await insertApproval(tx, tenantId, {
      approval_id,
      because,
      closing: { ...closingOf(body), ...(disposition && { disposition }) },
      cases: body.cases ?? [],
      website_account_id: body.website_account_id ?? null,
      note: body.note ?? "",
      requested_at: now,
      requested_by,
      requested_by_id: person.user_id,
      expires_at: new Date(Date.parse(now) + approvalDays * dayMs).toISOString(),
    });
    const reply = dataReply(await requireApproval(tx, tenantId, approval_id), 201);
    // Only the id is stored, so an erasure finds the texts in one place.
    await saveReply(tx, tenantId, key, dataReply({ approval_id }, 201));
    const told = { approval_id, case_count: case_ids.length, case_id: case_ids[0], because };
    await appendEvents(tx, tenantId, [approvalEvent(told, { by: requested_by, at: now })]);
    return reply;
  });
}

// A repeat shows the request as it is now.
async function replayed(tx: Queryable, tenantId: string, body: string): Promise<Reply> {
  // The cast is safe: `create` wrote this reply, because the fingerprint contains the path.
  const { data } = JSON.parse(body) as { data: { approval_id: string } };
  const reply = dataReply(await requireApproval(tx, tenantId, data.approval_id), 201);
  return { ...reply, headers: { ...reply.headers, "idempotent-replayed": "true" } };
}

// The settings are locked, so concurrent requests cannot exceed the limits together.
async function requireRoom(tx: Queryable, tenantId: string, { user_id, now }: { user_id: string; now: string }): Promise<void> {
  await lockSettings(tx, tenantId, now);
  await saveOutdated(tx, tenantId);
  const { all, own } = await countWaiting(tx, tenantId, user_id);
  const full =
    own >= ownWaitingMax
      ? `the caller already has ${own} pending requests`
      : all >= waitingMax
        ? `the tenant already has ${all} pending requests`
        : null;
  if (full !== null) throw invalid([{ field: "body", message: `must not be stored, because ${full}, which is the maximum` }]);
}

const tag = "Approvals";
const exampleId = "019a8b1c-0000-7000-8000-000000000000";
const example = {
  cases: [{ case_id: exampleId, case_version: 1 }],
  disposition: "CONFIRMED_FRAUD" as const,
  account: { is_blocked: true },
  reason: "The customer confirmed it by phone.",
};

export const approvalOperations: Operation[] = [
  operation({
    id: "listApprovals",
    method: "GET",
    path: "/approvals",
    scope: "read:case",
    tag,
    summary: "List approval requests",
    description: "Newest first. A request is deleted when the retention period after its expiry is over.",
    query: ApprovalQuery,
    success: pageOf("approvals", ApprovalListItem, "A page of requests"),
    problems: ["bad-request"],
    handle: list,
  }),
  operation({
    id: "checkApproval",
    method: "POST",
    path: "/approvals/check",
    scope: "update:case",
    tag,
    summary: "Check whether a change needs a second person",
    description: "Takes the body of an approval request, and stores nothing.",
    body: NewApproval,
    faults: newApprovalFaults,
    success: { status: 200, description: "Whether a second person is needed, and who could approve", schema: ApprovalCheck },
    problems: ["bad-request", "item-not-found", "item-version-conflict", "transaction-contended"],
    example,
    handle: check,
  }),
  operation({
    id: "requestApproval",
    method: "POST",
    path: "/approvals",
    scope: "update:case",
    tag,
    summary: "Request approval of a close",
    description: `Stores the close exactly as it was sent, with the versions of its cases, until another person approves or rejects it. Only people can do this, not clients. The request is validated like the close itself, but closes nothing yet. A request expires after ${approvalDays} days, and becomes stale as soon as one of its cases changes. At most ${ownWaitingMax} requests of one person and ${waitingMax} of the tenant can be pending. With \`website_account_id\`, it sets the flags of an account without closing a case. Setting flags needs the scope \`update:enduseraccount\`, and adding entries to lists needs the same scopes as without approval.`,
    body: NewApproval,
    faults: newApprovalFaults,
    wantsKey: true,
    success: {
      status: 201,
      description: "The request",
      schema: Approval,
      headers: { "Idempotent-Replayed": "`true` if this request was stored by an earlier call." },
    },
    problems: [
      "bad-request",
      "invalid-operation-id",
      "item-not-found",
      "item-version-conflict",
      "operation-idempotency-conflict",
      "transaction-contended",
    ],
    example,
    handle: create,
  }),
  operation({
    id: "getApproval",
    method: "GET",
    path: "/approvals/{approval_id}",
    scope: "read:case",
    tag,
    summary: "Read an approval request",
    success: { status: 200, description: "The request", schema: Approval },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
];
