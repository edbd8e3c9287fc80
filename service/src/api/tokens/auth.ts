import { createRemoteJWKSet, decodeJwt, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import type { TrustedIssuer } from "../../config.ts";
import type { Database } from "../../db/postgres/database.ts";
import { findClient, findTenant, keysChannel, revokedChannel } from "../../db/tenants.ts";
import { Failure } from "../../domain/failure.ts";
import { unauthorized, type Identity } from "../http/identity.ts";
import { audience, tokenLifeSeconds, type Issuer } from "./issuer.ts";
import { Listener } from "../../db/postgres/listener.ts";

type ExternalIssuer = TrustedIssuer & { keys: JWTVerifyGetKey };

// OpenID Connect limits a subject to this length.
const externalNameMax = 255;
const rememberedMax = 10_000;
// Clocks of two processes differ.
const clockToleranceSeconds = 60;
const externalAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

export class Authenticator {
  readonly #database: Database;
  readonly #issuer: Issuer;
  readonly #external: Map<string, ExternalIssuer>;
  readonly #remembered = new Map<string, Identity>();
  #lastOf = new WeakMap<object, { sent: string; identity: Identity }>();
  readonly #listener: Listener;

  constructor(database: Database, issuer: Issuer, trusted: TrustedIssuer[]) {
    this.#database = database;
    this.#issuer = issuer;
    this.#external = new Map(
      trusted.map((each) => [
        each.issuer,
        { ...each, keys: createRemoteJWKSet(new URL(each.jwks_uri), { timeoutDuration: 3000 }) },
      ]),
    );
    this.#listener = new Listener(database, {
      channels: [revokedChannel, keysChannel],
      onNotice: (channel, payload) => (channel === revokedChannel ? this.#forgetClient(payload) : void this.#reloadKeys()),
      onLost: () => {
        this.#remembered.clear();
        this.#lastOf = new WeakMap();
      },
      onListening: () => void this.#reloadKeys(),
    });
  }

  // If the connection was lost too, the keys are reloaded when it is back. Any other failure would go unnoticed without this
  // warning.
  async #reloadKeys(): Promise<void> {
    await this.#issuer.reload().catch((cause: unknown) => {
      if (!this.#listener.isListening) return;
      process.emitWarning(new Error("The signing keys could not be reloaded.", { cause }));
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  identify(authorization: string[], connection: object): Identity | Promise<Identity> {
    if (authorization.length === 0) throw unauthorized("An access token is required.", false);
    if (authorization.length > 1) throw unauthorized("The request must have exactly one Authorization header.");
    const [sent = ""] = authorization;
    // A client usually sends the same header again on a connection. Comparing it costs less than looking it up among all.
    const before = this.#lastOf.get(connection);
    const known = before?.sent === sent ? before.identity : this.#remembered.get(sent);
    if (known && known.expiresAtMs > Date.now()) {
      if (known !== before?.identity) this.#lastOf.set(connection, { sent, identity: known });
      return known;
    }
    this.#remembered.delete(sent);
    const match = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(sent);
    const token = match?.[1];
    if (token === undefined) throw unauthorized("The Authorization header must be: Bearer <access token>.");
    return this.#verify(token, sent);
  }

  async #verify(token: string, sent: string): Promise<Identity> {
    let identity: Identity;
    // Read before the database is queried: an identity is not cached if a revocation arrives in the meantime.
    const epoch = this.#listener.epoch;
    let external: ExternalIssuer | undefined;
    try {
      external = this.#external.get(decodeJwt(token).iss ?? "");
      identity = external ? await this.#verifyExternal(token, external) : await this.#verifyOwn(token);
    } catch (error) {
      throw external && isFetchFault(error) ? issuerAway(error) : refusal(error);
    }
    // Cached under the header as sent, so it need not be parsed again. A header with extra spaces is not cached, because the
    // number of spaces could vary without limit.
    const isPlain = sent.length === "Bearer ".length + token.length;
    const isCurrent = this.#listener.isListening && this.#listener.epoch === epoch;
    if (identity.tenant !== null && isPlain && isCurrent) this.#remember(sent, identity);
    return identity;
  }

  async #verifyOwn(token: string): Promise<Identity> {
    const { payload } = await jwtVerify(token, ({ kid }) => this.#issuer.keyFor(kid), {
      issuer: this.#issuer.url,
      audience,
      algorithms: ["ES256"],
      typ: "at+jwt",
      requiredClaims: ["exp", "iat", "jti", "sub", "client_id", "tenant_id", "tenant_slug"],
    });
    const { client_id: clientId, tenant_id, tenant_slug: slug } = payload;
    if (typeof clientId !== "string" || typeof tenant_id !== "string" || typeof slug !== "string")
      throw unauthorized("The token lacks required claims.");
    if (payload.sub !== clientId || !isOfOurTime(payload)) throw unauthorized("The token is not valid.");
    const client = await findClient(this.#database, clientId);
    if (!client || client.revoked_at !== null || client.tenant_id !== tenant_id || client.slug !== slug)
      throw unauthorized("The token's client was revoked.");
    const isOfSecret = payload["secretless"] !== true;
    if (isOfSecret && (payload["token_generation"] ?? 0) !== client.token_generation)
      throw unauthorized("The client secret that this token was issued for has been revoked.");
    return {
      tenant: { tenant_id, slug },
      actor: clientId,
      scopes: scopesOf(payload, "scope"),
      expiresAtMs: expiry(payload),
      clientId,
    };
  }

  async #verifyExternal(token: string, trusted: ExternalIssuer): Promise<Identity> {
    const { payload } = await jwtVerify(token, trusted.keys, {
      issuer: trusted.issuer,
      audience: trusted.audience,
      algorithms: externalAlgorithms,
      requiredClaims: ["exp"],
    });
    const slug = payload[trusted.tenant_claim];
    const isFor = typeof slug === "string" && (trusted.tenants === "*" || trusted.tenants.includes(slug));
    const tenant = isFor && !slug.includes("\0") ? await findTenant(this.#database, slug) : undefined;
    return {
      tenant: tenant ? { tenant_id: tenant.tenant_id, slug: tenant.slug } : null,
      actor: externalActor(payload, trusted),
      scopes: scopesOf(payload, trusted.scope_claim),
      expiresAtMs: expiry(payload),
      clientId: null,
    };
  }

  #remember(sent: string, identity: Identity): void {
    const oldest = this.#remembered.keys().next();
    if (this.#remembered.size >= rememberedMax && !oldest.done) this.#remembered.delete(oldest.value);
    this.#remembered.set(sent, identity);
  }

  #forgetClient(clientId: string): void {
    this.#lastOf = new WeakMap();
    for (const [sent, identity] of this.#remembered) {
      if (identity.clientId === clientId) this.#remembered.delete(sent);
    }
  }
}

// The issuer comes first, so the actor cannot be mistaken for a person, one of our clients, or detection. Spaces, brackets and
// invisible characters are encoded, so the name cannot imitate one either.
function externalActor(payload: JWTPayload, { issuer }: ExternalIssuer): string {
  const names = [payload["client_id"], payload["azp"], payload.sub];
  const name = names.find((each) => typeof each === "string" && each !== "");
  if (typeof name !== "string") return issuer;
  if (name.length > externalNameMax) throw unauthorized(`The token's client name has more than ${externalNameMax} characters.`);
  return `${issuer} ${name.toWellFormed().replaceAll(/[^\x21-\x7e]|[<>%]/gu, encodeURIComponent)}`;
}

// A token of this issuer was issued in the past and lives at most as long as the issuer allows. A forger who has the key is bound
// by this too.
function isOfOurTime({ iat = 0, exp = 0 }: JWTPayload): boolean {
  return iat <= Date.now() / 1000 + clockToleranceSeconds && exp - iat <= tokenLifeSeconds;
}

function expiry(payload: JWTPayload): number {
  return (payload.exp ?? 0) * 1000;
}

function scopesOf(payload: JWTPayload, claim: string): Set<string> {
  const value = payload[claim];
  if (typeof value === "string") return new Set(value.split(" "));
  return new Set(Array.isArray(value) ? value.filter((each) => typeof each === "string") : []);
}

// Every fault of a token is a 401. All other errors are passed on.
function refusal(error: unknown): unknown {
  if (error instanceof Failure) return error.code === "unauthorized" ? unauthorized(error.message) : error;
  if (error instanceof errors.JWTExpired) return unauthorized("The token has expired.");
  return error instanceof errors.JOSEError || error instanceof TypeError ? unauthorized("The token is not valid.") : error;
}

// A failed fetch throws a TypeError. A response other than 200 throws jose's base class.
function isFetchFault(error: unknown): boolean {
  const isOddAnswer = error instanceof errors.JOSEError && error.code === "ERR_JOSE_GENERIC";
  return error instanceof TypeError || error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || isOddAnswer;
}

function issuerAway(cause: unknown): Failure {
  return new Failure("bad-gateway", "The keys of the token's issuer cannot be fetched. Retry after a short delay.", { cause });
}
