import { Type } from "typebox";
import type { Queryable } from "../../db/postgres/database.ts";
import { listScimPeople, type ScimPerson } from "../../db/scim-people.ts";
import { matches } from "../../domain/scim/matching.ts";
import { Projection, ScimPatch, ScimUser, ScimUserInput, isWanted, listOf, project, urns } from "../../domain/scim/resource.ts";
import { operation, type Call, type Operation, type Services } from "../operation.ts";
import type { Reply } from "../http/problem.ts";
import { adoptsPeople, requirePerson, scimReply } from "./directory.ts";
import { ListQuery, listReply, pageOf, readFilter, scim, type Paging } from "./listing.ts";
import { createPerson, patchPerson, removePerson, replaceWhole, shownPerson } from "./person-changes.ts";

const OneQuery = Type.Object(Projection);
type Listing = Paging & { filter?: string } & Projection;

async function withGroups(database: Queryable, tenantId: string, people: ScimPerson[]): Promise<ScimPerson[]> {
  const read = await listScimPeople(database, tenantId, { userIds: people.map(({ user_id }) => user_id) });
  const groups = new Map(read.map((person): [string, ScimPerson["groups"]] => [person.user_id, person.groups]));
  return people.map((person) => ({ ...person, groups: groups.get(person.user_id) ?? [] }));
}

// Groups are read only for the people who are returned, unless the filter needs them: a person can be in many groups.
async function list(services: Services, call: Call<unknown, Listing>): Promise<Reply> {
  const { filter: text, ...query } = call.query;
  const { database } = services;
  const { tenant_id } = call.caller;
  const by = readFilter(text);
  const people = await listScimPeople(database, tenant_id, { hasGroups: by?.isLong === true });
  const visible = people.filter(({ profile }) => profile !== null || adoptsPeople(call));
  const found = visible.filter((person) => by === null || matches(by.filter, shownPerson(services, call, person)));
  const { first, page } = pageOf(found, query);
  const whole = by?.isLong === true || !isWanted("groups", query) ? page : await withGroups(database, tenant_id, page);
  return listReply(found, { first, page: whole.map((person) => project(shownPerson(services, call, person), query)) });
}

async function read(services: Services, call: Call<unknown, Projection>): Promise<Reply> {
  return scimReply(project(shownPerson(services, call, await requirePerson(services.database, call)), call.query));
}

export const scimPeopleOperations: Operation[] = [
  operation({
    ...scim,
    id: "listScimUsers",
    method: "GET",
    path: "/scim/v2/Users",
    summary: "List people for a directory",
    description:
      "Lists people whom a directory has created or taken over. A token that adopts people, and a caller with an access token, also sees everybody else.",
    query: ListQuery,
    success: { status: 200, description: "The people that match", schema: listOf(ScimUser, "ScimUserList") },
    problems: [],
    handle: list,
  }),
  operation({
    ...scim,
    id: "createScimUser",
    method: "POST",
    path: "/scim/v2/Users",
    summary: "Create a person for a directory",
    description:
      "The person gets the default role, and signs in through the tenant's identity provider. A password is ignored. The e-mail address cannot be changed later.",
    body: ScimUserInput,
    bodyBytesMax: 64 * 1024,
    success: { status: 201, description: "The person", schema: ScimUser, headers: { Location: "The person's address." } },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: {
      schemas: [urns.user],
      userName: "grace.hopper@shop.example",
      name: { givenName: "Grace", familyName: "Hopper" },
      emails: [{ value: "grace.hopper@shop.example", type: "work", primary: true }],
      active: true,
    },
    handle: createPerson,
  }),
  operation({
    ...scim,
    id: "getScimUser",
    method: "GET",
    path: "/scim/v2/Users/{user_id}",
    summary: "Read a person for a directory",
    query: OneQuery,
    success: { status: 200, description: "The person", schema: ScimUser },
    problems: ["item-not-found"],
    handle: read,
  }),
  operation({
    ...scim,
    id: "replaceScimUser",
    method: "PUT",
    path: "/scim/v2/Users/{user_id}",
    summary: "Replace what a directory says about a person",
    description: "Without `active`, the person stays as active as before.",
    body: ScimUserInput,
    success: { status: 200, description: "The person after the change", schema: ScimUser },
    problems: ["bad-request", "item-not-found", "item-already-exists", "transaction-contended"],
    example: { schemas: [urns.user], userName: "grace@shop.example", displayName: "Grace Hopper" },
    handle: replaceWhole,
  }),
  operation({
    ...scim,
    id: "patchScimUser",
    method: "PATCH",
    path: "/scim/v2/Users/{user_id}",
    summary: "Change a person, or disable them, for a directory",
    description:
      "Setting `active` to false ends all sessions: the person's next request is refused. The last active admin stays active. People whom an admin has disabled here can be enabled only by an admin.",
    body: ScimPatch,
    success: { status: 200, description: "The person after the change", schema: ScimUser },
    problems: ["bad-request", "item-not-found", "item-already-exists", "transaction-contended"],
    example: { schemas: [urns.patch], Operations: [{ op: "replace", path: "displayName", value: "Grace Hopper" }] },
    handle: patchPerson,
  }),
  operation({
    ...scim,
    id: "deleteScimUser",
    method: "DELETE",
    path: "/scim/v2/Users/{user_id}",
    summary: "Remove a person for a directory",
    description:
      "The person is disabled and signed out, and the password, the link to the identity provider and the second factors are deleted. The account itself stays, because the audit trail names it. It can be created again.",
    success: { status: 204, description: "The person is disabled" },
    problems: ["item-not-found", "validation-error", "transaction-contended"],
    handle: removePerson,
  }),
];
