import * as oidc from "openid-client";
import type { OidcSettings } from "../../config.ts";
import type { Queryable } from "../../db/postgres/database.ts";
import { appendEvents } from "../../db/events.ts";
import { deleteUnusedLinks } from "../../db/user-links.ts";
import { lockExternalUser, saveExternalSubject } from "../../db/users.ts";
import { characters, idCharactersMax, isStorable } from "../../domain/field.ts";
import { actorOf, normalEmail, type Person } from "../../domain/user.ts";
import { addressOf, type Asked, type People } from "./people.ts";
import type { Reply } from "../http/problem.ts";

const timeoutSeconds = 5;
const wayMaxSeconds = 600;
const callbackPath = "/auth/oidc/callback";

// Sent to the sign-in page, which has a message for each.
type OidcProblem = "cancelled" | "expired" | "issuer-unreachable" | "refused" | "unknown-person";

class OidcFault extends Error {
  readonly problem: OidcProblem;

  constructor(problem: OidcProblem, cause?: unknown) {
    super(problem, { cause });
    this.problem = problem;
  }
}

type Claims = { subject: string; email: string | null };
type Way = { state: string; nonce: string; verifier: string };

// An external issuer that people sign in with. Uses the authorization code flow with PKCE, state and nonce, all on the server.
export class OtherIssuer {
  readonly settings: OidcSettings;
  readonly #redirectUri: string;
  #discovered: Promise<oidc.Configuration> | null = null;

  constructor(settings: OidcSettings, publicUrl: string) {
    this.settings = settings;
    this.#redirectUri = `${publicUrl}${callbackPath}`;
  }

  async begin(way: Way): Promise<string> {
    const address = oidc.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: this.#redirectUri,
      scope: "openid email profile",
      code_challenge: await oidc.calculatePKCECodeChallenge(way.verifier),
      code_challenge_method: "S256",
      state: way.state,
      nonce: way.nonce,
    });
    return address.href;
  }

  async finish(query: string, way: Way): Promise<Claims> {
    const issuer = await this.#discover();
    const tokens = await oidc.authorizationCodeGrant(issuer, new URL(`${this.#redirectUri}?${query}`), {
      pkceCodeVerifier: way.verifier,
      expectedState: way.state,
      expectedNonce: way.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new OidcFault("refused");
    const isTold = claims["email"] !== undefined || issuer.serverMetadata().userinfo_endpoint === undefined;
    // Some issuers put the e-mail into the ID token, others return it only from the userinfo endpoint.
    const told = isTold ? claims : await oidc.fetchUserInfo(issuer, tokens.access_token, claims.sub);
    const email = told["email_verified"] === true && typeof told["email"] === "string" ? normalEmail(told["email"]) : null;
    const isKeepable = isStorable(claims.sub) && isStorable(email ?? "") && characters(claims.sub) <= idCharactersMax;
    if (!isKeepable) throw new OidcFault("refused");
    return { subject: `${claims.iss} ${claims.sub}`, email };
  }

  // Discovered once, and again if that failed.
  #discover(): Promise<oidc.Configuration> {
    this.#discovered ??= this.#ask().catch((cause: unknown) => {
      this.#discovered = null;
      throw new OidcFault("issuer-unreachable", cause);
    });
    return this.#discovered;
  }

  async #ask(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.settings;
    // The configuration allows plain http only for this machine.
    const execute = issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [];
    return oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: timeoutSeconds });
  }
}

function redirect(location: string, cookies: string[]): Reply {
  return { status: 303, body: "{}", headers: { location, "content-type": "application/json" }, cookies };
}

function toSignIn({ sessions, publicUrl }: People, problem: OidcProblem): Reply {
  return redirect(`${publicUrl}/sign-in?problem=${problem}`, [sessions.cookies.clear("oidc")]);
}

export async function beginOidc(people: People, issuer: OtherIssuer): Promise<Reply> {
  const way = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  try {
    const location = await issuer.begin(way);
    const value = `${way.state}.${way.nonce}.${way.verifier}`;
    return redirect(location, [people.sessions.cookies.write("oidc", value, wayMaxSeconds)]);
  } catch (error) {
    return refuse(people, error);
  }
}

export async function finishOidc(people: People, issuer: OtherIssuer, asked: Asked, query: string): Promise<Reply> {
  const { sessions, database, audit } = people;
  // Only the browser that started the sign-in can finish it, because only that browser has the cookie.
  const kept = sessions.cookies.read(asked.request, "oidc") ?? "";
  const [state = "", nonce = "", verifier = ""] = kept.split(".");
  if (verifier === "") return toSignIn(people, "expired");
  try {
    const claims = await issuer.finish(query, { state, nonce, verifier });
    const { person, opened } = await database.transaction(async (tx) => {
      const person = await settle(tx, issuer.settings.tenant, claims, people.now());
      return { person, opened: await sessions.open(tx, person) };
    });
    await sessions.drop(asked.request);
    const about = { tenant: person.slug, user_id: person.user_id, address: addressOf(people, asked.request) };
    audit("signed in", { ...about, how: "other issuer" });
    return redirect(`${people.publicUrl}/`, [opened.cookie, sessions.cookies.clear("oidc")]);
  } catch (error) {
    return refuse(people, error);
  }
}

// Only invited people can sign in: by the subject once it is bound, before that by an e-mail that the issuer has verified.
async function settle(tx: Queryable, slug: string, { subject, email }: Claims, now: string): Promise<Person> {
  const user = await lockExternalUser(tx, slug, { subject, email });
  const isOther = user?.external_subject !== null && user?.external_subject !== subject;
  if (!user || user.is_disabled || isOther) throw new OidcFault("unknown-person");
  const { external_subject, is_disabled: _isDisabled, ...person } = user;
  if (external_subject !== null) return person;
  const { tenant_id, user_id } = person;
  await saveExternalSubject(tx, tenant_id, { user_id, external_subject: subject });
  await deleteUnusedLinks(tx, tenant_id, user_id);
  await deleteUnusedLinks(tx, tenant_id, null);
  const resource = { type: "user" as const, id: user_id };
  await appendEvents(tx, tenant_id, [{ type: "user.joined", occurred_at: now, actor: actorOf(person), resource }]);
  return person;
}

// Whatever went wrong, the browser is sent to the sign-in page. The log gets only the code of the cause.
function refuse(people: People, error: unknown): Reply {
  const problem = problemOf(error);
  const cause = error instanceof OidcFault ? error.cause : error;
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  people.audit("sign-in failed", { how: "other issuer", problem, code });
  return toSignIn(people, problem);
}

function problemOf(error: unknown): OidcProblem {
  if (error instanceof OidcFault) return error.problem;
  if (error instanceof oidc.AuthorizationResponseError) return "cancelled";
  const isOfIssuer = error instanceof oidc.ClientError || error instanceof oidc.ResponseBodyError;
  if (isOfIssuer || error instanceof oidc.WWWAuthenticateChallengeError) return isAway(error) ? "issuer-unreachable" : "refused";
  if (error instanceof TypeError) return "issuer-unreachable";
  throw error;
}

function isAway(error: Error): boolean {
  return error.cause instanceof TypeError || ("code" in error && error.code === "OAUTH_TIMEOUT");
}
