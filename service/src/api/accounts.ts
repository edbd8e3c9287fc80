import { setTimeout as sleep } from "node:timers/promises";
import { Type } from "typebox";
import { deleteAccount, findAccounts, insertAccount, lockAccount } from "../db/accounts.ts";
import { lockTurn } from "../db/activities.ts";
import { saveCases, type LockedCase } from "../db/cases.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { deleteEvidenceNaming, eraseAccountTraces, eraseFromReplies, lockCasesNaming } from "../db/erasure.ts";
import { appendEvents, eraseAccountFromEvents } from "../db/events.ts";
import { hasHistoryOf } from "../db/history.ts";
import { eraseFromInbox, hasParcels, listParcelsOf } from "../db/inbox-erasure.ts";
import { listAccounts, type AccountFilter } from "../db/lists.ts";
import { Account, AccountChange, NewAccount, isPseudonym, newAccount, pseudonymOf } from "../domain/account.ts";
import { accountSubject } from "../domain/activity.ts";
import { caseWithoutId, pseudonymiseCase, withoutId, type Erased } from "../domain/erasure.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { accountEvent, accountId, accountNoun, updateAccount } from "./account-update.ts";
import { requireBlockable } from "./approval-needs.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listReply, listSignature, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";

export async function requireAccountId(services: Services, { caller, params }: Call): Promise<string> {
  const id = accountId(params);
  if (!(await services.findAccount(caller.tenant_id, id))) throw notFound(accountNoun, id);
  return id;
}

async function list(services: Services, { caller, query }: Call): Promise<Reply> {
  const { limit = 1000, cursor, ...filter } = query as AccountFilter & { limit?: number; cursor?: string };
  const signature = listSignature(caller, "listEndUserAccounts", filter);
  const after = cursor === undefined ? null : String(services.cursors.open(cursor, signature));
  const found = await listAccounts(services.database, caller.tenant_id, { filter, after, limit: limit + 1 });
  const last = found.length > limit ? found[limit - 1] : undefined;
  const next = last ? services.cursors.seal(last.website_account_id, signature) : null;
  const path = `/v2/${caller.slug}/enduseraccounts`;
  return listReply(services, { path, query, name: "end_user_accounts", items: found.slice(0, limit), cursor: next });
}

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = accountId(params);
  const account = await services.findAccount(caller.tenant_id, id);
  if (!account) throw notFound(accountNoun, id);
  return dataReply(account);
}

async function create(services: Services, { caller, body }: Call<NewAccount>): Promise<Reply> {
  const id = body.website_account_id;
  const now = services.now();
  const account = newAccount(caller.tenant_id, body, now);
  return services.database.transaction(async (tx) => {
    if (account.is_blocked) await requireBlockable(tx, caller);
    if (!(await insertAccount(tx, account))) throw new Failure("item-already-exists", `${accountNoun} already exists.`);
    await appendEvents(tx, caller.tenant_id, [accountEvent("account.created", caller, { id, now })]);
    return dataReply(account, 201);
  });
}

const scoringWaitMs = 2_000;
const scoringPollMs = 25;

// Gives the engine time to score activity that was accepted before the erasure. Returns whether there was any. It does not
// wait for imported history, because no case depends on it.
async function awaitScoring({ database }: Services, tenantId: string, id: string): Promise<boolean> {
  const parcels = await listParcelsOf(database, tenantId, id);
  const until = performance.now() + scoringWaitMs;
  while (parcels.length > 0 && performance.now() < until && (await hasParcels(database, tenantId, parcels)))
    await sleep(scoringPollMs);
  return parcels.length > 0 || hasHistoryOf(database, tenantId, id);
}

async function erase(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = accountId(params);
  // A pending report may name a pseudonym, but a pseudonym is not an account.
  const wasPending = !isPseudonym(id) && (await awaitScoring(services, caller.tenant_id, id));
  const now = services.now();
  const pseudonym = pseudonymOf(services.newId());
  return services.database.transaction(async (tx) => {
    // If nothing names the account, there is no need to wait for the tenant's turn.
    if (!wasPending && !(await findAccounts(tx, caller.tenant_id, [id])).has(id)) throw notFound(accountNoun, id);
    // Locked before the account's row, in the same order as in the engine.
    await lockTurn(tx, caller.tenant_id);
    const account = await lockAccount(tx, caller.tenant_id, id);
    const isPending = await eraseFromInbox(tx, caller.tenant_id, { id, pseudonym });
    // Pending activity is enough to proceed, because it would have created the account.
    if (!account && !isPending) throw notFound(accountNoun, id);
    const events = await pseudonymiseCases(tx, caller, { id, pseudonym, now });
    await eraseAccountTraces(tx, caller.tenant_id, { id, pseudonym });
    await eraseAccountFromEvents(tx, caller.tenant_id, { id, pseudonym });
    await deleteAccount(tx, caller.tenant_id, id);
    await appendEvents(tx, caller.tenant_id, [...events, accountEvent("account.erased", caller, { id: pseudonym, now })]);
    return { status: 204, body: "", headers: {} };
  });
}

// Rewrites the account's cases, and the text of other cases that name it.
async function pseudonymiseCases(tx: Queryable, caller: Caller, erased: Erased & { now: string }): Promise<DomainEvent[]> {
  const found = await lockCasesNaming(tx, caller.tenant_id, erased.id);
  const saved: LockedCase[] = [];
  const events: DomainEvent[] = [];
  for (const each of found) {
    const { document: before, subject, end_user_is_blocked } = each;
    const isOwn = before.website_account_id === erased.id;
    const cleaned = caseWithoutId(before, erased);
    const named = isOwn ? accountSubject(erased.pseudonym) : withoutId(subject, erased);
    if (!isOwn && named === subject && JSON.stringify(cleaned) === JSON.stringify(before)) continue;
    await deleteEvidenceNaming(tx, caller.tenant_id, each, erased.id);
    const account = isOwn ? erased.pseudonym : before.website_account_id;
    const changed = pseudonymiseCase(cleaned, account, { name: caller.actor, now: erased.now });
    saved.push({ document: changed.document, subject: named, end_user_is_blocked: end_user_is_blocked && !isOwn });
    events.push(...changed.events);
  }
  await saveCases(tx, caller.tenant_id, saved);
  await eraseFromReplies(
    tx,
    caller.tenant_id,
    saved.map(({ document }) => document.case_id),
    erased,
  );
  return events;
}

export const accountOperations: Operation[] = [
  operation({
    id: "listEndUserAccounts",
    method: "GET",
    path: "/enduseraccounts",
    scope: "read:enduseraccounts",
    tag: "End-user accounts",
    summary: "List end-user accounts",
    query: Type.Object({
      is_blocked: Type.Optional(Type.Boolean()),
      is_quarantined: Type.Optional(Type.Boolean()),
      is_fraudulent: Type.Optional(Type.Boolean()),
      crm_account_id: Type.Optional(Type.String()),
      limit: Limit,
      cursor: Cursor,
    }),
    success: pageOf("end_user_accounts", Account, "A page of accounts, ordered by id"),
    problems: ["bad-request"],
    handle: list,
  }),
  operation({
    id: "createEndUserAccount",
    method: "POST",
    path: "/enduseraccounts",
    scope: "create:enduseraccount",
    tag: "End-user accounts",
    summary: "Create an end-user account",
    body: NewAccount,
    success: { status: 201, description: "The account", schema: Account },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: { website_account_id: "user-42", crm_account_id: "CRM-0042" },
    handle: create,
  }),
  operation({
    id: "getEndUserAccount",
    method: "GET",
    path: "/enduseraccounts/{website_account_id}",
    scope: "read:enduseraccount",
    tag: "End-user accounts",
    summary: "Read an end-user account",
    success: { status: 200, description: "The account", schema: Account },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    id: "updateEndUserAccount",
    method: "PUT",
    path: "/enduseraccounts/{website_account_id}",
    scope: "update:enduseraccount",
    tag: "End-user accounts",
    summary: "Change an account's flags and CRM id",
    description: "Omitted members do not change. Concurrent changes are merged member by member.",
    body: AccountChange,
    success: { status: 200, description: "The account after the change", schema: Account },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { is_blocked: true },
    handle: updateAccount,
  }),
  operation({
    id: "deleteEndUserAccount",
    method: "DELETE",
    path: "/enduseraccounts/{website_account_id}",
    scope: "delete:enduseraccount",
    tag: "End-user accounts",
    summary: "Erase an end-user account",
    description:
      "Deletes the account and its raw activity. Its cases stay, under a new pseudonym. Activity that was accepted earlier is scored first, for up to 2 s. If some of it is still pending after that, each `fraud_report` opens or joins a case of the pseudonym, and the rest is dropped.",
    success: { status: 204, description: "Erased" },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: erase,
  }),
];
