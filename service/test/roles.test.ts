import { expect, test } from "vitest";
import { roleScopes } from "../src/domain/role.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { Browser, invite, newEmail, useLink } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

type Listed = { role: string; scopes: string[]; is_built_in: boolean }[];

async function withRole(scopes: string[], role = "night-shift"): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const made = await tenant.call("POST", "/roles", { body: { role, scopes } });
  expect(made.status, made.text).toBe(201);
  return tenant;
}

// A person with a role of the tenant's own.
async function joinAs(tenant: TestTenant, role: string): Promise<Browser> {
  const made = await tenant.call("POST", "/users", { body: { email: newEmail(), name: "Ada Lovelace", role } });
  expect(made.status, made.text).toBe(201);
  return Browser.take(service.current, (made.json.data as { link: { url: string } }).link.url);
}

async function rolesOf(tenant: TestTenant): Promise<Listed> {
  return ((await tenant.call("GET", "/roles")).json.data as { roles: Listed }).roles;
}

test("roles: the built-in ones come first, then the tenant's own, and no other tenant's", async () => {
  const tenant = await withRole(["read:case", "read:cases", "read:case"]);
  await withRole(["read:rules"], "elsewhere");
  const roles = await rolesOf(tenant);
  expect(roles.map(({ role, is_built_in }) => [role, is_built_in])).toEqual([
    ["investigator", true],
    ["lead", true],
    ["admin", true],
    ["night-shift", false],
  ]);
  expect(roles.at(-1)).toMatchObject({ scopes: ["read:case", "read:cases"], description: "" });
  expect(roles[0]?.scopes).toEqual(roleScopes.investigator);
});

test("roles: a person has exactly its scopes, and a change applies from the next request on", async () => {
  const tenant = await withRole(["read:cases"]);
  const browser = await joinAs(tenant, "night-shift");
  expect(browser.signedIn).toMatchObject({ user: { role: "night-shift" }, scopes: ["read:cases"] });
  expect((await browser.call("GET", "/cases")).status).toBe(200);
  expectProblem(await browser.call("GET", "/rules"), 403, "access-denied");
  const changed = await tenant.call("PUT", "/roles/night-shift", { body: { scopes: ["read:rules"] } });
  expect(changed.json.data).toMatchObject({ role: "night-shift", scopes: ["read:rules"] });
  expectProblem(await browser.call("GET", "/cases"), 403, "access-denied");
  expect((await browser.call("GET", "/rules")).status).toBe(200);
  expect((await browser.ask("GET", "/auth/session")).json).toMatchObject({ scopes: ["read:rules"] });
});

test("roles: a link that was made while the role was smaller does not work after it has grown", async () => {
  const tenant = await withRole(["read:cases"]);
  const { signedIn } = await joinAs(tenant, "night-shift");
  const made = await tenant.call("POST", `/users/${signedIn.user.user_id}/links`);
  const { url } = made.json.data as { url: string };
  const grown = await tenant.call("PUT", "/roles/night-shift", { body: { scopes: ["read:cases", "manage:users"] } });
  expect(grown.status, grown.text).toBe(200);
  expectProblem(await useLink(service.current, url), 404, "item-not-found");
});

test("roles 403: nobody can grant a scope that they lack, by making, changing or giving a role, and nothing changes", async () => {
  const tenant = await withRole(["manage:users", "read:users", "read:cases"], "manager");
  await tenant.call("POST", "/roles", { body: { role: "more", scopes: ["read:cases", "manage:clients"] } });
  const manager = await joinAs(tenant, "manager");
  const other = await joinAs(tenant, "more");
  const before = JSON.stringify(await rolesOf(tenant));
  const { user_id } = manager.signedIn.user;
  const refused = [
    ["POST", "/roles", { role: "own", scopes: ["read:cases", "manage:clients"] }],
    ["PUT", "/roles/manager", { scopes: ["manage:users", "manage:clients"] }],
    ["PUT", "/roles/more", { scopes: ["read:cases"] }],
    ["DELETE", "/roles/more", undefined],
    ["PUT", `/users/${user_id}`, { role: "more" }],
    ["PUT", `/users/${user_id}`, { role: "admin" }],
    ["POST", "/users", { email: newEmail(), name: "Eve", role: "more" }],
    ["PUT", `/users/${other.signedIn.user.user_id}`, { role: "manager" }],
    ["POST", `/users/${other.signedIn.user.user_id}/links`, undefined],
    ["PUT", "/roles/admin", { scopes: ["read:cases"] }],
    ["DELETE", "/roles/lead", undefined],
  ] as const;
  for (const [method, path, body] of refused)
    expectProblem(await manager.call(method, path, body === undefined ? {} : { body }), 403, "access-denied");
  expect(JSON.stringify(await rolesOf(tenant))).toBe(before);
  // Within their own scopes they can.
  expect((await manager.call("POST", "/roles", { body: { role: "own", scopes: ["read:cases"] } })).status).toBe(201);
  expect((await manager.call("PUT", "/roles/own", { body: { description: "Reads" } })).status).toBe(200);
});

test("roles 409, 422, 404: known and built-in names, invalid ones, unknown roles and unknown scopes change nothing", async () => {
  const tenant = await withRole(["read:cases"]);
  for (const role of ["night-shift", "admin"])
    expectProblem(await tenant.call("POST", "/roles", { body: { role, scopes: ["read:cases"] } }), 409, "item-already-exists");
  for (const role of ["A", "Night", "night_shift", "-a", "a".repeat(41), "", "ünder", "__proto__"])
    expectProblem(await tenant.call("POST", "/roles", { body: { role, scopes: ["read:cases"] } }), 422, "validation-error");
  for (const scopes of [[], ["read:everything"], ["READ:cases"], "read:cases", null])
    expectProblem(await tenant.call("POST", "/roles", { body: { role: "fine", scopes } }), 422, "validation-error");
  for (const role of ["nobody", "a b", "constructor", "%00"].slice(0, 3))
    expectProblem(await tenant.call("PUT", `/roles/${encodeURIComponent(role)}`, { body: {} }), 404, "item-not-found");
  const unknown = await tenant.call("POST", "/users", { body: { email: newEmail(), name: "Eve", role: "nobody" } });
  expect(expectProblem(unknown, 422, "validation-error").errors).toEqual([
    { field: "role", message: "is not a role of this tenant" },
  ]);
  const foreign = await TestTenant.create(service.current);
  expectProblem(await foreign.call("PUT", "/roles/night-shift", { body: { scopes: ["read:rules"] } }), 404, "item-not-found");
  expectProblem(
    await foreign.call("POST", "/users", { body: { email: newEmail(), name: "Eve", role: "night-shift" } }),
    422,
    "validation-error",
  );
  expect((await rolesOf(tenant)).at(-1)?.scopes).toEqual(["read:cases"]);
});

test("DELETE role 422, 204: while anybody has it, it stays; a race between giving and deleting leaves nobody without a role", async () => {
  const tenant = await withRole(["read:cases"]);
  const { user } = await invite(tenant, "lead");
  const give = (role: string) => tenant.call("PUT", `/users/${user.user_id}`, { body: { role } });
  expect((await give("night-shift")).status).toBe(200);
  expectProblem(await tenant.call("DELETE", "/roles/night-shift"), 422, "validation-error");
  expect((await give("lead")).status).toBe(200);
  const [given, deleted] = await Promise.all([give("night-shift"), tenant.call("DELETE", "/roles/night-shift")]);
  expect([given.status, deleted.status]).toEqual(given.status === 200 ? [200, 422] : [422, 204]);
  const events = (await tenant.call("GET", "/events?limit=1000")).text;
  for (const type of ["role.created", "user.updated"]) expect(events).toContain(type);
});

test("POST roles 422: a tenant has at most 50 of its own, also when several are made at once", async () => {
  const tenant = await TestTenant.create(service.current);
  const make = async (n: number) =>
    (await tenant.call("POST", "/roles", { body: { role: `role-${n}`, scopes: ["read:cases"] } })).status;
  for (let n = 0; n < 46; n++) expect(await make(n)).toBe(201);
  const statuses = await Promise.all([46, 47, 48, 49, 50, 51, 52].map((n) => make(n)));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 201, 422, 422, 422]);
});
