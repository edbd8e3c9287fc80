import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from "jose";
import type { Database } from "../../db/postgres/database.ts";
import { deleteSigningKeysBefore, insertSigningKey, listSigningKeys } from "../../db/issuer.ts";
import { findClient, type ClientRow } from "../../db/tenants.ts";
import { clientIdFault } from "../../domain/slug.ts";
import { Failure } from "../../domain/failure.ts";
import { SecretGuesses } from "./secret-guesses.ts";
import { isClientSecret, nobodysHash } from "./secret.ts";
import { TokenRefusal, TokenRequest } from "./token-request.ts";

export const audience = "casehound";
export const tokenLifeSeconds = 86_400;
export const tokenPath = "/v2/oauth/token";
const algorithm = "ES256";
const reloadSpacingMs = 200;
// A key that was replaced stays published for as long as a token signed with it can live, and an hour more.
const retiredKeyMs = (tokenLifeSeconds + 3600) * 1000;

type Key = { kid: string; half: JWK; verify: CryptoKey | Uint8Array; sign: CryptoKey | Uint8Array };

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

// Throws if the client is over its rate limit.
type Admit = (client: { tenant: { tenant_id: string; slug: string }; actor: string }) => void;

type Token = { access_token: string; expires_in: number; scope?: string; token_type: "Bearer" };

// The built-in issuer. All processes share its keys. A process learns of a key that another one made by a notification, or at the
// latest when a token names it.
export class Issuer {
  readonly url: string;
  readonly #database: Database;
  readonly #admit: Admit;
  readonly #guesses = new SecretGuesses("secrets");
  #keys: Key[] = [];
  #reloading: Promise<void> | null = null;

  private constructor(database: Database, url: string, admit: Admit) {
    this.#database = database;
    this.url = url;
    this.#admit = admit;
  }

  static async open(database: Database, url: string, admit: Admit = () => {}): Promise<Issuer> {
    const issuer = new Issuer(database, url, admit);
    await issuer.#load();
    if (issuer.#keys.length > 0) return issuer;
    const first = await newKey();
    await database.transaction((tx) => insertSigningKey(tx, first, true));
    await issuer.#load();
    return issuer;
  }

  // The public keys, for /.well-known/jwks.json.
  jwks(): { keys: JWK[] } {
    return {
      keys: this.#keys.map(({ kid, half: { kty, crv, x, y } }) => ({ kty, crv, x, y, kid, use: "sig", alg: algorithm }) as JWK),
    };
  }

  async keyFor(kid: string | undefined): Promise<CryptoKey | Uint8Array> {
    const find = () => this.#keys.find((key) => key.kid === kid);
    if (!find()) await this.reload();
    const key = find();
    if (!key) throw new Failure("unauthorized", "The token was signed with an unknown key.");
    return key.verify;
  }

  // Reloads at most a few times a second, whatever callers send. Callers that arrive in the meantime share the next reload.
  reload(): Promise<void> {
    this.#reloading ??= sleep(reloadSpacingMs).then(() => {
      this.#reloading = null;
      return this.#load();
    });
    return this.#reloading;
  }

  // Creates a key that signs from now on. Tokens signed with older keys stay valid until they expire.
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
    return this.#sign(grant, { secretless: true });
  }

  // Answers one token request. The caller has read the body and checked the media type.
  async token(body: Buffer, authorization: string | undefined, address: string): Promise<Token> {
    const request = new TokenRequest(body, authorization);
    const credentials = request.credentials();
    const client = credentials && (await this.#authenticate(credentials, address));
    if (!client) throw this.#unauthenticated(authorization !== undefined);
    const asked = request.scopes(client.scopes)?.join(" ");
    // A request without a scope gets all scopes of the client.
    const scope = asked ?? [...new Set(client.scopes)].join(" ");
    const { client_id: clientId, tenant_id: tenantId, slug, token_generation: generation } = client;
    const grant = { clientId, tenantId, slug, scope, expiresInSeconds: tokenLifeSeconds };
    const access_token = await this.#sign(grant, generationClaim(generation));
    return { access_token, expires_in: tokenLifeSeconds, ...(asked !== undefined && { scope: asked }), token_type: "Bearer" };
  }

  // Returns null if the secret is wrong or no active client has the id.
  async #authenticate(given: { clientId: string; secret: string }, address: string): Promise<ClientRow | null> {
    const { clientId, secret } = given;
    if (clientIdFault(clientId) !== null) return null;
    const found = await findClient(this.#database, clientId);
    const client = found && found.revoked_at === null ? found : null;
    // An unknown id costs the same work, so timing does not reveal which ids exist.
    const secrets = client ?? { secret_hash: nobodysHash(clientId), previous_secrets: [] };
    const isRight = await isClientSecret(secret, secrets, {
      address,
      limit: (check) => this.#guesses.limit({ clientId, address }, check),
    });
    if (!client || !isRight) return null;
    // Counted only after the secret was right. Otherwise anyone who knows a client's id could use up its quota.
    this.#admit({ tenant: { tenant_id: client.tenant_id, slug: client.slug }, actor: clientId });
    return client;
  }

  // A client that sent an Authorization header gets the error there too (RFC 6749, section 5.2).
  #unauthenticated(sentHeader: boolean): TokenRefusal {
    const description = "client authentication failed";
    const challenge = sentHeader
      ? `Basic realm="${this.url}", error="invalid_client", error_description="${description}"`
      : 'Basic realm="casehound"';
    return new TokenRefusal("invalid_client", description, { "www-authenticate": challenge });
  }

  async #sign(grant: Grant, more: { secretless: true } | { token_generation?: number }): Promise<string> {
    const key = this.#keys[0];
    if (!key) throw new Error("no signing key");
    const claims = { client_id: grant.clientId, scope: grant.scope, tenant_id: grant.tenantId, tenant_slug: grant.slug };
    const nowSeconds = Math.floor(Date.now() / 1000);
    return new SignJWT({ ...claims, ...more })
      .setProtectedHeader({ alg: algorithm, typ: "at+jwt", kid: key.kid })
      .setIssuer(this.url)
      .setAudience(audience)
      .setSubject(grant.clientId)
      .setJti(randomUUID())
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + grant.expiresInSeconds)
      .sign(key.sign);
  }

  async #load(): Promise<void> {
    const stored = await listSigningKeys(this.#database);
    this.#keys = await Promise.all(
      stored.map(async ({ kid, private_jwk }) => {
        const { d: _private, ...half } = private_jwk;
        return { kid, half, verify: await importJWK(half, algorithm), sign: await importJWK(private_jwk, algorithm) };
      }),
    );
  }
}

async function newKey() {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, private_jwk: { ...jwk, kid, use: "sig", alg: algorithm }, created_at: new Date().toISOString() };
}
