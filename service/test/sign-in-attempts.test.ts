import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, newDatabase, send, testConfig, type Answer } from "./harness.ts";
import { Browser, cookiesOf, goodPassword, invite, newEmail, signIn, somewhere, useLink } from "./people.ts";

// Two processes with one clock, which stands still until a test moves it.
const startMs = Date.now();
let aheadMs = 0;
const still = { ...clock, now: () => new Date(startMs + aheadMs).toISOString() };
let service: Service;
let other: Service;
beforeAll(async () => {
  // A database of its own, because an attempt deletes old rows by this clock.
  const config = testConfig({ roles: new Set(["api"]), databaseUrl: await newDatabase() });
  [service, other] = await Promise.all([
    startService(config, undefined, { clock: still }),
    startService(config, undefined, { clock: still }),
  ]);
});
afterAll(() => Promise.all([service, other].map((each) => each.stop())));

const wait = (seconds: number) => (aheadMs += seconds * 1000);
const times = (count: number, status: number) => Array.from({ length: count }, () => status);

type Guess = { email: string; password?: string; tenant?: string; headers?: Record<string, string>; at?: Service };

function guess({ email, password = "a wrong password", tenant, headers = somewhere(), at = service }: Guess): Promise<Answer> {
  return signIn(at, { email, password, ...(tenant !== undefined && { tenant }) }, headers);
}

async function guesses(count: number, each: (index: number) => Guess): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) statuses.push((await guess(each(index))).status);
  return statuses;
}

async function joined(): Promise<{ email: string; tenant: TestTenant }> {
  const tenant = await TestTenant.create(service);
  const email = newEmail();
  await Browser.join(tenant, "lead", { email });
  return { email, tenant };
}

// The cookie that a browser sends from then on.
function deviceOf(answer: Answer): Record<string, string> {
  const line = cookiesOf(answer).get("casehound_device") ?? "";
  return { cookie: line.split(";")[0] ?? "" };
}

async function knownBrowser(email: string, password = goodPassword): Promise<Record<string, string>> {
  const answer = await guess({ email, password });
  expect(answer.status, answer.text).toBe(200);
  return deviceOf(answer);
}

function retryAfter(answer: Answer): number {
  expectProblem(answer, 429, "rate-limited");
  return Number(answer.headers.get("retry-after"));
}

test("sign-in 429: attempts on one account from one address are slowed down in every process, but never locked out", async () => {
  const { email } = await joined();
  const headers = somewhere();
  expect(await guesses(5, () => ({ email, headers }))).toEqual(times(5, 401));
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
    expect(retryAfter(await guess({ email, headers, at: other }))).toBe(seconds);
    // Also with the right password, because the response would reveal that it is right.
    expect(retryAfter(await guess({ email, headers, password: goodPassword }))).toBe(seconds);
    wait(seconds);
    // The oldest failures would leave the window on the way, so stop before that.
    if (seconds === 256) break;
    expect((await guess({ email, headers, at: other })).status).toBe(401);
  }
  expect((await guess({ email, headers, password: goodPassword })).status).toBe(200);
});

test("sign-in 200: an attacker at one address never locks the owner out elsewhere, however long they try", async () => {
  const { email } = await joined();
  const attacker = somewhere();
  const admitted: number[] = [];
  // For an hour the attacker sends the next attempt as soon as it is allowed.
  for (let seconds = 0; seconds < 3600;) {
    const answer = await guess({ email, headers: attacker });
    if (answer.status === 401) admitted.push(seconds);
    else {
      seconds += retryAfter(answer);
      wait(retryAfter(answer));
    }
  }
  expect(admitted.length).toBeLessThan(70);
  expect((await guess({ email, password: goodPassword })).status).toBe(200);
});

test("sign-in 429: attempts on one account from many addresses are slowed down, but the owner's own browser is not", async () => {
  const { email } = await joined();
  const own = await knownBrowser(email);
  expect(await guesses(30, () => ({ email }))).toEqual(times(30, 401));
  expect(retryAfter(await guess({ email }))).toBe(1);
  expect(retryAfter(await guess({ email, password: goodPassword }))).toBe(1);
  const answer = await guess({ email, password: goodPassword, headers: { ...somewhere(), ...own } });
  expect(answer.status, answer.text).toBe(200);
  // The owner may mistype the password, too.
  expect(await guesses(10, () => ({ email, headers: { ...somewhere(), ...own } }))).toEqual(times(10, 401));
  expect(retryAfter(await guess({ email, headers: { ...somewhere(), ...own } }))).toBe(1);
  wait(1);
  expect((await guess({ email, password: goodPassword, headers: { ...somewhere(), ...own } })).status).toBe(200);
});

test("sign-in 429: parallel attempts from many addresses get no more checks than sequential ones", async () => {
  const { email } = await joined();
  await guesses(25, () => ({ email }));
  const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await guess({ email })).status));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...times(5, 401), ...times(7, 429)]);
});

test("sign-in 429: one address that tries many accounts is slowed down, but browsers known there are not", async () => {
  const [{ email }, stranger] = [await joined(), await joined()];
  const own = await knownBrowser(email);
  const headers = somewhere();
  expect(await guesses(30, () => ({ email: newEmail(), headers }))).toEqual(times(30, 401));
  expect(retryAfter(await guess({ email: newEmail(), headers }))).toBe(1);
  expect(retryAfter(await guess({ email: stranger.email, password: goodPassword, headers }))).toBe(1);
  expect((await guess({ email, password: goodPassword, headers: { ...headers, ...own } })).status).toBe(200);
  expect((await guess({ email: stranger.email, password: goodPassword })).status).toBe(200);
  wait(1);
  expect((await guess({ email: stranger.email, password: goodPassword, headers })).status).toBe(200);
});

test("sign-in: an unknown e-mail gets the same responses, whichever tenants are named", async () => {
  const { email, tenant } = await joined();
  const named = [undefined, tenant.slug, "no-such-tenant", "x", undefined, tenant.slug, tenant.slug];
  const run = async (tried: string) => {
    const headers = somewhere();
    const answers: unknown[] = [];
    for (const slug of named) {
      const each = await guess({ email: tried, headers, ...(slug !== undefined && { tenant: slug }) });
      const lines = [...each.headers].filter(([name]) => name !== "x-request-id" && name !== "date");
      answers.push([each.status, lines, each.text]);
    }
    return answers;
  };
  const known = await run(email);
  expect(await run(newEmail())).toEqual(known);
  expect(known.map((each) => (each as [number])[0])).toEqual([...times(5, 401), ...times(2, 429)]);
});

test("sign-in 200: successes use up no attempts and do not erase earlier failures", async () => {
  const { email } = await joined();
  const headers = somewhere();
  expect(await guesses(40, () => ({ email, password: goodPassword, headers }))).toEqual(times(40, 200));
  expect(await guesses(4, () => ({ email, headers }))).toEqual(times(4, 401));
  expect((await guess({ email, password: goodPassword, headers })).status).toBe(200);
  expect((await guess({ email, headers })).status).toBe(401);
  expect(retryAfter(await guess({ email, password: goodPassword, headers }))).toBe(1);
});

test("device cookie: no page can read it, it identifies nobody, and it is used only for sign-ins", async () => {
  const { email, tenant } = await joined();
  const answer = await guess({ email, password: goodPassword });
  const line = cookiesOf(answer).get("casehound_device") ?? "";
  expect(line).toMatch(/^casehound_device=[\w-]{22}\.[\w-]{22}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Strict$/);
  const headers = deviceOf(answer);
  expectProblem(await send(service.port, "GET", "/auth/session", { headers }), 401, "unauthorized");
  expectProblem(await send(service.port, "GET", `/v2/${tenant.slug}/cases`, { headers }), 401, "unauthorized");
  expect(cookiesOf(await guess({ email })).size).toBe(0);
});

// Uses up the attempts that strangers have on an account.
async function tire(email: string): Promise<void> {
  await guesses(30, () => ({ email }));
}

test("device cookie: a cookie for another account, a changed one, and one from an old password count as a stranger's", async () => {
  const [ada, eve] = [await joined(), await joined()];
  const [own, foreign] = [await knownBrowser(ada.email), await knownBrowser(eve.email)];
  const [name = "", id = "", seal = ""] = (own["cookie"] ?? "").split(/[=.]/);
  const [, otherId = ""] = (foreign["cookie"] ?? "").split(/[=.]/);
  await tire(ada.email);
  const wrong = [
    foreign["cookie"] ?? "",
    `${name}=${otherId}.${seal}`,
    `${name}=${id}.${seal.slice(0, -1)}${seal.endsWith("A") ? "Q" : "A"}`,
    `${name}=${id}.${seal}.`,
    `${name}=${Array.from({ length: 10 }, () => seal).join(".")}`,
    `${name}=`,
  ];
  for (const cookie of wrong)
    expectProblem(await guess({ email: ada.email, password: goodPassword, headers: { cookie } }), 429, "rate-limited");
  const browser = new Browser(service, await guess({ email: ada.email, password: goodPassword, headers: own }));
  const change = { current: goodPassword, new: "another good password" };
  const changed = await browser.ask("POST", "/auth/password", { body: change });
  expect(changed.status).toBe(204);
  expectProblem(await guess({ email: ada.email, password: change.new, headers: own }), 429, "rate-limited");
  // The browser in which the password was changed is known with the new one.
  expect((await guess({ email: ada.email, password: change.new, headers: deviceOf(changed) })).status).toBe(200);
});

test("device cookie: a browser that used an invitation or a reset is known, and several people can share one", async () => {
  const tenant = await TestTenant.create(service);
  const emails = [newEmail(), newEmail(), newEmail()];
  let shared: Record<string, string> = {};
  for (const email of emails) {
    const { link } = await invite(tenant, "lead", { email });
    const used = await useLink(service, link.url, {}, shared);
    expect(used.status, used.text).toBe(200);
    shared = deviceOf(used);
    await tire(email);
  }
  for (const email of emails) {
    expect((await guess({ email, password: goodPassword, headers: shared })).status).toBe(200);
    expectProblem(await guess({ email, password: goodPassword }), 429, "rate-limited");
  }
});

// The same e-mail in the tenant of somebody who wants to find out its password in another tenant.
async function namesakes() {
  const { email, tenant: victim } = await joined();
  const evil = await TestTenant.create(service);
  const own = "a password of their own";
  const used = await useLink(service, (await invite(evil, "lead", { email })).link.url, { password: own });
  return { email, victim, evil, own, device: deviceOf(used), thief: new Browser(service, used) };
}

test("device cookie: a cookie for an e-mail in one tenant gives no extra tries for the same e-mail in another", async () => {
  const { email, victim, evil, own, device } = await namesakes();
  await tire(email);
  const refused = { email, tenant: victim.slug, headers: device };
  expectProblem(await guess({ ...refused, password: goodPassword }), 429, "rate-limited");
  // Without a tenant, only the cookie's own tenant is checked, so even the right password of the other reveals nothing.
  expect((await guess({ email, password: goodPassword, headers: device })).status).toBe(401);
  const answer = await guess({ email, password: own, headers: device });
  expect(answer.json).toMatchObject({ tenant: { slug: evil.slug } });
});

test("sign-in 429: a success in one tenant erases no failure in another, and a password right in only one is a failure in the other", async () => {
  const { email, victim, evil, own } = await namesakes();
  const headers = somewhere();
  expect(await guesses(4, () => ({ email, tenant: victim.slug, headers }))).toEqual(times(4, 401));
  expect((await guess({ email, password: own, tenant: evil.slug, headers })).status).toBe(200);
  // This attempt checks both tenants.
  expect((await guess({ email, password: own, headers })).status).toBe(200);
  expectProblem(await guess({ email, tenant: victim.slug, password: goodPassword, headers }), 429, "rate-limited");
});

test("POST password 429: a stolen session cannot try passwords without limit, and strangers' sign-ins do not slow it down", async () => {
  const { email } = await joined();
  const browser = new Browser(service, await guess({ email, password: goodPassword }));
  await tire(email);
  const ask = (current: string) => browser.ask("POST", "/auth/password", { body: { current, new: "another good password" } });
  for (let tried = 0; tried < 5; tried++) expect((await ask("not the password")).status).toBe(422);
  expect(retryAfter(await ask(goodPassword))).toBe(1);
  wait(1);
  expect((await ask(goodPassword)).status).toBe(204);
});

test("POST sign-in 429: the networks of one IPv6 site are slowed down together, and a known browser is not", async () => {
  const { email } = await joined();
  const site = `2001:db8:${Math.floor(Math.random() * 0xffff).toString(16)}`;
  const from = (n: number) => ({ headers: { "x-forwarded-for": `${site}:${n.toString(16)}::1` } });
  const known = await knownBrowser(email);
  const statuses = await guesses(92, (n) => ({ email: newEmail(), ...from(n) }));
  expect(statuses.slice(0, 90)).toEqual(times(90, 401));
  expect(statuses.at(-1)).toBe(429);
  const headers = { ...from(500).headers, ...known };
  expect((await guess({ email, password: goodPassword, headers })).status).toBe(200);
  expect((await guess({ email: newEmail() })).status).toBe(401);
}, 60_000);
