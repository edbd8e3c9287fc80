import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makeSetUpLink } from "../src/api/people/links.ts";
import { clock } from "../src/clock.ts";
import { startService, type Service } from "../src/service.ts";
import type { UserLink } from "../src/domain/user.ts";
import { TestTenant, expectProblem, send, testConfig, useService, type Answer, type Options } from "./harness.ts";
import { Browser, goodPassword, invite, newEmail, signIn, tokenOf } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

type Ask = Omit<Options, "body"> & { body?: Record<string, unknown> };

// GET reads what a link is for, POST uses it. Both have the token in the body.
function ask(method: "GET" | "POST", link: string, options: Ask = {}, at: Service = service.current): Promise<Answer> {
  const path = method === "GET" ? "/auth/link" : "/auth/link/use";
  return send(at.port, "POST", path, { ...options, body: { token: tokenOf(link), ...options.body } });
}

const join = { password: goodPassword };

async function setUp(tenant: TestTenant): Promise<UserLink | null> {
  const wanted = { publicUrl: tenant.service.url, now: clock.now() };
  return tenant.service.database.transaction((tx) => makeSetUpLink(tx, tenant.slug, wanted));
}

async function people(tenant: TestTenant): Promise<string> {
  return (await tenant.call("GET", "/users")).text;
}

async function resetLink(tenant: TestTenant, userId: string): Promise<UserLink> {
  const answer = await tenant.call("POST", `/users/${userId}/links`);
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

test("invitation: the link has its token behind the #, shows whom it is for, works once within seven days, and signs in", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "lead");
  expect(link.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/link#[0-9a-f-]{36}\.[\w-]{43}$/);
  expect(link.url.startsWith(`${service.current.url}/link#`)).toBe(true);
  expect(Date.parse(link.expires_at) - Date.parse(user.created_at)).toBe(7 * 24 * 60 * 60 * 1000);
  const told = { purpose: "invitation", tenant: tenant.slug, email: user.email, name: user.name, expires_at: link.expires_at };
  for (let looked = 0; looked < 2; looked++) expect((await ask("GET", link.url)).json).toEqual(told);
  const browser = await Browser.take(service.current, link.url, { name: "Ada King" });
  expect(browser.signedIn).toMatchObject({
    user: { ...browser.signedIn.user, email: user.email, name: "Ada King", role: "lead" },
  });
  expect((await browser.call("GET", "/cases")).status).toBe(200);
  const again = await ask("POST", link.url, { body: { password: "another good password" } });
  expectProblem(again, 404, "item-not-found");
  expectProblem(await ask("GET", link.url), 404, "item-not-found");
  await Browser.signIn(service.current, user.email);
});

test("link 404, 422: the token is read only from the body, never from a URL, which would end up in logs", async () => {
  const { link } = await invite(await TestTenant.create(service.current), "lead");
  const token = tokenOf(link.url);
  const { port } = service.current;
  for (const path of [`/auth/links/${token}`, `/auth/link/${token}`, `/auth/link/use/${token}`]) {
    expectProblem(await send(port, "GET", path), 404, "item-not-found");
    expectProblem(await send(port, "POST", path, { body: join }), 404, "item-not-found");
  }
  expectProblem(await send(port, "GET", `/auth/link?token=${token}`), 405, "method-not-allowed");
  expectProblem(await send(port, "POST", `/auth/link?token=${token}`, { body: {} }), 422, "validation-error");
  expectProblem(await send(port, "POST", `/auth/link/use?token=${token}`, { body: join }), 422, "validation-error");
  expect((await ask("GET", link.url)).status).toBe(200);
});

test("link: if it was created while the person had a smaller role, it does not work after a promotion", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "investigator");
  const joined = await Browser.join(tenant, "investigator");
  const reset = await resetLink(tenant, joined.signedIn.user.user_id);
  for (const id of [user.user_id, joined.signedIn.user.user_id])
    expect((await tenant.call("PUT", `/users/${id}`, { body: { role: "admin" } })).status).toBe(200);
  for (const { url } of [link, reset]) expectProblem(await ask("POST", url, { body: join }), 404, "item-not-found");
});

test("POST link 403: a stolen session cannot make a link for its owner", async () => {
  const admin = await Browser.join(await TestTenant.create(service.current), "admin");
  const problem = expectProblem(await admin.call("POST", `/users/${admin.signedIn.user.user_id}/links`), 403, "access-denied");
  expect(problem.detail).toBe("You cannot create a link for yourself. Change your password instead.");
});

test("link: of many concurrent uses, one succeeds", async () => {
  const { user, link } = await invite(await TestTenant.create(service.current), "lead");
  const passwords = Array.from({ length: 6 }, (_each, index) => `a good password, number ${index}`);
  const answers = await Promise.all(passwords.map((password) => ask("POST", link.url, { body: { password } })));
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["200", ...Array.from({ length: 5 }, () => "404")]);
  const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? "";
  await Browser.signIn(service.current, user.email, winner);
});

test("link 404: a used, replaced, made-up or foreign link, and one of a disabled user, all get the same response", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const used = await invite(tenant, "lead");
  const browser = await Browser.take(service.current, used.link.url);
  const replaced = await invite(tenant, "lead");
  await resetLink(tenant, replaced.user.user_id);
  const disabled = await invite(tenant, "lead");
  await tenant.call("PUT", `/users/${disabled.user.user_id}`, { body: { is_disabled: true } });
  const open = await invite(tenant, "lead");
  const before = await people(tenant);
  const madeUp = `#${tenant.tenantId}.${"A".repeat(43)}`;
  const elsewhere = `#${tokenOf(open.link.url).replace(tenant.tenantId, other.tenantId)}`;
  // A session's token is not a link's.
  const session = `#${browser.cookie.split("=")[1]}`;
  const all = [used.link.url, replaced.link.url, disabled.link.url, madeUp, elsewhere, session, "#x", "#%00", `#${randomUUID()}`];
  const texts = new Set<string>();
  for (const link of all) {
    for (const answer of [await ask("GET", link), await ask("POST", link, { body: join })]) {
      expectProblem(answer, 404, "item-not-found");
      expect(answer.headers.getSetCookie()).toEqual([]);
      texts.add(answer.text);
    }
  }
  expect(texts.size).toBe(1);
  expect(await people(tenant)).toBe(before);
});

test("link: its token does not work as a session", async () => {
  const { link } = await invite(await TestTenant.create(service.current), "admin");
  const headers = { cookie: `casehound_session=${tokenOf(link.url)}` };
  expectProblem(await send(service.current.port, "GET", "/auth/session", { headers }), 401, "unauthorized");
  expect((await ask("GET", link.url)).status).toBe(200);
});

test("link 404: an expired link behaves as if it never existed", async () => {
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs).toISOString();
  const later = await startService(testConfig({ roles: new Set(["api"]) }), undefined, { clock: { ...clock, now } });
  try {
    const tenant = await TestTenant.create(later);
    const first = await setUp(tenant);
    const { link } = await invite(tenant, "lead");
    const minuteMs = 60 * 1000;
    const lives: [string, number][] = [
      [first?.url ?? "", 15 * minuteMs],
      [link.url, 7 * 24 * 60 * minuteMs],
    ];
    for (const [url, lifeMs] of lives) {
      aheadMs = lifeMs - minuteMs;
      expect((await ask("GET", url, {}, later)).status).toBe(200);
      aheadMs = lifeMs + 1;
      expectProblem(await ask("GET", url, {}, later), 404, "item-not-found");
      const body = { email: newEmail(), name: "Eve", ...join };
      expectProblem(await ask("POST", url, { body: url === link.url ? join : body }, later), 404, "item-not-found");
    }
  } finally {
    await later.stop();
  }
});

test("link 422: a password of 11 or 257 characters, and members that the link cannot set, do not use up the link", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "lead");
  const before = await people(tenant);
  const wrong: [string, Record<string, unknown>][] = [
    ["password", { password: "elevenchars" }],
    ["password", { password: "x".repeat(257) }],
    ["password", {}],
    ["email", { ...join, email: newEmail() }],
    ["role", { ...join, role: "admin" }],
    ["name", { ...join, name: "Ada <root@shop.example>" }],
    ["name", { ...join, name: "Ada\u202e" }],
  ];
  for (const [field, body] of wrong) {
    const answer = await ask("POST", link.url, { body });
    expect(expectProblem(answer, 422, "validation-error").errors).toMatchObject([{ field }]);
  }
  expectProblem(await ask("POST", link.url, { body: join, headers: { origin: "https://evil.example" } }), 403, "access-denied");
  expect(await people(tenant)).toBe(before);
  await Browser.take(service.current, link.url);
  const reset = await resetLink(tenant, user.user_id);
  const renamed = await ask("POST", reset.url, { body: { ...join, name: "Eve" } });
  expect(expectProblem(renamed, 422, "validation-error").errors).toMatchObject([{ field: "name" }]);
});

test("link 422: a password of invisible characters, and an e-mail that is too long once normalized, are rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  const { link } = await invite(tenant, "lead");
  for (const each of [" ", "\t", "\u00a0", "\u200b", "\u3164"]) {
    const answer = await ask("POST", link.url, { body: { password: each.repeat(12) } });
    expect(expectProblem(answer, 422, "validation-error").errors).toMatchObject([{ field: "password" }]);
  }
  const first = await setUp(tenant);
  const body = { ...join, name: "Ada", email: `${"\u0958".repeat(241)}@shop.example` };
  const refused = await ask("POST", first?.url ?? "", { body });
  expect(expectProblem(refused, 422, "validation-error").errors).toMatchObject([{ field: "email" }]);
  const browser = await Browser.take(service.current, link.url, { password: "a   b   c   d" });
  const change = { current: "a   b   c   d", new: " ".repeat(12) };
  const blank = await browser.ask("POST", "/auth/password", { body: change });
  expect(expectProblem(blank, 422, "validation-error").errors).toMatchObject([{ field: "new" }]);
});

test("link 422: a common password, or the person's own e-mail, name or tenant, does not use up the link", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "lead", {
    email: `grace.hopper-${randomUUID()}@shop.example`,
    name: "Grace Hopper",
  });
  const before = await people(tenant);
  const wrong = [
    "Password1234",
    "passwordpassword",
    "123456789012",
    "GraceHopper2025!",
    user.email,
    tenant.slug,
    "casehound-2025",
  ];
  for (const password of wrong) {
    const refused = await ask("POST", link.url, { body: { password } });
    const problem = expectProblem(refused, 422, "validation-error");
    expect(problem.errors).toEqual([{ field: "password", message: expect.stringContaining("easily guessed") }]);
  }
  // The name chosen with the link counts too.
  const renamed = { name: "Marie Curie", password: "MarieCurie1867" };
  expectProblem(await ask("POST", link.url, { body: renamed }), 422, "validation-error");
  expect(await people(tenant)).toBe(before);
  const browser = await Browser.take(service.current, link.url);
  const change = { current: goodPassword, new: "gracehopper1906" };
  const refused = await browser.ask("POST", "/auth/password", { body: change });
  expect(expectProblem(refused, 422, "validation-error").errors).toMatchObject([{ field: "new" }]);
  await Browser.signIn(service.current, user.email);
});

test("password reset: the link works for a day for users with a password, and ends earlier sessions and the old password", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await Browser.join(tenant, "lead");
  const { user_id: id, email } = before.signedIn.user;
  const older = await resetLink(tenant, id);
  const link = await resetLink(tenant, id);
  expectProblem(await ask("GET", older.url), 404, "item-not-found");
  expect((await ask("GET", link.url)).json).toMatchObject({ purpose: "password-reset", email });
  expect((await before.call("GET", "/cases")).status).toBe(200);
  const after = await Browser.take(service.current, link.url, { password: "another good password" });
  expect((await after.call("GET", "/cases")).status).toBe(200);
  expectProblem(await before.call("GET", "/cases"), 401, "unauthorized");
  expectProblem(await signIn(service.current, { email, password: goodPassword }), 401, "unauthorized");
});

test("set-up: creates the first admin with the given e-mail and name, and works only once", async () => {
  const tenant = await TestTenant.create(service.current);
  const older = await setUp(tenant);
  const link = await setUp(tenant);
  expectProblem(await ask("GET", older?.url ?? ""), 404, "item-not-found");
  expect((await ask("GET", link?.url ?? "")).json).toMatchObject({
    purpose: "set-up",
    tenant: tenant.slug,
    email: null,
    name: null,
  });
  const nameless = await ask("POST", link?.url ?? "", { body: join });
  expect(expectProblem(nameless, 422, "validation-error").errors?.map(({ field }) => field)).toEqual(["email", "name"]);
  const email = newEmail();
  const browser = await Browser.take(service.current, link?.url ?? "", { email: email.toUpperCase(), name: "Ada Lovelace" });
  expect(browser.signedIn.user).toMatchObject({ email, role: "admin" });
  expect((await browser.call("GET", "/users")).status).toBe(200);
  expect(await setUp(tenant)).toBeNull();
});

test("set-up 404: the link ends as soon as somebody has joined in another way", async () => {
  const tenant = await TestTenant.create(service.current);
  const link = await setUp(tenant);
  expect(link).not.toBeNull();
  await invite(tenant, "admin");
  expect((await ask("GET", link?.url ?? "")).status).toBe(200);
  await Browser.join(tenant, "investigator");
  const before = await people(tenant);
  const body = { ...join, email: newEmail(), name: "Eve" };
  expectProblem(await ask("POST", link?.url ?? "", { body }), 404, "item-not-found");
  expect(await people(tenant)).toBe(before);
});
