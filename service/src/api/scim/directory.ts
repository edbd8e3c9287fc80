import type { Queryable } from "../../db/postgres/database.ts";
import { lockRoleScopes } from "../../db/roles.ts";
import { lockSettings } from "../../db/rules.ts";
import { findScimPerson, lockUsers, saveScimPerson, type ScimPerson } from "../../db/scim-people.ts";
import { findGroupRoles } from "../../db/scim-tokens.ts";
import { lockActiveAdmins } from "../../db/users.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { Failure, notFound } from "../../domain/failure.ts";
import type { GroupRoles } from "../../domain/provisioning.ts";
import type { Profile } from "../../domain/scim/person.ts";
import type { User, UserChange } from "../../domain/user.ts";
import { isCanonicalUuid } from "../../domain/uuid.ts";
import { scimMediaType } from "../http/scim-error.ts";
import type { Reply } from "../http/problem.ts";
import type { Call, Services } from "../operation.ts";
import { byCaller, saveUserChange, userEvent, type By } from "../users.ts";

// What all changes by a directory share.
export type Work = { services: Services; call: Call; tx: Queryable; by: By; settings: GroupRoles };

export function scimReply(resource: object, status = 200, headers: Record<string, string> = {}): Reply {
  return { status, body: JSON.stringify(resource), headers: { "content-type": scimMediaType, ...headers } };
}

// Runs a change alone: a directory sends many at once, and groups decide about people. Everything that the change may need is locked
// in one order, before anything is written.
export async function change<T>(
  services: Services,
  call: Call,
  findUserIds: (tx: Queryable) => Promise<Iterable<string>>,
  work: (work: Work) => Promise<T>,
): Promise<T> {
  const by = byCaller(services, call);
  const { tenant_id } = call.caller;
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, tenant_id, by.now);
    const settings = await findGroupRoles(tx, tenant_id);
    await lockRoles(tx, tenant_id, settings);
    await lockActiveAdmins(tx, tenant_id);
    await lockUsers(tx, tenant_id, [...(await findUserIds(tx))].filter(isCanonicalUuid));
    return work({ services, call, tx, by, settings });
  });
}

export async function lockRoles(tx: Queryable, tenantId: string, { role_groups, default_role }: GroupRoles): Promise<void> {
  const roles = new Set([default_role, ...role_groups.map(({ role }) => role)]);
  for (const role of [...roles].toSorted()) await lockRoleScopes(tx, tenantId, role);
}

// Clients and people with the scope may change everybody anyway.
export function adoptsPeople({ caller }: Call): boolean {
  return caller.scim?.adoptsPeople ?? true;
}

// A person whom the directory may not see is not found.
export async function requirePerson(database: Queryable, call: Call): Promise<ScimPerson> {
  const id = call.params["user_id"] ?? "";
  const person = isCanonicalUuid(id) ? await findScimPerson(database, call.caller.tenant_id, id) : undefined;
  if (!person || (person.profile === null && !adoptsPeople(call))) throw notFound("User", id);
  return person;
}

// Returns the userName that was saved: the profile's, or if another person has that, the first of `others` that nobody else has.
export async function saveProfile(
  { tx, call, by }: Work,
  { user_id, is_deactivated, profile }: { user_id: string; is_deactivated: boolean; profile: Profile },
  others: string[] = [],
): Promise<string> {
  for (const user_name of [profile.user_name, ...others]) {
    const saved = { ...profile, user_name, user_id, is_deactivated, now: by.now, user_name_key: user_name.toLowerCase() };
    if (await saveScimPerson(tx, call.caller.tenant_id, saved)) return user_name;
  }
  throw new Failure("item-already-exists", "A person with this userName already exists.");
}

// The directory takes over somebody whom it did not create. Returns the event to append. Somebody else may have the address as
// userName, which must not protect the person from being disabled.
export async function adopt(work: Work, { user_id, email }: Pick<ScimPerson, "user_id" | "email">): Promise<DomainEvent> {
  const names = { given_name: null, family_name: null, formatted_name: null, display_name: null };
  const profile = { user_name: email, external_id: null, ...names };
  await saveProfile(work, { user_id, is_deactivated: false, profile }, [user_id]);
  return userEvent("user.provisioned", user_id, work.by, { is_adopted: true });
}

// Members of a user as SCIM names them.
const scimNames: Record<string, string> = { is_disabled: "active", role: "roles" };

export async function saveChange({ tx, call, by }: Work, userId: string, change: UserChange): Promise<User> {
  try {
    const user = await saveUserChange(tx, call.caller.tenant_id, { userId, change }, by);
    if (!user) throw notFound("User", userId);
    return user;
  } catch (error) {
    if (!(error instanceof Failure) || error.errors === null) throw error;
    const errors = error.errors.map(({ field, message }) => ({ field: scimNames[field] ?? field, message }));
    const detail = errors.map(({ field, message }) => `${field} ${message}.`).join(" ");
    throw new Failure("validation-error", detail, { errors, scimType: "mutability" });
  }
}
