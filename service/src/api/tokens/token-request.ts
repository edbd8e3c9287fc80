import { parse, type ParsedUrlQuery } from "node:querystring";
import { decodeJwt } from "jose";
import { Failure } from "../../domain/failure.ts";
import { isScope } from "../../domain/scope.ts";

type OauthError = "invalid_request" | "invalid_client" | "invalid_scope" | "invalid_target" | "unsupported_grant_type";

// A failure in the words of RFC 6749, section 5.2.
export class TokenRefusal extends Failure {
  readonly error: OauthError;
  readonly description: string;

  constructor(error: OauthError, description: string, headers: Record<string, string> = {}) {
    const detail = `${description.slice(0, 1).toUpperCase()}${description.slice(1)}.`;
    super(error === "invalid_client" ? "unauthorized" : "bad-request", detail, { headers });
    this.error = error;
    this.description = description;
  }
}

type Credentials = { clientId: string; secret: string };

function invalid(description: string): TokenRefusal {
  return new TokenRefusal("invalid_request", description);
}

function noMechanism(): TokenRefusal {
  return invalid("no client authentication mechanism provided");
}

// A client_credentials request (RFC 6749, section 4.4). Unknown parameters are ignored, and an empty one counts as absent.
export class TokenRequest {
  readonly #form: ParsedUrlQuery;
  readonly #authorization: string | undefined;

  constructor(body: Buffer, authorization: string | undefined) {
    this.#form = parse(body.toString());
    this.#authorization = authorization;
  }

  // Returns null if the request names a client but has no credential of a kind that a client can have.
  credentials(): Credentials | null {
    this.#requireOnce("client_id", "client_assertion", "client_assertion_type", "client_secret");
    const named = this.#text("client_id");
    const secret = this.#text("client_secret");
    const assertion = this.#text("client_assertion");
    if ([this.#authorization, assertion, secret].filter(Boolean).length > 1)
      throw invalid("client authentication must only be provided using one mechanism");
    if (secret === undefined && this.#authorization !== undefined) return readBasic(this.#authorization, named);
    if (assertion !== undefined) requireAssertion(assertion, this.#text("client_assertion_type"), named);
    else if (named === undefined) throw noMechanism();
    return named === undefined || secret === undefined ? null : { clientId: named, secret };
  }

  // The requested scopes, which the client must have. Null if none were requested.
  scopes(ofClient: readonly string[]): string[] | null {
    this.#requireGrantType();
    this.#requireOnce("scope");
    const asked = this.#text("scope");
    if (asked !== undefined && !/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(asked))
      throw new TokenRefusal("invalid_scope", "scope contains invalid characters");
    const resources = this.#resources();
    const names = [...new Set(asked?.split(" "))];
    // A client that asks for openid expects an ID token, which this issuer does not issue.
    if (names.some((name) => (isScope(name) || name === "openid") && !ofClient.includes(name)))
      throw new TokenRefusal("invalid_scope", "requested scope is not allowed");
    if (resources.size > 1)
      throw new TokenRefusal("invalid_target", "only a single resource indicator value is supported for this grant type");
    if (asked === undefined) return null;
    const known = names.filter(isScope);
    if (known.length === 0) throw new TokenRefusal("invalid_scope", "requested scope is not known");
    return known;
  }

  #requireGrantType(): void {
    this.#requireOnce("grant_type");
    const type = this.#text("grant_type");
    if (type === undefined) throw invalid("missing required parameter 'grant_type'");
    if (type !== "client_credentials") throw new TokenRefusal("unsupported_grant_type", "unsupported grant_type requested");
  }

  // RFC 8707. There is one API, so any absolute URI stands for it.
  #resources(): Set<string> {
    const given = this.#form["resource"] || [];
    const resources = new Set([given].flat());
    for (const resource of resources) {
      const uri = URL.parse(resource)?.href;
      if (uri === undefined) throw new TokenRefusal("invalid_target", "resource indicator must be an absolute URI");
      if (uri.includes("#")) throw new TokenRefusal("invalid_target", "resource indicator must not contain a fragment component");
    }
    return resources;
  }

  #text(name: string): string | undefined {
    const value = this.#form[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  #requireOnce(...names: string[]): void {
    const repeated = names.filter((name) => Array.isArray(this.#form[name])).map((name) => `'${name}'`);
    if (repeated.length === 0) return;
    const list = new Intl.ListFormat("en").format(repeated);
    throw invalid(`${list} parameter${repeated.length === 1 ? "" : "s"} must not be provided twice`);
  }
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=?|[A-Za-z0-9+/]{2}(?:==)?)$/;

// Both halves are form-encoded (RFC 6749, section 2.3.1), so either may hold a colon.
function readBasic(header: string, named: string | undefined): Credentials {
  const [scheme = "", encoded = "", ...more] = header.split(" ");
  const pair = Buffer.from(encoded, "base64").toString();
  const colon = pair.indexOf(":");
  if (scheme.toLowerCase() !== "basic" || more.length > 0 || !base64.test(encoded) || colon === -1)
    throw invalid("invalid authorization header value format");
  const clientId = formDecoded(pair.slice(0, colon));
  const secret = formDecoded(pair.slice(colon + 1));
  if (clientId === null || secret === null)
    throw invalid("client_id and client_secret in the authorization header are not properly encoded");
  if (named !== undefined && clientId !== named) throw invalid("client_id mismatch");
  if (secret === "") throw invalid("client_secret must be provided in the Authorization header");
  if (clientId === "") throw noMechanism();
  return { clientId, secret };
}

// Null if it is not printable ASCII once decoded.
function formDecoded(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", "%20"));
    return /^[\x20-\x7e]*$/.test(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

// No client has a key here, so even a well-formed assertion is rejected. A malformed one is rejected with its own reason.
function requireAssertion(assertion: string, type: string | undefined, named: string | undefined): void {
  const subject = subjectOf(assertion);
  if (!subject) return;
  if (type === undefined) throw invalid("client_assertion_type must be provided");
  if (type !== assertionType) throw invalid(`client_assertion_type must have value ${assertionType}`);
  if (named !== undefined && subject !== named) throw invalid("client_id mismatch");
}

function subjectOf(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).sub;
  } catch {
    throw invalid("invalid client_assertion format");
  }
}
