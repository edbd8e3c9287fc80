import { expect, test, vi } from "vitest";
import { Derivations } from "../src/api/tokens/derivations.ts";
import { startService } from "../src/service.ts";
import { TestTenant, expectProblem, send, testConfig, useService, type Answer } from "./harness.ts";
import { Browser, cookiesOf, goodPassword, invite, newEmail, signIn, somewhere } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

async function joined(tenant?: TestTenant): Promise<{ email: string; tenant: TestTenant; browser: Browser }> {
  const own = tenant ?? (await TestTenant.create(service.current));
  const email = newEmail();
  return { email, tenant: own, browser: await Browser.join(own, "lead", { email }) };
}

function bytesOf({ status, headers, text }: Answer): string {
  return JSON.stringify([status, [...headers].filter(([name]) => name !== "x-request-id" && name !== "date"), text]);
}

test("POST sign-in 200: returns the user, the tenant and the scopes, and sets a cookie that no page can read", async () => {
  const { email, tenant } = await joined();
  const answer = await signIn(service.current, { email: email.toUpperCase(), password: goodPassword });
  expect(answer.status, answer.text).toBe(200);
  const { events } = (await tenant.call("GET", "/events")).json.data as { events: { event_id: number }[] };
  expect(answer.json).toMatchObject({
    user: { email, name: "Ada Lovelace", role: "lead" },
    tenant: { tenant_id: tenant.tenantId, slug: tenant.slug },
    csrf_token: expect.stringMatching(/^[\w-]{43}$/),
    scopes: expect.arrayContaining(["manage:rules", "update:case"]),
    last_event_id: events.at(-1)?.event_id,
  });
  const cookie = cookiesOf(answer).get("casehound_session");
  expect(cookie).toMatch(/^casehound_session=[\w-]{36}\.[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
  expect(answer.text).not.toContain(cookie?.split(/[=;]/)[1]);
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("POST sign-in 200: behind https the cookie is Secure and bound to the host by its name", async () => {
  const { email } = await joined();
  const secure = await startService(testConfig({ roles: new Set(["api"]), publicUrl: "https://cases.example" }));
  try {
    const answer = await signIn(secure, { email, password: goodPassword }, { origin: "https://cases.example" });
    const line = cookiesOf(answer).get("__Host-casehound_session") ?? "";
    expect(line).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/);
    expect(line).not.toMatch(/domain/i);
    const browser = new Browser(secure, answer);
    expect((await browser.call("GET", "/cases")).status).toBe(200);
    // The plain name is ignored there, because a page without https could have set it.
    const cookie = browser.cookie.replace("__Host-", "");
    expectProblem(await browser.call("GET", "/cases", { headers: { cookie } }), 401, "unauthorized");
  } finally {
    await secure.stop();
  }
});

test("POST sign-in 401: a wrong password, an unknown e-mail, an unused invitation and a disabled user get the same response", async () => {
  const { email, tenant, browser } = await joined();
  const invited = await invite(tenant, "admin");
  const disabled = await joined(tenant);
  const path = `/users/${disabled.browser.signedIn.user.user_id}`;
  expect((await tenant.call("PUT", path, { body: { is_disabled: true } })).status).toBe(200);
  const tries = [
    { email, password: `${goodPassword}!` },
    { email: newEmail(), password: goodPassword },
    { email: invited.user.email, password: goodPassword },
    { email: disabled.email, password: goodPassword },
    { email, password: goodPassword, tenant: "no-such-tenant" },
  ];
  const answers = new Set<string>();
  for (const body of tries) {
    const answer = await signIn(service.current, body, somewhere());
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers.getSetCookie()).toEqual([]);
    answers.add(bytesOf(answer));
  }
  expect(answers.size).toBe(1);
  expect((await browser.call("GET", "/cases")).status).toBe(200);
});

test("POST sign-in 422: a password valid for two tenants returns their slugs, and works with either", async () => {
  const email = newEmail();
  const tenants = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  for (const tenant of tenants) await Browser.join(tenant, "investigator", { email });
  const asked = await signIn(service.current, { email, password: goodPassword });
  const problem = expectProblem(asked, 422, "validation-error");
  const slugs = tenants.map(({ slug }) => slug).toSorted();
  expect(problem).toMatchObject({ tenants: slugs, errors: [{ field: "tenant" }] });
  expect(asked.headers.getSetCookie()).toEqual([]);
  for (const slug of slugs) {
    const answer = await signIn(service.current, { email, password: goodPassword, tenant: slug });
    expect(answer.json).toMatchObject({ tenant: { slug } });
  }
  // Without the password, no tenant is revealed.
  const wrong = await signIn(service.current, { email, password: "no password of either" });
  expect(wrong.text).not.toContain(slugs[0]);
});

test("POST sign-in 200: with two tenants and two passwords, the password decides the tenant", async () => {
  const email = newEmail();
  const [one, two] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  await Browser.join(one, "investigator", { email });
  await Browser.take(service.current, (await invite(two, "admin", { email })).link.url, { password: "another good password" });
  const first = await Browser.signIn(service.current, email);
  expect(first.signedIn).toMatchObject({ tenant: { slug: one.slug }, user: { role: "investigator" } });
  const second = await Browser.signIn(service.current, email, "another good password");
  expect(second.signedIn).toMatchObject({ tenant: { slug: two.slug }, user: { role: "admin" } });
});

test("POST sign-in: takes one hash, however many tenants know the e-mail, and whether or not the password is right", async () => {
  const [email, once] = [newEmail(), newEmail()];
  for (const password of [goodPassword, "another good password", "a third good password"]) {
    const tenant = await TestTenant.create(service.current);
    const browser = await Browser.take(service.current, (await invite(tenant, "lead", { email })).link.url, {
      password: `old ${password}`,
    });
    const changed = await browser.ask("POST", "/auth/password", { body: { current: `old ${password}`, new: password } });
    expect(changed.status, changed.text).toBe(204);
    if (password === goodPassword) await Browser.join(tenant, "lead", { email: once });
  }
  const run = vi.spyOn(Derivations.prototype, "run");
  try {
    for (const tried of [email, once, newEmail()]) {
      for (const password of ["no good password", goodPassword]) {
        run.mockClear();
        const { status } = await signIn(service.current, { email: tried, password });
        expect(run).toHaveBeenCalledTimes(1);
        expect(status).toBe(password === goodPassword && (tried === email || tried === once) ? 200 : 401);
      }
    }
  } finally {
    run.mockRestore();
  }
});

test("POST sign-in 200: an unused invitation in another tenant uses up no attempts", async () => {
  const [one, two] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const email = newEmail();
  await Browser.join(one, "lead", { email });
  const { link } = await invite(two, "lead", { email });
  const headers = somewhere();
  for (let count = 0; count < 11; count++)
    expect((await signIn(service.current, { email, password: goodPassword }, headers)).status).toBe(200);
  const password = "a password of their own";
  await Browser.take(service.current, link.url, { password });
  expect((await signIn(service.current, { email, password, tenant: two.slug })).status).toBe(200);
});

test("POST sign-in 400, 415, 422, 403: an invalid request gets the usual response and signs nobody in", async () => {
  const { email } = await joined();
  const good = { email, password: goodPassword };
  const ask = (options: Parameters<typeof send>[3]) => send(service.current.port, "POST", "/auth/sign-in", options);
  expectProblem(await ask({ rawBody: "{" }), 400, "bad-request");
  expectProblem(await ask({ body: good, headers: { "content-type": "text/plain" } }), 415, "unsupported-media-type");
  expectProblem(await ask({ body: { email } }), 422, "validation-error");
  expectProblem(await ask({ body: { ...good, remember: true } }), 422, "validation-error");
  expectProblem(await ask({ body: { email, password: "x".repeat(257) } }), 422, "validation-error");
  expectProblem(await ask({ rawBody: `{"email":"${"x".repeat(17_000)}"}` }), 413, "payload-too-large");
  for (const origin of ["https://evil.example", "null", `http://127.0.0.1:${service.current.port + 1}`]) {
    expectProblem(await ask({ body: good, headers: { origin } }), 403, "access-denied");
  }
  expectProblem(await send(service.current.port, "GET", "/auth/sign-in"), 405, "method-not-allowed");
  expect((await ask({ body: good })).status).toBe(200);
});
