import { randomUUID } from "node:crypto";
import { saveExternalSubject } from "../src/db/users.ts";
import type { TestTenant } from "./harness.ts";
import { Browser, invite, makeOthers, newEmail } from "./people.ts";
import type { Sample } from "./witness.ts";

// Includes the rejections for paths below an id, which the common rejections leave out.
export function below(path: string, valid: Omit<Sample, "path">): Sample[] {
  const [, folder, , last] = path.split("/");
  return [
    { ...valid, path },
    { ...valid, path: `/${folder}/${randomUUID()}/${last}`, status: 404, type: "item-not-found" },
    { ...valid, path: `/${folder}/%00/${last}`, status: 400, type: "bad-request" },
  ];
}

async function userPath(tenant: TestTenant): Promise<string> {
  return `/users/${(await makeOthers(tenant)).user_id}`;
}

async function rolePath(tenant: TestTenant, role = "night-shift"): Promise<string> {
  await tenant.call("POST", "/roles", { body: { role, scopes: ["read:cases"] } });
  return `/roles/${role}`;
}

async function clientPath(tenant: TestTenant): Promise<string> {
  return `/clients/${(await makeOthers(tenant)).client_id}`;
}

// The key of an issuer without which no admin could sign in.
async function onlyWayIn(tenant: TestTenant): Promise<string> {
  const { user } = await invite(tenant, "admin");
  const { issuer_key } = await makeOthers(tenant);
  const bound = { user_id: user.user_id, external_subject: `https://${issuer_key}.example a` };
  await tenant.service.database.transaction((tx) => saveExternalSubject(tx, tenant.tenantId, bound));
  return issuer_key;
}

// The requests for people and clients.
export const peopleTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  listUsers: async (tenant) => {
    await userPath(tenant);
    await Browser.join(tenant, "admin");
    return [{ path: "/users", status: 200 }];
  },
  getUser: async (tenant) => [{ path: await userPath(tenant), status: 200 }],
  createUser: async () => {
    const made = { path: "/users", options: { body: { email: newEmail(), name: "Ada Lovelace", role: "lead" } } };
    return [
      { ...made, status: 201 },
      { ...made, status: 409, type: "item-already-exists" },
    ];
  },
  updateUser: async (tenant) => {
    const path = await userPath(tenant);
    return [
      { path, options: { body: { role: "lead", name: "Ada King" } }, status: 200 },
      { path, options: { body: { is_disabled: true } }, status: 200 },
    ];
  },
  createUserLink: async (tenant) => below(`${await userPath(tenant)}/links`, { status: 201 }),
  endUserSessions: async (tenant) => below(`${await userPath(tenant)}/sessions`, { status: 204 }),
  resetSecondFactor: async (tenant) => below(`${await userPath(tenant)}/second-factor`, { status: 204 }),
  listRoles: async (tenant) => {
    await rolePath(tenant);
    return [{ path: "/roles", status: 200 }];
  },
  createRole: async () => {
    const made = { path: "/roles", options: { body: { role: "auditor", scopes: ["read:cases"] } } };
    return [
      { ...made, status: 201 },
      { ...made, status: 409, type: "item-already-exists" },
    ];
  },
  updateRole: async (tenant) => [
    { path: await rolePath(tenant), options: { body: { description: "Reads cases", scopes: ["read:case"] } }, status: 200 },
  ],
  deleteRole: async (tenant) => {
    const [free, held] = [await rolePath(tenant), await rolePath(tenant, "held")];
    await tenant.call("POST", "/users", { body: { email: newEmail(), name: "Ada Lovelace", role: "held" } });
    return [
      { path: free, status: 204 },
      { path: held, status: 422, type: "validation-error" },
    ];
  },
  listSignInIssuers: async (tenant) => {
    await makeOthers(tenant);
    return [{ path: "/issuers", status: 200 }];
  },
  createSignInIssuer: async () => {
    const issuer = { issuer: "https://id.example", client_id: "casehound", client_secret: "secret" };
    const body = { issuer_key: "id", name: "Shop ID", ...issuer, role_groups: [{ group: "leads", role: "lead" }] };
    return [
      { path: "/issuers", options: { body }, status: 201 },
      { path: "/issuers", options: { body }, status: 409, type: "item-already-exists" },
    ];
  },
  updateSignInIssuer: async (tenant) => [
    { path: `/issuers/${(await makeOthers(tenant)).issuer_key}`, options: { body: { name: "Other" } }, status: 200 },
  ],
  deleteSignInIssuer: async (tenant) => [
    { path: `/issuers/${(await makeOthers(tenant)).issuer_key}`, status: 204 },
    { path: `/issuers/${await onlyWayIn(tenant)}`, status: 422, type: "validation-error" },
  ],
  getProvisioning: async () => [{ path: "/scim", status: 200 }],
  updateProvisioning: async () => [
    { path: "/scim", options: { body: { role_groups: [{ group: "Leads", role: "lead" }] } }, status: 200 },
  ],
  listScimTokens: async (tenant) => {
    await makeOthers(tenant);
    return [{ path: "/scim/tokens", status: 200 }];
  },
  createScimToken: async () => [
    { path: "/scim/tokens", options: { body: { name: "okta" } }, status: 201 },
    { path: "/scim/tokens", options: { body: { name: "okta" } }, status: 409, type: "item-already-exists" },
  ],
  revokeScimToken: async (tenant) => [{ path: `/scim/tokens/${(await makeOthers(tenant)).scim_token_id}`, status: 204 }],
  listClients: async (tenant) => {
    const path = await clientPath(tenant);
    await tenant.call("POST", `${path}/rotate-secret`);
    await tenant.call("DELETE", path);
    return [{ path: "/clients", status: 200 }];
  },
  createClient: async () => [{ path: "/clients", options: { body: { scopes: ["read:cases"] } }, status: 201 }],
  rotateClientSecret: async (tenant) => {
    const path = `${await clientPath(tenant)}/rotate-secret`;
    return [
      ...below(path, { options: { body: { revoke_now: false } }, status: 200 }),
      { path, options: { body: { revoke_now: true } }, status: 200 },
    ];
  },
  revokeClient: async (tenant) => [{ path: await clientPath(tenant), status: 204 }],
};
