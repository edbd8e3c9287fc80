import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { startService, type Service } from "../src/service.ts";
import { createTenant } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, testConfig, useService, type Answer } from "./harness.ts";
import { PeopleIssuer, clientSecret, type Subject } from "./people-issuer.ts";
import { Browser, cookiesOf, invite, newEmail } from "./people.ts";

const slug = `t-${randomUUID()}`;
const plain = useService({ roles: new Set(["api"]) });
let issuer: PeopleIssuer;
let service: Service;
let tenant: TestTenant;

async function startWith(other: PeopleIssuer, options: { isEmailInIdToken: boolean }): Promise<Service> {
  const oidc = { issuer: other.url, clientId: "console", clientSecret, tenant: slug };
  const started = await startService(testConfig({ roles: new Set(["api"]), oidc }));
  await other.admit(started, options);
  return started;
}

beforeAll(async () => {
  issuer = await PeopleIssuer.start();
  service = await startWith(issuer, { isEmailInIdToken: false });
  tenant = await TestTenant.of(service, await createTenant(service.database, { slug }, clock));
});

afterAll(async () => {
  await service.stop();
  await issuer.close();
});

function verified(email: string, sub: string = randomUUID()): Subject {
  return { sub, email, email_verified: true };
}

type Visit = { callback: string; cookie: string };

function comeBack({ callback, cookie }: Visit, at = service): Promise<Answer> {
  const { pathname, search } = new URL(callback);
  return send(at.port, "GET", `${pathname}${search}`, { headers: { cookie } });
}

async function visit(subject: Subject | "cancels", at = service, by = issuer): Promise<Answer> {
  by.at = subject;
  return comeBack(await by.travel(at), at);
}

function problemOf(answer: Answer): string | null {
  expect(answer.status).toBe(303);
  expect(cookiesOf(answer).get("casehound_session")).toBeUndefined();
  const location = new URL(answer.headers.get("location") ?? "");
  expect(location.href.startsWith(`${service.url}/sign-in?`)).toBe(true);
  return location.searchParams.get("problem");
}

function sessionOf(answer: Answer): { cookie: string } {
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toBe(`${service.url}/`);
  return { cookie: cookiesOf(answer).get("casehound_session")?.split(";")[0] ?? "" };
}

test("oidc 303: the redirect carries PKCE, state and nonce, and sets a cookie that is sent back from another site", async () => {
  const begun = await send(service.port, "GET", "/auth/oidc");
  expect(begun.status).toBe(303);
  const { searchParams, origin } = new URL(begun.headers.get("location") ?? "");
  expect(origin).toBe(issuer.url);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: `${service.url}/auth/oidc/callback`,
  });
  expect(cookiesOf(begun).get("casehound_oidc")).toMatch(/; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  expect((await send(service.port, "GET", "/auth/options")).json).toEqual({
    oidc: { name: "127.0.0.1" },
    issuers: [],
    passkeys: false,
  });
});

test("oidc callback 303: a user invited by that e-mail is signed in, with the same session as any other sign-in", async () => {
  const { user } = await invite(tenant, "lead");
  const answer = await visit(verified(user.email.toUpperCase()));
  const headers = sessionOf(answer);
  expect(cookiesOf(answer).get("casehound_session")).toMatch(/; HttpOnly; SameSite=Strict$/);
  expect(cookiesOf(answer).get("casehound_oidc")).toContain("Max-Age=0");
  const session = await send(service.port, "GET", "/auth/session", { headers });
  expect(session.json).toMatchObject({ user: { user_id: user.user_id, role: "lead" }, tenant: { slug } });
  expect((await send(service.port, "GET", `/v2/${slug}/rules`, { headers })).status).toBe(200);
  const listed = await tenant.call("GET", `/users/${user.user_id}`);
  expect(listed.json.data).toMatchObject({ has_password: false, has_external_sign_in: true });
});

test("oidc callback 303: an issuer that puts the e-mail into the ID token works as well", async () => {
  const other = await PeopleIssuer.start();
  const at = await startWith(other, { isEmailInIdToken: true });
  try {
    const { user } = await invite(tenant, "investigator");
    const answer = await visit(verified(user.email), at, other);
    expect(cookiesOf(answer).get("casehound_session")).toBeDefined();
  } finally {
    await at.stop();
    await other.close();
  }
});

test("oidc callback 303: once bound, the subject decides: a new e-mail is still the same person, and another subject with the old one is not", async () => {
  const { user } = await invite(tenant, "investigator");
  const subject = verified(user.email);
  sessionOf(await visit(subject));
  const headers = sessionOf(await visit({ ...subject, email: newEmail(), email_verified: false }));
  expect((await send(service.port, "GET", "/auth/session", { headers })).json).toMatchObject({ user: { user_id: user.user_id } });
  expect(problemOf(await visit(verified(user.email)))).toBe("unknown-person");
});

test("oidc callback 303: strangers, unverified e-mails, disabled users and users of other tenants are not let in", async () => {
  const { user } = await invite(tenant, "admin");
  const elsewhere = await TestTenant.create(service);
  const foreign = await invite(elsewhere, "admin");
  const strangers: Subject[] = [
    verified(newEmail()),
    { sub: randomUUID(), email: user.email, email_verified: false },
    { sub: randomUUID(), email: user.email },
    { sub: randomUUID() },
    verified(foreign.user.email),
  ];
  for (const stranger of strangers) expect(problemOf(await visit(stranger))).toBe("unknown-person");
  const subject = verified(user.email);
  sessionOf(await visit(subject));
  await Browser.join(tenant, "admin");
  const disabled = await tenant.call("PUT", `/users/${user.user_id}`, { body: { is_disabled: true } });
  expect(disabled.status).toBe(200);
  expect(problemOf(await visit(subject))).toBe("unknown-person");
});

test("oidc callback 303: a letter that becomes ASCII only by lower-casing or normalization does not match that letter", async () => {
  const name = `kate-${randomUUID()}`;
  const { user } = await invite(tenant, "admin", { email: `${name}@shop.example` });
  const kelvin = `\u212Aate${name.slice(4)}@shop.example`;
  for (const email of [kelvin, kelvin.toUpperCase()]) expect(problemOf(await visit(verified(email)))).toBe("unknown-person");
  const listed = await tenant.call("GET", `/users/${user.user_id}`);
  expect(listed.json.data).toMatchObject({ has_external_sign_in: false });
  const accented = `rene\u0301-${randomUUID()}@shop.example`;
  const { user: rene } = await invite(tenant, "lead", { email: accented });
  expect(rene.email).toBe(accented.normalize("NFC"));
  sessionOf(await visit(verified(accented.toUpperCase())));
});

test("oidc callback 303: claims that cannot be stored are rejected and bind nobody", async () => {
  const { user } = await invite(tenant, "lead");
  const unusable = [`${randomUUID()}\0`, `${randomUUID()}\ud800`, `${randomUUID()}${"x".repeat(3000)}`];
  for (const sub of unusable) expect(problemOf(await visit(verified(user.email, sub)))).toBe("refused");
  for (const more of ["\0", "\ud800"]) expect(problemOf(await visit(verified(`${more}${user.email}`)))).toBe("refused");
  const listed = await tenant.call("GET", `/users/${user.user_id}`);
  expect(listed.json.data).toMatchObject({ has_external_sign_in: false });
  sessionOf(await visit(verified(user.email)));
});

test("oidc callback 303: only the browser that started can come back, and only once", async () => {
  const { user } = await invite(tenant, "investigator");
  issuer.at = verified(user.email);
  const [mine, theirs] = [await issuer.travel(service), await issuer.travel(service)];
  expect(problemOf(await comeBack({ ...mine, cookie: "" }))).toBe("expired");
  expect(problemOf(await comeBack({ ...mine, cookie: theirs.cookie }))).toBe("refused");
  const [name, value = ""] = mine.cookie.split("=");
  const [state, nonce, verifier] = value.split(".");
  const [otherNonce, otherVerifier] = ["n".repeat(43), "v".repeat(43)];
  expect(problemOf(await comeBack({ ...mine, cookie: `${name}=${state}.${nonce}.${otherVerifier}` }))).toBe("refused");
  const fresh = await issuer.travel(service);
  const [freshState, , freshVerifier] = (fresh.cookie.split("=")[1] ?? "").split(".");
  const spoiled = `${name}=${freshState}.${otherNonce}.${freshVerifier}`;
  expect(problemOf(await comeBack({ ...fresh, cookie: spoiled }))).toBe("refused");
  expect(verifier).not.toBe(freshVerifier);
  const last = await issuer.travel(service);
  sessionOf(await comeBack(last));
  expect(problemOf(await comeBack(last))).toBe("refused");
});

test("oidc callback 303: cancelling at the issuer is reported, and a made-up response is rejected", async () => {
  expect(problemOf(await visit("cancels"))).toBe("cancelled");
  const { cookie } = await issuer.travel(service);
  const state = (cookie.split("=")[1] ?? "").split(".")[0] ?? "";
  const path = (query: string) => `${service.url}/auth/oidc/callback?${query}`;
  const iss = encodeURIComponent(issuer.url);
  expect(problemOf(await comeBack({ callback: path(`code=made-up&state=${state}&iss=${iss}`), cookie }))).toBe("refused");
  expect(problemOf(await comeBack({ callback: path(`code=x&state=${state}&iss=https://evil.example`), cookie }))).toBe("refused");
  expect(problemOf(await comeBack({ callback: path(""), cookie }))).toBe("refused");
});

test("oidc 303: an unreachable issuer is reported as such, and works once it is back", async () => {
  const other = await PeopleIssuer.start();
  const at = await startWith(other, { isEmailInIdToken: false });
  const away = async () => {
    const answer = await send(at.port, "GET", "/auth/oidc");
    return answer.headers.get("location");
  };
  try {
    await other.close();
    expect(await away()).toBe(`${at.url}/sign-in?problem=issuer-unreachable`);
    await other.open();
    expect(await away()).toContain(`${other.url}/auth?`);
    other.at = verified(newEmail());
    const mine = await other.travel(at);
    await other.close();
    const answer = await comeBack(mine, at);
    expect(answer.headers.get("location")).toBe(`${at.url}/sign-in?problem=issuer-unreachable`);
    await other.open();
  } finally {
    await at.stop();
    await other.close();
  }
});

test("oidc 404: without an external issuer the routes do not exist, and the options say so", async () => {
  const { port } = plain.current;
  expect((await send(port, "GET", "/auth/options")).json).toEqual({ oidc: null, issuers: [], passkeys: false });
  for (const path of ["/auth/oidc", "/auth/oidc/callback?code=x&state=y"]) {
    expectProblem(await send(port, "GET", path), 404, "item-not-found");
  }
});
