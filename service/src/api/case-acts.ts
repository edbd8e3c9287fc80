import { lockAccount, saveAccounts } from "../db/accounts.ts";
import { findAccountsOfCases, saveBlockedFlags, type LockedCase } from "../db/cases.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { changeAccount, unknownAccount, type Account } from "../domain/account.ts";
import type { CaseChange } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { invalid } from "./http/validate.ts";

// An account before and after a close that also changes its flags.
export type ActedOn = { before: Account; after: Account };

// Locks the account before the case. A change to an account locks in the same order, because it also changes the account's cases.
export async function lockActedOn(
  tx: Queryable,
  tenantId: string,
  { id, change }: { id: string; change: CaseChange },
): Promise<Account | undefined> {
  if (change.account === undefined || !isCanonicalUuid(id)) return undefined;
  const [found] = await findAccountsOfCases(tx, tenantId, [id]);
  return found && lockAccount(tx, tenantId, found.website_account_id);
}

type Acting = { found: LockedCase; account: Account | undefined; flags: NonNullable<CaseChange["account"]>; at: string };

export function actOn({ found, account, flags, at }: Acting): ActedOn {
  const { website_account_id: id } = found.document;
  // The account may have been erased between the two locks. The case then has a pseudonym.
  if (id === unknownAccount || account?.website_account_id !== id)
    throw invalid([{ field: "account", message: "is not possible, because the case has no account" }]);
  return { before: account, after: changeAccount(account, flags, at) };
}

export function actEvents(
  { before, after }: ActedOn,
  flags: object,
  { by: actor, approvedBy }: { by: string; approvedBy?: string | undefined },
): DomainEvent[] {
  if (before === after) return [];
  const resource = { type: "end_user_account" as const, id: after.website_account_id };
  const data = { ...flags, ...(approvedBy !== undefined && { approved_by: approvedBy }) };
  return [{ type: "account.updated", occurred_at: after.updated_at, actor, resource, data }];
}

// Also updates the flag that is stored with the account's other cases.
export async function saveActs(tx: Queryable, tenantId: string, acts: ActedOn[]): Promise<void> {
  const changed = acts.filter(({ before, after }) => before !== after);
  if (changed.length === 0) return;
  const flipped = changed.filter(({ before, after }) => before.is_blocked !== after.is_blocked);
  const afterOf = (some: ActedOn[]) => some.map(({ after }) => after);
  await saveAccounts(tx, tenantId, afterOf(changed));
  if (flipped.length > 0) await saveBlockedFlags(tx, tenantId, afterOf(flipped));
}
