import { Type } from "typebox";
import type { Queryable } from "../../db/postgres/database.ts";
import { appendEvents } from "../../db/events.ts";
import {
  changeMembers,
  deleteScimGroup,
  findScimGroup,
  listMembers,
  listScimGroups,
  saveScimGroup,
  type Member,
  type ScimGroupRow,
} from "../../db/scim-groups.ts";
import { listScimPeople } from "../../db/scim-people.ts";
import type { DomainEvent, EventType } from "../../domain/event.ts";
import { Failure, notFound } from "../../domain/failure.ts";
import { changeGroup, groupsMax, readNewGroup, type GroupDraft } from "../../domain/scim/group.ts";
import { matches } from "../../domain/scim/matching.ts";
import { readChanges, scimFault } from "../../domain/scim/patch.ts";
import { Projection, ScimGroup, ScimGroupInput, ScimPatch, isWanted, listOf, project, urns } from "../../domain/scim/resource.ts";
import { isCanonicalUuid } from "../../domain/uuid.ts";
import { operation, type Call, type Operation, type Services } from "../operation.ts";
import type { Reply } from "../http/problem.ts";
import { requireRole } from "../users.ts";
import { adopt, adoptsPeople, change, scimReply, type Work } from "./directory.ts";
import { settleRoles } from "./group-roles.ts";
import { ListQuery, listReply, locationOf, pageOf, readFilter, scim, type Paging } from "./listing.ts";

const OneQuery = Type.Object(Projection);
type Listing = Paging & { filter?: string } & Projection;
type Group = ScimGroupRow & { members: Member[] };

function shown(services: Services, call: Call, group: Group): ScimGroup {
  const { scim_group_id, display_name, external_id, created_at, updated_at, members } = group;
  return {
    schemas: [urns.group],
    id: scim_group_id,
    ...(external_id !== null && { externalId: external_id }),
    displayName: display_name,
    members: members.map(({ user_id, name }) => ({ value: user_id, display: name })),
    meta: {
      resourceType: "Group",
      created: created_at,
      lastModified: updated_at,
      location: locationOf(services, call, `/Groups/${scim_group_id}`),
    },
  };
}

async function withMembers(database: Queryable, call: Call, groups: ScimGroupRow[]): Promise<Group[]> {
  const ids = groups.map((group) => group.scim_group_id);
  const members = Map.groupBy(await listMembers(database, call.caller.tenant_id, ids), (member) => member.scim_group_id);
  return groups.map((group) => ({ ...group, members: members.get(group.scim_group_id) ?? [] }));
}

// Members are read only if somebody wants to see them or searches by them, because groups can be large.
async function list(services: Services, call: Call<unknown, Listing>): Promise<Reply> {
  const { filter: text, ...query } = call.query;
  const by = readFilter(text);
  const all = await listScimGroups(services.database, call.caller.tenant_id);
  const isByMember = by?.isLong === true;
  const bare = isByMember ? await withMembers(services.database, call, all) : all.map((group) => ({ ...group, members: [] }));
  const found = bare.filter((group) => by === null || matches(by.filter, shown(services, call, group)));
  const { first, page } = pageOf(found, query);
  const whole = isWanted("members", query) && !isByMember ? await withMembers(services.database, call, page) : page;
  return listReply(found, { first, page: whole.map((group) => project(shown(services, call, group), query)) });
}

async function requireGroup(database: Queryable, call: Call): Promise<Group> {
  const id = call.params["scim_group_id"] ?? "";
  const group = isCanonicalUuid(id) ? await findScimGroup(database, call.caller.tenant_id, id) : undefined;
  const [whole] = group ? await withMembers(database, call, [group]) : [];
  if (!whole) throw notFound("Group", id);
  return whole;
}

async function read(services: Services, call: Call<unknown, Projection>): Promise<Reply> {
  return scimReply(project(shown(services, call, await requireGroup(services.database, call)), call.query));
}

function groupEvent(type: EventType, { by }: Work, id: string, data: Record<string, unknown>): DomainEvent {
  return { type, occurred_at: by.now, actor: by.actor, resource: { type: "provisioning", id }, data };
}

async function saveDraft({ tx, call, by }: Work, groupId: string, { display_name, external_id }: GroupDraft): Promise<void> {
  const saved = { scim_group_id: groupId, display_name, external_id, display_name_key: display_name.toLowerCase(), now: by.now };
  if (!(await saveScimGroup(tx, call.caller.tenant_id, saved)))
    throw new Failure("item-already-exists", "A group with this displayName already exists.");
}

// People whom no directory manages yet are taken over when they join a group, if the token may do that.
async function admitMembers(work: Work, ids: ReadonlySet<string>): Promise<DomainEvent[]> {
  if (ids.size === 0) return [];
  const { tx, call } = work;
  const people = await listScimPeople(tx, call.caller.tenant_id, { userIds: [...ids].filter(isCanonicalUuid) });
  const visible = people.filter(({ profile }) => profile !== null || adoptsPeople(call));
  const known = new Set(visible.map(({ user_id }) => user_id));
  const lacking = [...ids].find((id) => !known.has(id));
  if (lacking !== undefined)
    throw scimFault("invalidValue", `members contains an unknown id: ${lacking.toWellFormed().slice(0, 100)}`);
  const adopted = visible.filter(({ profile }) => profile === null);
  for (const role of new Set(adopted.map((person) => person.role))) await requireRole(tx, call, role);
  const events: DomainEvent[] = [];
  for (const person of adopted) events.push(await adopt(work, person));
  return events;
}

async function create(services: Services, call: Call<object>): Promise<Reply> {
  const draft = readNewGroup(call.body);
  const group = await change(
    services,
    call,
    async () => draft.members,
    async (work) => {
      const { tx, by } = work;
      const { tenant_id } = call.caller;
      if ((await listScimGroups(tx, tenant_id)).length >= groupsMax)
        throw scimFault("invalidValue", `A tenant has at most ${groupsMax} groups.`);
      const groupId = services.newId(by.now);
      const admitted = await admitMembers(work, draft.members);
      await saveDraft(work, groupId, draft);
      await changeMembers(tx, tenant_id, { groupId, added: [...draft.members], removed: [] });
      const data = { display_name: draft.display_name, added: draft.members.size };
      const created = groupEvent("provisioning.group_created", work, groupId, data);
      await appendEvents(tx, tenant_id, [...admitted, created, ...(await settleRoles(work, draft.members))]);
      return requireGroup(tx, { ...call, params: { scim_group_id: groupId } });
    },
  );
  services.audit("group created", { tenant: call.caller.slug, actor: call.caller.actor, group: group.scim_group_id });
  const resource = shown(services, call, group);
  return scimReply(resource, 201, { location: resource.meta?.location ?? "" });
}

function draftOf({ display_name, external_id, members }: Group): GroupDraft {
  return { display_name, external_id, members: new Set(members.map(({ user_id }) => user_id)) };
}

async function modify(services: Services, call: Call, changed: (before: GroupDraft) => GroupDraft): Promise<Group> {
  // The role of each of them may change.
  const findIds = async (tx: Queryable) => {
    const before = draftOf(await requireGroup(tx, call));
    return before.members.union(changed(before).members);
  };
  const group = await change(services, call, findIds, async (work) => {
    const group = await requireGroup(work.tx, call);
    await apply(work, group, changed(draftOf(group)));
    return requireGroup(work.tx, call);
  });
  services.audit("group changed", { tenant: call.caller.slug, actor: call.caller.actor, group: group.scim_group_id });
  return group;
}

async function apply(work: Work, group: Group, after: GroupDraft): Promise<void> {
  const { tx, call } = work;
  const { tenant_id } = call.caller;
  const { scim_group_id: groupId } = group;
  const before = draftOf(group);
  const [added, removed] = [after.members.difference(before.members), before.members.difference(after.members)];
  const isRenamed = after.display_name !== before.display_name;
  const isSame = !isRenamed && after.external_id === before.external_id && added.size + removed.size === 0;
  if (isSame) return;
  const admitted = await admitMembers(work, added);
  await saveDraft(work, groupId, after);
  await changeMembers(tx, tenant_id, { groupId, added: [...added], removed: [...removed] });
  const data = { display_name: after.display_name, added: added.size, removed: removed.size };
  const updated = groupEvent("provisioning.group_updated", work, groupId, data);
  const settled = await settleRoles(work, isRenamed ? before.members.union(added) : added.union(removed));
  await appendEvents(tx, tenant_id, [...admitted, updated, ...settled]);
}

async function replace(services: Services, call: Call<object>): Promise<Reply> {
  const draft = readNewGroup(call.body);
  return scimReply(shown(services, call, await modify(services, call, () => draft)));
}

async function patch(services: Services, call: Call<object>): Promise<Reply> {
  const changes = readChanges(call.body);
  await modify(services, call, (before) => changeGroup(before, changes));
  return { status: 204, body: "", headers: {} };
}

async function remove(services: Services, call: Call): Promise<Reply> {
  const { tenant_id, slug, actor } = call.caller;
  const findIds = async (tx: Queryable) => draftOf(await requireGroup(tx, call)).members;
  const groupId = await change(services, call, findIds, async (work) => {
    const group = await requireGroup(work.tx, call);
    const { scim_group_id, display_name } = group;
    await deleteScimGroup(work.tx, tenant_id, scim_group_id);
    const deleted = groupEvent("provisioning.group_deleted", work, scim_group_id, { display_name });
    await appendEvents(work.tx, tenant_id, [deleted, ...(await settleRoles(work, draftOf(group).members))]);
    return scim_group_id;
  });
  services.audit("group deleted", { tenant: slug, actor, group: groupId });
  return { status: 204, body: "", headers: {} };
}

const reachWords =
  "The tenant's roles by group decide which role the members get. A caller cannot give a role with a scope that the caller lacks.";
const example = { schemas: [urns.group], displayName: "Fraud leads", members: [] };

export const scimGroupOperations: Operation[] = [
  operation({
    ...scim,
    id: "listScimGroups",
    method: "GET",
    path: "/scim/v2/Groups",
    summary: "List groups for a directory",
    query: ListQuery,
    success: { status: 200, description: "The groups that match", schema: listOf(ScimGroup, "ScimGroupList") },
    problems: [],
    handle: list,
  }),
  operation({
    ...scim,
    id: "createScimGroup",
    method: "POST",
    path: "/scim/v2/Groups",
    summary: "Create a group for a directory",
    description: reachWords,
    body: ScimGroupInput,
    bodyBytesMax: 256 * 1024,
    success: { status: 201, description: "The group", schema: ScimGroup, headers: { Location: "The group's address." } },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example,
    handle: create,
  }),
  operation({
    ...scim,
    id: "getScimGroup",
    method: "GET",
    path: "/scim/v2/Groups/{scim_group_id}",
    summary: "Read a group for a directory",
    query: OneQuery,
    success: { status: 200, description: "The group", schema: ScimGroup },
    problems: ["item-not-found"],
    handle: read,
  }),
  operation({
    ...scim,
    id: "replaceScimGroup",
    method: "PUT",
    path: "/scim/v2/Groups/{scim_group_id}",
    summary: "Replace a group for a directory",
    description: reachWords,
    body: ScimGroupInput,
    bodyBytesMax: 256 * 1024,
    success: { status: 200, description: "The group after the change", schema: ScimGroup },
    problems: ["bad-request", "item-not-found", "item-already-exists", "transaction-contended"],
    example: { ...example, displayName: "Fraud investigators" },
    handle: replace,
  }),
  operation({
    ...scim,
    id: "patchScimGroup",
    method: "PATCH",
    path: "/scim/v2/Groups/{scim_group_id}",
    summary: "Change a group or its members for a directory",
    description: reachWords,
    body: ScimPatch,
    bodyBytesMax: 256 * 1024,
    success: { status: 204, description: "The group was changed" },
    problems: ["bad-request", "item-not-found", "item-already-exists", "transaction-contended"],
    example: { schemas: [urns.patch], Operations: [{ op: "replace", path: "displayName", value: "Fraud team" }] },
    handle: patch,
  }),
  operation({
    ...scim,
    id: "deleteScimGroup",
    method: "DELETE",
    path: "/scim/v2/Groups/{scim_group_id}",
    summary: "Delete a group for a directory",
    description: reachWords,
    success: { status: 204, description: "The group is deleted" },
    problems: ["item-not-found", "transaction-contended"],
    handle: remove,
  }),
];
