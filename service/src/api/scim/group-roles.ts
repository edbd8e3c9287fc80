import { listScimPeople } from "../../db/scim-people.ts";
import { deleteUnusedLinksOfUsers } from "../../db/user-links.ts";
import { listUsers, lockActiveAdmins, saveRoles } from "../../db/users.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { roleInGroups } from "../../domain/provisioning.ts";
import { isActiveAdmin, lastAdminFault, type User } from "../../domain/user.ts";
import { requireRole, userEvent } from "../users.ts";
import type { Work } from "./directory.ts";

type RoleChange = { user_id: string; before: string; role: string };

// Gives people the role that their groups decide. There may be a thousand people, so it takes only a few statements. Returns the
// events, which must be appended last, because nobody else in the tenant can append any until the commit.
export async function settleRoles(work: Work, userIds: ReadonlySet<string>): Promise<DomainEvent[]> {
  const { tx, call, by } = work;
  const { tenant_id } = call.caller;
  const wanted = await wantedRoles(work, userIds);
  for (const role of new Set(wanted.flatMap(({ before, role }) => [before, role]))) await requireRole(tx, call, role);
  const changes = await withoutLastAdmin(work, wanted);
  if (changes.length === 0) return [];
  await saveRoles(tx, tenant_id, changes);
  const changedIds = changes.map(({ user_id }) => user_id);
  // Somebody who created a link while the person had a smaller role must not be able to sign in with the larger one.
  await deleteUnusedLinksOfUsers(tx, tenant_id, changedIds);
  return changes.map(({ user_id, role }) => userEvent("user.updated", user_id, by, { role }));
}

async function wantedRoles({ tx, call, settings }: Work, userIds: ReadonlySet<string>): Promise<RoleChange[]> {
  if (settings.role_groups.length === 0 || userIds.size === 0) return [];
  const people = await listScimPeople(tx, call.caller.tenant_id, { userIds: [...userIds] });
  return people.flatMap(({ user_id, profile, role: before, groups }) => {
    const names = groups.map(({ display_name }) => display_name);
    const role = profile === null ? undefined : roleInGroups(settings, names);
    return role === undefined || role === before ? [] : [{ user_id, before, role }];
  });
}

// The last admin stays one: otherwise nobody could correct the groups.
async function withoutLastAdmin({ tx, call, services }: Work, changes: RoleChange[]): Promise<RoleChange[]> {
  const { tenant_id, slug } = call.caller;
  if (changes.every(({ before }) => before !== "admin")) return changes;
  let admins = await lockActiveAdmins(tx, tenant_id);
  const users = new Map((await listUsers(tx, tenant_id)).map((user): [string, User] => [user.user_id, user]));
  return changes.filter(({ user_id, role }) => {
    const user = users.get(user_id);
    if (!user) return false;
    const after = { ...user, role };
    const isKept = lastAdminFault(user, after, admins) !== null;
    if (isKept) services.audit("role kept", { tenant: slug, user_id, role: user.role, why: "the last active admin" });
    else admins += Number(isActiveAdmin(after)) - Number(isActiveAdmin(user));
    return !isKept;
  });
}
