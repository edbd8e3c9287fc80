import { randomUUID } from "node:crypto";
import { SignJWT, decodeJwt, exportSPKI, generateKeyPair, importJWK, type JWTPayload } from "jose";
import { afterAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { listSigningKeys } from "../src/db/issuer.ts";
import { createTenant } from "../src/tenancy.ts";
import { ExternalIssuer, tenantClaim, trust } from "./external-issuer.ts";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";

const tokenChallenge = 'Bearer realm="casehound", error="invalid_token"';

const [shop, flaky, stranger] = await Promise.all([ExternalIssuer.start(), ExternalIssuer.start(), ExternalIssuer.start()]);
afterAll(() => Promise.all([shop, flaky, stranger].map((issuer) => issuer.close())));

const service = useService({
  trustedIssuers: [
    trust(shop, { tenants: "*" }),
    trust(flaky, { tenants: "*", tenant_claim: "org", scope_claim: "permissions" }),
  ],
});

test("external token 200: it works for the tenant in its claim and for its scopes only", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const token = await shop.token({ extra: { [tenantClaim]: tenant.slug }, scope: "read:cases read:tenant" });
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  expect((await tenant.call("GET", "/tenants", { token })).json.data).toMatchObject({ tenant_id: tenant.tenantId });
  const refused = await tenant.call("GET", "/enduseraccounts/a", { token });
  expectProblem(refused, 403, "access-denied");
  expect(refused.headers.get("www-authenticate")).toContain('error="insufficient_scope", scope="read:enduseraccount"');
  expectProblem(await other.call("GET", "/cases", { token }), 403, "access-denied");
});

test("external token 200: a client of another issuer cannot appear under the name that detection uses", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const token = await shop.sign({ ...(await claimsOf(tenant.slug)), client_id: "system", scope: "update:case" });
  const closed = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, randomUUID(), { token });
  expect(closed.json.data).toMatchObject({ status: "CLOSED", current_state: { changed_by: `${shop.url} system` } });
});

test("external token 200: changed_by is the issuer followed by the client", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const token = await shop.token({ extra: { [tenantClaim]: tenant.slug }, scope: "update:case" });
  const closed = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, randomUUID(), { token });
  expect(closed.json.data).toMatchObject({ status: "CLOSED", current_state: { changed_by: `${shop.url} shop-backend` } });
  expect((await tenant.read(opened.case_id)).current_state.changed_by).toBe(`${shop.url} shop-backend`);
});

const claimsOf = async (slug: string, issuer = shop): Promise<JWTPayload> =>
  decodeJwt(await issuer.token({ extra: { [tenantClaim]: slug } }));
const seconds = () => Math.floor(Date.now() / 1000);

test("external token 200: the claims that the forgeries start from are valid", async () => {
  const tenant = await TestTenant.create(service.current);
  const token = await shop.sign(await claimsOf(tenant.slug));
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
});

const forgeries: Record<string, (slug: string) => Promise<string>> = {
  "another audience": (slug) => shop.token({ extra: { [tenantClaim]: slug }, audience: "https://else.example/api" }),
  "the built-in issuer's audience": (slug) => shop.token({ extra: { [tenantClaim]: slug }, audience: "urn:casehound" }),
  "an issuer that nobody trusts": (slug) => stranger.token({ extra: { [tenantClaim]: slug } }),
  "the name of a trusted issuer under a stranger's key": async (slug) => stranger.sign(await claimsOf(slug)),
  "a trusted kid under a stranger's key": async (slug) =>
    shop.sign(await claimsOf(slug), (await generateKeyPair("RS256")).privateKey),
  "HS256 with the public key": async (slug) =>
    shop.sign(await claimsOf(slug), new TextEncoder().encode(await exportSPKI(shop.publicKey)), "HS256"),
  "alg none": async (slug) => {
    const [, claims] = (await shop.sign(await claimsOf(slug))).split(".");
    return `${Buffer.from('{"alg":"none"}').toString("base64url")}.${claims}.`;
  },
  "our name under the other issuer's key": async (slug) =>
    shop.sign({ ...(await claimsOf(slug)), iss: service.current.url, aud: "casehound" }),
  "the other issuer's name under our key": async (slug) => {
    const [ours] = await listSigningKeys(service.current.database);
    const key = await importJWK({ ...ours?.private_jwk }, "ES256");
    return new SignJWT(await claimsOf(slug)).setProtectedHeader({ alg: "ES256", kid: ours?.kid ?? "" }).sign(key);
  },
  "the issuer's name with a slash": async (slug) => shop.sign({ ...(await claimsOf(slug)), iss: `${shop.url}/` }),
  "an expired token": async (slug) => shop.sign({ ...(await claimsOf(slug)), exp: seconds() - 1 }),
  "a token without exp": async (slug) => {
    const { exp: _gone, ...claims } = await claimsOf(slug);
    return shop.sign(claims);
  },
  "nbf in the future": async (slug) => shop.sign({ ...(await claimsOf(slug)), nbf: seconds() + 60 }),
};

test.for(Object.entries(forgeries))("external token 401: rejects %s", async ([, forge]) => {
  const tenant = await TestTenant.create(service.current);
  const token = await forge(tenant.slug);
  const answer = await tenant.call("GET", "/cases", { token });
  expectProblem(answer, 401, "unauthorized");
  expect(answer.headers.get("www-authenticate")).toBe(tokenChallenge);
  expect(answer.text).not.toContain(token.split(".")[1]);
});

test("external token 403: a tenant claim that is missing, unknown or not a slug gives access to no tenant", async () => {
  const tenant = await TestTenant.create(service.current);
  const { slug, tenantId } = tenant;
  const values = ["no-such-tenant", "", `${slug}\0`, slug.toUpperCase(), ` ${slug}`, tenantId, 7, true, null, [slug], { slug }];
  const extras = [
    {},
    { tenant_slug: slug, tenant_id: tenantId, org: slug },
    ...values.map((value) => ({ [tenantClaim]: value })),
  ];
  const texts = new Set<string>();
  for (const extra of extras) {
    const answer = await tenant.call("GET", "/cases", { token: await shop.token({ extra }) });
    expectProblem(answer, 403, "access-denied");
    texts.add(answer.text);
  }
  expect(texts.size).toBe(1);
  const token = await shop.token({ extra: { [tenantClaim]: "no-such-tenant" } });
  expectProblem(await send(service.current.port, "GET", "/v2/no-such-tenant/cases", { token }), 403, "access-denied");
});

test("external token 200: a token rejected before its tenant existed works once the tenant is created", async () => {
  const slug = `t-${randomUUID()}`;
  const token = await shop.token({ extra: { [tenantClaim]: slug } });
  const path = `/v2/${slug}/cases`;
  expectProblem(await send(service.current.port, "GET", path, { token }), 403, "access-denied");
  await createTenant(service.current.database, { slug }, clock);
  expect((await send(service.current.port, "GET", path, { token })).status).toBe(200);
});

test("external token 502: if an issuer's keys cannot be fetched, its token is not rejected as invalid, and works as soon as they can", async () => {
  const tenant = await TestTenant.create(service.current);
  const extra = { org: tenant.slug, permissions: ["read:case", "read:cases", 7] };
  const token = await flaky.token({ extra, scope: "read:tenant" });
  await flaky.close();
  expectProblem(await tenant.call("GET", "/cases", { token }), 502, "bad-gateway");
  await flaky.open();
  for (const mode of ["error", "page", "no keys", "silent"] as const) {
    flaky.mode = mode;
    expectProblem(await tenant.call("GET", "/cases", { token }), 502, "bad-gateway");
  }
  flaky.mode = "up";
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  // The scopes come from the claim that the configuration names.
  expectProblem(await tenant.call("GET", "/tenants", { token }), 403, "access-denied");
});

test("external token 200: while its keys are cached, an issuer may be unreachable", async () => {
  const tenant = await TestTenant.create(service.current);
  const [used, unused] = [
    await shop.token({ extra: { [tenantClaim]: tenant.slug } }),
    await shop.token({ extra: { [tenantClaim]: tenant.slug } }),
  ];
  expect((await tenant.call("GET", "/cases", { token: used })).status).toBe(200);
  await shop.close();
  try {
    for (const token of [used, unused]) expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  } finally {
    await shop.open();
  }
});
