import { saveExternalSubject } from "../src/db/users.ts";
import type { TestTenant } from "./harness.ts";
import { invite, makeOthers, newEmail } from "./people.ts";
import { groupSchema, patchSchema, userSchema } from "./scim-lab.ts";
import type { Sample } from "./witness.ts";

const users = "/scim/v2/Users";
const groups = "/scim/v2/Groups";
const scim = { "content-type": "application/scim+json" };
const patch = (op: object) => ({ body: { schemas: [patchSchema], Operations: [op] } });

async function groupPath(tenant: TestTenant): Promise<string> {
  return `${groups}/${(await makeOthers(tenant)).scim_group_id}`;
}

// An admin who is the only one that can sign in.
async function lastAdmin(tenant: TestTenant): Promise<string> {
  const { user } = await invite(tenant, "admin");
  const bound = { user_id: user.user_id, external_subject: `https://id.example ${user.user_id}` };
  await tenant.service.database.transaction((tx) => saveExternalSubject(tx, tenant.tenantId, bound));
  return `${users}/${user.user_id}`;
}

// The requests of directories.
export const scimTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  getScimConfig: async () => [{ path: "/scim/v2/ServiceProviderConfig", status: 200 }],
  listScimResourceTypes: async () => [{ path: "/scim/v2/ResourceTypes", status: 200 }],
  listScimSchemas: async () => [{ path: "/scim/v2/Schemas", status: 200 }],
  listScimUsers: async (tenant) => {
    await makeOthers(tenant);
    const filter = encodeURIComponent('active eq true and emails[type eq "work"].value co "shop"');
    return [
      { path: `${users}?filter=${filter}&startIndex=1&count=10&attributes=userName`, status: 200 },
      { path: users, status: 200 },
    ];
  },
  createScimUser: async () => {
    const body = { schemas: [userSchema], userName: newEmail(), name: { givenName: "Ada" }, active: true };
    return [
      { path: users, options: { body }, status: 201 },
      { path: users, options: { body, headers: scim }, status: 409, type: "item-already-exists" },
    ];
  },
  getScimUser: async (tenant) => [{ path: `${users}/${(await makeOthers(tenant)).user_id}`, status: 200 }],
  replaceScimUser: async (tenant) => {
    const { user } = await invite(tenant, "lead");
    const other = await tenant.call("POST", users, { body: { userName: newEmail() } });
    const { userName } = other.json as unknown as { userName: string };
    const path = `${users}/${user.user_id}`;
    return [
      { path, options: { body: { userName: user.email, displayName: "Ada" } }, status: 200 },
      { path, options: { body: { userName } }, status: 409, type: "item-already-exists" },
    ];
  },
  patchScimUser: async (tenant) => {
    const { user } = await invite(tenant, "lead");
    const other = await tenant.call("POST", users, { body: { userName: newEmail() } });
    const { userName } = other.json as unknown as { userName: string };
    const path = `${users}/${user.user_id}`;
    return [
      { path, options: patch({ op: "replace", path: "userName", value: userName }), status: 409, type: "item-already-exists" },
      { path, options: patch({ op: "replace", path: "active", value: false }), status: 200 },
    ];
  },
  deleteScimUser: async (tenant) => [
    { path: `${users}/${(await makeOthers(tenant)).user_id}`, status: 204 },
    { path: await lastAdmin(tenant), status: 422, type: "validation-error" },
  ],
  listScimGroups: async (tenant) => {
    await makeOthers(tenant);
    return [{ path: `${groups}?excludedAttributes=members`, status: 200 }];
  },
  createScimGroup: async () => {
    const body = { schemas: [groupSchema], displayName: "Leads" };
    return [
      { path: groups, options: { body }, status: 201 },
      { path: groups, options: { body }, status: 409, type: "item-already-exists" },
    ];
  },
  getScimGroup: async (tenant) => [{ path: await groupPath(tenant), status: 200 }],
  replaceScimGroup: async (tenant) => {
    await tenant.call("POST", groups, { body: { displayName: "Taken" } });
    const path = await groupPath(tenant);
    return [
      { path, options: { body: { displayName: "Leads" } }, status: 200 },
      { path, options: { body: { displayName: "taken" } }, status: 409, type: "item-already-exists" },
    ];
  },
  patchScimGroup: async (tenant) => {
    await tenant.call("POST", groups, { body: { displayName: "Taken" } });
    const path = await groupPath(tenant);
    return [
      { path, options: patch({ op: "replace", path: "displayName", value: "Leads" }), status: 204 },
      { path, options: patch({ op: "replace", path: "displayName", value: "Taken" }), status: 409, type: "item-already-exists" },
    ];
  },
  deleteScimGroup: async (tenant) => [{ path: await groupPath(tenant), status: 204 }],
};
