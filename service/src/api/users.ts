import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { lockRoleScopes } from "../db/roles.ts";
import { clearDeactivated } from "../db/scim-people.ts";
import { deleteUnusedLinks } from "../db/user-links.ts";
import { countUsers, findUser, insertUser, listUsers, lockActiveAdmins, lockUser, saveUser } from "../db/users.ts";
import { deleteWebSessions } from "../db/web-sessions.ts";
import type { DomainEvent, EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { requireReach, scopesOfRole } from "../domain/role.ts";
import {
  NewUser,
  User,
  UserChange,
  UserLink,
  changeUser,
  emailFaults,
  lastAdminFault,
  normalEmail,
  usersMax,
} from "../domain/user.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { makeLink } from "./people/links.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const Invited = Type.Object({ user: User, link: UserLink }, { additionalProperties: false, $id: "InvitedUser" });

// Who makes the change, when, and the base URL of links.
export type By = { actor: string; now: string; publicUrl: string };

export function byCaller(services: Services, { caller }: Call): By {
  return { actor: caller.actor, now: services.now(), publicUrl: services.publicUrl };
}

export function userEvent(type: EventType, userId: string, { actor, now }: By, data?: Record<string, unknown>): DomainEvent {
  return { type, occurred_at: now, actor, resource: { type: "user", id: userId }, ...(data && { data }) };
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ users: await listUsers(services.database, caller.tenant_id) });
}

// A malformed id cannot exist, so it is treated as not found.
async function requireUser(find: (id: string) => Promise<User | undefined>, { params }: Call): Promise<User> {
  const id = params["user_id"] ?? "";
  const user = isCanonicalUuid(id) ? await find(id) : undefined;
  if (!user) throw notFound("User", id);
  return user;
}

// Nobody can give a role, or change a person who has it, without having all its scopes.
export async function requireRole(tx: Queryable, { caller }: Call, role: string): Promise<void> {
  requireReach(caller, scopesOfRole(role, (await lockRoleScopes(tx, caller.tenant_id, role)) ?? null));
}

// A role must exist when it is given. It cannot be deleted meanwhile.
async function requireKnownRole(tx: Queryable, tenantId: string, role: string): Promise<void> {
  if ((await lockRoleScopes(tx, tenantId, role)) === undefined)
    throw invalid([{ field: "role", message: "is not a role of this tenant" }]);
}

// Locks the user, whose role must allow no more than the caller may do.
export async function lockReached(tx: Queryable, call: Call): Promise<User> {
  const user = await requireUser((id) => lockUser(tx, call.caller.tenant_id, id), call);
  await requireRole(tx, call, user.role);
  return user;
}

async function read(services: Services, call: Call): Promise<Reply> {
  return dataReply(await requireUser((id) => findUser(services.database, call.caller.tenant_id, id), call));
}

// Creates a person and an invitation link, which is shown only once.
export async function inviteUser(
  tx: Queryable,
  tenantId: string,
  wanted: NewUser & { user_id: string },
  by: By,
): Promise<{ user: User; link: UserLink }> {
  const email = normalEmail(wanted.email);
  if ((await countUsers(tx, tenantId)) >= usersMax)
    throw invalid([{ field: "email", message: `must not be added: a tenant has at most ${usersMax} users` }]);
  const { user_id, name, role } = wanted;
  await requireKnownRole(tx, tenantId, role);
  if (!(await insertUser(tx, tenantId, { user_id, email, name, role, created_at: by.now })))
    throw new Failure("item-already-exists", "A user with this e-mail already exists.");
  const link = await makeLink(tx, tenantId, { purpose: "invitation", userId: user_id, ...by });
  await appendEvents(tx, tenantId, [userEvent("user.invited", user_id, by, { role })]);
  const user = await findUser(tx, tenantId, user_id);
  if (!user) throw new Error("a user that was just created is missing");
  return { user, link };
}

async function create(services: Services, call: Call<NewUser>): Promise<Reply> {
  const by = byCaller(services, call);
  const wanted = { ...call.body, user_id: services.newId(by.now) };
  const { tenant_id, slug } = call.caller;
  const invited = await services.database.transaction(async (tx) => {
    await requireRole(tx, call, wanted.role);
    return inviteUser(tx, tenant_id, wanted, by);
  });
  services.audit("user invited", { tenant: slug, actor: by.actor, user_id: wanted.user_id, role: wanted.role });
  return dataReply(invited, 201);
}

// Returns the user after the change. If the user is disabled before or after the change, all of the user's sessions end. Unused
// links are deleted then, and if the role changes.
export async function saveUserChange(
  tx: Queryable,
  tenantId: string,
  { userId, change }: { userId: string; change: UserChange },
  by: By,
): Promise<User | undefined> {
  const admins = await lockActiveAdmins(tx, tenantId);
  const user = await lockUser(tx, tenantId, userId);
  if (!user) return undefined;
  const changed = changeUser(user, change);
  if (changed === user) return user;
  if (changed.role !== user.role) await requireKnownRole(tx, tenantId, changed.role);
  const fault = lastAdminFault(user, changed, admins);
  if (fault) throw invalid([fault]);
  await saveUser(tx, tenantId, changed);
  // A directory may activate only people whom it has deactivated itself.
  if (changed.is_disabled !== user.is_disabled) await clearDeactivated(tx, tenantId, userId);
  const isDisabled = changed.is_disabled || user.is_disabled;
  if (isDisabled) await deleteWebSessions(tx, tenantId, { user_id: userId });
  // Somebody who created a link while the person had a smaller role must not be able to sign in with the larger one.
  if (isDisabled || changed.role !== user.role) await deleteUnusedLinks(tx, tenantId, userId);
  await appendEvents(tx, tenantId, [userEvent("user.updated", userId, by, { ...change })]);
  return changed;
}

async function update(services: Services, call: Call<UserChange>): Promise<Reply> {
  const by = byCaller(services, call);
  const { body: change, caller } = call;
  const user = await services.database.transaction(async (tx) => {
    // Locks in the same order as saveUserChange.
    await lockActiveAdmins(tx, caller.tenant_id);
    await lockReached(tx, call);
    if (change.role !== undefined) await requireRole(tx, call, change.role);
    return requireUser((userId) => saveUserChange(tx, caller.tenant_id, { userId, change }, by), call);
  });
  services.audit("user changed", { tenant: caller.slug, actor: by.actor, user_id: user.user_id, ...change });
  return dataReply(user);
}

async function renewLink(services: Services, call: Call): Promise<Reply> {
  const by = byCaller(services, call);
  const { tenant_id, slug } = call.caller;
  const { link, user } = await services.database.transaction(async (tx) => {
    const user = await lockReached(tx, call);
    if (user.is_disabled) throw new Failure("access-denied", "This user is disabled, so a link cannot be created.");
    // Otherwise a stolen session could set its owner's password without the old one.
    if (user.user_id === call.caller.person?.user_id)
      throw new Failure("access-denied", "You cannot create a link for yourself. Change your password instead.");
    const purpose = user.has_password ? "password-reset" : "invitation";
    const link = await makeLink(tx, tenant_id, { purpose, userId: user.user_id, ...by });
    await appendEvents(tx, tenant_id, [userEvent("user.link_made", user.user_id, by, { purpose })]);
    return { link, user };
  });
  services.audit("link created", { tenant: slug, actor: by.actor, user_id: user.user_id, purpose: link.purpose });
  return dataReply(link, 201);
}

async function endSessions(services: Services, call: Call): Promise<Reply> {
  const by = byCaller(services, call);
  const { tenant_id, slug } = call.caller;
  const user = await services.database.transaction(async (tx) => {
    const user = await lockReached(tx, call);
    const ended = await deleteWebSessions(tx, tenant_id, user);
    if (ended > 0) await appendEvents(tx, tenant_id, [userEvent("user.sessions_ended", user.user_id, by)]);
    return user;
  });
  services.audit("sessions ended", { tenant: slug, actor: by.actor, user_id: user.user_id });
  return { status: 204, body: "", headers: {} };
}

export const changing = { scope: "manage:users", tag: "People" } as const;

// What anybody who works on cases may know about the others, to mention them or hand a case over.
const Colleague = Type.Object(
  { user_id: User.properties.user_id, email: User.properties.email, name: User.properties.name, role: User.properties.role },
  { additionalProperties: false, $id: "Colleague" },
);

async function colleagues(services: Services, { caller }: Call): Promise<Reply> {
  const people = (await listUsers(services.database, caller.tenant_id)).filter((user) => !user.is_disabled);
  return dataReply({ colleagues: people.map(({ user_id, email, name, role }) => ({ user_id, email, name, role })) });
}

export const userOperations: Operation[] = [
  operation({
    id: "listColleagues",
    method: "GET",
    path: "/colleagues",
    scope: "read:case",
    tag: "People",
    summary: "List the people who work on cases",
    description: "Everybody who is not disabled, ordered by e-mail. For mentions in notes.",
    success: {
      status: 200,
      description: "The people",
      schema: Type.Object({ colleagues: Type.Array(Colleague) }, { additionalProperties: false }),
    },
    problems: [],
    handle: colleagues,
  }),
  operation({
    id: "listUsers",
    method: "GET",
    path: "/users",
    scope: "read:users",
    tag: "People",
    summary: "List the tenant's people",
    description: `All of them, ordered by e-mail. A tenant has at most ${usersMax}.`,
    success: {
      status: 200,
      description: "The people",
      schema: Type.Object({ users: Type.Array(User) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "getUser",
    method: "GET",
    path: "/users/{user_id}",
    scope: "read:users",
    tag: "People",
    summary: "Read one person",
    success: { status: 200, description: "The person", schema: User },
    problems: ["item-not-found"],
    handle: read,
  }),
  operation({
    ...changing,
    id: "createUser",
    method: "POST",
    path: "/users",
    summary: "Invite a person",
    description:
      "The response contains a link with which the person chooses a password. The link works once, within seven days, and is shown only once. The caller must hold every scope of the role.",
    body: NewUser,
    faults: ({ email }) => emailFaults(email),
    success: { status: 201, description: "The person, and the invitation", schema: Invited },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: { email: "ada@shop.example", name: "Ada Lovelace", role: "investigator" },
    handle: create,
  }),
  operation({
    ...changing,
    id: "updateUser",
    method: "PUT",
    path: "/users/{user_id}",
    summary: "Change a person's name or role, or disable them",
    description:
      "Omitted members do not change. The change applies from the person's next request on. A person who is disabled is signed out everywhere. The last active admin cannot be disabled or get another role. The caller must hold every scope of the person's role, before and after the change.",
    body: UserChange,
    success: { status: 200, description: "The person after the change", schema: User },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { role: "lead", name: "Ada King" },
    handle: update,
  }),
  operation({
    ...changing,
    id: "createUserLink",
    method: "POST",
    path: "/users/{user_id}/links",
    summary: "Create a new link for a person",
    description:
      "An invitation. For a person who already has a password, a link to set a new one within a day. Earlier links stop working. The link works once and is shown only once. The caller must hold every scope of the person's role.",
    success: { status: 201, description: "The link", schema: UserLink },
    problems: ["item-not-found", "transaction-contended"],
    handle: renewLink,
  }),
  operation({
    ...changing,
    id: "endUserSessions",
    method: "DELETE",
    path: "/users/{user_id}/sessions",
    summary: "Sign a person out everywhere",
    description: "The caller must hold every scope of the person's role.",
    success: { status: 204, description: "The person's sessions have ended" },
    problems: ["item-not-found", "transaction-contended"],
    handle: endSessions,
  }),
];
