import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clock as realClock } from "../src/clock.ts";
import { operations } from "../src/api/operations.ts";
import { roleScopes, roles } from "../src/domain/role.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, send, testConfig, useService } from "./harness.ts";
import { Browser, cookiesOf, goodPassword, newEmail, signIn } from "./people.ts";

const service = useService();

async function withOther<T>(work: (other: Service) => Promise<T>): Promise<T> {
  const other = await startService(testConfig({ roles: new Set(["api"]) }));
  return work(other).finally(() => other.stop());
}

test("cookie 200: reads need only the cookie, and GET session returns the same as the sign-in", async () => {
  const browser = await Browser.join(await TestTenant.create(service.current), "investigator");
  for (const path of ["/cases", "/enduseraccounts", "/rules", "/metrics", "/tenants"]) {
    expect((await browser.call("GET", path)).status, path).toBe(200);
  }
  const session = await browser.ask("GET", "/auth/session");
  expect(session.json).toEqual(browser.signedIn);
});

test("GET session 401: a missing cookie and one without a session are rejected", async () => {
  const browser = await Browser.join(await TestTenant.create(service.current), "admin");
  const { tenant } = browser.signedIn;
  const values = [
    "",
    "casehound_session=",
    "casehound_session=x",
    `${browser.cookie}x`,
    `casehound_session=${tenant.tenant_id}.`,
  ];
  const forged = `casehound_session=${tenant.tenant_id}.${"A".repeat(43)}`;
  for (const cookie of [...values, forged, browser.cookie.replace(tenant.tenant_id, randomUUID())]) {
    expectProblem(await browser.ask("GET", "/auth/session", { headers: { cookie } }), 401, "unauthorized");
    const refused = await browser.call("GET", "/cases", { headers: { cookie } });
    expectProblem(refused, 401, "unauthorized");
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="casehound"');
  }
});

test("PUT case 200: changed_by, the event and the account's history name the person", async () => {
  const tenant = await TestTenant.create(service.current);
  const email = newEmail();
  const browser = await Browser.join(tenant, "investigator", { email, name: "Grace Hopper" });
  const opened = await tenant.openCase("user-1");
  const options = { body: { status: "CLOSED", case_version: 1 }, key: randomUUID() };
  const closed = await browser.call("PUT", `/cases/${opened.case_id}`, options);
  const actor = `Grace Hopper <${email}>`;
  expect(closed.json.data).toMatchObject({ status: "CLOSED", current_state: { changed_by: actor } });
  const flags = await browser.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: true } });
  expect(flags.status).toBe(200);
  const client = await service.current.database.connect();
  const { rows } = await client.query("select distinct actor from events where tenant_id = $1 and type = any($2)", [
    tenant.tenantId,
    ["case.closed", "account.updated", "user.joined"],
  ]);
  await client.end();
  expect(rows).toEqual([{ actor }]);
});

test("unsafe 403: without the session's CSRF token, or from another origin, nothing changes", async () => {
  const tenant = await TestTenant.create(service.current);
  const [browser, other] = [await Browser.join(tenant, "admin"), await Browser.join(tenant, "admin")];
  const opened = await tenant.openCase("user-1");
  const host = `127.0.0.1:${service.current.port}`;
  const spoiled: Record<string, string>[] = [
    { "x-csrf-token": "" },
    { "x-csrf-token": "x" },
    { "x-csrf-token": `${browser.signedIn.csrf_token}x` },
    { "x-csrf-token": other.signedIn.csrf_token },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `https://${host}.evil.example` },
    { origin: `https://${host}` },
    { origin: `http://127.0.0.1:${service.current.port + 1}` },
    { origin: "https://evil.example", host: "evil.example", "x-csrf-token": "" },
  ];
  for (const headers of spoiled) {
    const close = { body: { status: "CLOSED", case_version: 1 }, key: randomUUID(), headers };
    expectProblem(await browser.call("PUT", `/cases/${opened.case_id}`, close), 403, "access-denied");
    expectProblem(
      await browser.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: true }, headers }),
      403,
      "access-denied",
    );
    expectProblem(await browser.call("DELETE", "/enduseraccounts/user-1", { headers }), 403, "access-denied");
    for (const path of ["/auth/sign-out", "/auth/sign-out-everywhere", "/auth/password"]) {
      const body = { current: goodPassword, new: "another good password" };
      expectProblem(await browser.ask("POST", path, { body, headers }), 403, "access-denied");
    }
  }
  expect(await tenant.read(opened.case_id)).toStrictEqual(opened);
  expect((await tenant.call("GET", "/enduseraccounts/user-1")).json.data).toMatchObject({ is_blocked: false });
  for (const origin of [service.current.url, `http://${host}`]) {
    const answer = await browser.call("PUT", "/enduseraccounts/user-1", { body: {}, headers: { origin } });
    expect(answer.status, answer.text).toBe(200);
  }
});

test("GET 200: a read needs no CSRF token, whatever page sends it", async () => {
  const browser = await Browser.join(await TestTenant.create(service.current), "investigator");
  const headers = { origin: "https://evil.example" };
  const answer = await browser.call("GET", "/cases", { headers });
  expect(answer.status).toBe(200);
  // No other page may read the response.
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

test("cookie 403: on another tenant, a session gets the same response as a foreign token, and nothing changes", async () => {
  const [own, foreign] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const browser = await Browser.join(own, "admin");
  await foreign.call("POST", "/enduseraccounts", { body: { website_account_id: "user-1" } });
  for (const slug of [foreign.slug, `t-${randomUUID()}`]) {
    const path = `/v2/${slug}/enduseraccounts/user-1`;
    const body = { is_blocked: true };
    const byCookie = await browser.ask("PUT", path, { body });
    expectProblem(byCookie, 403, "access-denied");
    const byToken = await send(service.current.port, "PUT", path, { body, token: own.token });
    expect(byCookie.text).toBe(byToken.text);
  }
  expect((await foreign.call("GET", "/enduseraccounts/user-1")).json.data).toMatchObject({ is_blocked: false });
});

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, "x-csrf-token": "" };
}

test("bearer and cookie together: the token counts, valid or not", async () => {
  const tenant = await TestTenant.create(service.current);
  const browser = await Browser.join(tenant, "investigator");
  const rights = await tenant.mint([...roleScopes.lead, "manage:users"]);
  expectProblem(await browser.call("GET", "/clients", { headers: bearer(rights) }), 403, "access-denied");
  const invited = { email: newEmail(), name: "Eve", role: "lead" };
  expect((await browser.call("POST", "/users", { body: invited, headers: bearer(rights) })).status).toBe(201);
  expectProblem(await browser.call("GET", "/cases", { headers: bearer("x") }), 401, "unauthorized");
});

test.for(roles)("roles: %s may do what its scopes allow, and nothing else", async (role) => {
  const tenant = await TestTenant.create(service.current);
  const browser = await Browser.join(tenant, role);
  expect(browser.signedIn.scopes).toEqual(roleScopes[role]);
  for (const operation of operations.filter(({ method }) => method === "GET")) {
    const path = operation.path.replaceAll(/\{\w+\}/g, () => randomUUID());
    // Otherwise a stream would continue as long as somebody reads it.
    const answer = await browser.call("GET", operation.isStream === true ? `${path}?wait=0` : path);
    const isAllowed = roleScopes[role].includes(operation.scope);
    const isRefused = answer.status === 403 && answer.json.detail === `The role ${role} lacks the scope ${operation.scope}.`;
    expect([operation.id, answer.status === 403, isRefused]).toEqual([operation.id, !isAllowed, !isAllowed]);
  }
  const invited = { email: newEmail(), name: "Eve", role: "admin" };
  const mayInvite = (await browser.call("POST", "/users", { body: invited })).status === 201;
  const thresholds = await browser.call("PUT", "/thresholds", { body: {} });
  expect({ mayInvite, mayTune: thresholds.status !== 403 }).toEqual({
    mayInvite: role === "admin",
    mayTune: role !== "investigator",
  });
});

test("roles: each includes the previous one, and an admin may do everything", () => {
  const [investigator, lead, admin] = roles.map((role) => new Set(roleScopes[role]));
  expect(investigator?.isSubsetOf(lead ?? new Set())).toBe(true);
  expect(lead?.isSubsetOf(admin ?? new Set())).toBe(true);
  for (const { scope } of operations) expect(roleScopes.admin).toContain(scope);
  expect(roleScopes.investigator.filter((scope) => /^(manage|delete|create)|update:tenant/.test(scope))).toEqual([]);
});

test("sign-out 204: this session ends and the person's others continue; without a session it does nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const one = await Browser.join(tenant, "investigator");
  const two = await Browser.signIn(service.current, one.signedIn.user.email);
  const out = await one.ask("POST", "/auth/sign-out");
  expect(out.status).toBe(204);
  expect(cookiesOf(out).get("casehound_session")).toMatch(/^casehound_session=; Path=\/; Max-Age=0; HttpOnly/);
  expectProblem(await one.call("GET", "/cases"), 401, "unauthorized");
  expect((await two.call("GET", "/cases")).status).toBe(200);
  expect((await one.ask("POST", "/auth/sign-out")).status).toBe(204);
});

test("sign-out-everywhere 204: all of the person's sessions end at once in every process, and nobody else's", async () => {
  const tenant = await TestTenant.create(service.current);
  const [one, colleague] = [await Browser.join(tenant, "lead"), await Browser.join(tenant, "lead")];
  const two = await Browser.signIn(service.current, one.signedIn.user.email);
  await withOther(async (other) => {
    expect((await two.call("GET", "/cases", {}, other)).status).toBe(200);
    expect((await one.ask("POST", "/auth/sign-out-everywhere")).status).toBe(204);
    for (const each of [one, two]) expectProblem(await each.call("GET", "/cases", {}, other), 401, "unauthorized");
    expect((await colleague.call("GET", "/cases", {}, other)).status).toBe(200);
  });
});

test("PUT user 200: a disabled user's sessions end at once in every process, and stay ended", async () => {
  const tenant = await TestTenant.create(service.current);
  const browser = await Browser.join(tenant, "lead");
  const path = `/users/${browser.signedIn.user.user_id}`;
  await withOther(async (other) => {
    expect((await browser.call("GET", "/cases", {}, other)).status).toBe(200);
    expect((await tenant.call("PUT", path, { body: { is_disabled: true } })).status).toBe(200);
    for (const each of [service.current, other])
      expectProblem(await browser.call("GET", "/cases", {}, each), 401, "unauthorized");
    expect((await tenant.call("PUT", path, { body: { is_disabled: false } })).status).toBe(200);
    expectProblem(await browser.call("GET", "/cases", {}, other), 401, "unauthorized");
  });
  await Browser.signIn(service.current, browser.signedIn.user.email);
});

test("PUT user 200: a new role applies from the next request on, in every process", async () => {
  const tenant = await TestTenant.create(service.current);
  const browser = await Browser.join(tenant, "admin");
  await Browser.join(tenant, "admin");
  await withOther(async (other) => {
    expect((await browser.call("GET", "/users", {}, other)).status).toBe(200);
    const path = `/users/${browser.signedIn.user.user_id}`;
    expect((await tenant.call("PUT", path, { body: { role: "investigator" } })).status).toBe(200);
    expectProblem(await browser.call("GET", "/users", {}, other), 403, "access-denied");
    expect((await browser.ask("GET", "/auth/session", {}, other)).json).toMatchObject({ user: { role: "investigator" } });
  });
});

test("sessions: a session ends after twelve idle hours, and after seven days in any case", async () => {
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs).toISOString();
  const later = await startService(testConfig({ roles: new Set(["api"]) }), undefined, { clock: { ...realClock, now } });
  try {
    const tenant = await TestTenant.create(later);
    // The API token follows the real time, so only people are used from here on.
    const [busy, idle] = [await Browser.join(tenant, "lead"), await Browser.join(tenant, "lead")];
    const hourMs = 60 * 60 * 1000;
    for (aheadMs = 11 * hourMs; aheadMs < 7 * 24 * hourMs; aheadMs += 11 * hourMs) {
      expect((await busy.call("GET", "/cases")).status, `${aheadMs / hourMs} h`).toBe(200);
      if (aheadMs > 12 * hourMs) expectProblem(await idle.call("GET", "/cases"), 401, "unauthorized");
    }
    aheadMs = 7 * 24 * hourMs + 1000;
    expectProblem(await busy.call("GET", "/cases"), 401, "unauthorized");
  } finally {
    await later.stop();
  }
});

test("sessions: a person keeps the latest twenty", async () => {
  const tenant = await TestTenant.create(service.current);
  const first = await Browser.join(tenant, "lead");
  const browsers: Browser[] = [];
  for (let count = 0; count < 20; count++) browsers.push(await Browser.signIn(service.current, first.signedIn.user.email));
  expectProblem(await first.call("GET", "/cases"), 401, "unauthorized");
  for (const each of browsers) expect((await each.call("GET", "/cases")).status).toBe(200);
});

test("POST password 204: the new password works, the old one does not, and the other sessions have ended", async () => {
  const tenant = await TestTenant.create(service.current);
  const one = await Browser.join(tenant, "investigator");
  const { email } = one.signedIn.user;
  const two = await Browser.signIn(service.current, email);
  const fresh = "another good password";
  const wrong = await one.ask("POST", "/auth/password", { body: { current: "not the password", new: fresh } });
  expect(expectProblem(wrong, 422, "validation-error").errors).toMatchObject([{ field: "current" }]);
  for (const short of ["elevenchars", "x".repeat(257)]) {
    const refused = await one.ask("POST", "/auth/password", { body: { current: goodPassword, new: short } });
    expect(expectProblem(refused, 422, "validation-error").errors).toMatchObject([{ field: "new" }]);
  }
  expect((await two.call("GET", "/cases")).status).toBe(200);
  const changed = await one.ask("POST", "/auth/password", { body: { current: goodPassword, new: fresh } });
  expect(changed.status, changed.text).toBe(204);
  expect((await one.call("GET", "/cases")).status).toBe(200);
  expectProblem(await two.call("GET", "/cases"), 401, "unauthorized");
  expectProblem(await signIn(service.current, { email, password: goodPassword }), 401, "unauthorized");
  await Browser.signIn(service.current, email, fresh);
});
