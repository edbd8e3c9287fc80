import { lockAccount, lockFreeAccounts, saveAccounts } from "../db/accounts.ts";
import { saveBlockedFlags } from "../db/cases.ts";
import { appendEvents } from "../db/events.ts";
import type { TenantDatabase, Transaction } from "../db/postgres/database.ts";
import { early } from "../db/postgres/transaction.ts";
import { changeAccount, isReservedAccountId, type Account, type AccountChange } from "../domain/account.ts";
import { mayNeedApproval } from "../domain/approval-settings.ts";
import type { DomainEvent, EventType } from "../domain/event.ts";
import { notFound } from "../domain/failure.ts";
import { idCharactersMax } from "../domain/field.ts";
import { characters } from "../domain/text.ts";
import { requireBlockable } from "./approval-needs.ts";
import { findApprovalSettings } from "./approval-settings.ts";
import { dataReply, type AccountUpdate, type Call, type Caller, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { tryTogether } from "./together.ts";

export const accountNoun = "End-user account";

// An id that no account can have is treated as not found.
export function accountId(params: Record<string, string>): string {
  const id = params["website_account_id"] ?? "";
  if (isReservedAccountId(id) || characters(id) > idCharactersMax) throw notFound(accountNoun, id);
  return id;
}

export function accountEvent(
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

type Changed = { update: AccountUpdate; before: Account; after: Account };

function changedBy(update: AccountUpdate, before: Account): Changed {
  return { update, before, after: changeAccount(before, update.change, update.now) };
}

const blocks = ({ before, after }: Changed) => after.is_blocked && !before.is_blocked;

export async function updateAccount(services: Services, { caller, params, body }: Call<AccountChange>): Promise<Reply> {
  const update = { caller, id: accountId(params), change: body, now: services.now() };
  return (await services.updateTogether(caller.tenant_id, update)) ?? updateAlone(services.database, update);
}

// May wait for locks.
function updateAlone(database: TenantDatabase, update: AccountUpdate): Promise<Reply> {
  const { caller, id } = update;
  return database.transaction(async (tx) => {
    // Locked, so concurrent changes to different members are both kept.
    const account = await lockAccount(tx, caller.tenant_id, id);
    if (!account) throw notFound(accountNoun, id);
    const changed = changedBy(update, account);
    if (blocks(changed)) await requireBlockable(tx, caller);
    await save(tx, caller.tenant_id, [changed]);
    return dataReply(changed.after);
  });
}

// Changes several accounts of one tenant in one transaction, without waiting for locks. Null means that the change must be tried
// alone: its account is absent, locked by another transaction or already in this one, or a second person may be needed.
export async function updateTogether(
  database: TenantDatabase,
  tenantId: string,
  updates: AccountUpdate[],
): Promise<(Reply | null)[]> {
  const apart = firstOfEach(updates);
  const mayBlock = apart.some(({ change }) => change.is_blocked === true);
  return tryTogether(database, updates, async (tx) => {
    const ids = apart.map(({ id }) => id);
    const [accounts, settings] = await Promise.all([
      lockFreeAccounts(early(tx), tenantId, ids),
      mayBlock ? findApprovalSettings(early(tx), tenantId) : null,
    ]);
    const changed = apart.flatMap((update) => {
      const account = accounts.get(update.id);
      return account ? [changedBy(update, account)] : [];
    });
    const isAlone = (each: Changed) =>
      settings !== null && blocks(each) && mayNeedApproval(settings, { isPerson: each.update.caller.person !== undefined });
    const free = changed.filter((each) => !isAlone(each));
    await save(tx, tenantId, free);
    return new Map(free.map(({ update, after }) => [update, dataReply(after)]));
  });
}

// A later change of the same account must see the result of the first.
function firstOfEach(updates: AccountUpdate[]): AccountUpdate[] {
  const first = new Map<string, AccountUpdate>();
  for (const update of updates) if (!first.has(update.id)) first.set(update.id, update);
  return [...first.values()];
}

async function save(tx: Transaction, tenantId: string, all: Changed[]): Promise<void> {
  const changed = all.filter(({ before, after }) => before !== after);
  if (changed.length === 0) return;
  const after = changed.map((each) => each.after);
  const flipped = changed.filter((each) => each.before.is_blocked !== each.after.is_blocked).map((each) => each.after);
  await Promise.all([
    saveAccounts(tx, tenantId, after),
    flipped.length > 0 && saveBlockedFlags(tx, tenantId, flipped),
    appendEvents(tx, tenantId, changed.map(eventOf)),
  ]);
}

function eventOf({ update: { caller, id, change }, after }: Changed): DomainEvent {
  const { crm_account_id: _crm, ...flags } = change;
  return accountEvent("account.updated", caller, { id, now: after.updated_at }, flags);
}
