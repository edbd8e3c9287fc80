import { expect, test } from "vitest";
import { roleScopes, roles, type Role } from "../src/domain/role.ts";
import { scopes } from "../src/domain/scope.ts";
import { TestTenant, expectProblem, useService, type Answer } from "./harness.ts";
import { Browser, goodPassword, newEmail, signIn, useLink } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

async function all(tenant: TestTenant): Promise<string> {
  const answers = [await tenant.call("GET", "/users"), await tenant.call("GET", "/clients"), await tenant.call("GET", "/events")];
  return answers.map(({ text }) => text).join("\n");
}

async function makeClient(tenant: TestTenant, granted: readonly string[]): Promise<string> {
  const made = await tenant.call("POST", "/clients", { body: { scopes: granted } });
  return (made.json.data as { client: { client_id: string } }).client.client_id;
}

function without(scope: string): string[] {
  return scopes.filter((each) => each !== scope);
}

test("clients 403: nobody can rotate or revoke a client that has more scopes than they have, and nothing changes", async () => {
  const tenant = await TestTenant.create(service.current);
  const client = await makeClient(tenant, ["read:cases", "manage:clients"]);
  const before = await all(tenant);
  const cases: [string, string[]][] = [
    [tenant.clientId, ["manage:clients"]],
    [tenant.clientId, without("read:snippet")],
    [client, ["manage:clients"]],
    [client, without("read:cases")],
  ];
  for (const [id, granted] of cases) {
    const token = await tenant.mint(granted);
    expectProblem(await tenant.call("POST", `/clients/${id}/rotate-secret`, { token }), 403, "access-denied");
    expectProblem(await tenant.call("DELETE", `/clients/${id}`, { token }), 403, "access-denied");
  }
  expect(await all(tenant)).toBe(before);
  const token = await tenant.mint(["manage:clients", "read:cases"]);
  expectProblem(await tenant.call("DELETE", "/clients/no-such-client", { token }), 404, "item-not-found");
  expect((await tenant.call("POST", `/clients/${client}/rotate-secret`, { token })).status).toBe(200);
  expect((await tenant.call("DELETE", `/clients/${client}`, { token })).status).toBe(204);
  expect((await tenant.call("POST", `/clients/${tenant.clientId}/rotate-secret`)).status).toBe(200);
});

// Everything that can be done to a user with manage:users.
function deeds(tenant: TestTenant, token: string, userId: string): Promise<Answer>[] {
  const path = `/users/${userId}`;
  return [
    tenant.call("PUT", path, { token, body: { name: "Eve" } }),
    tenant.call("PUT", path, { token, body: { role: "investigator" } }),
    tenant.call("PUT", path, { token, body: { is_disabled: true } }),
    tenant.call("POST", `${path}/links`, { token }),
    tenant.call("DELETE", `${path}/sessions`, { token }),
  ];
}

test.for(roles)(
  "users 403: a caller that lacks a scope of the role %s can neither grant it nor change users who have it",
  async (role) => {
    const tenant = await TestTenant.create(service.current);
    const someone = await Browser.join(tenant, role);
    const junior = await Browser.join(tenant, "investigator");
    const before = await all(tenant);
    const lacking = roleScopes[role].find((scope) => scope !== "manage:users") ?? "";
    for (const granted of [["manage:users"], without(lacking)]) {
      const token = await tenant.mint(granted);
      const body = { email: newEmail(), name: "Eve", role };
      expectProblem(await tenant.call("POST", "/users", { token, body }), 403, "access-denied");
      const promotion = `/users/${junior.signedIn.user.user_id}`;
      expectProblem(await tenant.call("PUT", promotion, { token, body: { role } }), 403, "access-denied");
      for (const answer of await Promise.all(deeds(tenant, token, someone.signedIn.user.user_id)))
        expectProblem(answer, 403, "access-denied");
    }
    expect(await all(tenant)).toBe(before);
    expect((await someone.call("GET", "/cases")).status).toBe(200);
  },
);

test.for(["investigator", "lead"] satisfies Role[])(
  "users 200: the scopes of the role %s and manage:users are enough to manage it",
  async (role) => {
    const tenant = await TestTenant.create(service.current);
    const token = await tenant.mint([...roleScopes[role], "manage:users"]);
    const made = await tenant.call("POST", "/users", { token, body: { email: newEmail(), name: "Ada", role } });
    expect(made.status, made.text).toBe(201);
    const { user } = made.json.data as { user: { user_id: string; email: string } };
    const path = `/users/${user.user_id}`;
    expectProblem(await tenant.call("PUT", path, { token, body: { role: "admin" } }), 403, "access-denied");
    expect((await tenant.call("PUT", path, { token, body: { role: "investigator", name: "Ada King" } })).status).toBe(200);
    const link = await tenant.call("POST", `${path}/links`, { token });
    expect((await useLink(service.current, (link.json.data as { url: string }).url)).status).toBe(200);
    expect((await tenant.call("DELETE", `${path}/sessions`, { token })).status).toBe(204);
    expect((await tenant.call("PUT", path, { token, body: { is_disabled: true } })).status).toBe(200);
    expectProblem(await signIn(service.current, { email: user.email, password: goodPassword }), 401, "unauthorized");
  },
);
