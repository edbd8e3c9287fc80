import { randomUUID } from "node:crypto";
import type { TestTenant } from "./harness.ts";
import { Browser, makeOthers, newEmail } from "./people.ts";
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

async function clientPath(tenant: TestTenant): Promise<string> {
  return `/clients/${(await makeOthers(tenant)).client_id}`;
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
