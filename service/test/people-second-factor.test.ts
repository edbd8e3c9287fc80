import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, newDatabase, send, testConfig, type Answer } from "./harness.ts";
import { Browser, cookiesOf, goodPassword, newEmail, signIn, somewhere, useLink } from "./people.ts";
import { addApp, type App } from "./second-factor.ts";

// A clock that stands still until a test moves it, because a code counts for 90 seconds.
const startMs = Date.now();
let aheadMs = 0;
const nowMs = () => startMs + aheadMs;
const wait = (seconds: number) => (aheadMs += seconds * 1000);
let service: Service;
beforeAll(async () => {
  const config = testConfig({ roles: new Set(["api"]), databaseUrl: await newDatabase() });
  service = await startService(config, undefined, { clock: { ...clock, now: () => new Date(nowMs()).toISOString() } });
});
afterAll(() => service.stop());

type Enrolled = { tenant: TestTenant; browser: Browser; email: string; app: App; codes: string[] };

async function enrolled(role: "investigator" | "lead" | "admin" = "investigator"): Promise<Enrolled> {
  const tenant = await TestTenant.create(service);
  const email = newEmail();
  const browser = await Browser.join(tenant, role, { email });
  // Each person starts with an unused step.
  wait(30);
  return { tenant, browser, email, ...(await addApp(browser, nowMs())) };
}

function ticketOf(answer: Answer): string {
  return (cookiesOf(answer).get("casehound_ticket") ?? "").split(";")[0] ?? "";
}

async function askedFor(email: string, password = goodPassword): Promise<string> {
  const answer = await signIn(service, { email, password });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toEqual({ second_factor: { kinds: ["totp", "recovery-code"] } });
  expect(cookiesOf(answer).has("casehound_session")).toBe(false);
  return ticketOf(answer);
}

function give(cookie: string, code: string): Promise<Answer> {
  return send(service.port, "POST", "/auth/second-factor", { body: { code }, headers: { ...somewhere(), cookie } });
}

async function eventsOf(tenant: TestTenant): Promise<string[]> {
  const { json } = await tenant.call("GET", "/events?limit=1000");
  return (json.data as { events: { type: string }[] }).events.map(({ type }) => type);
}

const pathOf = (each: Browser) => `/users/${each.signedIn.user.user_id}/second-factor`;

test("sign-in: a person with an app is asked for a code, and gets a session only with one", async () => {
  const { email, app, tenant } = await enrolled();
  wait(30);
  const ticket = await askedFor(email);
  expectProblem(await send(service.port, "GET", "/auth/session", { headers: { cookie: ticket } }), 401, "unauthorized");
  expectProblem(
    await send(service.port, "GET", `/v2/${tenant.slug}/cases`, { headers: { cookie: ticket } }),
    401,
    "unauthorized",
  );
  expectProblem(await give(ticket, "000000"), 401, "unauthorized");
  const browser = new Browser(service, await give(ticket, app.codeAt(nowMs())));
  expect((await browser.call("GET", "/cases")).status).toBe(200);
});

test("POST second-factor 401: a code that was used, one that is two steps old, and one of somebody else are refused", async () => {
  const [ada, eve] = [await enrolled(), await enrolled()];
  wait(60);
  const ticket = await askedFor(ada.email);
  expectProblem(await give(ticket, ada.app.codeAt(nowMs() - 60_000)), 401, "unauthorized");
  expectProblem(await give(ticket, eve.app.codeAt(nowMs())), 401, "unauthorized");
  expectProblem(await give(ticket, eve.codes[0] ?? ""), 401, "unauthorized");
  wait(16 * 60);
  const [fresh, used] = [await askedFor(ada.email), ada.app.codeAt(nowMs())];
  const answers = await Promise.all(Array.from({ length: 5 }, () => give(fresh, used)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401, 401]);
  expectProblem(await give(await askedFor(ada.email), used), 401, "unauthorized");
});

test("POST second-factor 200: each recovery code works once, in any spelling, and its use is an event", async () => {
  const { email, codes, tenant, browser } = await enrolled();
  const [first = "", second = ""] = codes;
  expect((await give(await askedFor(email), first)).status).toBe(200);
  expectProblem(await give(await askedFor(email), first), 401, "unauthorized");
  expect((await give(await askedFor(email), second.toUpperCase().replaceAll("-", " "))).status).toBe(200);
  expect((await browser.ask("GET", "/auth/second-factors")).json).toMatchObject({ recovery_codes_left: 8, is_required: false });
  expect((await eventsOf(tenant)).filter((type) => type === "user.recovery_code_used")).toHaveLength(2);
});

test("POST second-factor 429: somebody who knows the password gets few tries, from anywhere, and does not slow down the owner's browser", async () => {
  const { email, app } = await enrolled();
  wait(30);
  const signedIn = await give(await askedFor(email), app.codeAt(nowMs()));
  const device = (cookiesOf(signedIn).get("casehound_device") ?? "").split(";")[0] ?? "";
  for (let tried = 0; tried < 5; tried++) expect((await give(await askedFor(email), "123456")).status).toBe(401);
  wait(30);
  const code = app.codeAt(nowMs());
  for (let tried = 0; tried < 20; tried++) {
    const status = (await give(await askedFor(email), "123456")).status;
    if (status === 429) break;
  }
  expectProblem(await give(await askedFor(email), code), 429, "rate-limited");
  expect((await give(`${await askedFor(email)}; ${device}`, code)).status).toBe(200);
});

test("POST second-factor 429: many browsers that signed in before the app was added have few tries together", async () => {
  const email = newEmail();
  const browser = await Browser.join(await TestTenant.create(service), "lead", { email });
  const devices: string[] = [];
  for (let made = 0; made < 8; made++) {
    const signedIn = await signIn(service, { email, password: goodPassword });
    devices.push((cookiesOf(signedIn).get("casehound_device") ?? "").split(";")[0] ?? "");
  }
  wait(30);
  await addApp(browser, nowMs());
  const ticket = await askedFor(email);
  const statuses: number[] = [];
  for (const device of devices)
    for (let tried = 0; tried < 5; tried++) statuses.push((await give(`${ticket}; ${device}`, "123456")).status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(30);
  expect(statuses.slice(30).every((status) => status === 429)).toBe(true);
});

test("ticket 401: a changed, foreign, expired or made-up one, and one from an old password, open nothing", async () => {
  const [ada, eve] = [await enrolled(), await enrolled()];
  const [ticket, foreign] = [await askedFor(ada.email), await askedFor(eve.email)];
  const [tenantId = "", userId = "", expires = "", seal = ""] = ticket.slice("casehound_ticket=".length).split(".");
  const [, eveId = ""] = foreign.slice("casehound_ticket=".length).split(".");
  wait(30);
  const code = () => ada.app.codeAt(nowMs());
  const wrong = [
    "",
    [tenantId, eveId, expires, seal],
    [tenantId, userId, String(Number(expires) + 1), seal],
    [tenantId, userId, expires, ""],
    [tenantId, userId, expires, `${seal}.`],
    ["x", userId, expires, seal],
  ].map((parts) => `casehound_ticket=${typeof parts === "string" ? parts : parts.join(".")}`);
  for (const cookie of [...wrong, foreign]) expectProblem(await give(cookie, code()), 401, "unauthorized");
  const change = { current: goodPassword, new: "another good password" };
  expect((await ada.browser.ask("POST", "/auth/password", { body: change })).status).toBe(204);
  expectProblem(await give(ticket, code()), 401, "unauthorized");
  const late = await askedFor(ada.email, change.new);
  wait(301);
  expectProblem(await give(late, code()), 401, "unauthorized");
});

test("totp: setting up needs the password and a right code, ends other sessions, and leaves no secret in events or users", async () => {
  const tenant = await TestTenant.create(service);
  const email = newEmail();
  const [browser, other] = [await Browser.join(tenant, "lead", { email }), await Browser.signIn(service, email)];
  expectProblem(await browser.ask("POST", "/auth/totp", { body: { password: "not the password" } }), 422, "validation-error");
  expectProblem(await browser.ask("POST", "/auth/totp/confirm", { body: { code: "123456" } }), 404, "item-not-found");
  const begun = await browser.ask("POST", "/auth/totp", { body: { password: goodPassword } });
  const { secret, uri, qr } = begun.json as unknown as { secret: string; uri: string; qr: { size: number; rows: string[] } };
  expect(uri).toContain(`secret=${secret}`);
  expect(qr.rows).toHaveLength(qr.size);
  // Nothing is required until a code has confirmed it.
  expect((await signIn(service, { email, password: goodPassword })).json).toHaveProperty("user");
  expectProblem(await browser.ask("POST", "/auth/totp/confirm", { body: { code: "000000" } }), 422, "validation-error");
  const { app, codes } = await addApp(browser, nowMs());
  expect(codes).toHaveLength(10);
  expectProblem(await other.ask("GET", "/auth/session"), 401, "unauthorized");
  expect((await browser.ask("GET", "/auth/session")).status).toBe(200);
  const shown = `${(await tenant.call("GET", "/users")).text}${(await tenant.call("GET", "/events?limit=1000")).text}`;
  for (const word of [secret, ...codes]) expect(shown).not.toContain(word);
  expect((await tenant.call("GET", "/users")).text).toContain('"has_second_factor":true');
  expect(await eventsOf(tenant)).toContain("user.second_factor_added");
  // A second set-up replaces the app only once it is confirmed.
  wait(30);
  expect((await browser.ask("POST", "/auth/totp", { body: { password: goodPassword } })).status).toBe(200);
  expect((await give(await askedFor(email), app.codeAt(nowMs()))).status).toBe(200);
});

test("totp/confirm 404: a set-up that took longer than 15 minutes must start again", async () => {
  const browser = await Browser.join(await TestTenant.create(service), "lead");
  expect((await browser.ask("POST", "/auth/totp", { body: { password: goodPassword } })).status).toBeLessThan(300);
  wait(15 * 60);
  expectProblem(await browser.ask("POST", "/auth/totp/confirm", { body: { code: "123456" } }), 404, "item-not-found");
});

test("recovery-codes, totp/remove: need the password; new codes replace the old ones, and removing ends them", async () => {
  const { browser, email, codes, tenant } = await enrolled();
  for (const path of ["/auth/recovery-codes", "/auth/totp/remove"])
    expectProblem(await browser.ask("POST", path, { body: { password: "not the password" } }), 422, "validation-error");
  const renewed = await browser.ask("POST", "/auth/recovery-codes", { body: { password: goodPassword } });
  const [fresh = ""] = (renewed.json as unknown as { recovery_codes: string[] }).recovery_codes;
  expectProblem(await give(await askedFor(email), codes[0] ?? ""), 401, "unauthorized");
  expect((await give(await askedFor(email), fresh)).status).toBe(200);
  expect((await browser.ask("POST", "/auth/totp/remove", { body: { password: goodPassword } })).status).toBe(204);
  expect((await signIn(service, { email, password: goodPassword })).json).toHaveProperty("user");
  expect((await browser.ask("GET", "/auth/second-factors")).json).toMatchObject({
    totp: null,
    recovery_codes_left: 0,
    is_required: false,
  });
  expectProblem(await browser.ask("POST", "/auth/recovery-codes", { body: { password: goodPassword } }), 404, "item-not-found");
  expect(await eventsOf(tenant)).toEqual(expect.arrayContaining(["user.recovery_codes_made", "user.second_factor_removed"]));
});

test("password reset: the link replaces the password, not the second factor", async () => {
  const { tenant, browser, app } = await enrolled();
  const { user_id } = browser.signedIn.user;
  const made = await tenant.call("POST", `/users/${user_id}/links`);
  const used = await useLink(service, (made.json.data as { url: string }).url, { password: "another good password" });
  expect(used.json).toEqual({ second_factor: { kinds: ["totp", "recovery-code"] } });
  expect(cookiesOf(used).has("casehound_session")).toBe(false);
  expectProblem(await browser.ask("GET", "/auth/session"), 401, "unauthorized");
  wait(30);
  expect((await give(ticketOf(used), app.codeAt(nowMs()))).status).toBe(200);
});

test("DELETE second-factor 204: an admin resets a colleague's, with an event; nobody resets their own or that of somebody with more scopes", async () => {
  const { tenant, browser, email } = await enrolled("admin");
  const admin = await Browser.join(tenant, "admin");
  expectProblem(await browser.call("DELETE", pathOf(browser)), 403, "access-denied");
  const lesser = await tenant.call("POST", "/clients", { body: { scopes: ["manage:users"] } });
  const { client, client_secret } = lesser.json.data as { client: { client_id: string }; client_secret: string };
  const form = { grant_type: "client_credentials", client_id: client.client_id, client_secret };
  const { access_token } = (await (
    await fetch(`http://127.0.0.1:${service.port}/v2/oauth/token`, { method: "POST", body: new URLSearchParams(form) })
  ).json()) as { access_token: string };
  const refused = await send(service.port, "DELETE", `/v2/${tenant.slug}${pathOf(browser)}`, { token: access_token });
  expectProblem(refused, 403, "access-denied");
  await askedFor(email);
  const foreign = await TestTenant.create(service);
  expectProblem(await foreign.call("DELETE", pathOf(browser)), 404, "item-not-found");
  expect((await admin.call("DELETE", pathOf(browser))).status).toBe(204);
  expectProblem(await browser.ask("GET", "/auth/session"), 401, "unauthorized");
  expect((await signIn(service, { email, password: goodPassword })).json).toHaveProperty("user");
  // A second reset changes nothing and is not an event.
  expect((await admin.call("DELETE", pathOf(browser))).status).toBe(204);
  expect((await eventsOf(tenant)).filter((type) => type === "user.second_factor_reset")).toHaveLength(1);
});

test("requires_second_factor: from the next request on, people without one can only add one, and then continue in the same session", async () => {
  const tenant = await TestTenant.create(service);
  const [admin, other] = [await Browser.join(tenant, "admin"), await Browser.join(tenant, "investigator")];
  expect((await admin.call("PUT", "/tenants", { body: { requires_second_factor: true } })).status).toBe(200);
  for (const browser of [admin, other]) {
    expectProblem(await browser.call("GET", "/cases"), 403, "access-denied");
    expect((await browser.ask("GET", "/auth/session")).json).toMatchObject({ must_add_second_factor: true, scopes: [] });
  }
  expectProblem(await admin.call("PUT", "/tenants", { body: { requires_second_factor: false } }), 403, "access-denied");
  // Clients are not people.
  expect((await tenant.call("GET", "/cases")).status).toBe(200);
  await addApp(other, nowMs());
  expect((await other.call("GET", "/cases")).status).toBe(200);
  expect((await other.ask("GET", "/auth/session")).json).toMatchObject({ must_add_second_factor: false });
  expectProblem(await other.ask("POST", "/auth/totp/remove", { body: { password: goodPassword } }), 403, "access-denied");
  expect((await other.ask("GET", "/auth/second-factors")).json).toMatchObject({ is_required: true, recovery_codes_left: 10 });
  const newcomer = await Browser.join(tenant, "lead");
  expect(newcomer.signedIn).toMatchObject({ must_add_second_factor: true, scopes: [] });
});

test("requires_second_factor: a session whose factor was removed must add one again, and update:tenant alone cannot change it", async () => {
  const { tenant, browser } = await enrolled("lead");
  expect((await browser.ask("POST", "/auth/totp/remove", { body: { password: goodPassword } })).status).toBe(204);
  const token = await tenant.mint(["update:tenant"]);
  const body = { requires_second_factor: true };
  expectProblem(await tenant.call("PUT", "/tenants", { token, body }), 403, "access-denied");
  expect((await browser.call("GET", "/cases")).status).toBe(200);
  expect((await tenant.call("PUT", "/tenants", { body })).status).toBe(200);
  expectProblem(await browser.call("GET", "/cases"), 403, "access-denied");
});

test("second factors: only hashes of recovery codes are stored, and a disabled person's ticket opens nothing", async () => {
  const { tenant, browser, email, codes } = await enrolled();
  const { user_id } = browser.signedIn.user;
  const rows = await service.database.query(statement("select code_hash from user_recovery_codes where user_id = $1", [user_id]));
  expect(rows).toHaveLength(10);
  const stored = JSON.stringify(rows.map((row) => (row["code_hash"] as Buffer).toString("latin1")));
  for (const code of codes) expect(stored).not.toContain(code.replaceAll("-", ""));
  const ticket = await askedFor(email);
  await tenant.call("PUT", `/users/${user_id}`, { body: { is_disabled: true } });
  expectProblem(await give(ticket, codes[0] ?? ""), 401, "unauthorized");
});
