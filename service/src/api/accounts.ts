import { Type } from "typebox";
import { deleteAccount, findAccounts, insertAccount, lockAccount, saveAccount } from "../db/accounts.ts";
import { lockTurn } from "../db/activities.ts";
import { lockCasesOfAccount, saveBlockedFlag, saveCases } from "../db/cases.ts";
import type { Queryable } from "../db/database.ts";
import { appendEvents, eraseAccountFromEvents } from "../db/events.ts";
import { listAccounts, type AccountFilter } from "../db/lists.ts";
import { eraseAccountTraces } from "../db/retention.ts";
import {
  Account,
  AccountChange,
  NewAccount,
  changeAccount,
  isReservedAccountId,
  newAccount,
  pseudonymOf,
} from "../domain/account.ts";
import { accountSubject } from "../domain/activity.ts";
import { pseudonymiseCase } from "../domain/case.ts";
import type { DomainEvent, EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { characters, idCharactersMax } from "../domain/field.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listReply, listSignature, pageOf } from "./page.ts";
import type { Reply } from "./problem.ts";

export const accountNoun = "End-user account";

// Ids that no account can have are absent ones.
export function accountId(params: Record<string, string>): string {
  const id = params["website_account_id"] ?? "";
  if (isReservedAccountId(id) || characters(id) > idCharactersMax) throw notFound(accountNoun, id);
  return id;
}

export async function requireAccountId(services: Services, { caller, params }: Call): Promise<string> {
  const id = accountId(params);
  if (!(await services.findAccount(caller.tenant_id, id))) throw notFound(accountNoun, id);
  return id;
}

function accountEvent(
  type: EventType,
  caller: Caller,
  at: { id: string; now: string },
  data?: Record<string, unknown>,
): DomainEvent {
  return {
    type,
    occurred_at: at.now,
    actor: caller.actor,
    resource: { type: "end_user_account", id: at.id },
    ...(data && { data }),
  };
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
    if (!(await insertAccount(tx, account))) throw new Failure("item-already-exists", `${accountNoun} exists already.`);
    await appendEvents(tx, caller.tenant_id, [accountEvent("account.created", caller, { id, now })]);
    return dataReply(account, 201);
  });
}

async function update(services: Services, { caller, params, body }: Call<AccountChange>): Promise<Reply> {
  const id = accountId(params);
  const now = services.now();
  return services.database.transaction(async (tx) => {
    // Locked, so that two changes of different members both stay.
    const account = await lockAccount(tx, caller.tenant_id, id);
    if (!account) throw notFound(accountNoun, id);
    const changed = changeAccount(account, body, now);
    if (changed === account) return dataReply(account);
    await saveAccount(tx, changed);
    if (changed.is_blocked !== account.is_blocked) await saveBlockedFlag(tx, caller.tenant_id, changed);
    const { crm_account_id: _crm, ...flags } = body;
    const at = { id, now: changed.updated_at };
    await appendEvents(tx, caller.tenant_id, [accountEvent("account.updated", caller, at, flags)]);
    return dataReply(changed);
  });
}

async function erase(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = accountId(params);
  const now = services.now();
  const pseudonym = pseudonymOf(services.newId());
  return services.database.transaction(async (tx) => {
    if (!(await findAccounts(tx, caller.tenant_id, [id])).has(id)) throw notFound(accountNoun, id);
    // Before the account's row, as the engine does it.
    await lockTurn(tx, caller.tenant_id);
    if (!(await lockAccount(tx, caller.tenant_id, id))) throw notFound(accountNoun, id);
    const events = await pseudonymiseCases(tx, { caller, id, pseudonym, now });
    await eraseAccountTraces(tx, caller.tenant_id, { id, pseudonym });
    await eraseAccountFromEvents(tx, caller.tenant_id, { id, pseudonym });
    await deleteAccount(tx, caller.tenant_id, id);
    await appendEvents(tx, caller.tenant_id, [...events, accountEvent("account.erased", caller, { id: pseudonym, now })]);
    return { status: 204, body: "", headers: {} };
  });
}

type Erasure = { caller: Caller; id: string; pseudonym: string; now: string };

async function pseudonymiseCases(tx: Queryable, { caller, id, pseudonym, now }: Erasure): Promise<DomainEvent[]> {
  const found = await lockCasesOfAccount(tx, caller.tenant_id, id);
  const changed = found.map(({ document }) => pseudonymiseCase(document, pseudonym, { name: caller.actor, now }));
  const subject = accountSubject(pseudonym);
  await saveCases(
    tx,
    caller.tenant_id,
    changed.map(({ document }) => ({ document, subject, end_user_is_blocked: false })),
  );
  return changed.flatMap((each) => each.events);
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
    success: pageOf("end_user_accounts", Account, "A page of accounts, in order of their ids"),
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
    description: "Members that are left out stay as they are; concurrent changes merge member by member.",
    body: AccountChange,
    success: { status: 200, description: "The account after the change", schema: Account },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { is_blocked: true },
    handle: update,
  }),
  operation({
    id: "deleteEndUserAccount",
    method: "DELETE",
    path: "/enduseraccounts/{website_account_id}",
    scope: "delete:enduseraccount",
    tag: "End-user accounts",
    summary: "Erase an end-user account",
    description: "The account and its raw activity are gone; its cases stay under a fresh pseudonym.",
    success: { status: 204, description: "Erased" },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: erase,
  }),
];
