import type { Account } from "../domain/account.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

export type AccountRow = Row &
  Omit<Account, "crm_account_id" | "last_session_updated_on" | "first_activity_at"> & {
    crm_account_id: string | null;
    last_session_updated_on: string | null;
    first_activity_at: string | null;
  };

export const accountColumns =
  "tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, last_session_updated_on, nullif(first_activity_at, 'infinity') as first_activity_at, created_at, updated_at";

// Omits members that are not set.
export function toAccount({ crm_account_id, last_session_updated_on, first_activity_at, ...row }: AccountRow): Account {
  return {
    ...row,
    ...(crm_account_id !== null && { crm_account_id }),
    ...(last_session_updated_on !== null && { last_session_updated_on }),
    ...(first_activity_at !== null && { first_activity_at }),
  };
}

export async function findAccounts(database: Queryable, tenantId: string, ids: string[]): Promise<Map<string, Account>> {
  const rows = await database.query<AccountRow>(sql`
    select tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, last_session_updated_on, nullif(first_activity_at, 'infinity') as first_activity_at, created_at, updated_at
    from accounts
    where tenant_id = ${tenantId} and website_account_id = any(${ids}::text[])`);
  return new Map(rows.map((row) => [row.website_account_id, toAccount(row)]));
}

export async function lockAccount(tx: Queryable, tenantId: string, id: string): Promise<Account | undefined> {
  const [row] = await tx.query<AccountRow>(sql`
    select tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, last_session_updated_on, nullif(first_activity_at, 'infinity') as first_activity_at, created_at, updated_at
    from accounts
    where tenant_id = ${tenantId} and website_account_id = ${id}
    for update`);
  return row && toAccount(row);
}

// Locks and returns the accounts that no other transaction holds. It does not wait for the others.
export async function lockFreeAccounts(tx: Queryable, tenantId: string, ids: string[]): Promise<Map<string, Account>> {
  const rows = await tx.query<AccountRow>(sql`
    select tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, last_session_updated_on, nullif(first_activity_at, 'infinity') as first_activity_at, created_at, updated_at
    from accounts
    where tenant_id = ${tenantId} and website_account_id = any(${ids}::text[])
    order by website_account_id
    for update skip locked`);
  return new Map(rows.map((row) => [row.website_account_id, toAccount(row)]));
}

export async function insertAccount(tx: Queryable, account: Account): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into accounts (
      tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at,
      first_activity_at
    )
    values (
      ${account.tenant_id}, ${account.website_account_id}, ${account.crm_account_id ?? null}, ${account.is_blocked},
      ${account.is_quarantined}, ${account.is_fraudulent}, ${account.created_at}, ${account.updated_at}, 'infinity'
    )
    on conflict (tenant_id, website_account_id) do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

// The caller has locked the rows.
export async function saveAccounts(tx: Queryable, tenantId: string, saved: Account[]): Promise<void> {
  await tx.query(sql`
    update accounts as a
    set crm_account_id = s.crm_account_id,
      is_blocked = s.is_blocked,
      is_quarantined = s.is_quarantined,
      is_fraudulent = s.is_fraudulent,
      updated_at = s.updated_at
    from unnest(
      ${saved.map((each) => each.website_account_id)}::text[],
      ${saved.map((each) => each.crm_account_id ?? null)}::text[],
      ${plainArray(saved.map((each) => each.is_blocked))}::boolean[],
      ${plainArray(saved.map((each) => each.is_quarantined))}::boolean[],
      ${plainArray(saved.map((each) => each.is_fraudulent))}::boolean[],
      ${saved.map((each) => each.updated_at)}::timestamptz[]
    ) as s (website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, updated_at)
    where a.tenant_id = ${tenantId} and a.website_account_id = s.website_account_id`);
}

export async function deleteAccount(tx: Queryable, tenantId: string, id: string): Promise<void> {
  await tx.query(sql`
    delete from accounts
    where tenant_id = ${tenantId} and website_account_id = ${id}`);
}

export type SeenAccount = { id: string; isClaimed: boolean; session_at: string | null; first_at: string };

// Inserts accounts that activity names for the first time, and returns the new ones. The ids are sorted so that engines lock rows
// in the same order.
export async function insertSeenAccounts(
  tx: Queryable,
  tenantId: string,
  { seen, now }: { seen: SeenAccount[]; now: string },
): Promise<string[]> {
  const sorted = seen.toSorted(byId);
  const rows = await tx.query<{ website_account_id: string }>(sql`
    insert into accounts (
      tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at, is_claimed, first_activity_at,
      last_session_updated_on
    )
    select ${tenantId}::uuid, s.id, false, false, false, ${now}::timestamptz, ${now}::timestamptz, s.is_claimed, s.first_at,
      s.session_at
    from unnest(
      ${sorted.map(({ id }) => id)}::text[],
      ${sorted.map(({ isClaimed }) => isClaimed)}::boolean[],
      ${sorted.map(({ first_at }) => first_at)}::timestamptz[],
      ${sorted.map(({ session_at }) => session_at)}::timestamptz[]
    ) as s (id, is_claimed, first_at, session_at)
    on conflict (tenant_id, website_account_id) do nothing
    returning website_account_id`);
  return rows.map((row) => row.website_account_id);
}

function byId(a: SeenAccount, b: SeenAccount): number {
  return a.id < b.id ? -1 : 1;
}

// Returns the accounts that a server or a signed identity has named, or that were created through the API.
export async function findSpokenFor(tx: Queryable, tenantId: string, ids: string[]): Promise<Set<string>> {
  const rows = await tx.query<{ website_account_id: string }>(sql`
    select website_account_id
    from accounts
    where tenant_id = ${tenantId} and website_account_id = any(${ids}::text[]) and not is_claimed`);
  return new Set(rows.map((row) => row.website_account_id));
}

// What pages said does not count any more, so the first activity is the one that a server or a signature names.
export async function saveSpokenFor(tx: Queryable, tenantId: string, seen: SeenAccount[]): Promise<void> {
  await tx.query(sql`
    update accounts as a
    set is_claimed = false, first_activity_at = s.first_at
    from unnest(${seen.map(({ id }) => id)}::text[], ${seen.map(({ first_at }) => first_at)}::timestamptz[]) as s (id, first_at)
    where a.tenant_id = ${tenantId} and a.website_account_id = s.id`);
}

export type Flags = { is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean };

// Returns which of the accounts are blocked. Locks them in sorted order, so that a flag change and a new case see the same
// account.
export async function lockBlocked(tx: Queryable, tenantId: string, ids: string[]): Promise<Set<string>> {
  const rows = await tx.query<{ website_account_id: string; is_blocked: boolean }>(sql`
    select website_account_id, is_blocked
    from accounts
    where tenant_id = ${tenantId} and website_account_id = any(${ids}::text[])
    order by website_account_id
    for update`);
  return new Set(rows.filter((row) => row.is_blocked).map((row) => row.website_account_id));
}

// The time of the last session never moves backwards, and the time of the first activity never forwards. The rows stay locked, so
// that a flag change and a new case see the same account.
export async function saveSessionTimes(
  tx: Queryable,
  tenantId: string,
  times: SeenAccount[],
): Promise<Map<string, Flags & { is_claimed: boolean }>> {
  const sorted = times.toSorted(byId);
  const locking = tx.query<{ website_account_id: string; is_claimed: boolean; is_earlier: boolean } & Flags>(sql`
    select a.website_account_id, a.is_blocked, a.is_quarantined, a.is_fraudulent, a.is_claimed,
      coalesce(a.first_activity_at > t.first_at, true) as is_earlier
    from unnest(${sorted.map((each) => each.id)}::text[], ${sorted.map((each) => each.first_at)}::timestamptz[])
      with ordinality as t (id, first_at, position)
    cross join lateral (
      select website_account_id, is_blocked, is_quarantined, is_fraudulent, is_claimed, first_activity_at
      from accounts
      where tenant_id = ${tenantId} and website_account_id = t.id
      for update
    ) as a
    order by t.position`);
  const sessions = sorted.filter((each) => each.session_at !== null);
  const saving =
    sessions.length > 0 &&
    tx.query(sql`
      update accounts as a
      set last_session_updated_on = t.session_at
      from unnest(${sessions.map((each) => each.id)}::text[], ${sessions.map((each) => each.session_at)}::timestamptz[]) as t (id, session_at)
      where a.tenant_id = ${tenantId}
        and a.website_account_id = t.id
        and (a.last_session_updated_on is null or a.last_session_updated_on < t.session_at)`);
  const [locked] = await Promise.all([locking, saving]);
  const earlier = new Set(locked.filter((row) => row.is_earlier).map((row) => row.website_account_id));
  if (earlier.size > 0)
    await saveFirstActivity(
      tx,
      tenantId,
      sorted.filter(({ id }) => earlier.has(id)),
    );
  return new Map(locked.map(({ website_account_id: id, is_earlier: _isEarlier, ...flags }) => [id, flags]));
}

async function saveFirstActivity(tx: Queryable, tenantId: string, seen: SeenAccount[]): Promise<void> {
  await tx.query(sql`
    update accounts as a
    set first_activity_at = least(coalesce(a.first_activity_at, a.created_at), t.first_at)
    from unnest(${seen.map((each) => each.id)}::text[], ${seen.map((each) => each.first_at)}::timestamptz[]) as t (id, first_at)
    where a.tenant_id = ${tenantId} and a.website_account_id = t.id`);
}

// The caller has locked the rows. The time of a change never moves backwards. Returns the changed accounts, ordered by id.
export async function saveQuarantined(
  tx: Queryable,
  tenantId: string,
  { ids, now }: { ids: string[]; now: string },
): Promise<Pick<Account, "website_account_id" | "updated_at">[]> {
  const rows = await tx.query<Pick<AccountRow, "website_account_id" | "updated_at">>(sql`
    update accounts
    set is_quarantined = true, updated_at = greatest(updated_at, ${now}::timestamptz)
    where tenant_id = ${tenantId} and website_account_id = any(${ids}::text[]) and not is_quarantined
    returning website_account_id, updated_at`);
  return rows.toSorted((a, b) => (a.website_account_id < b.website_account_id ? -1 : 1));
}
