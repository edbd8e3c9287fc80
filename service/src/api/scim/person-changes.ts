import type { Queryable } from "../../db/postgres/database.ts";
import { appendEvents } from "../../db/events.ts";
import { endScimPerson, findEmailHolder, type Holder, type ScimPerson } from "../../db/scim-people.ts";
import { countUsers, insertUser } from "../../db/users.ts";
import { Failure } from "../../domain/failure.ts";
import { isDisabling, readChanges, readMembers, scimFault, type Change } from "../../domain/scim/patch.ts";
import {
  changePerson,
  emailOf,
  nameOf,
  readNewPerson,
  replacePerson,
  type PersonDraft,
  type Profile,
} from "../../domain/scim/person.ts";
import { urns, type ScimUser } from "../../domain/scim/resource.ts";
import { plainName, usersMax } from "../../domain/user.ts";
import type { Call, Services } from "../operation.ts";
import type { Reply } from "../http/problem.ts";
import { resetFactors } from "../user-factors.ts";
import { requireRole, userEvent } from "../users.ts";
import { adopt, adoptsPeople, change, requirePerson, saveChange, saveProfile, scimReply, type Work } from "./directory.ts";
import { locationOf } from "./listing.ts";

export function shownPerson(services: Services, call: Call, { profile, groups, ...person }: ScimPerson): ScimUser {
  const { user_id, email, name, role, is_disabled, created_at, updated_at } = person;
  const { external_id = null, given_name = null, family_name = null } = profile ?? {};
  return {
    schemas: [urns.user],
    id: user_id,
    ...(external_id !== null && { externalId: external_id }),
    userName: profile?.user_name ?? email,
    name: {
      formatted: name,
      ...(given_name !== null && { givenName: given_name }),
      ...(family_name !== null && { familyName: family_name }),
    },
    displayName: name,
    active: !is_disabled,
    emails: [{ value: email, type: "work", primary: true }],
    groups: groups.map(({ scim_group_id, display_name }) => ({ value: scim_group_id, display: display_name })),
    roles: [{ value: role }],
    meta: {
      resourceType: "User",
      created: created_at,
      lastModified: updated_at,
      location: locationOf(services, call, `/Users/${user_id}`),
    },
  };
}

// Must run inside the transaction of the change.
async function shownAfter({ services, call, tx }: Work, userId: string): Promise<ScimUser> {
  return shownPerson(services, call, await requirePerson(tx, { ...call, params: { user_id: userId } }));
}

function profileOf({ email: _email, active: _active, ...profile }: PersonDraft): Profile {
  return profile;
}

export async function createPerson(services: Services, call: Call<object>): Promise<Reply> {
  const draft = readNewPerson(call.body);
  const email = emailOf(draft);
  const findHolder = (tx: Queryable) => findEmailHolder(tx, call.caller.tenant_id, email);
  const findIds = async (tx: Queryable) => [(await findHolder(tx))?.user_id ?? ""];
  const user = await change(services, call, findIds, async (work) => {
    const holder = await findHolder(work.tx);
    const userId = holder ? await takeOver(work, draft, holder) : await insert(work, draft, email);
    return shownAfter(work, userId);
  });
  services.audit("user provisioned", { tenant: call.caller.slug, actor: call.caller.actor, user_id: user.id });
  return scimReply(user, 201, { location: user.meta?.location ?? "" });
}

async function insert(work: Work, draft: PersonDraft, email: string): Promise<string> {
  const { tx, call, by, services, settings } = work;
  const { tenant_id } = call.caller;
  const role = settings.default_role;
  await requireRole(tx, call, role);
  if ((await countUsers(tx, tenant_id)) >= usersMax) throw scimFault("invalidValue", `A tenant has at most ${usersMax} users.`);
  const user_id = services.newId(by.now);
  const name = nameOf(draft) ?? plainName(email.replace(/@.*/, "")) ?? "Unnamed";
  const isNew = await insertUser(tx, tenant_id, { user_id, email, name, role, created_at: by.now });
  if (!isNew) throw new Failure("item-already-exists", "A person with this e-mail address already exists.");
  await appendEvents(tx, tenant_id, [userEvent("user.provisioned", user_id, by, { role })]);
  if (!draft.active) await saveChange(work, user_id, { is_disabled: true });
  await saveProfile(work, { user_id, is_deactivated: !draft.active, profile: profileOf(draft) });
  return user_id;
}

// A person whom a directory had deleted comes back without anything but the account. Others are taken over only if the token may.
async function takeOver(work: Work, draft: PersonDraft, { user_id, ...held }: Holder): Promise<string> {
  const { tx, call, by, settings } = work;
  const isReturning = held.was_deleted && held.is_disabled;
  if (held.is_provisioned || (!isReturning && !adoptsPeople(call)))
    throw new Failure("item-already-exists", "A person with this e-mail address already exists.");
  const before = await requirePerson(tx, {
    ...call,
    caller: { ...call.caller, scim: { adoptsPeople: true } },
    params: { user_id },
  });
  await requireRole(tx, call, before.role);
  if (isReturning && draft.active && !held.is_deactivated) throw keptByAdmin();
  if (!isReturning) await appendEvents(tx, call.caller.tenant_id, [await adopt(work, before)]);
  else {
    await requireRole(tx, call, settings.default_role);
    await saveChange(work, user_id, { role: settings.default_role, is_disabled: !draft.active });
    await appendEvents(tx, call.caller.tenant_id, [userEvent("user.provisioned", user_id, by, { role: settings.default_role })]);
    const is_deactivated = !draft.active && held.is_deactivated;
    await saveProfile(work, { user_id, is_deactivated, profile: profileOf(draft) });
  }
  await apply(work, user_id, () => draft);
  return user_id;
}

function draftOf({ profile, email, is_disabled }: ScimPerson): PersonDraft {
  const names = { external_id: null, given_name: null, family_name: null, formatted_name: null, display_name: null };
  return { ...(profile ?? { user_name: email, ...names }), email, active: !is_disabled };
}

function keptByAdmin(): Failure {
  return new Failure("access-denied", "An admin has disabled this person in Casehound. Only an admin can enable them again.");
}

// Changes a person, who is locked.
async function apply(work: Work, userId: string, changed: (before: PersonDraft) => PersonDraft): Promise<void> {
  const { tx, call, by } = work;
  const person = await requirePerson(tx, { ...call, params: { user_id: userId } });
  await requireRole(tx, call, person.role);
  const before = draftOf(person);
  const after = changed(before);
  requireSameEmail(before, after);
  if (!before.active && after.active && !person.is_deactivated) throw keptByAdmin();
  if (person.profile === null) await appendEvents(tx, call.caller.tenant_id, [await adopt(work, person)]);
  const name = nameOf(after) ?? person.name;
  const isToggled = before.active !== after.active;
  await saveChange(work, userId, { ...(name !== person.name && { name }), ...(isToggled && { is_disabled: !after.active }) });
  const is_deactivated = !after.active && (before.active || person.is_deactivated);
  if (isSame(profileOf(before), profileOf(after)) && !isToggled) return;
  const isRenamed = before.user_name !== after.user_name;
  const others = isRenamed && after.active ? [] : [before.user_name, userId];
  const user_name = await saveProfile(work, { user_id: userId, is_deactivated, profile: profileOf(after) }, others);
  if (before.user_name === user_name && before.external_id === after.external_id) return;
  const { external_id } = after;
  await appendEvents(tx, call.caller.tenant_id, [userEvent("user.updated", userId, by, { user_name, external_id })]);
}

function isSame(one: Profile, other: Profile): boolean {
  const names = Object.keys(one) as (keyof Profile)[];
  return names.every((name) => one[name] === other[name]);
}

// The audit trail names people by their address, so it stays. But a request that disables somebody succeeds.
function requireSameEmail(before: PersonDraft, after: PersonDraft): void {
  if (after.email === null || after.email === before.email || !after.active) return;
  throw scimFault("mutability", "The e-mail address of a person cannot be changed. Create another person with the new address.");
}

// A directory must always be able to disable somebody, whatever else is wrong in the same request.
function disabledAtLeast(before: PersonDraft, changes: Change[], changed: () => PersonDraft): PersonDraft {
  try {
    return changed();
  } catch (error) {
    if (!(error instanceof Failure) || !isDisabling(changes)) throw error;
    return { ...before, active: false };
  }
}

async function modify(
  services: Services,
  call: Call,
  changes: Change[],
  changedBy: (before: PersonDraft) => PersonDraft,
): Promise<Reply> {
  const { user_id = "" } = call.params;
  const changed = (before: PersonDraft) => disabledAtLeast(before, changes, () => changedBy(before));
  const user = await change(
    services,
    call,
    async () => [user_id],
    async (work) => {
      await apply(work, user_id, changed);
      return shownAfter(work, user_id);
    },
  );
  services.audit("user changed", { tenant: call.caller.slug, actor: call.caller.actor, user_id, active: user.active });
  return scimReply(user);
}

export async function replaceWhole(services: Services, call: Call<object>): Promise<Reply> {
  return modify(services, call, readMembers(call.body), (before) => replacePerson(before, call.body));
}

export async function patchPerson(services: Services, call: Call<object>): Promise<Reply> {
  const changes = readChanges(call.body);
  return modify(services, call, changes, (before) => changePerson(before, changes));
}

// The account stays, because the audit trail names it. Nobody can sign in to it, not even after it has been enabled again.
export async function removePerson(services: Services, call: Call): Promise<Reply> {
  const { user_id = "" } = call.params;
  const { tenant_id, slug, actor } = call.caller;
  await change(
    services,
    call,
    async () => [user_id],
    async (work) => {
      const { tx, by } = work;
      const person = await requirePerson(tx, call);
      await requireRole(tx, call, person.role);
      // Otherwise it would be unknown later that a directory has disabled the person.
      const adopted = person.profile === null && !person.is_disabled ? [await adopt(work, person)] : [];
      await appendEvents(tx, tenant_id, adopted);
      const user = await saveChange(work, user_id, { is_disabled: true });
      await resetFactors(tx, tenant_id, user, by);
      await endScimPerson(tx, tenant_id, { user_id, was_active: !person.is_disabled, now: by.now });
      await appendEvents(tx, tenant_id, [userEvent("user.deprovisioned", user_id, by)]);
    },
  );
  services.audit("user deprovisioned", { tenant: slug, actor, user_id });
  return { status: 204, body: "", headers: {} };
}
