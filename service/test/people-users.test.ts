import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { User } from "../src/domain/user.ts";
import { TestTenant, expectProblem, useService, type Answer } from "./harness.ts";
import { Browser, invite, newEmail, readLink } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

async function list(tenant: TestTenant): Promise<User[]> {
  return ((await tenant.call("GET", "/users")).json.data as { users: User[] }).users;
}

test("POST users 201: returns the user with no secret but the link, and the list is ordered by e-mail", async () => {
  const tenant = await TestTenant.create(service.current);
  const emails = [newEmail(), newEmail(), newEmail()];
  for (const email of emails) await invite(tenant, "investigator", { email: email.toUpperCase() });
  const users = await list(tenant);
  expect(users.map(({ email }) => email)).toEqual(emails.toSorted());
  expect(Object.keys(users[0] ?? {}).toSorted()).toEqual(
    [
      "created_at",
      "email",
      "has_external_sign_in",
      "has_password",
      "has_second_factor",
      "is_disabled",
      "is_provisioned",
      "name",
      "role",
      "user_id",
    ].toSorted(),
  );
  const browser = await Browser.join(tenant, "lead");
  const { user_id: id } = browser.signedIn.user;
  expect((await tenant.call("GET", `/users/${id}`)).json.data).toMatchObject({
    has_password: true,
    last_sign_in_at: expect.any(String),
  });
});

test("POST users 409: an e-mail is unique within a tenant in any letter case, and nothing changes; another tenant may use it", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const { user } = await invite(tenant, "investigator");
  const body = { email: user.email.toUpperCase(), name: "Eve", role: "admin" };
  expectProblem(await tenant.call("POST", "/users", { body }), 409, "item-already-exists");
  expect(await list(tenant)).toEqual([user]);
  await invite(other, "admin", { email: user.email });
});

test("POST users 422: an invalid e-mail, name or role creates nobody", async () => {
  const tenant = await TestTenant.create(service.current);
  const good = { email: newEmail(), name: "Ada", role: "lead" };
  const wrong = {
    email: ["", "x", "a@", "@b", "a@b@c", "a b@c", "a@b>", `${"x".repeat(250)}@b.example`, 7, null],
    name: ["", " ", "Ada ", "a<b", "a\nb", "a\u200bb", "x".repeat(101), 7],
    role: ["", "owner", "Admin", ["admin"]],
  };
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      const answer = await tenant.call("POST", "/users", { body: { ...good, [field]: value } });
      expect(expectProblem(answer, 422, "validation-error").errors, JSON.stringify(value)).toMatchObject([{ field }]);
    }
  }
  expect(await list(tenant)).toEqual([]);
});

// Each of another kind: soft hyphen, Arabic letter mark, Mongolian vowel separator, Hangul fillers, zero width, direction marks,
// line and paragraph separators, word joiners, interlinear marks, a variation selector, a tag, a Braille blank.
const unseen =
  "\u00ad \u034f \u061c \u180e \u3164 \u115f \uffa0 \u200b \u200d \u200f \u202e \u2066 \u2028 \u2029 \u2060 \ufeff \ufff9 \ufe0f \u{e0041} \u2800 \u0085";

test("POST users 422, PUT user 422: invisible characters are rejected anywhere in an e-mail or a name", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user } = await invite(tenant, "lead");
  const good = { email: newEmail(), name: "Ada", role: "lead" };
  const refuse = async (field: string, value: string) => {
    const answers = [await tenant.call("POST", "/users", { body: { ...good, [field]: value } })];
    if (field === "name") answers.push(await tenant.call("PUT", `/users/${user.user_id}`, { body: { name: value } }));
    for (const answer of answers)
      expect(expectProblem(answer, 422, "validation-error").errors, JSON.stringify(value)).toMatchObject([{ field }]);
  };
  for (const each of unseen.split(" ")) {
    for (const email of [`a${each}b@shop.example`, `${each}a@shop.example`, `a@shop.exa${each}mple`])
      await refuse("email", email);
    for (const name of [each, `A${each}da`, `${each}Ada`, `Ada${each}`]) await refuse("name", name);
  }
  for (const name of ["\u00a0", "\u3000 \u2003", "\t"]) await refuse("name", name);
  // 254 characters as sent, and more once normalized.
  await refuse("email", `${"\u0958".repeat(241)}@shop.example`);
  expect(await list(tenant)).toEqual([user]);
  for (const name of ["Zo\u00eb O'Brien-Smith", "\u674e\u5c0f\u9f99", "\u05d3\u05d5\u05d3", "Jos\u0065\u0301"]) {
    await invite(tenant, "lead", { name });
  }
});

test("PUT user 200: omitted members stay unchanged, and each change is in the events with its actor", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user } = await invite(tenant, "investigator");
  const path = `/users/${user.user_id}`;
  const renamed = await tenant.call("PUT", path, { body: { name: "Ada King" } });
  expect(renamed.json.data).toEqual({ ...user, name: "Ada King" });
  expect((await tenant.call("PUT", path, { body: {} })).json.data).toEqual(renamed.json.data);
  const promoted = await tenant.call("PUT", path, { body: { role: "lead", is_disabled: true } });
  expect(promoted.json.data).toEqual({ ...user, name: "Ada King", role: "lead", is_disabled: true });
  const client = await service.current.database.connect();
  const query = "select type, actor, data from events where tenant_id = $1 and resource_id = $2 order by event_id";
  const { rows } = await client.query(query, [tenant.tenantId, user.user_id]);
  await client.end();
  expect(rows).toEqual([
    { type: "user.invited", actor: tenant.clientId, data: { role: "investigator" } },
    { type: "user.updated", actor: tenant.clientId, data: { name: "Ada King" } },
    { type: "user.updated", actor: tenant.clientId, data: { role: "lead", is_disabled: true } },
  ]);
});

test("PUT user 422: the last active admin must remain one; invited and disabled admins do not count", async () => {
  const tenant = await TestTenant.create(service.current);
  const admin = await Browser.join(tenant, "admin");
  await invite(tenant, "admin");
  const gone = await Browser.join(tenant, "admin");
  expect((await admin.call("PUT", `/users/${gone.signedIn.user.user_id}`, { body: { is_disabled: true } })).status).toBe(200);
  const before = await list(tenant);
  const path = `/users/${admin.signedIn.user.user_id}`;
  for (const [field, body] of [
    ["role", { role: "lead" }],
    ["is_disabled", { is_disabled: true }],
  ] as const) {
    for (const refused of [await admin.call("PUT", path, { body }), await tenant.call("PUT", path, { body })]) {
      expect(expectProblem(refused, 422, "validation-error").errors).toMatchObject([{ field }]);
    }
  }
  expect(await list(tenant)).toEqual(before);
  expect((await admin.call("PUT", path, { body: { name: "Still here" } })).status).toBe(200);
  await Browser.join(tenant, "admin");
  expect((await admin.call("PUT", path, { body: { role: "lead" } })).status).toBe(200);
});

function demote(by: Browser, whom: Browser): Promise<Answer> {
  return by.call("PUT", `/users/${whom.signedIn.user.user_id}`, { body: { role: "lead" } });
}

test("PUT user: if two admins demote each other concurrently, one admin is left", async () => {
  const tenant = await TestTenant.create(service.current);
  for (let round = 0; round < 5; round++) {
    const [one, two] = [await Browser.join(tenant, "admin"), await Browser.join(tenant, "admin")];
    const others = (await list(tenant)).filter(({ role, user_id: id }) => {
      return role === "admin" && id !== one.signedIn.user.user_id && id !== two.signedIn.user.user_id;
    });
    for (const { user_id: id } of others) await tenant.call("PUT", `/users/${id}`, { body: { role: "lead" } });
    const answers = await Promise.all([demote(one, two), demote(two, one)]);
    // The admin demoted first may be rejected for lack of the scope.
    const [first, second] = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(first).toBe(200);
    expect([403, 422]).toContain(second);
    expect((await list(tenant)).filter(({ role }) => role === "admin").length).toBe(1);
  }
});

test("DELETE sessions 204: the person is signed out everywhere and may sign in again", async () => {
  const tenant = await TestTenant.create(service.current);
  const [browser, colleague] = [await Browser.join(tenant, "lead"), await Browser.join(tenant, "lead")];
  const path = `/users/${browser.signedIn.user.user_id}/sessions`;
  expect((await tenant.call("DELETE", path)).status).toBe(204);
  expectProblem(await browser.call("GET", "/cases"), 401, "unauthorized");
  expect((await colleague.call("GET", "/cases")).status).toBe(200);
  await Browser.signIn(service.current, browser.signedIn.user.email);
});

test("POST links 403: a disabled user gets no link, and existing ones stop working", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "lead");
  await tenant.call("PUT", `/users/${user.user_id}`, { body: { is_disabled: true } });
  expect((await readLink(service.current, link.url)).status).toBe(404);
  expectProblem(await tenant.call("POST", `/users/${user.user_id}/links`), 403, "access-denied");
  for (const id of [randomUUID(), "x", user.user_id.toUpperCase()]) {
    expectProblem(await tenant.call("GET", `/users/${id}`), 404, "item-not-found");
  }
});
