import { randomBytes, randomUUID } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from "jose";
import { Provider, errors, type Configuration } from "oidc-provider";
import type { Database } from "../../db/postgres/database.ts";
import { deleteSigningKeysBefore, insertSigningKey, listSigningKeys } from "../../db/issuer.ts";
import { findOrMakeSecret } from "../../db/settings.ts";
import { Failure } from "../../domain/failure.ts";
import { scopes } from "../../domain/scope.ts";
import { issuerAdapter, type ClientMetadata } from "./issuer-adapter.ts";
import { problemMediaType, problemMembers, problems, type Reply } from "../http/problem.ts";
import { SecretGuesses } from "./secret-guesses.ts";
import { isClientSecret } from "./secret.ts";

export const audience = "casehound";
export const tokenLifeSeconds = 86_400;
export const tokenPath = "/v2/oauth/token";
const algorithm = "ES256";
const reloadSpacingMs = 200;
// A key that was replaced stays published for as long as a token signed with it can live, and an hour more.
const retiredKeyMs = (tokenLifeSeconds + 3600) * 1000;

type Key = { kid: string; jwk: JWK; verify: CryptoKey | Uint8Array };

export type Grant = {
  clientId: string;
  tenantId: string;
  slug: string;
  scope: string;
  expiresInSeconds: number;
};

// Omitted until the client's secrets are first revoked, so tokens of earlier releases have generation 0.
function generationClaim(generation: number): { token_generation?: number } {
  return generation === 0 ? {} : { token_generation: generation };
}

// Throws where the client asks for too much.
type Admit = (client: { tenant: { tenant_id: string; slug: string }; actor: string }) => void;

// The built-in issuer: oidc-provider on our tables. All processes share its keys; a key that one of them makes is known
// to the others by a notice, and at the latest when a token names it.
export class Issuer {
  readonly url: string;
  readonly #database: Database;
  readonly #cookieKey: string;
  readonly #compare: ReturnType<typeof compareSecret>;
  #keys: Key[] = [];
  #serveToken!: ReturnType<Provider["callback"]>;
  #reloading: Promise<void> | null = null;

  private constructor(database: Database, url: string, { cookieKey, admit }: { cookieKey: string; admit: Admit }) {
    this.#database = database;
    this.url = url;
    this.#cookieKey = cookieKey;
    this.#compare = compareSecret(admit, new SecretGuesses());
  }

  static async open(database: Database, url: string, admit: Admit = () => {}): Promise<Issuer> {
    const fresh = await newKey();
    const cookieKey = await database.transaction(async (tx) => {
      await insertSigningKey(tx, fresh, true);
      return findOrMakeSecret(tx, "cookies", randomBytes(32));
    });
    const issuer = new Issuer(database, url, { cookieKey: cookieKey.toString("base64url"), admit });
    await issuer.#load();
    return issuer;
  }

  // The public halves, for /.well-known/jwks.json.
  jwks(): { keys: JWK[] } {
    return {
      keys: this.#keys.map(({ kid, jwk: { kty, crv, x, y } }) => ({ kty, crv, x, y, kid, use: "sig", alg: algorithm }) as JWK),
    };
  }

  async keyFor(kid: string | undefined): Promise<CryptoKey | Uint8Array> {
    const find = () => this.#keys.find((key) => key.kid === kid);
    if (!find()) await this.reload();
    const key = find();
    if (!key) throw new Failure("unauthorized", "The token was signed with a key that is not known here.");
    return key.verify;
  }

  // At most a few times a second, whatever callers send: those who come meanwhile share the next one.
  reload(): Promise<void> {
    this.#reloading ??= sleep(reloadSpacingMs).then(() => {
      this.#reloading = null;
      return this.#load();
    });
    return this.#reloading;
  }

  // A new key signs from now on; tokens of the old ones stay good until they expire.
  async rotate(): Promise<string> {
    const fresh = await newKey();
    await this.#database.transaction(async (tx) => {
      await insertSigningKey(tx, fresh, false);
      await deleteSigningKeysBefore(tx, new Date(Date.now() - retiredKeyMs).toISOString());
    });
    await this.#load();
    return fresh.kid;
  }

  // Makes the same token as the endpoint, but for the command line, which needs no secret. The token records that, so revoking
  // secrets does not end it.
  async mint(grant: Grant): Promise<string> {
    const key = this.#keys[0];
    if (!key) throw new Error("no signing key");
    const claims = { client_id: grant.clientId, scope: grant.scope, tenant_id: grant.tenantId, tenant_slug: grant.slug };
    return new SignJWT({ ...claims, secretless: true })
      .setProtectedHeader({ alg: algorithm, typ: "at+jwt", kid: key.kid })
      .setIssuer(this.url)
      .setAudience(audience)
      .setSubject(grant.clientId)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + grant.expiresInSeconds)
      .sign(await importJWK(key.jwk, algorithm));
  }

  // One token request, its body read and its media type checked by the caller.
  async token(request: IncomingMessage, body: Buffer, address: string): Promise<Reply> {
    // On a socket of its own: one that is not complete takes its socket down with it.
    const inner = new IncomingMessage(new Socket());
    inner.complete = true;
    inner.method = "POST";
    inner.url = tokenPath;
    inner.headers = {
      host: request.headers.host ?? "localhost",
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(body.length),
      ...(request.headers.authorization !== undefined && { authorization: request.headers.authorization }),
    };
    inner.push(body);
    inner.push(null);
    return new Promise((resolve, reject) => {
      waiting.set(inner, { resolve, reject, address });
      this.#serveToken(inner, new ServerResponse(inner)).catch(reject);
    });
  }

  async #load(): Promise<void> {
    const stored = await listSigningKeys(this.#database);
    const keys = await Promise.all(
      stored.map(async ({ kid, private_jwk }) => {
        const { d: _private, ...half } = private_jwk;
        return { kid, jwk: { ...private_jwk }, verify: await importJWK(half, algorithm) };
      }),
    );
    const isSame = keys.length === this.#keys.length && keys.every((key, index) => key.kid === this.#keys[index]?.kid);
    if (isSame) return;
    this.#keys = keys;
    this.#serveToken = makeProvider(this.url, configuration(this.#database, keys, this.#cookieKey), this.#compare).callback();
  }
}

type Waiting = { resolve: (reply: Reply) => void; reject: (error: unknown) => void; address: string };
const waiting = new WeakMap<IncomingMessage, Waiting>();

async function newKey() {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, private_jwk: { ...jwk, kid, use: "sig", alg: algorithm }, created_at: new Date().toISOString() };
}

function configuration(database: Database, keys: Key[], cookieKey: string): Configuration {
  return {
    adapter: issuerAdapter(database),
    jwks: { keys: keys.map((key) => key.jwk) },
    cookies: { keys: [cookieKey] },
    routes: { token: tokenPath, jwks: "/.well-known/jwks.json" },
    scopes: [...scopes],
    responseTypes: [],
    ttl: { ClientCredentials: tokenLifeSeconds },
    extraClientMetadata: { properties: ["tenant_id", "tenant_slug", "previous_secrets", "token_generation"] },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:casehound:api",
        getResourceServerInfo: () => ({
          scope: scopes.join(" "),
          audience,
          accessTokenTTL: tokenLifeSeconds,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: algorithm } },
        }),
      },
    },
    formats: {
      customizers: {
        jwt: (ctx, _token, jwt) => {
          const client = ctx.oidc.client as unknown as ClientMetadata | undefined;
          if (!client) throw new Error("a token without a client");
          const asked = ctx.oidc.params?.["scope"];
          if (asked !== undefined && jwt.payload.scope === undefined)
            throw new errors.InvalidScope("requested scope is not known", typeof asked === "string" ? asked : "");
          // No scope asked for means all that the client has.
          const { tenant_id, tenant_slug, token_generation } = client;
          Object.assign(jwt.payload, { tenant_id, tenant_slug, ...generationClaim(token_generation) });
          jwt.payload.scope ??= client.scope;
        },
      },
    },
  };
}

// Takes the place of the provider's own method, which compares clear text. Counted once the secret was right: else whoever knows
// a client's name could use up what it may send.
function compareSecret(admit: Admit, guesses: SecretGuesses) {
  return async function compare(this: object, actual: string): Promise<boolean> {
    // The metadata that issuerAdapter gave.
    const { clientId, tenant_id, tenant_slug: slug, clientSecret, previous_secrets } = this as ClientMetadata;
    const asked = Provider.ctx && waiting.get(Provider.ctx.req);
    const guess = { clientId, address: asked?.address ?? "unknown" };
    const secrets = { secret_hash: clientSecret, previous_secrets };
    const isRight = await isClientSecret(actual, secrets, {
      address: guess.address,
      limit: (check) => guesses.limit(guess, check),
    });
    if (isRight) admit({ tenant: { tenant_id, slug }, actor: clientId });
    return isRight;
  };
}

function makeProvider(url: string, settings: Configuration, compare: ReturnType<typeof compareSecret>): Provider {
  const provider = new Provider(url, settings);
  provider.Client.prototype.compareClientSecret = compare;
  // Else it would be answered as 500, whatever it was, and its cause would be lost.
  provider.on("server_error", (ctx, error) => waiting.get(ctx.req)?.reject(error));
  provider.use(async (ctx, next) => {
    await next();
    ctx.respond = false;
    waiting.get(ctx.req)?.resolve(tokenReply(ctx.status, ctx.body, ctx.response.get("www-authenticate")));
  });
  return provider;
}

// An error has only the members of an OAuth error and of a problem. The provider adds others to some errors, which are dropped
// here.
function tokenReply(status: number, body: unknown, challenge: string): Reply {
  const members = typeof body === "object" && body !== null ? { ...body } : {};
  const headers: Record<string, string> = { "cache-control": "no-store", "content-type": "application/json" };
  if (status === 200) return { status, body: JSON.stringify(members), headers };
  const { error, error_description: given } = members as { error?: unknown; error_description?: unknown };
  const code = status === 401 ? "unauthorized" : status >= 500 ? "internal-error" : "bad-request";
  const description = typeof given === "string" ? given : "The token request failed.";
  const failure = new Failure(code, `${description[0]?.toUpperCase()}${description.slice(1)}.`.replace("..", "."));
  if (code === "unauthorized") headers["www-authenticate"] = challenge || 'Basic realm="casehound"';
  headers["content-type"] = problemMediaType;
  return {
    status: problems[code].status,
    body: JSON.stringify({ error, error_description: description, ...problemMembers(failure) }),
    headers,
    fault: failure,
  };
}

export function tokenFailure(failure: Failure, error: string): Reply {
  const members = { error, error_description: failure.message, ...problemMembers(failure) };
  const headers = { "content-type": problemMediaType, "cache-control": "no-store", ...failure.headers };
  return { status: problems[failure.code].status, body: JSON.stringify(members), headers, fault: failure };
}
