import type { Person, User } from "../domain/user.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";
import { findTenant } from "./tenants.ts";

type UserRow = Row & {
  user_id: string;
  email: string;
  name: string;
  role: string;
  is_disabled: boolean;
  has_password: boolean;
  has_external_sign_in: boolean;
  has_second_factor: boolean;
  is_provisioned: boolean;
  created_at: string;
  last_sign_in_at: string | null;
};

function toUser({ last_sign_in_at, ...row }: UserRow): User {
  return { ...row, ...(last_sign_in_at !== null && { last_sign_in_at }) };
}

// Ordered by e-mail.
export async function listUsers(database: Queryable, tenantId: string): Promise<User[]> {
  const rows = await database.query<UserRow>(sql`
    select user_id, email, name, role, is_disabled, password_hash is not null as has_password,
      external_subject is not null as has_external_sign_in, has_second_factor, is_provisioned, created_at, last_sign_in_at
    from users
    where tenant_id = ${tenantId}
    order by email`);
  return rows.map(toUser);
}

export async function countUsers(database: Queryable, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from users
    where tenant_id = ${tenantId}`);
  return row?.count ?? 0;
}

export async function findUser(database: Queryable, tenantId: string, userId: string): Promise<User | undefined> {
  const [row] = await database.query<UserRow>(sql`
    select user_id, email, name, role, is_disabled, password_hash is not null as has_password,
      external_subject is not null as has_external_sign_in, has_second_factor, is_provisioned, created_at, last_sign_in_at
    from users
    where tenant_id = ${tenantId} and user_id = ${userId}`);
  return row && toUser(row);
}

// Users who are not disabled. The e-mail addresses must be spelled as they are stored.
export async function findUserIdsByEmail(database: Queryable, tenantId: string, emails: string[]): Promise<string[]> {
  if (emails.length === 0) return [];
  const rows = await database.query<{ user_id: string }>(sql`
    select user_id
    from users
    where tenant_id = ${tenantId} and email = any(${emails}::text[]) and not is_disabled
    order by user_id`);
  return rows.map((row) => row.user_id);
}

// Users with this role who are not disabled.
export async function findUserIdsByRole(database: Queryable, tenantId: string, role: string): Promise<string[]> {
  const rows = await database.query<{ user_id: string }>(sql`
    select user_id
    from users
    where tenant_id = ${tenantId} and role = ${role} and not is_disabled
    order by user_id`);
  return rows.map((row) => row.user_id);
}

export async function lockUser(tx: Queryable, tenantId: string, userId: string): Promise<User | undefined> {
  const [row] = await tx.query<UserRow>(sql`
    select user_id, email, name, role, is_disabled, password_hash is not null as has_password,
      external_subject is not null as has_external_sign_in, has_second_factor, is_provisioned, created_at, last_sign_in_at
    from users
    where tenant_id = ${tenantId} and user_id = ${userId}
    for no key update`);
  return row && toUser(row);
}

// Counts the users who can assign roles. They are locked in one order, so that two admins cannot demote each other at once.
export async function lockActiveAdmins(tx: Queryable, tenantId: string): Promise<number> {
  const rows = await tx.query(sql`
    select user_id
    from users
    where tenant_id = ${tenantId}
      and role = 'admin'
      and not is_disabled
      and (password_hash is not null or external_subject is not null)
    order by user_id
    for no key update`);
  return rows.length;
}

// Whether any user of the tenant has ever been able to sign in, including users who are disabled now.
export async function hasJoinedUsers(database: Queryable, tenantId: string): Promise<boolean> {
  const [row] = await database.query<{ has: boolean }>(sql`
    select exists (
      select from users
      where tenant_id = ${tenantId} and (password_hash is not null or external_subject is not null)
    ) as has`);
  return row?.has === true;
}

export type FreshUser = Pick<User, "user_id" | "email" | "name" | "role" | "created_at">;

// Returns false if a user of the tenant already has that e-mail.
export async function insertUser(tx: Queryable, tenantId: string, user: FreshUser): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into users (tenant_id, user_id, email, name, role, is_disabled, created_at)
    values (${tenantId}, ${user.user_id}, ${user.email}, ${user.name}, ${user.role}, false, ${user.created_at})
    on conflict (tenant_id, email) do nothing
    returning 1 as inserted`);
  return rows.length === 1;
}

export async function saveUser(tx: Queryable, tenantId: string, user: User): Promise<void> {
  await tx.query(sql`
    update users
    set name = ${user.name}, role = ${user.role}, is_disabled = ${user.is_disabled}
    where tenant_id = ${tenantId} and user_id = ${user.user_id}`);
}

export async function saveRoles(
  tx: Queryable,
  tenantId: string,
  saved: readonly { user_id: string; role: string }[],
): Promise<void> {
  await tx.query(sql`
    update users as u
    set role = saved.role
    from unnest(
      ${saved.map(({ user_id }) => user_id)}::uuid[],
      ${saved.map(({ role }) => role)}::text[]
    ) as saved (user_id, role)
    where u.tenant_id = ${tenantId} and u.user_id = saved.user_id`);
}

export async function savePassword(
  tx: Queryable,
  tenantId: string,
  saved: { user_id: string; password_hash: string },
): Promise<void> {
  await tx.query(sql`
    update users
    set password_hash = ${saved.password_hash}
    where tenant_id = ${tenantId} and user_id = ${saved.user_id}`);
}

export async function saveSignIn(tx: Queryable, tenantId: string, saved: { user_id: string; now: string }): Promise<void> {
  await tx.query(sql`
    update users
    set last_sign_in_at = ${saved.now}
    where tenant_id = ${tenantId} and user_id = ${saved.user_id}`);
}

// Keeps the newest addresses. `seal` is a keyed hash.
export async function saveUsualAddress(
  tx: Queryable,
  tenantId: string,
  saved: { user_id: string; seal: Buffer; keptMax: number },
): Promise<void> {
  await tx.query(sql`
    update users
    set usual_addresses = trim_array(
        array[${saved.seal}::bytea] || array_remove(usual_addresses, ${saved.seal}::bytea),
        greatest(cardinality(array_remove(usual_addresses, ${saved.seal}::bytea)) + 1 - ${saved.keptMax}::int, 0)
      )
    where tenant_id = ${tenantId} and user_id = ${saved.user_id} and usual_addresses[1] is distinct from ${saved.seal}::bytea`);
}

export type Candidate = Person & { is_disabled: boolean; password_hash: string | null; usual_addresses: Buffer[] };

// Searches all tenants, because a person who signs in may not know the tenant's name. No other statement about users does.
export async function findUsersByEmail(
  database: Queryable,
  { email, slug, limit }: { email: string; slug: string | null; limit: number },
): Promise<Candidate[]> {
  return database.query<Candidate & Row>(sql`
    select u.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, u.is_disabled, u.password_hash, u.usual_addresses
    from users as u
    join tenants as t using (tenant_id)
    where u.email = ${email} and (${slug}::text is null or t.slug = ${slug})
    order by t.slug
    limit ${limit}`);
}

export async function findPasswordHash(database: Queryable, tenantId: string, userId: string): Promise<string | null> {
  const [row] = await database.query<{ password_hash: string | null }>(sql`
    select password_hash
    from users
    where tenant_id = ${tenantId} and user_id = ${userId}`);
  return row?.password_hash ?? null;
}

// Returns undefined if the user is disabled, or if the password has changed since it was checked.
export async function lockCheckedUser(
  tx: Queryable,
  tenantId: string,
  checked: { user_id: string; password_hash: string | null },
): Promise<{ has_second_factor: boolean } | undefined> {
  const [row] = await tx.query<{ has_second_factor: boolean }>(sql`
    select has_second_factor
    from users
    where tenant_id = ${tenantId} and user_id = ${checked.user_id} and password_hash = ${checked.password_hash} and not is_disabled
    for no key update`);
  return row;
}

export type External = Person & { is_disabled: boolean; external_subject: string | null };

// Finds the user that the other issuer's subject is bound to, or else the user with the e-mail, if one is given.
export async function lockExternalUser(
  tx: Queryable,
  slug: string,
  { subject, email }: { subject: string; email: string | null },
): Promise<External | undefined> {
  // With the tenant's id, a cluster asks only its node.
  const tenant = await findTenant(tx, slug);
  const [row] = await tx.query<External & Row>(sql`
    select u.tenant_id, t.slug, u.user_id, u.email, u.name, u.role, u.is_disabled, u.external_subject
    from users as u
    join tenants as t using (tenant_id)
    where u.tenant_id = ${tenant?.tenant_id ?? null} and (u.external_subject = ${subject} or u.email = ${email})
    order by u.external_subject is not distinct from ${subject} desc
    limit 1
    for no key update of u`);
  return row;
}

export async function saveExternalSubject(
  tx: Queryable,
  tenantId: string,
  saved: { user_id: string; external_subject: string },
): Promise<void> {
  await tx.query(sql`
    update users
    set external_subject = ${saved.external_subject}
    where tenant_id = ${tenantId} and user_id = ${saved.user_id}`);
}
