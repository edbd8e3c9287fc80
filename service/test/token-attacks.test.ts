import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listSigningKeys } from "../src/db/issuer.ts";
import { TestTenant, expectProblem, send, sendRaw, useService, type Answer } from "./harness.ts";

const service = useService();
const plainChallenge = 'Bearer realm="casehound"';
const tokenChallenge = 'Bearer realm="casehound", error="invalid_token"';

type Part = Record<string, unknown>;
type Sign = (input: string) => Buffer;
// Everything needed to make the token that the issuer would make, and so every token that it would not.
type Recipe = { header: Part; claims: Part; sign: Sign; publicKey: KeyObject };

const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" });
const foreignJwk = { ...foreign.publicKey.export({ format: "jwk" }), kid: "foreign", alg: "ES256", use: "sig" };

// The attacker's own key set, and how often it was requested.
const attacker = { url: "", visits: 0 };
const attackerServer = createServer((_request, response) => {
  attacker.visits++;
  response.end(JSON.stringify({ keys: [foreignJwk] }));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => attackerServer.listen(0, "127.0.0.1", resolve));
  attacker.url = `http://127.0.0.1:${(attackerServer.address() as AddressInfo).port}/jwks.json`;
});
afterAll(() => attackerServer.close());

function ecdsa(key: KeyObject, dsaEncoding: "ieee-p1363" | "der" = "ieee-p1363"): Sign {
  return (input) => sign("sha256", Buffer.from(input), { key, dsaEncoding });
}

function hmac(secret: string | Buffer): Sign {
  return (input) => createHmac("sha256", secret).update(input).digest();
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function make(recipe: Recipe, header: Part = {}, claims: Part = {}, how: Sign = recipe.sign): string {
  const input = `${encode({ ...recipe.header, ...header })}.${encode({ ...recipe.claims, ...claims })}`;
  return `${input}.${how(input).toString("base64url")}`;
}

async function recipeOf(tenant: TestTenant): Promise<Recipe> {
  const [stored] = await listSigningKeys(service.current.database);
  const key = createPrivateKey({ key: { ...stored?.private_jwk }, format: "jwk" });
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: service.current.url,
    aud: "casehound",
    sub: tenant.clientId,
    client_id: tenant.clientId,
    tenant_id: tenant.tenantId,
    tenant_slug: tenant.slug,
    scope: "read:cases read:enduseraccount update:enduseraccount",
    jti: "an-id-of-its-own",
    iat: now,
    exp: now + 600,
  };
  const header = { alg: "ES256", typ: "at+jwt", kid: stored?.kid };
  return { header, claims, sign: ecdsa(key), publicKey: createPublicKey(key) };
}

function expectUnauthorized(answer: Answer, token: string): void {
  expectProblem(answer, 401, "unauthorized");
  expect(answer.headers.get("www-authenticate")).toBe(tokenChallenge);
  const pieces = token.split(".").filter((piece) => piece.length > 8);
  for (const piece of [...pieces, "an-id-of-its-own", "client_id"]) expect(answer.text).not.toContain(piece);
}

test("bearer 200: the recipe that the attacks modify makes a valid token", async () => {
  const tenant = await TestTenant.create(service.current);
  const recipe = await recipeOf(tenant);
  const variants = [make(recipe), make(recipe, { typ: "application/at+jwt" }), make(recipe, {}, { aud: ["else", "casehound"] })];
  for (const token of variants) expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
});

// Forgeries leave nothing behind, so all those in the table target one tenant.
let bystander: TestTenant;
beforeAll(async () => {
  bystander = await TestTenant.create(service.current);
});

const now = () => Math.floor(Date.now() / 1000);
const none: Sign = () => Buffer.alloc(0);
const foreignSign = ecdsa(foreign.privateKey);

const forgeries: Record<string, (recipe: Recipe) => string> = {
  "alg none": (r) => make(r, { alg: "none" }, {}, none),
  "alg None": (r) => make(r, { alg: "None" }, {}, none),
  "alg none with our signature": (r) => make(r, { alg: "none" }),
  "no alg": (r) => make(r, { alg: undefined }),
  "alg null": (r) => make(r, { alg: null }),
  "no signature": (r) => make(r, {}, {}, none),
  "two parts": (r) => make(r).split(".").slice(0, 2).join("."),
  "HS256 with the public PEM": (r) => make(r, { alg: "HS256" }, {}, hmac(r.publicKey.export({ type: "spki", format: "pem" }))),
  "HS256 with the public DER": (r) => make(r, { alg: "HS256" }, {}, hmac(r.publicKey.export({ type: "spki", format: "der" }))),
  "HS256 with the public JWK": (r) => make(r, { alg: "HS256" }, {}, hmac(JSON.stringify(r.publicKey.export({ format: "jwk" })))),
  "HS256 with nothing": (r) => make(r, { alg: "HS256" }, {}, hmac("")),
  "alg ES384": (r) => make(r, { alg: "ES384" }),
  "alg RS256": (r) => make(r, { alg: "RS256" }),
  "alg in lower case": (r) => make(r, { alg: "es256" }),
  "a signature of zeros": (r) => make(r, {}, {}, () => Buffer.alloc(64)),
  "a foreign key under our kid": (r) => make(r, {}, {}, foreignSign),
  "a foreign key under its own kid": (r) => make(r, { kid: "foreign" }, {}, foreignSign),
  "our key under a foreign kid": (r) => make(r, { kid: "foreign" }),
  "no kid": (r) => make(r, { kid: undefined }, {}, foreignSign),
  "a kid that is a path": (r) => make(r, { kid: "../../../../dev/null" }, {}, hmac("")),
  "a kid that is SQL": (r) => make(r, { kid: "' or '1'='1" }, {}, foreignSign),
  "a kid that is an object": (r) => make(r, { kid: { toString: "x" } }, {}, foreignSign),
  "jku with its kid": (r) => make(r, { kid: "foreign", jku: attacker.url }, {}, foreignSign),
  "jku with our kid": (r) => make(r, { jku: attacker.url }, {}, foreignSign),
  "x5u with its kid": (r) => make(r, { kid: "foreign", x5u: attacker.url }, {}, foreignSign),
  "x5u with our kid": (r) => make(r, { x5u: attacker.url }, {}, foreignSign),
  "jwk with its kid": (r) => make(r, { kid: "foreign", jwk: foreignJwk }, {}, foreignSign),
  "jwk with our kid": (r) => make(r, { jwk: foreignJwk }, {}, foreignSign),
  "jwk without a kid": (r) => make(r, { kid: undefined, jwk: foreignJwk }, {}, foreignSign),
  "x5c of the attacker": (r) =>
    make(r, { x5c: [foreign.publicKey.export({ type: "spki", format: "der" }).toString("base64")] }, {}, foreignSign),
  "crit with an unknown name": (r) => make(r, { crit: ["x-must"], "x-must": true }),
  "crit with exp": (r) => make(r, { crit: ["exp"], exp: 1 }),
  "crit empty": (r) => make(r, { crit: [] }),
  "crit b64": (r) => make(r, { crit: ["b64"], b64: false }),
  "an expired token": (r) => make(r, {}, { exp: now() - 1 }),
  "a token that expires now": (r) => make(r, {}, { exp: now() }),
  "exp as text": (r) => make(r, {}, { exp: "2999-01-01T00:00:00Z" }),
  "nbf in the future": (r) => make(r, {}, { nbf: now() + 60 }),
  "another iss": (r) => make(r, {}, { iss: "https://issuer.example" }),
  "our iss with a slash": (r) => make(r, {}, { iss: `${String(r.claims["iss"])}/` }),
  "another aud": (r) => make(r, {}, { aud: "https://api.example" }),
  "the client as aud": (r) => make(r, {}, { aud: r.claims["client_id"] }),
  "an empty aud": (r) => make(r, {}, { aud: [] }),
  "typ JWT, as of an id token": (r) => make(r, { typ: "JWT" }),
  "typ id+jwt": (r) => make(r, { typ: "id+jwt" }),
  "no typ": (r) => make(r, { typ: undefined }),
  "an unknown client": (r) => make(r, {}, { client_id: "nobody", sub: "nobody" }),
  "a client id that is a number": (r) => make(r, {}, { client_id: 7 }),
  "claims that are an array": (r) => replaceClaims(r, []),
  "claims that are null": (r) => replaceClaims(r, null),
  "claims that are text": (r) => replaceClaims(r, "text"),
  "claims that are not JSON": (r) => replaceClaims(r, undefined),
  "an encrypted token": (r) => `${encode({ alg: "dir", enc: "A256GCM" })}..${encode(r.claims)}.${encode("x")}.AAAA`,
  ...Object.fromEntries(
    ["iss", "aud", "exp", "iat", "jti", "sub", "client_id", "tenant_id", "tenant_slug"].map((name) => [
      `no ${name}`,
      (r: Recipe) => make(r, {}, { [name]: undefined }),
    ]),
  ),
};

function replaceClaims(recipe: Recipe, claims: unknown): string {
  const input = `${encode(recipe.header)}.${claims === undefined ? "bm90IEpTT04" : encode(claims)}`;
  return `${input}.${recipe.sign(input).toString("base64url")}`;
}

test.for(Object.entries(forgeries))("bearer 401: rejects %s", async ([, forge]) => {
  const token = forge(await recipeOf(bystander));
  const answer = await bystander.call("GET", "/cases", { token });
  expectUnauthorized(answer, token);
  expect(attacker.visits).toBe(0);
});

test("bearer 401: a claim changed after signing, for more scopes, another tenant or a longer life, is rejected", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const recipe = await recipeOf(tenant);
  const [header, , signature] = make(recipe).split(".");
  const changes = [{ scope: "update:case" }, { tenant_id: other.tenantId, tenant_slug: other.slug }, { exp: now() + 1_000_000 }];
  for (const change of changes) {
    const token = `${header}.${encode({ ...recipe.claims, ...change })}.${signature}`;
    for (const each of [tenant, other]) expectUnauthorized(await each.call("GET", "/cases", { token }), token);
  }
  const wrongForm = make(recipe, {}, {}, (input) => Buffer.concat([recipe.sign(input), Buffer.from([0])]));
  expect((await tenant.call("GET", "/cases", { token: wrongForm })).status).toBe(401);
});

test("bearer 401: a client's token for another tenant is rejected, even if we signed it", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const token = make(await recipeOf(tenant), {}, { tenant_id: other.tenantId, tenant_slug: other.slug });
  expectUnauthorized(await other.call("GET", "/cases", { token }), token);
  expect((await tenant.call("GET", "/cases")).status).toBe(200);
});

test("bearer 401: a write with a forged token changes nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "a" } });
  const before = await tenant.call("GET", "/enduseraccounts/a");
  const token = make(await recipeOf(tenant), {}, {}, foreignSign);
  expectUnauthorized(await tenant.call("PUT", "/enduseraccounts/a", { token, body: { is_blocked: true } }), token);
  expect((await tenant.call("GET", "/enduseraccounts/a")).text).toBe(before.text);
});

test("bearer 401: a token outside the header is ignored, and without one in the header the challenge contains no error", async () => {
  const tenant = await TestTenant.create(service.current);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const { port } = service.current;
  const path = `/v2/${tenant.slug}/cases`;
  const answers = [
    await send(port, "GET", path),
    await send(port, "GET", `${path}?access_token=${tenant.token}`),
    await send(port, "GET", `${path}?token=${tenant.token}&bearer=${tenant.token}`),
    await send(port, "GET", path, { headers: { cookie: `access_token=${tenant.token}` } }),
    await send(port, "POST", `/v2/${tenant.slug}/activities`, { rawBody: `access_token=${tenant.token}`, headers: form }),
  ];
  for (const answer of answers) {
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers.get("www-authenticate")).toBe(plainChallenge);
    expect(answer.text).not.toContain(tenant.token);
  }
  expectProblem(await tenant.call("GET", `/cases?access_token=${tenant.token}`), 401, "unauthorized");
});

test("bearer 200: the scheme is accepted in any letter case", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
    const headers = { authorization: `${scheme} ${tenant.token}` };
    expect((await tenant.call("GET", "/cases", { token: null, headers })).status).toBe(200);
  }
});

test("bearer 401: a header that is not a single Bearer token is rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  const { token } = tenant;
  const pair = Buffer.from(`${tenant.clientId}:${tenant.clientSecret}`).toString("base64");
  const bad = [
    "Bearer",
    "Bearer =",
    `Basic ${pair}`,
    `Basic ${token}`,
    `Token ${token}`,
    token,
    `Bearer${token}`,
    `Bearer "${token}"`,
  ];
  const worse = [`Bearer ${token} ${token}`, `Bearer ${token}, Bearer ${token}`, `Bearer ${token}é`, "Bearer ..", "Bearer a.b.c"];
  const long = [`Bearer ${"a".repeat(8000)}`, `Bearer ${token}${"A".repeat(8000)}`, `Bearer ${".".repeat(8000)}`];
  for (const authorization of [...bad, ...worse, ...long]) {
    const answer = await tenant.call("GET", "/cases", { token: null, headers: { authorization } });
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer realm="casehound"/);
    expect(answer.text).not.toContain(token);
  }
});

test("bearer 431: a token longer than the header limit is rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  const answer = await tenant.call("GET", "/cases", { token: "a".repeat(20_000) });
  expect(expectProblem(answer, 431, "headers-too-large").detail).not.toContain("aaaa");
});

test("bearer 401: two Authorization lines are rejected, even if one of them is valid", async () => {
  const tenant = await TestTenant.create(service.current);
  const good = `Authorization: Bearer ${tenant.token}`;
  const pairs = [
    good,
    good.replace("Authorization", "AUTHORIZATION"),
    "Authorization: Bearer x",
    "Authorization:",
    "Authorization: Basic eDp5",
  ];
  for (const other of pairs) {
    for (const lines of [`${good}\r\n${other}`, `${other}\r\n${good}`]) {
      const answer = await sendRaw(service.current.port, `GET /v2/${tenant.slug}/cases HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n`);
      expectProblem(answer, 401, "unauthorized");
      expect(answer.headers["www-authenticate"]).toBe(tokenChallenge);
    }
  }
});

test.for([
  ["GET", "/cases", "read:cases"],
  ["GET", "/cases/0", "read:case"],
  ["PUT", "/cases/0", "update:case"],
  ["GET", "/enduseraccounts/a", "read:enduseraccount"],
  ["PUT", "/enduseraccounts/a", "update:enduseraccount"],
] as const)("%s %s 403: only the exact scope %s gives access", async ([method, path, scope]) => {
  const tenant = await TestTenant.create(service.current);
  const near = [
    scope.toUpperCase(),
    `${scope}s`,
    scope.slice(0, -1),
    `x${scope}`,
    `${scope},read:metrics`,
    `${scope}:*`,
    "*",
    "",
  ];
  for (const other of near) {
    const answer = await tenant.call(method, path, { token: await tenant.mint([other]) });
    expectProblem(answer, 403, "access-denied");
    expect(answer.headers.get("www-authenticate")).toBe(`${plainChallenge}, error="insufficient_scope", scope="${scope}"`);
  }
  const token = await tenant.mint(["read:metrics", scope]);
  expect([401, 403]).not.toContain((await tenant.call(method, path, { token })).status);
});
