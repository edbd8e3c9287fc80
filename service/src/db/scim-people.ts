import type { Profile } from "../domain/scim/person.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// A person as a directory sees them. `profile` is null for people whom no directory manages.
export type ScimPerson = {
  user_id: string;
  email: string;
  name: string;
  role: string;
  is_disabled: boolean;
  is_deactivated: boolean;
  created_at: string;
  updated_at: string;
  profile: Profile | null;
  groups: { scim_group_id: string; display_name: string }[];
};

type PersonRow = Row & Omit<ScimPerson, "profile"> & { user_name: string | null } & Omit<Profile, "user_name">;

function toPerson(row: PersonRow): ScimPerson {
  const { user_name, external_id, given_name, family_name, formatted_name, display_name, ...person } = row;
  const names = { given_name, family_name, formatted_name, display_name };
  return { ...person, profile: user_name === null ? null : { user_name, external_id, ...names } };
}

// A tenant has at most a thousand people, so that all of them are read and searched in memory. Ordered by the time of creation.
export async function listScimPeople(
  database: Queryable,
  tenantId: string,
  { userIds = null, hasGroups = true }: { userIds?: readonly string[] | null; hasGroups?: boolean } = {},
): Promise<ScimPerson[]> {
  const rows = await database.query<PersonRow>(sql`
    select u.user_id, u.email, u.name, u.role, u.is_disabled, coalesce(p.is_deactivated, false) as is_deactivated, u.created_at,
      coalesce(p.updated_at, u.created_at) as updated_at, p.user_name, p.external_id, p.given_name, p.family_name,
      p.formatted_name, p.display_name,
      coalesce(
        (
          select jsonb_agg(
            jsonb_build_object('scim_group_id', g.scim_group_id, 'display_name', g.display_name) order by g.display_name_key
          )
          from scim_group_members as m
          join scim_groups as g on g.tenant_id = ${tenantId} and g.scim_group_id = m.scim_group_id
          where ${hasGroups}::boolean and m.tenant_id = ${tenantId} and m.user_id = u.user_id
        ),
        '[]'::jsonb
      ) as groups
    from users as u
    left join scim_people as p on p.tenant_id = ${tenantId} and p.user_id = u.user_id and p.deleted_at is null
    where u.tenant_id = ${tenantId} and (${userIds}::uuid[] is null or u.user_id = any(${userIds}::uuid[]))
    order by u.created_at, u.user_id`);
  return rows.map(toPerson);
}

export async function findScimPerson(database: Queryable, tenantId: string, userId: string): Promise<ScimPerson | undefined> {
  const [person] = await listScimPeople(database, tenantId, { userIds: [userId] });
  return person;
}

export type Holder = {
  user_id: string;
  is_disabled: boolean;
  is_provisioned: boolean;
  was_deleted: boolean;
  is_deactivated: boolean;
};

// The person with the e-mail, and whether a directory had deleted them.
export async function findEmailHolder(database: Queryable, tenantId: string, email: string): Promise<Holder | undefined> {
  const [row] = await database.query<Holder & Row>(sql`
    select u.user_id, u.is_disabled, u.is_provisioned, p.deleted_at is not null as was_deleted,
      coalesce(p.is_deactivated, false) as is_deactivated
    from users as u
    left join scim_people as p on p.tenant_id = u.tenant_id and p.user_id = u.user_id
    where u.tenant_id = ${tenantId} and u.email = ${email}`);
  return row;
}

type SavedProfile = Profile & { user_id: string; user_name_key: string; is_deactivated: boolean; now: string };

// Returns false if another person has the user name.
export async function saveScimPerson(tx: Queryable, tenantId: string, saved: SavedProfile): Promise<boolean> {
  const taken = await tx.query(sql`
    select user_id
    from scim_people
    where tenant_id = ${tenantId}
      and user_name_key = ${saved.user_name_key}
      and user_id <> ${saved.user_id}
      and deleted_at is null`);
  if (taken.length > 0) return false;
  await tx.query(sql`
    insert into scim_people (
      tenant_id, user_id, user_name, user_name_key, external_id, given_name, family_name, formatted_name, display_name,
      is_deactivated, created_at, updated_at
    )
    values (
      ${tenantId}, ${saved.user_id}, ${saved.user_name}, ${saved.user_name_key}, ${saved.external_id}, ${saved.given_name},
      ${saved.family_name}, ${saved.formatted_name}, ${saved.display_name}, ${saved.is_deactivated}, ${saved.now}, ${saved.now}
    )
    on conflict (tenant_id, user_id) do update
    set user_name = excluded.user_name,
      user_name_key = excluded.user_name_key,
      external_id = excluded.external_id,
      given_name = excluded.given_name,
      family_name = excluded.family_name,
      formatted_name = excluded.formatted_name,
      display_name = excluded.display_name,
      is_deactivated = excluded.is_deactivated,
      updated_at = excluded.updated_at,
      deleted_at = null`);
  await tx.query(sql`
    update users
    set is_provisioned = true
    where tenant_id = ${tenantId} and user_id = ${saved.user_id}`);
  return true;
}

// The directory no longer manages the person, who also leaves its groups. The account has nothing left to sign in with. Whoever was
// active until now was disabled by the directory.
export async function endScimPerson(
  tx: Queryable,
  tenantId: string,
  ended: { user_id: string; was_active: boolean; now: string },
): Promise<void> {
  await tx.query(sql`
    delete from scim_group_members
    where tenant_id = ${tenantId} and user_id = ${ended.user_id}`);
  await tx.query(sql`
    update scim_people
    set deleted_at = ${ended.now}, external_id = null, is_deactivated = is_deactivated or ${ended.was_active}
    where tenant_id = ${tenantId} and user_id = ${ended.user_id}`);
  await tx.query(sql`
    update users
    set is_provisioned = false, password_hash = null, external_subject = null, usual_addresses = '{}'
    where tenant_id = ${tenantId} and user_id = ${ended.user_id}`);
}

// Locked in one order, before the transaction changes anything.
export async function lockUsers(tx: Queryable, tenantId: string, userIds: readonly string[]): Promise<void> {
  await tx.query(sql`
    select user_id
    from users
    where tenant_id = ${tenantId} and user_id = any(${[...userIds]}::uuid[])
    order by user_id
    for no key update`);
}

// Somebody here has disabled or enabled the person.
export async function clearDeactivated(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  await tx.query(sql`
    update scim_people
    set is_deactivated = false
    where tenant_id = ${tenantId} and user_id = ${userId} and is_deactivated`);
}
