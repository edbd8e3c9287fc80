import * as oidc from "openid-client";
import { idCharactersMax } from "../../domain/field.ts";
import { characters, isStorable } from "../../domain/text.ts";
import { groupsOf, type RoleMapping } from "../../domain/sign-in-issuer.ts";
import { normalEmail } from "../../domain/user.ts";

const timeoutSeconds = 5;

// Sent to the sign-in page, which has a message for each.
export type OidcProblem =
  | "cancelled"
  | "expired"
  | "has-second-factor"
  | "issuer-unreachable"
  | "no-role"
  | "refused"
  | "too-many-groups"
  | "unknown-person";

export class OidcFault extends Error {
  readonly problem: OidcProblem;

  constructor(problem: OidcProblem, cause?: unknown) {
    super(problem, { cause });
    this.problem = problem;
  }
}

export type Claims = { subject: string; email: string | null; groups: string[] };
export type Way = { state: string; nonce: string; verifier: string };

// `tenant`: the only tenant whose people this issuer can sign in. `chosen` and `fetch`: set for issuers that a tenant has chosen.
export type OtherIssuerSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  tenant: string;
  chosen?: { tenant_id: string; issuer_key: string; updated_at: string };
  redirectUri: string;
  extraScopes: string[];
  trustsEmails: boolean;
  groupsClaim: string;
  mapping: RoleMapping;
  fetch?: oidc.CustomFetch;
};

// What its own document says, read once: the library copies the whole document each time.
type Discovered = { configuration: oidc.Configuration; issuer: string; hasUserInfo: boolean };

// An external issuer that people sign in with. Uses the authorization code flow with PKCE, state and nonce, all on the server.
export class OtherIssuer {
  readonly settings: OtherIssuerSettings;
  #discovered: Promise<Discovered> | null = null;

  constructor(settings: OtherIssuerSettings) {
    this.settings = settings;
  }

  get readsGroups(): boolean {
    return this.settings.mapping.role_groups.length > 0;
  }

  async begin(way: Way): Promise<string> {
    const { configuration } = await this.#discover();
    const address = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.settings.redirectUri,
      scope: ["openid email profile", ...this.settings.extraScopes].join(" "),
      code_challenge: await oidc.calculatePKCECodeChallenge(way.verifier),
      code_challenge_method: "S256",
      state: way.state,
      nonce: way.nonce,
    });
    // The issuer controls the document that names this address, so accept only http and https.
    if (!/^https?:$/.test(address.protocol)) throw new OidcFault("refused");
    return address.href;
  }

  async finish(query: string, way: Way): Promise<Claims> {
    const { configuration, issuer, hasUserInfo } = await this.#discover();
    const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${this.settings.redirectUri}?${query}`), {
      pkceCodeVerifier: way.verifier,
      expectedState: way.state,
      expectedNonce: way.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    // The library accepts any directory of an issuer that serves several. Here, everybody must come from one.
    if (!claims || claims.iss !== issuer) throw new OidcFault("refused");
    // Some issuers put the e-mail and the groups into the ID token, others return them only from the userinfo endpoint.
    const isWhole = claims["email"] !== undefined && !(this.readsGroups && claims[this.settings.groupsClaim] === undefined);
    const more = !isWhole && hasUserInfo ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
    return this.#read(claims, more);
  }

  #read(claims: oidc.IDToken, more: Record<string, unknown>): Claims {
    const { trustsEmails, groupsClaim } = this.settings;
    const { email: address, email_verified: isSaid } = claims["email"] === undefined ? more : claims;
    const isVerified = isSaid === true || (isSaid === undefined && trustsEmails);
    const email = isVerified && typeof address === "string" ? normalEmail(address) : null;
    const isKeepable = isStorable(claims.sub) && isStorable(email ?? "") && characters(claims.sub) <= idCharactersMax;
    if (!isKeepable) throw new OidcFault("refused");
    const given = claims[groupsClaim] ?? more[groupsClaim];
    // Microsoft Entra ID leaves the groups out if there are too many. Without them, a person could get the wrong role.
    if (this.readsGroups && given === undefined && isLeftOut(claims, groupsClaim)) throw new OidcFault("too-many-groups");
    return { subject: `${claims.iss} ${claims.sub}`, email, groups: groupsOf(given) };
  }

  // Discovered once. A failed discovery is retried by the next call.
  #discover(): Promise<Discovered> {
    this.#discovered ??= this.#ask().catch((cause: unknown) => {
      this.#discovered = null;
      if (cause instanceof OidcFault) throw cause;
      throw new OidcFault("issuer-unreachable", cause);
    });
    return this.#discovered;
  }

  async #ask(): Promise<Discovered> {
    const { issuer, clientId, clientSecret, fetch } = this.settings;
    // The configured issuer may use plain http only on this machine, and a tenant's only if private addresses are allowed.
    const insecure = issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [];
    // A tenant's issuer may be reached over plain http, so its ID tokens must carry its signature.
    const execute = fetch ? [...insecure, oidc.enableNonRepudiationChecks] : insecure;
    const options = { execute, timeout: timeoutSeconds, ...(fetch && { [oidc.customFetch]: fetch }) };
    const configuration = await oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, options);
    const said = configuration.serverMetadata();
    // The library allows exceptions. But people are bound by the issuer's name, so an issuer must not choose another one's.
    if (fetch && bare(said.issuer) !== bare(issuer)) throw new OidcFault("refused");
    return { configuration, issuer: said.issuer, hasUserInfo: said.userinfo_endpoint !== undefined };
  }
}

// Issuers spell their URL with or without the last slash.
function bare(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

function isLeftOut(claims: Record<string, unknown>, name: string): boolean {
  const names = claims["_claim_names"];
  const isNamed = typeof names === "object" && names !== null && Object.hasOwn(names, name);
  return isNamed || claims["hasgroups"] === true;
}
