import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { startService, type Service } from "../src/service.ts";
import { Authenticator } from "./authenticator.ts";
import { TestTenant, expectProblem, newDatabase, send, testConfig, type Answer } from "./harness.ts";
import { Browser, cookiesOf, goodPassword, newEmail, signIn, somewhere } from "./people.ts";
import { addApp } from "./second-factor.ts";

const origin = "https://cases.example";
const startMs = Date.now();
let aheadMs = 0;
const wait = (seconds: number) => (aheadMs += seconds * 1000);
let service: Service;
beforeAll(async () => {
  const config = testConfig({ roles: new Set(["api"]), databaseUrl: await newDatabase(), publicUrl: origin });
  const still = { ...clock, now: () => new Date(startMs + aheadMs).toISOString() };
  service = await startService(config, undefined, { clock: still });
});
afterAll(() => service.stop());

const cookieOf = (answer: Answer, name: string) => (cookiesOf(answer).get(`__Host-casehound_${name}`) ?? "").split(";")[0] ?? "";

type Holder = { tenant: TestTenant; browser: Browser; email: string; key: Authenticator; codes: string[] };

async function begin(browser: Browser): Promise<{ options: { challenge: string; user: { id: string } }; cookie: string }> {
  const begun = await browser.ask("POST", "/auth/passkeys/begin", { body: { password: goodPassword } });
  expect(begun.status, begun.text).toBe(200);
  return { options: begun.json as never, cookie: `${browser.cookie}; ${cookieOf(begun, "challenge")}` };
}

async function add(browser: Browser, key: Authenticator, name = "Laptop"): Promise<Answer> {
  const { options, cookie } = await begin(browser);
  return browser.ask("POST", "/auth/passkeys", { body: { name, credential: key.create(options) }, headers: { cookie } });
}

async function holder(): Promise<Holder> {
  const tenant = await TestTenant.create(service);
  const email = newEmail();
  const browser = await Browser.join(tenant, "investigator", { email });
  const key = new Authenticator(origin);
  const added = await add(browser, key);
  expect(added.status, added.text).toBe(200);
  return { tenant, browser, email, key, codes: (added.json as unknown as { recovery_codes: string[] }).recovery_codes };
}

async function challenge(): Promise<{ options: { challenge: string }; cookie: string }> {
  wait(1);
  const asked = await send(service.port, "POST", "/auth/passkey/challenge", { headers: somewhere() });
  expect(asked.status, asked.text).toBe(200);
  return { options: asked.json as never, cookie: cookieOf(asked, "challenge") };
}

function use(credential: unknown, cookie: string): Promise<Answer> {
  return send(service.port, "POST", "/auth/passkey", { body: { credential }, headers: { ...somewhere(), cookie } });
}

test("passkey 200: signs in without password and code, is listed with its use, and counts as the second factor", async () => {
  const { key, tenant, browser, email, codes } = await holder();
  expect(codes).toHaveLength(10);
  const { options, cookie } = await challenge();
  const signedIn = new Browser(service, await use(key.get(options), cookie));
  expect((await signedIn.call("GET", "/cases")).status).toBe(200);
  const listed = (await browser.ask("GET", "/auth/second-factors")).json as unknown as { passkeys: { name: string }[] };
  expect(listed.passkeys).toEqual([
    { passkey_id: expect.any(String), name: "Laptop", created_at: expect.any(String), last_used_at: expect.any(String) },
  ]);
  // With the password alone, a second factor is asked for.
  const asked = await signIn(service, { email, password: goodPassword });
  expect(asked.json).toEqual({ second_factor: { kinds: ["passkey", "recovery-code"] } });
  expect((await tenant.call("GET", "/events?limit=1000")).text).toContain('"kind":"passkey"');
});

test("passkey 401: another site, another person's key, an unverified person, a copy, a replay and an old challenge open nothing", async () => {
  const [{ key }, eve] = [await holder(), await holder()];
  const { options, cookie } = await challenge();
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const lies = [
    { origin: "https://cases.example.evil.example" },
    { rpId: "evil.example" },
    { isVerified: false },
    { key: other },
    { type: "webauthn.create" },
    { challenge: Buffer.alloc(32).toString("base64url") },
  ];
  for (const lie of lies) expectProblem(await use(key.get(options, lie), cookie), 401, "unauthorized");
  // The handle of somebody else, and a text that is not a handle.
  const own = key.get(options);
  for (const user_handle of [eve.key.get(options).user_handle, "AAAA"])
    expectProblem(await use({ ...own, user_handle }, cookie), 401, "unauthorized");
  for (const wrong of ["", cookie.replace(/.$/, (letter) => (letter === "A" ? "E" : "A")), (await challenge()).cookie])
    expectProblem(await use(own, wrong), 401, "unauthorized");
  const answers = await Promise.all(Array.from({ length: 4 }, () => use(own, cookie)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401]);
  expectProblem(await use(own, cookie), 401, "unauthorized");
  // A copy of the key counts on from an earlier count.
  const next = await challenge();
  expectProblem(await use(key.get(next.options, { counter: 1 }), next.cookie), 401, "unauthorized");
  const late = await challenge();
  wait(301);
  expectProblem(await use(key.get(late.options), late.cookie), 401, "unauthorized");
});

test("POST passkeys 422, 404: a false answer, a key that the authenticator did not make and a challenge for something else add nothing", async () => {
  const [browser, other] = [await Browser.join(await TestTenant.create(service), "lead"), (await holder()).browser];
  const { options, cookie } = await begin(browser);
  const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
  // Checking a signature with a huge exponent would stop the service for everybody.
  const costly = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 2 ** 31 - 1 }).publicKey;
  const post = (credential: unknown, headers: Record<string, string>, from = browser) =>
    from.ask("POST", "/auth/passkeys", { body: { name: "Key", credential }, headers });
  for (const lie of [
    { origin: "https://evil.example" },
    { rpId: "evil.example" },
    { isVerified: false },
    { type: "webauthn.get" },
    { publicKey: foreign },
    { publicKey: costly, modulus: costly.export({ format: "jwk" }).n ?? "" },
  ])
    expectProblem(await post(new Authenticator(origin).create(options, lie), { cookie }), 422, "validation-error");
  const valid = new Authenticator(origin).create(options);
  const forSignIn = `${browser.cookie}; ${(await challenge()).cookie}`;
  expectProblem(await post(valid, { cookie: forSignIn }), 404, "item-not-found");
  const stolen = `${other.cookie}; ${cookie.split("; ")[1]}`;
  expectProblem(await post(valid, { cookie: stolen }, other), 404, "item-not-found");
  expectProblem(
    await browser.ask("POST", "/auth/passkeys/begin", { body: { password: "not it at all" } }),
    422,
    "validation-error",
  );
  expect((await browser.ask("GET", "/auth/second-factors")).json).toMatchObject({ passkeys: [] });
});

test("passkeys: at most ten; the same one is refused; removing needs the password and ends it; a reset removes all", async () => {
  const { browser, key, tenant, email } = await holder();
  expectProblem(await add(browser, key), 409, "item-already-exists");
  for (let n = 1; n < 10; n++) expect((await add(browser, new Authenticator(origin), `Key ${n}`)).status).toBe(200);
  expectProblem(await browser.ask("POST", "/auth/passkeys/begin", { body: { password: goodPassword } }), 403, "access-denied");
  const listed = (await browser.ask("GET", "/auth/second-factors")).json as unknown as {
    passkeys: { passkey_id: string; name: string }[];
  };
  const passkey_id = listed.passkeys.find(({ name }) => name === "Laptop")?.passkey_id ?? "";
  const remove = (body: unknown) => browser.ask("POST", "/auth/passkeys/remove", { body });
  expectProblem(await remove({ passkey_id, password: "not it at all" }), 422, "validation-error");
  expectProblem(await remove({ passkey_id: "x", password: goodPassword }), 404, "item-not-found");
  expect((await remove({ passkey_id, password: goodPassword })).status).toBe(204);
  const { options, cookie } = await challenge();
  expectProblem(await use(key.get(options), cookie), 401, "unauthorized");
  expect((await tenant.call("DELETE", `/users/${browser.signedIn.user.user_id}/second-factor`)).status).toBe(204);
  expect((await signIn(service, { email, password: goodPassword })).json).toHaveProperty("user");
});

test("passkeys: a disabled person's opens nothing, and the last factor stays while the tenant requires one", async () => {
  const { browser, key, tenant } = await holder();
  await tenant.call("PUT", "/tenants", { body: { requires_second_factor: true } });
  expect((await browser.call("GET", "/cases")).status).toBe(200);
  const { passkeys } = (await browser.ask("GET", "/auth/second-factors")).json as unknown as {
    passkeys: { passkey_id: string }[];
  };
  const body = { passkey_id: passkeys[0]?.passkey_id, password: goodPassword };
  expectProblem(await browser.ask("POST", "/auth/passkeys/remove", { body }), 403, "access-denied");
  // The recovery codes of the first factor still work, so an app brings no new ones.
  expect((await addApp(browser, startMs + aheadMs)).codes).toEqual([]);
  expect((await browser.ask("POST", "/auth/passkeys/remove", { body })).status).toBe(204);
  expect((await add(browser, key)).status).toBe(200);
  const { options, cookie } = await challenge();
  await tenant.call("PUT", `/users/${browser.signedIn.user.user_id}`, { body: { is_disabled: true } });
  expectProblem(await use(key.get(options), cookie), 401, "unauthorized");
});
