import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { TestTenant, useService } from "./harness.ts";
import { Directory, expectScimError, groupSchema, patchSchema, userSchema } from "./scim-lab.ts";

// Speaks as the provisioning service of Microsoft Entra ID does, in the order of its documented requests.
const service = useService({ roles: new Set(["api"]) });
let tenant: TestTenant;
let entra: Directory;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  entra = await Directory.connect(tenant, { name: "entra" });
});

const enterpriseSchema = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

function userOf(name: string) {
  return {
    schemas: [userSchema, enterpriseSchema],
    externalId: name,
    userName: `${name}@shop.example`,
    active: true,
    addresses: null,
    displayName: null,
    emails: [{ primary: true, type: "work", value: `${name}@shop.example` }],
    meta: { resourceType: "User" },
    name: { formatted: "Ellen Reckert", familyName: "Reckert", givenName: "Ellen" },
    phoneNumbers: null,
    roles: [],
    [enterpriseSchema]: { department: "Fraud" },
  };
}

async function entraUser(): Promise<{ id: string; name: string }> {
  const name = `ellen-${randomUUID()}`;
  const made = await entra.ask("POST", "/Users", userOf(name));
  expect(made.status, made.text).toBe(201);
  return { id: made.json.id, name };
}

test("connection: the probe for a random user is answered 200 with no results, and the discovery documents are there", async () => {
  const probe = await entra.find(`userName eq "${randomUUID()}"`);
  expect(probe.status).toBe(200);
  expect(probe.json).toEqual({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: 0,
    startIndex: 1,
    itemsPerPage: 0,
    Resources: [],
  });
  expect((await entra.ask("GET", "/Schemas")).json.Resources.map(({ id }) => id)).toEqual([userSchema, groupSchema]);
  expect((await entra.ask("GET", "/ResourceTypes")).json.totalResults).toBe(2);
  expect((await entra.ask("GET", "/ServiceProviderConfig")).json).toMatchObject({ patch: { supported: true } });
});

test("users: created, read, found by each attribute that Entra matches with", async () => {
  const name = `ellen-${randomUUID()}`;
  const made = await entra.ask("POST", "/Users", userOf(name));
  expect(made.status, made.text).toBe(201);
  const { id } = made.json;
  expect(made.headers.get("location")).toBe(`${service.current.url}/v2/${tenant.slug}/scim/v2/Users/${id}`);
  expect(made.json).toEqual({
    schemas: [userSchema],
    id,
    externalId: name,
    userName: `${name}@shop.example`,
    name: { formatted: "Ellen Reckert", givenName: "Ellen", familyName: "Reckert" },
    displayName: "Ellen Reckert",
    active: true,
    emails: [{ value: `${name}@shop.example`, type: "work", primary: true }],
    groups: [],
    roles: [{ value: "investigator" }],
    meta: {
      resourceType: "User",
      created: expect.any(String),
      lastModified: expect.any(String),
      location: made.headers.get("location"),
    },
  });
  expect(await entra.read(id)).toEqual(made.json);
  for (const filter of [
    `userName eq "${name}@shop.example"`,
    `userName eq "${name.toUpperCase()}@SHOP.example"`,
    `externalId eq "${name}"`,
    `emails[type eq "work"].value eq "${name}@shop.example"`,
    `emails[type eq "work" and value eq "${name}@shop.example"]`,
    `id eq "${id}" and active eq true`,
    `active eq "True" and (externalId eq "nobody" or externalId eq "${name}")`,
  ]) {
    const found = await entra.find(filter);
    expect(found.json.Resources, filter).toEqual([made.json]);
  }
  expect((await entra.find(`externalId eq "${name.toUpperCase()}"`)).json.totalResults).toBe(0);
  expectScimError(await entra.ask("POST", "/Users", userOf(name)), 409, "item-already-exists", "uniqueness");
});

test("users: names are replaced by dotted paths, and a path of the e-mail address that changes nothing is accepted", async () => {
  const { id, name } = await entraUser();
  const answer = await entra.patch(
    `/Users/${id}`,
    { op: "Replace", path: 'emails[type eq "work"].value', value: `${name}@shop.example` },
    { op: "Replace", path: "name.familyName", value: "Chen" },
    { op: "Add", path: "name.formatted", value: "Ellen Chen" },
    { op: "Add", path: `${enterpriseSchema}:manager`, value: "someone" },
    { op: "Remove", path: "externalId" },
  );
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toMatchObject({
    displayName: "Ellen Chen",
    name: { formatted: "Ellen Chen", familyName: "Chen", givenName: "Ellen" },
  });
  expect(answer.json.externalId).toBeUndefined();
  const whole = await entra.patch(`/Users/${id}`, {
    op: "replace",
    value: { displayName: "E. Chen", "name.givenName": "E.", 'emails[type eq "work"].value': `${name}@shop.example`, unknown: 1 },
  });
  expect(whole.json).toMatchObject({ displayName: "E. Chen", name: { givenName: "E." } });
  const renamed = await entra.patch(`/Users/${id}`, { op: "Replace", path: "userName", value: `new-${name}@shop.example` });
  expect(renamed.json).toMatchObject({ userName: `new-${name}@shop.example`, emails: [{ value: `${name}@shop.example` }] });
  expect((await entra.find(`userName eq "new-${name}@shop.example"`)).json.totalResults).toBe(1);
});

test("users: the e-mail address stays, but a request that also disables the person disables them", async () => {
  const { id, name } = await entraUser();
  const moved = { op: "Replace", path: 'emails[type eq "work"].value', value: "other@shop.example" };
  expectScimError(await entra.patch(`/Users/${id}`, moved), 400, "bad-request", "mutability");
  const answer = await entra.patch(`/Users/${id}`, moved, { op: "Replace", path: "active", value: "False" });
  expect(answer.json).toMatchObject({ active: false, emails: [{ value: `${name}@shop.example` }] });
});

test.each([
  ["a text", { op: "Replace", path: "active", value: "False" }],
  ["a truth value", { op: "Replace", path: "active", value: false }],
  ["no path", { op: "replace", value: { active: "false" } }],
  ["add", { op: "Add", path: "active", value: "False" }],
])("users: disabled with %s, and enabled again", async (_how, operation) => {
  const { id } = await entraUser();
  expect((await entra.patch(`/Users/${id}`, operation)).json.active).toBe(false);
  expect((await entra.read(id)).active).toBe(false);
  expect((await entra.find(`id eq "${id}" and active eq false`)).json.totalResults).toBe(1);
  expect((await entra.patch(`/Users/${id}`, { op: "Replace", path: "active", value: "True" })).json.active).toBe(true);
});

test("users: deleted after they were disabled, and gone from then on", async () => {
  const { id, name } = await entraUser();
  await entra.patch(`/Users/${id}`, { op: "Replace", path: "active", value: "False" });
  expect((await entra.ask("DELETE", `/Users/${id}`)).status).toBe(204);
  for (const method of ["GET", "DELETE"]) expectScimError(await entra.ask(method, `/Users/${id}`), 404, "item-not-found");
  expectScimError(await entra.patch(`/Users/${id}`, { op: "Replace", path: "active", value: true }), 404, "item-not-found");
  expect((await entra.find(`userName eq "${name}@shop.example"`)).json.totalResults).toBe(0);
  const again = await entra.ask("POST", "/Users", userOf(name));
  expect(again.status, again.text).toBe(201);
  expect(again.json).toMatchObject({ id, active: true });
  const { users } = (await tenant.call("GET", "/users")).json.data as { users: { user_id: string; is_disabled: boolean }[] };
  expect(users.find(({ user_id }) => user_id === id)).toMatchObject({
    is_disabled: false,
    is_provisioned: true,
    has_password: false,
  });
});

function groupOf(displayName: string) {
  const directory = "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group";
  return { schemas: [groupSchema, directory], externalId: randomUUID(), displayName, meta: { resourceType: "Group" } };
}

function members(...ids: string[]): object[] {
  return ids.map((value) => ({ $ref: null, value }));
}

test("groups: created, searched without members, renamed, members added and removed, deleted", async () => {
  const displayName = `Group ${randomUUID()}`;
  const made = await entra.ask("POST", "/Groups", groupOf(displayName));
  expect(made.status, made.text).toBe(201);
  const path = `/Groups/${made.json.id}`;
  expect((await entra.ask("GET", `${path}?excludedAttributes=members`)).json).not.toHaveProperty("members");
  const query = `?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "${displayName}"`)}`;
  expect((await entra.ask("GET", `/Groups${query}`)).json).toMatchObject({ totalResults: 1, Resources: [{ id: made.json.id }] });
  const renamed = await entra.patch(path, { op: "Replace", path: "displayName", value: `${displayName} 2` });
  expect(renamed.status, renamed.text).toBe(204);
  const [one, two] = [await entraUser(), await entraUser()];
  expect((await entra.patch(path, { op: "Add", path: "members", value: members(one.id, two.id) })).status).toBe(204);
  expect((await entra.patch(path, { op: "Add", path: "members", value: members(one.id) })).status).toBe(204);
  const read = async () => (await entra.ask("GET", path)).json;
  expect((await read()).members.map(({ value }) => value).toSorted()).toEqual([one.id, two.id].toSorted());
  expect((await entra.read(one.id)).groups).toEqual([{ value: made.json.id, display: `${displayName} 2` }]);
  const ofOne = encodeURIComponent(`id eq "${made.json.id}" and members[value eq "${one.id}"]`);
  expect((await entra.ask("GET", `/Groups?filter=${ofOne}&attributes=id`)).json.Resources).toEqual([
    { schemas: [groupSchema], id: made.json.id },
  ]);
  expect((await entra.patch(path, { op: "Remove", path: "members", value: members(one.id) })).status).toBe(204);
  expect((await entra.patch(path, { op: "Remove", path: `members[value eq "${two.id}"]` })).status).toBe(204);
  expect((await read()).members).toEqual([]);
  expect((await entra.ask("DELETE", path)).status).toBe(204);
  expectScimError(await entra.ask("GET", path), 404, "item-not-found");
});

test("groups: the tenant's mapping gives roles, the first match decides, and leaving takes the role away", async () => {
  const [leads, watch] = [`Leads ${randomUUID()}`, `Watch ${randomUUID()}`];
  const role_groups = [
    { group: leads, role: "lead" },
    { group: watch, role: "investigator" },
  ];
  const set = await tenant.call("PUT", "/scim", { body: { role_groups } });
  expect(set.status, set.text).toBe(200);
  const { id } = await entraUser();
  const roleNow = async () => (await entra.read(id)).roles;
  const groups = new Map<string, string>();
  for (const name of [watch, leads]) {
    groups.set(name, (await entra.ask("POST", "/Groups", groupOf(name))).json.id);
    await entra.patch(`/Groups/${groups.get(name)}`, { op: "Add", path: "members", value: [{ value: id }] });
  }
  expect(await roleNow()).toEqual([{ value: "lead" }]);
  await entra.patch(`/Groups/${groups.get(leads)}`, { op: "Remove", path: `members[value eq "${id}"]` });
  expect(await roleNow()).toEqual([{ value: "investigator" }]);
  await entra.ask("PUT", `/Groups/${groups.get(leads)}`, { displayName: leads, members: [{ value: id }] });
  expect(await roleNow()).toEqual([{ value: "lead" }]);
  // The name decides, so a group that gets another one no longer counts.
  await entra.patch(`/Groups/${groups.get(leads)}`, { op: "Replace", path: "displayName", value: `${leads} no more` });
  expect(await roleNow()).toEqual([{ value: "investigator" }]);
  await entra.patch(`/Groups/${groups.get(leads)}`, { op: "Replace", value: { displayName: leads } });
  expect(await roleNow()).toEqual([{ value: "lead" }]);
  expect((await entra.ask("DELETE", `/Groups/${groups.get(leads)}`)).status).toBe(204);
  expect(await roleNow()).toEqual([{ value: "investigator" }]);
});

test("events: changes carry the name of the token, and a change of the mapping applies to everybody at once", async () => {
  const own = await TestTenant.create(service.current);
  const directory = await Directory.connect(own, { name: "entra-2" });
  const id = await directory.create("grace@shop.example");
  await directory.ask("POST", "/Groups", { ...groupOf("Auditors"), members: [{ value: id }] });
  await own.call("POST", "/roles", { body: { role: "auditor", scopes: ["read:cases"] } });
  const set = await own.call("PUT", "/scim", { body: { role_groups: [{ group: "Auditors", role: "auditor" }] } });
  expect(set.json.data).toMatchObject({ groups: [{ display_name: "Auditors", members: 1 }], default_role: "investigator" });
  expect((await directory.read(id)).roles).toEqual([{ value: "auditor" }]);
  expect((await own.call("DELETE", "/roles/auditor")).text).toContain("one person must get another role first");
  await directory.patch(`/Users/${id}`, { op: "Replace", path: "active", value: "False" });
  const { events } = (await own.call("GET", "/events?limit=1000")).json.data as {
    events: { type: string; actor: string; resource: { id: string } }[];
  };
  const ofPerson = events.filter(({ resource }) => resource.id === id).map(({ type, actor }) => `${actor} ${type}`);
  expect(ofPerson).toEqual(["scim:entra-2 user.provisioned", `${own.clientId} user.updated`, "scim:entra-2 user.updated"]);
  const listed = await own.call("GET", "/scim/tokens");
  expect(listed.json.data).toMatchObject({
    scim_tokens: [{ name: "entra-2", adopts_people: false, created_by: own.clientId, last_used_at: expect.any(String) }],
  });
  expect(listed.text).not.toContain(directory.token.slice(-43));
});

test("PATCH: a body is accepted as application/json too, and its member names in any letter case", async () => {
  const { id } = await entraUser();
  const body = { schemas: [patchSchema], operations: [{ OP: "replace", Path: "DisplayName", VALUE: "Any Case" }] };
  const answer = await entra.ask("PATCH", `/Users/${id}`, body, { headers: { "content-type": "application/json" } });
  expect(answer.json.displayName).toBe("Any Case");
});
