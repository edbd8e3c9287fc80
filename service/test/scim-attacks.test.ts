import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { insertUser, saveExternalSubject } from "../src/db/users.ts";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";
import { Browser, invite, newEmail, somewhere } from "./people.ts";
import { Directory, expectScimError, groupSchema, userSchema, type ScimAnswer } from "./scim-lab.ts";

const service = useService({ roles: new Set(["api"]) });
let tenant: TestTenant;
let directory: Directory;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  directory = await Directory.connect(tenant);
});

// Everything that an attack could have changed.
async function state(of = tenant): Promise<string> {
  const paths = ["/users", "/scim", "/scim/v2/Users", "/scim/v2/Groups", "/roles", "/clients"];
  const answers = await Promise.all(paths.map((path) => of.call("GET", path)));
  return answers.map(({ text }) => text).join("\n");
}

const off = { op: "replace", path: "active", value: false };

// A person with a password in a tenant of their own, and a directory that may manage everybody.
async function withAdmin() {
  const own = await TestTenant.create(service.current);
  const admin = await Browser.join(own, "admin");
  return { own, admin, id: admin.signedIn.user.user_id, all: await Directory.connect(own, { adopts_people: true }) };
}

test("a token of another tenant: refused on this tenant's paths, and finds nothing of it on its own", async () => {
  const other = await TestTenant.create(service.current);
  const foreign = await Directory.connect(other, { adopts_people: true });
  const id = await directory.create(newEmail());
  const before = await state();
  for (const slug of [tenant.slug, "no-such-tenant"]) {
    const answer = await send(service.current.port, "GET", `/v2/${slug}/scim/v2/Users`, { token: foreign.token });
    expectScimError(answer as unknown as ScimAnswer, 403, "access-denied");
  }
  expectScimError(await foreign.ask("GET", `/Users/${id}`), 404, "item-not-found");
  expectScimError(await foreign.patch(`/Users/${id}`, off), 404, "item-not-found");
  expectScimError(await foreign.ask("DELETE", `/Users/${id}`), 404, "item-not-found");
  const group = { displayName: "Stolen", members: [{ value: id }] };
  expectScimError(await foreign.ask("POST", "/Groups", group), 400, "bad-request", "invalidValue");
  expect((await foreign.find(`id eq "${id}"`)).json.totalResults).toBe(0);
  expect(await state()).toBe(before);
});

test("a SCIM token works for nothing but SCIM", async () => {
  const paths = ["GET /users", "GET /cases", "GET /scim", "GET /scim/tokens", "POST /scim/tokens", "POST /clients", "PUT /scim"];
  for (const path of paths) {
    const [method = "", rest = ""] = path.split(" ");
    const body = method === "GET" ? {} : { body: { name: "more", scopes: ["read:cases"] } };
    const answer = await tenant.call(method, rest, { ...body, token: directory.token });
    expect(expectProblem(answer, 403, "access-denied").detail).toBe("A SCIM token works only below /scim/v2.");
  }
});

test("wrong tokens are limited by address, and a right token is not", async () => {
  const headers = somewhere();
  const wrong = `${directory.token.slice(0, -4)}AAAA`;
  expect((await directory.ask("GET", "/Users?count=0", undefined, { headers })).status).toBe(200);
  const ask = (token: string) => directory.ask("GET", "/Users?count=0", undefined, { headers, token });
  const answers = [];
  for (let guess = 0; guess < 15; guess++) answers.push(await ask(wrong));
  expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
  for (const answer of answers.slice(10)) expectScimError(answer, 429, "rate-limited");
  expect((await ask(directory.token)).status).toBe(200);
});

test("scopes: other tokens need manage:users, and their changes carry their own name", async () => {
  const token = await tenant.mint(["read:users"]);
  expectScimError(await directory.ask("GET", "/Users", undefined, { token }), 403, "access-denied");
  const email = newEmail();
  const body = { userName: email };
  expect((await directory.ask("POST", "/Users", body, { token: tenant.token })).status).toBe(201);
  const events = await tenant.call("GET", "/events?limit=1000");
  const { events: all } = events.json.data as { events: { type: string; actor: string }[] };
  expect(all.findLast(({ type }) => type === "user.provisioned")?.actor).toBe(tenant.clientId);
});

test("the last admin stays active, and stays an admin whatever the groups say", async () => {
  const { own, admin, id, all } = await withAdmin();
  for (const answer of [
    await all.patch(`/Users/${id}`, off),
    await all.ask("PUT", `/Users/${id}`, { userName: admin.signedIn.user.email, active: "False" }),
    await all.ask("DELETE", `/Users/${id}`),
  ]) {
    const { errors, detail } = expectScimError(answer, 422, "validation-error", "mutability");
    expect(errors).toEqual([{ field: "active", message: "must stay as it is: this is the tenant's last active admin" }]);
    expect(detail).toContain("last active admin");
  }
  await own.call("PUT", "/scim", { body: { role_groups: [{ group: "Nobody", role: "lead" }] } });
  const group = await all.ask("POST", "/Groups", { displayName: "Nobody", members: [{ value: id }] });
  expect(group.status, group.text).toBe(201);
  expect((await all.read(id)).roles).toEqual([{ value: "admin" }]);
  expect((await admin.call("GET", "/users")).status).toBe(200);
  // If two admins are disabled at the same time, one of them stays.
  const second = await Browser.join(own, "admin");
  const both = [id, second.signedIn.user.user_id].map((each) => all.patch(`/Users/${each}`, off));
  expect((await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
});

test("people whom no directory created are invisible, and an address that is taken is a conflict", async () => {
  const { user } = await invite(tenant, "lead");
  const before = await state();
  expectScimError(await directory.ask("GET", `/Users/${user.user_id}`), 404, "item-not-found");
  expectScimError(await directory.patch(`/Users/${user.user_id}`, off), 404, "item-not-found");
  expectScimError(await directory.ask("DELETE", `/Users/${user.user_id}`), 404, "item-not-found");
  expect((await directory.find(`userName eq "${user.email}"`)).json.totalResults).toBe(0);
  const spellings = [user.email, user.email.toUpperCase()];
  for (const userName of spellings)
    expectScimError(await directory.ask("POST", "/Users", { userName }), 409, "item-already-exists", "uniqueness");
  const aside = { userName: "somebody", emails: [{ value: user.email }] };
  expectScimError(await directory.ask("POST", "/Users", aside), 409, "item-already-exists", "uniqueness");
  const group = { displayName: "Taken", members: [{ value: user.user_id }] };
  expectScimError(await directory.ask("POST", "/Groups", group), 400, "bad-request", "invalidValue");
  expect(await state()).toBe(before);
});

test("a token that adopts people takes over the person with the address, once it changes them", async () => {
  const { own, all } = await withAdmin();
  const { user } = await invite(own, "lead", { email: "grace@shop.example", name: "Grace Hopper" });
  const found = await all.find('userName eq "GRACE@shop.example"');
  expect(found.json.Resources).toMatchObject([{ id: user.user_id, displayName: "Grace Hopper", roles: [{ value: "lead" }] }]);
  const isProvisioned = async () => {
    const read = await own.call("GET", `/users/${user.user_id}`);
    return (read.json.data as { is_provisioned: boolean }).is_provisioned;
  };
  expect(await isProvisioned()).toBe(false);
  const patched = await all.patch(`/Users/${user.user_id}`, { op: "add", path: "externalId", value: "e-1" });
  expect(patched.json).toMatchObject({ id: user.user_id, externalId: "e-1", roles: [{ value: "lead" }] });
  expect(await isProvisioned()).toBe(true);
});

test("escalation: a token gives no role that has more scopes than its creator had, and changes nobody with such a role", async () => {
  const own = await TestTenant.create(service.current);
  const boss = await Browser.join(own, "admin");
  const weak = await own.mint(["manage:users", "read:users", "read:cases"]);
  await own.call("POST", "/roles", { body: { role: "reader", scopes: ["read:cases"] } });
  const role_groups = [
    { group: "Bosses", role: "admin" },
    { group: "Readers", role: "reader" },
  ];
  const set = { body: { role_groups, default_role: "reader" } };
  expect((await own.call("PUT", "/scim", set)).status).toBe(200);
  expectProblem(await own.call("PUT", "/scim", { body: { role_groups: [] }, token: weak }), 403, "access-denied");
  const small = await Directory.connect(own, { name: "small", adopts_people: true, token: weak });
  const id = await small.create("eve@shop.example");
  const readers = await small.ask("POST", "/Groups", { displayName: "Readers", members: [{ value: id }] });
  expect(readers.status, readers.text).toBe(201);
  const before = await state(own);
  const bosses = { schemas: [groupSchema], displayName: "Bosses", members: [{ value: id }] };
  expectScimError(await small.ask("POST", "/Groups", bosses), 403, "access-denied");
  const rename = { op: "replace", path: "displayName", value: "Bosses" };
  expectScimError(await small.patch(`/Groups/${readers.json.id}`, rename), 403, "access-denied");
  const bossId = boss.signedIn.user.user_id;
  expectScimError(
    await small.patch(`/Users/${bossId}`, { op: "replace", path: "displayName", value: "Eve" }),
    403,
    "access-denied",
  );
  expectScimError(await small.patch(`/Users/${bossId}`, off), 403, "access-denied");
  expectScimError(await small.ask("DELETE", `/Users/${bossId}`), 403, "access-denied");
  const join = { op: "add", path: "members", value: [{ value: bossId }] };
  expectScimError(await small.patch(`/Groups/${readers.json.id}`, join), 403, "access-denied");
  expect(await state(own)).toBe(before);
  // Nor does it revoke a token that can do more.
  const large = await Directory.connect(own, { name: "large" });
  expectProblem(await own.call("DELETE", `/scim/tokens/${large.tokenId}`, { token: weak }), 403, "access-denied");
  expect((await large.patch(`/Groups/${readers.json.id}`, rename)).status).toBe(204);
  expect((await large.read(id)).roles).toEqual([{ value: "admin" }]);
});

test("names: what a directory sends cannot imitate another actor or give a role, and hidden characters are removed", async () => {
  const made = await directory.ask("POST", "/Users", {
    userName: newEmail(),
    displayName: "Ada <ada@shop.example>\u202e\u200b\u0007",
    roles: [{ value: "admin" }],
    role: "admin",
    id: randomUUID(),
    meta: { created: "2000-01-01T00:00:00.000Z" },
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { roles: ["admin"] },
  });
  expect(made.status, made.text).toBe(201);
  expect(made.json).toMatchObject({ displayName: "Ada  ada@shop.example", roles: [{ value: "investigator" }] });
  for (const path of ["roles", "roles[primary eq true].value", "id", "meta.created", "groups", "password"])
    expect((await directory.patch(`/Users/${made.json.id}`, { op: "add", path, value: "admin" })).status, path).toBe(200);
  expect(await directory.read(made.json.id)).toEqual(made.json);
});

test("limits: no more people than a tenant may have", async () => {
  const full = await TestTenant.create(service.current);
  const last = await Directory.connect(full);
  await service.current.database.transaction(async (tx) => {
    for (let index = 0; index < 1_000; index++) {
      const user = {
        user_id: randomUUID(),
        email: `p${index}@shop.example`,
        name: "P",
        role: "lead",
        created_at: new Date().toISOString(),
      };
      await insertUser(tx, full.tenantId, user);
    }
  });
  const answer = await last.ask("POST", "/Users", { schemas: [userSchema], userName: "one-more@shop.example" });
  expect(expectScimError(answer, 400, "bad-request", "invalidValue").detail).toContain("at most 1000");
});

test("deleted people: sign-in through an identity provider and second factors are gone too", async () => {
  const id = await directory.create(newEmail());
  const bound = { user_id: id, external_subject: `https://id.example ${randomUUID()}` };
  await service.current.database.transaction((tx) => saveExternalSubject(tx, tenant.tenantId, bound));
  await directory.ask("DELETE", `/Users/${id}`);
  const read = await tenant.call("GET", `/users/${id}`);
  expect(read.json.data).toMatchObject({
    is_disabled: true,
    has_external_sign_in: false,
    has_password: false,
    is_provisioned: false,
  });
});

test("at once: requests for one new person create one account, and a group's members do not get lost", async () => {
  const userName = newEmail();
  const made = await Promise.all(Array.from({ length: 8 }, () => directory.ask("POST", "/Users", { userName })));
  expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)]);
  const group = (await directory.ask("POST", "/Groups", { displayName: `G ${randomUUID()}` })).json.id;
  const ids = await Promise.all(Array.from({ length: 6 }, () => directory.create(newEmail())));
  const added = ids.map((value) => directory.patch(`/Groups/${group}`, { op: "add", path: "members", value: [{ value }] }));
  expect((await Promise.all(added)).map(({ status }) => status)).toEqual(Array(6).fill(204));
  const { members } = (await directory.ask("GET", `/Groups/${group}`)).json;
  expect(members.map(({ value }) => value).toSorted()).toEqual(ids.toSorted());
});
