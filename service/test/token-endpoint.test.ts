import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { saveRevoked } from "../src/db/tenants.ts";
import { createClient, createTenant } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, useService, type Answer, type Problem } from "./harness.ts";

const service = useService();
const path = "/v2/oauth/token";
const formType = "application/x-www-form-urlencoded";
// Listed in full, because a lost or renamed scope breaks the clients that request it.
const everyScope =
  "read:cases read:case update:case update:views manage:views read:enduseraccount update:enduseraccount read:enduseraccounts create:enduseraccount " +
  "delete:enduseraccount create:activities read:decisions import:activities read:labels create:labels read:metrics read:figures read:snippet read:tenant update:tenant update:tenant_auth_secret " +
  "read:events manage:webhooks read:rules manage:rules read:lists update:lists manage:lists read:models manage:models read:users manage:users read:clients manage:clients";

type Pairs = [string, string][];
type Granted = { access_token: string; token_type: string; expires_in: number; scope?: string };
type Client = { clientId: string; clientSecret: string };

const grant: Pairs = [["grant_type", "client_credentials"]];

function inBody({ clientId, clientSecret }: Client): Pairs {
  return [
    ["client_id", clientId],
    ["client_secret", clientSecret],
  ];
}

function inBasic({ clientId, clientSecret }: Client): Record<string, string> {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

function ask(form: Pairs | string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Answer> {
  const rawBody = Array.isArray(form) ? new URLSearchParams(form).toString() : form;
  return send(service.current.port, "POST", path, { rawBody, headers: { "content-type": formType, ...headers } });
}

function granted(answer: Answer): Granted {
  expect(answer).toMatchObject({ status: 200 });
  return JSON.parse(answer.text) as Granted;
}

function scopeOf(answer: Answer): unknown {
  return decodeJwt(granted(answer).access_token)["scope"];
}

// Returns the status, problem type and OAuth error. Every error has exactly the members of an OAuth error and of a problem.
function refusal(answer: Answer): string {
  expect(Object.keys(answer.json).toSorted().join(" ")).toBe("detail error error_description errors status title type");
  const { status, type, error } = answer.json as Problem & { error?: string };
  expectProblem(answer, answer.status, type);
  expect(answer.json).toMatchObject({ status: answer.status, error_description: expect.any(String), errors: null });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return `${status} ${type} ${error}`;
}

test("POST token 200: credentials in the body and in Basic return a token that works", async () => {
  const tenant = await TestTenant.create(service.current);
  const answers = [
    await ask([...grant, ...inBody(tenant)]),
    await ask(grant, inBasic(tenant)),
    await ask([...grant, ["client_id", tenant.clientId]], inBasic(tenant)),
    await ask([...grant, ...inBody(tenant)], { "content-type": "Application/X-WWW-Form-Urlencoded; Charset=UTF-8" }),
  ];
  for (const answer of answers) {
    const { access_token: token, ...rest } = granted(answer);
    expect(rest).toEqual({ token_type: "Bearer", expires_in: 86_400 });
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  }
});

test("POST token 200: credentials with reserved characters work in the body and, form-encoded, in Basic", async () => {
  const client = { clientId: `a:b+c%2F/${randomUUID()}&=`, clientSecret: "p:a s+s%41&=?#w" };
  await createTenant(service.current.database, { slug: `t-${randomUUID()}`, ...client }, clock);
  expect(decodeJwt(granted(await ask([...grant, ...inBody(client)])).access_token).sub).toBe(client.clientId);
  expect(decodeJwt(granted(await ask(grant, inBasic(client))).access_token).sub).toBe(client.clientId);
});

test("POST token 200: the token has the form of RFC 9068 and verifies against the published keys", async () => {
  const tenant = await TestTenant.create(service.current);
  const { access_token: token, expires_in: seconds } = granted(await ask([...grant, ...inBody(tenant)]));
  const keys = createRemoteJWKSet(new URL(`http://127.0.0.1:${service.current.port}/.well-known/jwks.json`));
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: service.current.url,
    audience: "casehound",
    subject: tenant.clientId,
    typ: "at+jwt",
    algorithms: ["ES256"],
  });
  expect(protectedHeader).toEqual({ alg: "ES256", typ: "at+jwt", kid: expect.any(String) });
  expect(payload).toEqual({
    iss: service.current.url,
    aud: "casehound",
    sub: tenant.clientId,
    client_id: tenant.clientId,
    scope: everyScope,
    tenant_id: tenant.tenantId,
    tenant_slug: tenant.slug,
    jti: expect.any(String),
    iat: expect.any(Number),
    exp: Number(payload.iat) + seconds,
  });
});

test("GET jwks 200: returns the public part of each key and nothing of the private one", async () => {
  const answer = await send(service.current.port, "GET", "/.well-known/jwks.json");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  const { keys } = JSON.parse(answer.text) as { keys: Record<string, string>[] };
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    expect(Object.keys(key).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
    expect(key).toMatchObject({ kty: "EC", crv: "P-256", use: "sig", alg: "ES256" });
  }
  expectProblem(await send(service.current.port, "POST", "/.well-known/jwks.json"), 405, "method-not-allowed");
});

test("POST token 200: without a scope the token has exactly the client's scopes", async () => {
  const tenant = await TestTenant.create(service.current);
  const wanted = { slug: tenant.slug, scopes: ["read:case", "update:case"] };
  const made = await createClient(service.current.database, wanted, clock);
  const client = { clientId: made.client_id, clientSecret: made.client_secret };
  expect(scopeOf(await ask([...grant, ...inBody(client)]))).toBe("read:case update:case");
  expect(scopeOf(await ask([...grant, ...inBody(client), ["scope", ""]]))).toBe("read:case update:case");
  expect(scopeOf(await ask([...grant, ...inBody(tenant)]))).toBe(everyScope);
});

test("POST token 200: with a scope the token has just that one, and the response says so", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const wanted of ["read:case", "update:case read:case", everyScope]) {
    const answer = await ask([...grant, ...inBody(tenant), ["scope", wanted]]);
    expect(scopeOf(answer)).toBe(wanted);
    expect(granted(answer).scope).toBe(wanted);
  }
  expect(scopeOf(await ask([...grant, ...inBody(tenant), ["scope", "read:case read:case"]]))).toBe("read:case");
  const mixed = await ask([...grant, ...inBody(tenant), ["scope", "read:case fly:moon"]]);
  expect([scopeOf(mixed), granted(mixed).scope]).toEqual(["read:case", "read:case"]);
});

test.for(["fly:moon", "READ:CASE", "read:cases:all", "read", "*", "offline_access"])(
  "POST token 400: the unknown scope %s returns no token",
  async (scope) => {
    expect(refusal(await ask([...grant, ...inBody(bystander), ["scope", scope]]))).toBe("400 bad-request invalid_scope");
  },
);

test("POST token 400: a scope that the client lacks returns no token, alone or with one that it has", async () => {
  const tenant = await TestTenant.create(service.current);
  const made = await createClient(service.current.database, { slug: tenant.slug, scopes: ["read:case"] }, clock);
  const client = inBody({ clientId: made.client_id, clientSecret: made.client_secret });
  for (const scope of ["read:cases", "read:case update:case", "openid"])
    expect(refusal(await ask([...grant, ...client, ["scope", scope]]))).toBe("400 bad-request invalid_scope");
});

test("POST token 401: a wrong secret, an unknown client and a revoked client get the same response", async () => {
  const tenant = await TestTenant.create(service.current);
  const revoked = await TestTenant.create(service.current);
  const { database } = service.current;
  await database.transaction((tx) => saveRevoked(tx, { client_id: revoked.clientId, now: clock.now() }));
  const { clientId, clientSecret } = tenant;
  const faulty: Client[] = [
    { clientId, clientSecret: "wrong" },
    { clientId, clientSecret: clientSecret.toLowerCase() },
    { clientId, clientSecret: `${clientSecret} ` },
    { clientId, clientSecret: revoked.clientSecret },
    { clientId: clientId.toUpperCase(), clientSecret },
    { clientId: "nobody", clientSecret },
    { clientId: "__proto__", clientSecret },
    revoked,
  ];
  const texts = new Set<string>();
  for (const client of faulty) {
    for (const answer of [await ask([...grant, ...inBody(client)]), await ask(grant, inBasic(client))]) {
      expect(refusal(answer)).toBe("401 unauthorized invalid_client");
      expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm="/);
      texts.add(answer.text);
    }
  }
  expect(texts.size).toBe(1);
});

const invalidRequest = "400 bad-request invalid_request";
const invalidClient = "401 unauthorized invalid_client";
const unsupportedGrant = "400 bad-request unsupported_grant_type";
const invalidScope = "400 bad-request invalid_scope";

type Refused = [
  name: string,
  expected: string,
  form: (client: Client) => Pairs,
  headers?: (client: Client) => Record<string, string>,
];

const refusals: Refused[] = [
  ["both credentials", invalidRequest, (c) => [...grant, ...inBody(c)], inBasic],
  ["two client ids", invalidRequest, () => [...grant, ["client_id", "other"]], inBasic],
  ["no credentials", invalidRequest, () => grant],
  ["no secret", invalidClient, (c) => [...grant, ["client_id", c.clientId]]],
  ["an empty body", invalidRequest, () => []],
  ["a Basic header without credentials", invalidRequest, () => grant, () => ({ authorization: "Basic" })],
  ["a Basic header that is not base64", invalidRequest, () => grant, () => ({ authorization: "Basic %%%" })],
  ["a Bearer header", invalidRequest, () => grant, () => ({ authorization: "Bearer x" })],
  ["no grant_type", invalidRequest, inBody],
  ["an empty grant_type", invalidRequest, (c) => [["grant_type", ""], ...inBody(c)]],
  ["grant_type password", unsupportedGrant, (c) => [["grant_type", "password"], ...inBody(c)]],
  ["grant_type authorization_code", unsupportedGrant, (c) => [["grant_type", "authorization_code"], ...inBody(c)]],
  ["grant_type refresh_token", unsupportedGrant, (c) => [["grant_type", "refresh_token"], ...inBody(c)]],
  ["grant_type in capitals", unsupportedGrant, (c) => [["grant_type", "CLIENT_CREDENTIALS"], ...inBody(c)]],
  ["grant_type twice", invalidRequest, (c) => [...grant, ...grant, ...inBody(c)]],
  ["client_id twice", invalidRequest, (c) => [...grant, ["client_id", "x"], ...inBody(c)]],
  ["client_secret twice", invalidRequest, (c) => [...grant, ["client_secret", "x"], ...inBody(c)]],
  ["scope twice", invalidRequest, (c) => [...grant, ...inBody(c), ["scope", "read:case"], ["scope", "read:cases"]]],
  ["a NUL after client_id", invalidClient, (c) => [...grant, ...inBody({ ...c, clientId: `${c.clientId}\0` })]],
  ["a NUL after client_secret", invalidClient, (c) => [...grant, ...inBody({ ...c, clientSecret: `${c.clientSecret}\0` })]],
  ["a NUL after scope", invalidScope, (c) => [...grant, ...inBody(c), ["scope", "read:case\0"]]],
  ["a NUL after grant_type", unsupportedGrant, (c) => [["grant_type", "client_credentials\0"], ...inBody(c)]],
  ["credentials that are not ASCII", invalidClient, () => [...grant, ...inBody({ clientId: "größe😀", clientSecret: "ß" })]],
  ["a scope that is not ASCII", invalidScope, (c) => [...grant, ...inBody(c), ["scope", "lésen"]]],
];

// Rejections leave nothing behind, so those in a table share one tenant.
let bystander: TestTenant;
beforeAll(async () => {
  bystander = await TestTenant.create(service.current);
});

test.for(refusals)("POST token: %s is rejected as %s", async ([, expected, form, headers]) => {
  const { clientId, clientSecret } = bystander;
  const client = { clientId, clientSecret };
  const answer = await ask(form(client), headers?.(client));
  expect(refusal(answer)).toBe(expected);
  expect(answer.text).not.toContain(clientSecret);
});

test("POST token 400: credentials in the query are ignored", async () => {
  const query = new URLSearchParams([...grant, ...inBody(bystander)]).toString();
  const options = { rawBody: "", headers: { "content-type": formType } };
  expect(refusal(await send(service.current.port, "POST", `${path}?${query}`, options))).toBe(invalidRequest);
});

test.for([
  { "content-type": "application/json" },
  { "content-type": "text/plain" },
  { "content-type": "multipart/form-data; boundary=x" },
  { "content-type": `${formType}; charset=iso-8859-1` },
  { "content-type": "nonsense" },
  { "content-encoding": "gzip" },
])("POST token 415: a body with %o is not read", async (headers) => {
  const form = [...grant, ...inBody(bystander)];
  for (const body of [form, JSON.stringify(Object.fromEntries(form))])
    expect(refusal(await ask(body, headers))).toBe("415 unsupported-media-type invalid_request");
});

test("POST token 413: a body over the limit is rejected, even with valid credentials", async () => {
  const answer = await ask([...grant, ...inBody(bystander), ["padding", "x".repeat(65_536)]]);
  expect(refusal(answer)).toBe("413 payload-too-large invalid_request");
});

test.for(["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s token 405: the endpoint accepts only POST", async (method) => {
  const answer = await send(service.current.port, method, path);
  expectProblem(answer, 405, "method-not-allowed");
  expect(answer.headers.get("allow")).toBe("POST");
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("POST token 200: twenty concurrent requests return twenty tokens, each with its own id", async () => {
  const tenant = await TestTenant.create(service.current);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask([...grant, ...inBody(tenant)])));
  const tokens = answers.map((answer) => granted(answer).access_token);
  expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(20);
  const used = await Promise.all(tokens.map((token) => tenant.call("GET", "/cases", { token })));
  expect(new Set(used.map((answer) => answer.status))).toEqual(new Set([200]));
});

test("POST token: any form gets an OAuth error, and never a server error", async () => {
  const tenant = await TestTenant.create(service.current);
  const known = ["grant_type", "client_id", "client_secret", "scope", "resource", "client_assertion", "__proto__", "code"];
  const name = fc.oneof(fc.constantFrom(...known), fc.string({ unit: "binary", maxLength: 8 }));
  const value = fc.oneof(
    fc.constantFrom("client_credentials", tenant.clientId, "read:case", "__proto__", "constructor", "urn:x:y"),
    fc.string({ unit: "binary", maxLength: 30 }),
  );
  const bytes = fc.uint8Array({ maxLength: 60 }).map((raw) => new Uint8Array(raw));
  const form = fc.oneof(fc.array(fc.tuple(name, value), { maxLength: 8 }), bytes);
  const basic = fc
    .uint8Array({ maxLength: 30 })
    .map((raw) => ({ authorization: `Basic ${Buffer.from(raw).toString("base64")}` }));
  await fc.assert(
    fc.asyncProperty(form, fc.option(basic, { nil: undefined }), async (body, headers) => {
      expect(refusal(await ask(body, headers))).toMatch(/^(400 bad-request|401 unauthorized) \w+$/);
    }),
    { seed: 7, numRuns: 150 },
  );
});
