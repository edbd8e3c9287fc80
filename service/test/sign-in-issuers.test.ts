import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startService } from "../src/service.ts";
import { TestTenant, expectProblem, send, testConfig, useService, type Answer } from "./harness.ts";
import { PeopleIssuer, clientSecret, type Subject } from "./people-issuer.ts";
import { Browser, cookiesOf, invite, newEmail, signIn } from "./people.ts";

const service = useService({ roles: new Set(["api"]), hasPrivateWebhooks: true });
let issuer: PeopleIssuer;

beforeAll(async () => {
  issuer = await PeopleIssuer.start();
});
afterAll(() => issuer.close());

type Mapping = Record<string, unknown>;

const back = (slug: string) => `/auth/oidc/${slug}/id/callback`;

const wanted = (more: Mapping = {}) => ({
  issuer_key: "id",
  name: "Shop ID",
  issuer: issuer.url,
  client_id: "console",
  client_secret: clientSecret,
  extra_scopes: ["groups"],
  ...more,
});

// A tenant whose people can sign in with the issuer. The issuer knows the redirect URIs of this tenant only.
async function withIssuer(more: Mapping = {}, { isEmailInIdToken = false } = {}): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const made = await tenant.call("POST", "/issuers", { body: wanted(more) });
  expect(made.status, made.text).toBe(201);
  await issuer.admit(service.current, { isEmailInIdToken, paths: [back(tenant.slug)] });
  return tenant;
}

function verified(email: string, more: Partial<Subject> = {}): Subject {
  return { sub: randomUUID(), email, email_verified: true, ...more };
}

function comeBack({ callback, cookie }: { callback: string; cookie: string }, path?: string): Promise<Answer> {
  const { pathname, search } = new URL(callback);
  return send(service.current.port, "GET", `${path ?? pathname}${search}`, { headers: { cookie } });
}

async function visit(tenant: TestTenant, subject: Subject): Promise<Answer> {
  issuer.at = subject;
  return comeBack(await issuer.travel(service.current, `/auth/oidc/${tenant.slug}/id`));
}

function problemOf(answer: Answer): string | null {
  expect(answer.status, answer.text).toBe(303);
  expect(cookiesOf(answer).get("casehound_session")).toBeUndefined();
  return new URL(answer.headers.get("location") ?? "").searchParams.get("problem");
}

async function enter(tenant: TestTenant, subject: Subject): Promise<{ cookie: string; role: string }> {
  const answer = await visit(tenant, subject);
  expect(answer.headers.get("location")).toBe(`${service.current.url}/`);
  const cookie = cookiesOf(answer).get("casehound_session")?.split(";")[0] ?? "";
  const session = await send(service.current.port, "GET", "/auth/session", { headers: { cookie } });
  const { user, tenant: at } = session.json as unknown as { user: { role: string }; tenant: { slug: string } };
  expect(at.slug).toBe(tenant.slug);
  return { cookie, role: user.role };
}

test("issuers 201, 200: the secret is never read back, and the sign-in page offers the tenant's issuers to those who name it", async () => {
  const tenant = await withIssuer();
  const listed = await tenant.call("GET", "/issuers");
  expect(listed.json.data).toMatchObject({
    issuers: [
      {
        issuer_key: "id",
        redirect_uri: `${service.current.url}/auth/oidc/${tenant.slug}/id/callback`,
        role_groups: [],
        without_group: "refuse",
        trusts_emails: false,
      },
    ],
  });
  const changed = await tenant.call("PUT", "/issuers/id", {
    body: { name: "Other", client_secret: "a second secret".replaceAll(" ", "-") },
  });
  expect(changed.json.data).toMatchObject({ name: "Other" });
  const events = await tenant.call("GET", "/events?limit=1000");
  expect(events.text).toContain("issuer.updated");
  for (const { text } of [listed, changed, events]) expect(text).not.toMatch(/a second|a-second|a secret/);
  const options = async (query: string) => {
    const answer = await send(service.current.port, "GET", `/auth/options${query}`);
    return (answer.json as unknown as { issuers: unknown[] }).issuers;
  };
  expect(await options(`?tenant=${tenant.slug}`)).toEqual([{ tenant: tenant.slug, issuer_key: "id", name: "Other" }]);
  for (const query of ["", "?tenant=nobody-here", "?tenant=", "?tenant=%00", `?tenant=${tenant.slug.toUpperCase()}`])
    expect(await options(query)).toEqual([]);
});

test("tenant issuer 303: state, nonce and PKCE are sent, and an invited person is signed in", async () => {
  const tenant = await withIssuer();
  const { user } = await invite(tenant, "lead");
  issuer.at = verified(user.email);
  const { asked } = await issuer.travel(service.current, `/auth/oidc/${tenant.slug}/id`);
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    scope: "openid email profile groups",
    code_challenge_method: "S256",
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: `${service.current.url}/auth/oidc/${tenant.slug}/id/callback`,
  });
  expect((await enter(tenant, verified(user.email))).role).toBe("lead");
});

test("tenant issuer 303: nobody of another tenant is signed in, by e-mail, by subject, by cookie or by another callback", async () => {
  const victims = await TestTenant.create(service.current);
  const { user: victim } = await invite(victims, "admin");
  const tenant = await withIssuer();
  const { user } = await invite(tenant, "lead");
  expect(problemOf(await visit(tenant, verified(victim.email)))).toBe("unknown-person");
  const made = await victims.call("POST", "/issuers", { body: wanted() });
  expect(made.status, made.text).toBe(201);
  await issuer.admit(service.current, { isEmailInIdToken: false, paths: [back(tenant.slug), back(victims.slug)] });
  // The sign-in began at one tenant's issuer. An answer at the other's callback is not accepted, whatever the cookie says.
  issuer.at = verified(victim.email);
  const way = await issuer.travel(service.current, `/auth/oidc/${tenant.slug}/id`);
  expect(problemOf(await comeBack(way, back(victims.slug)))).toBe("expired");
  const mark = Buffer.from(`${service.current.url}${back(victims.slug)}`).toString("base64url");
  const forged = way.cookie.split(".").with(3, mark).join(".");
  expect(problemOf(await comeBack({ ...way, cookie: forged }, back(victims.slug)))).toBe("refused");
  const plain = way.cookie.split(".").slice(0, 3).join(".");
  expect(problemOf(await comeBack({ ...way, cookie: plain }))).toBe("expired");
  // A subject that is bound in one tenant is unknown in the other.
  const subject = verified(user.email);
  await enter(tenant, subject);
  expect(problemOf(await visit(victims, subject))).toBe("unknown-person");
  expect((await victims.call("GET", `/users/${victim.user_id}`)).json.data).toMatchObject({ has_external_sign_in: false });
});

test("tenant issuer 303: e-mails that the issuer says nothing about count only if the tenant trusts them", async () => {
  const tenant = await withIssuer({ trusts_emails: true });
  const { user } = await invite(tenant, "lead");
  const { user: other } = await invite(tenant, "lead");
  expect(problemOf(await visit(tenant, { sub: randomUUID(), email: user.email, email_verified: false }))).toBe("unknown-person");
  await enter(tenant, { sub: randomUUID(), email: user.email });
  expect((await tenant.call("PUT", "/issuers/id", { body: { trusts_emails: false } })).status).toBe(200);
  expect(problemOf(await visit(tenant, { sub: randomUUID(), email: other.email }))).toBe("unknown-person");
});

test.each([true, false])(
  "groups: the first match decides the role at each sign-in (in the ID token: %s)",
  async (isEmailInIdToken) => {
    const mapping = {
      role_groups: [
        { group: "leads", role: "lead" },
        { group: "staff", role: "night-shift" },
      ],
    };
    const tenant = await TestTenant.create(service.current);
    await tenant.call("POST", "/roles", { body: { role: "night-shift", scopes: ["read:cases"] } });
    expect((await tenant.call("POST", "/issuers", { body: wanted(mapping) })).status).toBe(201);
    await issuer.admit(service.current, { isEmailInIdToken, paths: [back(tenant.slug)] });
    const { user } = await invite(tenant, "investigator");
    const subject = verified(user.email);
    const first = await enter(tenant, { ...subject, groups: ["others", "staff"] });
    expect(first.role).toBe("night-shift");
    const again = await enter(tenant, { ...subject, groups: ["staff", "leads"] });
    expect(again.role).toBe("lead");
    // An open session has the new role with its next request.
    const own = await send(service.current.port, "GET", "/auth/session", { headers: { cookie: first.cookie } });
    expect(own.json).toMatchObject({ user: { role: "lead" } });
    expect((await enter(tenant, { ...subject, groups: "staff" })).role).toBe("night-shift");
    const events = await tenant.call("GET", "/events?limit=1000");
    expect(events.text).toContain(`"actor":"${issuer.url} groups"`);
    // A role that an issuer gives cannot be deleted.
    await tenant.call("PUT", `/users/${user.user_id}`, { body: { role: "lead" } });
    expectProblem(await tenant.call("DELETE", "/roles/night-shift"), 422, "validation-error");
  },
);

test("groups: without a match, people are refused or get the default role, as the tenant says", async () => {
  const role_groups = [{ group: "leads", role: "lead" }];
  const tenant = await withIssuer({ role_groups });
  const { user } = await invite(tenant, "lead");
  const subject = verified(user.email);
  for (const groups of [undefined, [], ["Leads"], [7, null, { leads: true }], { leads: 1 }, "lead"])
    expect(problemOf(await visit(tenant, { ...subject, ...(groups !== undefined && { groups }) }))).toBe("no-role");
  expect((await tenant.call("GET", `/users/${user.user_id}`)).json.data).toMatchObject({
    role: "lead",
    has_external_sign_in: false,
  });
  await tenant.call("PUT", "/issuers/id", { body: { without_group: "default_role", default_role: "investigator" } });
  expect((await enter(tenant, { ...subject, groups: ["others"] })).role).toBe("investigator");
  // An issuer that leaves the groups out, because there are too many, must not cause a default role.
  const tooMany = { ...subject, groups: undefined, _claim_names: { groups: "src1" } };
  await issuer.admit(service.current, { isEmailInIdToken: true, paths: [back(tenant.slug)] });
  expect(problemOf(await visit(tenant, tooMany))).toBe("too-many-groups");
});

test("groups: the last active admin stays an admin", async () => {
  const tenant = await withIssuer({ role_groups: [{ group: "staff", role: "investigator" }] });
  const [first, second] = [await invite(tenant, "admin"), await invite(tenant, "admin")];
  expect((await enter(tenant, verified(first.user.email, { groups: ["staff"] }))).role).toBe("admin");
  expect((await enter(tenant, verified(second.user.email, { groups: ["staff"] }))).role).toBe("investigator");
});

test("DELETE issuer 204, 422: those who used it are signed out and unbound, unless no admin could sign in any more", async () => {
  const tenant = await withIssuer();
  const { user } = await invite(tenant, "admin");
  const subject = verified(user.email);
  const { cookie } = await enter(tenant, subject);
  expectProblem(await tenant.call("DELETE", "/issuers/id"), 422, "validation-error");
  const session = () => send(service.current.port, "GET", "/auth/session", { headers: { cookie } });
  expect((await session()).status).toBe(200);
  const other = await Browser.join(tenant, "admin");
  expect((await tenant.call("DELETE", "/issuers/id")).status).toBe(204);
  expect((await session()).status).toBe(401);
  expect((await other.call("GET", "/issuers")).json.data).toEqual({ issuers: [] });
  expect((await tenant.call("GET", `/users/${user.user_id}`)).json.data).toMatchObject({ has_external_sign_in: false });
  for (const path of ["", "/callback?code=x&state=y"])
    expectProblem(await send(service.current.port, "GET", `/auth/oidc/${tenant.slug}/id${path}`), 404, "item-not-found");
});

test("issuers 403: only somebody with every scope can change an issuer, because it can sign in as anybody", async () => {
  const tenant = await withIssuer();
  const scopes = ["read:users", "manage:users", "read:cases"];
  await tenant.call("POST", "/roles", { body: { role: "manager", scopes } });
  const made = await tenant.call("POST", "/users", { body: { email: newEmail(), name: "Eve", role: "manager" } });
  const manager = await Browser.take(service.current, (made.json.data as { link: { url: string } }).link.url);
  expectProblem(await manager.call("POST", "/issuers", { body: wanted({ issuer_key: "evil" }) }), 403, "access-denied");
  expectProblem(await manager.call("PUT", "/issuers/id", { body: { trusts_emails: true } }), 403, "access-denied");
  expectProblem(await manager.call("DELETE", "/issuers/id"), 403, "access-denied");
  expect((await manager.call("GET", "/issuers")).json.data).toMatchObject({
    issuers: [{ issuer_key: "id", trusts_emails: false }],
  });
});

test("issuers 409, 422, 404: used keys, wrong members, unknown roles and foreign issuers change nothing", async () => {
  const tenant = await withIssuer();
  const post = (more: Mapping) => tenant.call("POST", "/issuers", { body: wanted(more) });
  for (const more of [{ issuer: "https://id.example" }, { issuer_key: "other" }])
    expectProblem(await post(more), 409, "item-already-exists");
  const wrong: [string, Mapping][] = [
    ["issuer_key", { issuer_key: "A b" }],
    ["issuer", { issuer: "ftp://id.example" }],
    ["issuer", { issuer: "https://u:p@id.example" }],
    ["issuer", { issuer: "https://id.example/?a=b" }],
    ["client_secret", { client_secret: "" }],
    ["name", { name: "\u202Eevil" }],
    ["extra_scopes[0]", { extra_scopes: ["two words"] }],
    ["role_groups[0].role", { issuer_key: "x2", issuer: "https://x.example", role_groups: [{ group: "a", role: "nobody" }] }],
    ["default_role", { issuer_key: "x2", issuer: "https://x.example", default_role: "nobody" }],
    ["without_group", { without_group: "maybe" }],
    ["is_admin", { is_admin: true }],
  ];
  for (const [field, more] of wrong) {
    const problem = expectProblem(await post(more), 422, "validation-error");
    expect(problem.errors?.map((each) => each.field)).toContain(field);
  }
  expectProblem(await tenant.call("PUT", "/issuers/id", { body: { issuer: "https://evil.example" } }), 422, "validation-error");
  const foreign = await TestTenant.create(service.current);
  for (const key of ["id", "constructor", "a b"]) {
    const path = `/issuers/${encodeURIComponent(key)}`;
    expectProblem(await foreign.call("PUT", path, { body: { name: "Mine" } }), 404, "item-not-found");
    expectProblem(await foreign.call("DELETE", path), 404, "item-not-found");
  }
  for (let n = 0; n < 9; n++) expect((await post({ issuer_key: `more-${n}`, issuer: `https://${n}.example` })).status).toBe(201);
  expectProblem(await post({ issuer_key: "last", issuer: "https://last.example" }), 422, "validation-error");
});

test("issuers: without WEBHOOK_ADDRESSES=any, private addresses are neither accepted nor contacted", async () => {
  const tenant = await withIssuer();
  const strict = await startService(testConfig({ roles: new Set(["api"]) }));
  try {
    const there = await TestTenant.create(strict);
    for (const url of [issuer.url, "https://127.0.0.1", "https://[::1]", "https://169.254.169.254/latest", "http://id.example"]) {
      const answer = await there.call("POST", "/issuers", { body: { ...wanted(), issuer: url } });
      expect(expectProblem(answer, 422, "validation-error").errors?.[0]?.field).toBe("issuer");
    }
    const begun = await send(strict.port, "GET", `/auth/oidc/${tenant.slug}/id`);
    expect(begun.headers.get("location")).toBe(`${strict.url}/sign-in?problem=issuer-unreachable&tenant=${tenant.slug}`);
  } finally {
    await strict.stop();
  }
});

test("tenant issuer: a person who was bound can still use the password", async () => {
  const tenant = await withIssuer();
  const email = newEmail();
  await Browser.join(tenant, "lead", { email });
  await enter(tenant, verified(email));
  expect((await signIn(service.current, { email, password: "correct horse battery staple" })).status).toBe(200);
});
