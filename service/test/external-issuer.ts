import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWTPayload } from "jose";
import { Provider } from "oidc-provider";
import type { TrustedIssuer } from "../src/config.ts";
import { scopes } from "../src/domain/scope.ts";

export const audience = "https://fraud.example/api";
export const tenantClaim = "https://shop.example/tenant";

type Wanted = { extra: Record<string, unknown>; scope?: string; audience?: string };
type Mode = "up" | "error" | "page" | "no keys" | "silent";

// An identity provider like a customer's: separate from the service, with RSA keys and its own claim names.
export class ExternalIssuer {
  readonly kid = `rsa-${randomUUID()}`;
  // How it responds to requests for its keys.
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
      // Clients are fixed and tokens are JWTs, so it has nothing to store.
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

  // Gets a token from its token endpoint, as a client does.
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

  // Makes a token that it would never issue, signed with its key.
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

// Its entry in TRUSTED_ISSUERS.
export function trust(
  { url: issuer }: ExternalIssuer,
  more: Partial<TrustedIssuer> & Pick<TrustedIssuer, "tenants">,
): TrustedIssuer {
  return { issuer, audience, jwks_uri: `${issuer}/jwks`, tenant_claim: tenantClaim, scope_claim: "scope", ...more };
}
