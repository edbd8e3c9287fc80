import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, testConfig, useService } from "./harness.ts";
import { Browser, goodPassword, invite, signIn } from "./people.ts";
import { Directory, expectScimError, groupSchema, userSchema } from "./scim-lab.ts";

// Speaks as Okta does, in the order of its documented requests. A second service on the same database stands for another process.
const service = useService({ roles: new Set(["api"]) });
let second: Service;
let tenant: TestTenant;
let okta: Directory;

beforeAll(async () => {
  second = await startService(testConfig({ roles: new Set(["api"]) }));
  tenant = await TestTenant.create(service.current);
  okta = await Directory.connect(tenant, { name: "okta" });
});
afterAll(() => second.stop());

function userOf(email: string, more: object = {}) {
  return {
    schemas: [userSchema],
    userName: email,
    name: { givenName: "Test", familyName: "User" },
    emails: [{ primary: true, value: email, type: "work" }],
    displayName: "Test User",
    locale: "en-US",
    externalId: `00u${randomUUID().slice(0, 12)}`,
    groups: [],
    password: goodPassword,
    active: true,
    ...more,
  };
}

const newAddress = () => `okta-${randomUUID()}@shop.example`;

// A person whom Okta has created, who has then used a link to choose a password.
async function joined(): Promise<{ id: string; email: string; browser: Browser }> {
  const email = newAddress();
  const made = await okta.ask("POST", "/Users", userOf(email));
  expect(made.status, made.text).toBe(201);
  const { id } = made.json;
  const link = await tenant.call("POST", `/users/${id}/links`);
  const browser = await Browser.take(service.current, (link.json.data as { url: string }).url);
  return { id, email, browser };
}

test("import: the list is read in pages that start at 1", async () => {
  for (let index = 0; index < 3; index++) await okta.ask("POST", "/Users", userOf(newAddress()));
  const all = await okta.ask("GET", "/Users?startIndex=1&count=100");
  expect(all.json).toMatchObject({ startIndex: 1, itemsPerPage: all.json.totalResults });
  const second = await okta.ask("GET", "/Users?startIndex=2&count=1");
  expect(second.json).toMatchObject({ totalResults: all.json.totalResults, startIndex: 2, itemsPerPage: 1 });
  expect(second.json.Resources).toEqual([all.json.Resources[1]]);
  expect((await okta.ask("GET", "/Users?startIndex=-3&count=-1")).json).toMatchObject({ startIndex: 1, itemsPerPage: 0 });
  expect((await okta.ask("GET", "/Users?startIndex=1000000&count=100")).json.Resources).toEqual([]);
  expect((await okta.ask("GET", "/Groups?startIndex=1&count=100")).json.itemsPerPage).toBe(0);
});

test("users: searched, created without the password that Okta sends, replaced as a whole", async () => {
  const email = newAddress();
  const query = `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}&startIndex=1&count=100`;
  expect((await okta.ask("GET", query)).json).toMatchObject({ totalResults: 0, Resources: [] });
  const body = userOf(email);
  const made = await okta.ask("POST", "/Users", body);
  expect(made.status, made.text).toBe(201);
  expect(made.text).not.toContain(goodPassword);
  expect((await signIn(service.current, { email, password: goodPassword })).status).toBe(401);
  expect((await okta.ask("GET", query)).json.Resources).toEqual([made.json]);
  const { id } = made.json;
  const put = await okta.ask("PUT", `/Users/${id}`, {
    ...made.json,
    name: { givenName: "Another", familyName: "User" },
    displayName: "",
  });
  expect(put.status, put.text).toBe(200);
  expect(put.json).toMatchObject({ id, displayName: "Another User", externalId: body.externalId });
  const cleared = await okta.ask("PUT", `/Users/${id}`, { schemas: [userSchema], userName: email });
  expect(cleared.json).toMatchObject({ active: true, displayName: "Another User", name: { formatted: "Another User" } });
  expect(cleared.json.externalId).toBeUndefined();
  expectScimError(await okta.ask("POST", "/Users", body), 409, "item-already-exists", "uniqueness");
  expectScimError(await okta.ask("GET", `/Users/${randomUUID()}`), 404, "item-not-found");
});

test.each([
  ["PATCH", (id: string) => okta.patch(`/Users/${id}`, { op: "replace", value: { active: false } })],
  ["PUT", (id: string, email: string) => okta.ask("PUT", `/Users/${id}`, userOf(email, { active: false }))],
  ["DELETE", (id: string) => okta.ask("DELETE", `/Users/${id}`)],
])("%s: the very next request of a disabled person is refused by every process", async (_how, disable) => {
  const { id, email, browser } = await joined();
  for (const each of [service.current, second]) expect((await browser.call("GET", "/cases", {}, each)).status).toBe(200);
  const answer = await disable(id, email);
  expect([200, 204], answer.text).toContain(answer.status);
  for (const each of [second, service.current]) {
    expectProblem(await browser.call("GET", "/cases", {}, each), 401, "unauthorized");
    expect((await signIn(each, { email, password: goodPassword })).status).toBe(401);
  }
});

test("a change through one process counts in the other, whose own SCIM requests see it at once", async () => {
  const { id, browser } = await joined();
  const body = { schemas: [], Operations: [{ op: "replace", value: { active: false } }] };
  expect((await okta.ask("PATCH", `/Users/${id}`, body, { port: second.port })).json.active).toBe(false);
  expectProblem(await browser.call("GET", "/cases"), 401, "unauthorized");
  expect((await okta.read(id)).active).toBe(false);
});

test("enabled again: the account is back, its sessions and links are not", async () => {
  const { id, email, browser } = await joined();
  const { user, link } = await invite(tenant, "investigator", { email: newAddress() });
  expect(user.is_provisioned).toBe(false);
  const unused = await tenant.call("POST", `/users/${id}/links`);
  await okta.patch(`/Users/${id}`, { op: "replace", value: { active: false } });
  await okta.patch(`/Users/${id}`, { op: "replace", value: { active: true } });
  expectProblem(await browser.call("GET", "/cases"), 401, "unauthorized");
  await expect(Browser.take(service.current, (unused.json.data as { url: string }).url)).rejects.toThrow(
    "expected 404 to be 200",
  );
  const again = await Browser.signIn(service.current, email);
  expect((await again.call("GET", "/cases")).status).toBe(200);
  // Links of others still work.
  await Browser.take(service.current, link.url);
});

test("deleted and hired again: the old password opens nothing", async () => {
  const { id, email } = await joined();
  await okta.ask("DELETE", `/Users/${id}`);
  const again = await okta.ask("POST", "/Users", userOf(email));
  expect(again.json).toMatchObject({ id, active: true, roles: [{ value: "investigator" }] });
  expect((await signIn(service.current, { email, password: goodPassword })).status).toBe(401);
});

test("groups: pushed with their members, renamed, changed one by one, replaced and removed", async () => {
  const [one, two] = [await okta.create(newAddress()), await okta.create(newAddress())];
  const displayName = `Okta ${randomUUID()}`;
  const body = { schemas: [groupSchema], displayName, members: [{ value: one, display: "one" }] };
  const made = await okta.ask("POST", "/Groups", body);
  expect(made.status, made.text).toBe(201);
  const path = `/Groups/${made.json.id}`;
  expect(made.json.members).toEqual([{ value: one, display: expect.any(String) }]);
  expectScimError(await okta.ask("POST", "/Groups", body), 409, "item-already-exists", "uniqueness");
  const members = async () => (await okta.ask("GET", path)).json.members.map(({ value }) => value);
  await okta.patch(path, { op: "replace", value: { id: made.json.id, displayName: `${displayName} 2` } });
  const changes = [
    { op: "remove", path: `members[value eq "${one}"]` },
    { op: "add", path: "members", value: [{ value: two, display: "two" }] },
  ];
  expect((await okta.patch(path, ...changes)).status).toBe(204);
  expect(await members()).toEqual([two]);
  await okta.patch(path, { op: "replace", path: "members", value: [{ value: one }] });
  expect(await members()).toEqual([one]);
  const put = await okta.ask("PUT", path, { ...body, members: [{ value: one }, { value: two }] });
  expect(put.json).toMatchObject({ displayName, members: expect.arrayContaining([]) });
  expect((await members()).toSorted()).toEqual([one, two].toSorted());
  await okta.ask("DELETE", `/Users/${two}`);
  expect(await members()).toEqual([one]);
  const listed = await okta.ask("GET", "/Groups?startIndex=1&count=100");
  expect(listed.json.Resources.find(({ id }) => id === made.json.id)?.members).toHaveLength(1);
  expect((await okta.ask("DELETE", path)).status).toBe(204);
});

test("tokens: the second one works beside the first, a third is refused, and a revoked one is refused by every process", async () => {
  const own = await TestTenant.create(service.current);
  const [first, other] = [await Directory.connect(own, { name: "okta-1" }), await Directory.connect(own, { name: "okta-2" })];
  const third = await own.call("POST", "/scim/tokens", { body: { name: "okta-3" } });
  expect(expectProblem(third, 422, "validation-error").errors?.[0]?.message).toContain("at most 2");
  for (const { port } of [service.current, second])
    expect((await first.ask("GET", "/Users", undefined, { port })).status).toBe(200);
  expect((await own.call("DELETE", `/scim/tokens/${first.tokenId}`)).status).toBe(204);
  for (const { port } of [service.current, second]) {
    const refused = await first.ask("GET", "/Users", undefined, { port });
    expectScimError(refused, 401, "unauthorized");
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="casehound", error="invalid_token"');
    expect((await other.ask("GET", "/Users", undefined, { port })).status).toBe(200);
  }
  const again = await own.call("POST", "/scim/tokens", { body: { name: "okta-2" } });
  expectProblem(again, 409, "item-already-exists");
});
