import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT, decodeJwt, exportJWK, exportSPKI, generateKeyPair, importJWK, type CryptoKey, type JWTPayload } from "jose";
import { Provider } from "oidc-provider";
import { afterAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { listSigningKeys } from "../src/db/issuer.ts";
import { scopes } from "../src/domain/scope.ts";
import { createTenant } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";

const audience = "https://fraud.example/api";
const tenantClaim = "https://shop.example/tenant";
const tokenChallenge = 'Bearer realm="casehound", error="invalid_token"';

type Wanted = { extra: Record<string, unknown>; scope?: string; audience?: string };
type Mode = "up" | "error" | "page" | "no keys" | "silent";

// An identity provider as a customer has one: a process of its own to us, RSA keys, its own names for things.
class ExternalIssuer {
  readonly kid = `rsa-${randomUUID()}`;
  // How it answers those who ask for its keys.
  mode: Mode = "up";
  readonly #keys: { publicKey: CryptoKey; privateKey: CryptoKey };
  #server: Server;
  #port = 0;
  #answer: (request: IncomingMessage, response: ServerResponse) => unknown = () => {};

  private constructor(keys: { publicKey: CryptoKey; privateKey: CryptoKey }) {
    this.#keys = keys;
    this.#server = this.#newServer();
  }

  static async start(): Promise<ExternalIssuer> {
    const issuer = new ExternalIssuer(await generateKeyPair("RS256", { extractable: true }));
    await issuer.open();
    const jwk = { ...(await exportJWK(issuer.#keys.privateKey)), kid: issuer.kid, alg: "RS256", use: "sig" };
    const provider = new Provider(issuer.url, {
      // Clients are fixed and tokens are JWTs, so there is nothing that it has to keep.
      adapter: (() => ({ find: async () => undefined })) as never,
      jwks: { keys: [jwk] },
      cookies: { keys: ["unused"] },
      clients: [
        {
          client_id: "shop-backend",
          client_secret: "shop-secret",
          grant_types: ["client_credentials"],
          redirect_uris: [],
          response_types: [],
        },
      ],
      scopes: [...scopes],
      ttl: { ClientCredentials: 600 },
      extraTokenClaims: (ctx) => JSON.parse(String(ctx.oidc.body?.["extra"])),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx, resource) => ({
            scope: scopes.join(" "),
            audience: resource,
            accessTokenFormat: "jwt",
            accessTokenTTL: 600,
            jwt: { sign: { alg: "RS256" } },
          }),
        },
      },
    });
    issuer.#answer = provider.callback();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get publicKey(): CryptoKey {
    return this.#keys.publicKey;
  }

  async open(): Promise<void> {
    this.#server = this.#newServer();
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  // From its token endpoint, as a client gets one.
  async token({ extra, scope = "read:cases", audience: resource = audience }: Wanted): Promise<string> {
    const form = { grant_type: "client_credentials", resource, scope, extra: JSON.stringify(extra) };
    const authorization = `Basic ${Buffer.from("shop-backend:shop-secret").toString("base64")}`;
    const response = await fetch(`${this.url}/token`, {
      method: "POST",
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  // What it would never give out, signed with its key all the same.
  sign(claims: JWTPayload, key: CryptoKey | Uint8Array = this.#keys.privateKey, alg = "RS256"): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg, typ: "at+jwt", kid: this.kid }).sign(key);
  }

  #newServer(): Server {
    return createServer((request, response) => {
      if (request.url !== "/jwks" || this.mode === "up") this.#answer(request, response);
      else if (this.mode === "error") response.writeHead(500).end("{}");
      else if (this.mode === "page") response.end("<html>Sign in</html>");
      else if (this.mode === "no keys") response.end("{}");
    });
  }
}

const [shop, flaky, stranger] = await Promise.all([ExternalIssuer.start(), ExternalIssuer.start(), ExternalIssuer.start()]);
afterAll(() => Promise.all([shop, flaky, stranger].map((issuer) => issuer.close())));

const service = useService({
  trustedIssuers: [
    { issuer: shop.url, audience, jwks_uri: `${shop.url}/jwks`, tenant_claim: tenantClaim, scope_claim: "scope" },
    { issuer: flaky.url, audience, jwks_uri: `${flaky.url}/jwks`, tenant_claim: "org", scope_claim: "permissions" },
  ],
});

test("external token 200: it works for the tenant in its claim and for its scopes, and for no other", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const token = await shop.token({ extra: { [tenantClaim]: tenant.slug }, scope: "read:cases read:tenant" });
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  expect((await tenant.call("GET", "/tenants", { token })).json.data).toMatchObject({ tenant_id: tenant.tenantId });
  const refused = await tenant.call("GET", "/enduseraccounts/a", { token });
  expectProblem(refused, 403, "access-denied");
  expect(refused.headers.get("www-authenticate")).toContain('error="insufficient_scope", scope="read:enduseraccount"');
  expectProblem(await other.call("GET", "/cases", { token }), 403, "access-denied");
});

test("external token 200: nobody of another issuer goes by the name that detection has", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const token = await shop.sign({ ...(await claimsOf(tenant.slug)), client_id: "system", scope: "update:case" });
  const closed = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, randomUUID(), { token });
  expect(closed.json.data).toMatchObject({ status: "CLOSED", current_state: { changed_by: `${shop.url} system` } });
});

test("external token 200: changed_by is the client of the other issuer", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const token = await shop.token({ extra: { [tenantClaim]: tenant.slug }, scope: "update:case" });
  const closed = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, randomUUID(), { token });
  expect(closed.json.data).toMatchObject({ status: "CLOSED", current_state: { changed_by: "shop-backend" } });
  expect((await tenant.read(opened.case_id)).current_state.changed_by).toBe("shop-backend");
});

const claimsOf = async (slug: string, issuer = shop): Promise<JWTPayload> =>
  decodeJwt(await issuer.token({ extra: { [tenantClaim]: slug } }));
const seconds = () => Math.floor(Date.now() / 1000);

test("external token 200: the claims that the forgeries change are good ones", async () => {
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

test.for(Object.entries(forgeries))("external token 401: %s", async ([, forge]) => {
  const tenant = await TestTenant.create(service.current);
  const token = await forge(tenant.slug);
  const answer = await tenant.call("GET", "/cases", { token });
  expectProblem(answer, 401, "unauthorized");
  expect(answer.headers.get("www-authenticate")).toBe(tokenChallenge);
  expect(answer.text).not.toContain(token.split(".")[1]);
});

test("external token 403: a tenant claim that is absent, unknown or no slug opens no tenant", async () => {
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

test("external token 200: a tenant made after its token was first refused is served with that token", async () => {
  const slug = `t-${randomUUID()}`;
  const token = await shop.token({ extra: { [tenantClaim]: slug } });
  const path = `/v2/${slug}/cases`;
  expectProblem(await send(service.current.port, "GET", path, { token }), 403, "access-denied");
  await createTenant(service.current.database, { slug }, clock);
  expect((await send(service.current.port, "GET", path, { token })).status).toBe(200);
});

test("external token 502: keys that cannot be fetched are no fault of the token, which works once they can be", async () => {
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
  // The scopes are those of the claim that the configuration names.
  expectProblem(await tenant.call("GET", "/tenants", { token }), 403, "access-denied");
});

test("external token 200: an issuer that is away is not missed while its keys are known", async () => {
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
