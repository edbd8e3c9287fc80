import * as oidc from "openid-client";
import type { Queryable } from "../../db/postgres/database.ts";
import { appendEvents } from "../../db/events.ts";
import { listFactorKinds } from "../../db/second-factors.ts";
import { isCurrentIssuer } from "../../db/sign-in-issuers.ts";
import { deleteUnusedLinks } from "../../db/user-links.ts";
import { lockActiveAdmins, lockExternalUser, saveExternalSubject } from "../../db/users.ts";
import { roleOfGroups } from "../../domain/sign-in-issuer.ts";
import { actorOf, type Person } from "../../domain/user.ts";
import type { Reply } from "../http/problem.ts";
import { saveUserChange } from "../users.ts";
import { OidcFault, type Claims, type OidcProblem, type OtherIssuer } from "./other-issuer.ts";
import { addressOf, type Asked, type People } from "./people.ts";

const wayMaxSeconds = 600;

function redirect(location: string, cookies: string[]): Reply {
  return { status: 303, body: "{}", headers: { location, "content-type": "application/json" }, cookies };
}

function toSignIn({ sessions, publicUrl }: People, { settings }: OtherIssuer, problem: OidcProblem): Reply {
  // The page then offers the tenant's issuers again.
  const tenant = settings.chosen ? `&tenant=${settings.tenant}` : "";
  return redirect(`${publicUrl}/sign-in?problem=${problem}${tenant}`, [sessions.cookies.clear("oidc")]);
}

// A page elsewhere must not sign somebody in to a tenant of its own choice, or use this address to send them anywhere. The browser
// gets the tenant's sign-in page, where the person decides.
export function isFromElsewhere({ request }: Asked): boolean {
  return request.headers["sec-fetch-site"] === "cross-site";
}

export function toTenantSignIn({ publicUrl }: People, tenant: string): Reply {
  return redirect(`${publicUrl}/sign-in?tenant=${encodeURIComponent(tenant)}`, []);
}

export async function beginOidc(people: People, issuer: OtherIssuer): Promise<Reply> {
  const way = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  try {
    const location = await issuer.begin(way);
    const value = [way.state, way.nonce, way.verifier, markOf(issuer)].filter((part) => part !== "").join(".");
    return redirect(location, [people.sessions.cookies.write("oidc", value, wayMaxSeconds)]);
  } catch (error) {
    return refuse(people, issuer, error);
  }
}

// Says in the cookie which issuer the browser was sent to. Together with a redirect URI for each issuer, this keeps an issuer from
// passing on a code that another one has issued.
function markOf({ settings }: OtherIssuer): string {
  return settings.chosen ? Buffer.from(settings.redirectUri).toString("base64url") : "";
}

export async function finishOidc(people: People, issuer: OtherIssuer, asked: Asked, query: string): Promise<Reply> {
  const { sessions, database, audit } = people;
  // Only the browser that started the sign-in can finish it, because only that browser has the cookie.
  const kept = sessions.cookies.read(asked.request, "oidc") ?? "";
  const [state = "", nonce = "", verifier = "", mark = ""] = kept.split(".");
  if (verifier === "" || mark !== markOf(issuer)) return toSignIn(people, issuer, "expired");
  try {
    const claims = await issuer.finish(query, { state, nonce, verifier });
    const { person, opened } = await database.transaction(async (tx) => {
      const person = await settle(tx, people, issuer, claims);
      // The identity provider decides which factors it asks for.
      return { person, opened: await sessions.open(tx, person, { hasSecondFactor: true }) };
    });
    await sessions.drop(asked.request);
    const about = { tenant: person.slug, user_id: person.user_id, address: addressOf(people, asked.request) };
    audit("signed in", { ...about, how: "other issuer" });
    return redirect(`${people.publicUrl}/`, [opened.cookie, sessions.cookies.clear("oidc")]);
  } catch (error) {
    return refuse(people, issuer, error);
  }
}

// Only invited people can sign in: by the subject once it is bound, before that by an e-mail that the issuer has verified.
async function settle(tx: Queryable, people: People, issuer: OtherIssuer, { subject, email, groups }: Claims): Promise<Person> {
  const { chosen } = issuer.settings;
  // An issuer can answer slowly. If it was deleted or changed since, its answer is ignored.
  if (chosen && !(await isCurrentIssuer(tx, chosen))) throw new OidcFault("expired");
  // Locks in the same order as saveUserChange.
  if (chosen && issuer.readsGroups) await lockActiveAdmins(tx, chosen.tenant_id);
  const user = await lockExternalUser(tx, issuer.settings.tenant, { subject, email });
  const isOther = user?.external_subject !== null && user?.external_subject !== subject;
  if (!user || user.is_disabled || isOther) throw new OidcFault("unknown-person");
  const { external_subject, is_disabled: _isDisabled, ...person } = user;
  const role = roleOfGroups(issuer.settings.mapping, groups);
  if (role === null) throw new OidcFault("no-role");
  if (external_subject === null) await bind(tx, people, issuer, { person, subject });
  if (role === undefined || role === person.role) return person;
  return { ...person, role: await giveRole(tx, people, issuer, { person, role }) };
}

type Binding = { person: Person; subject: string };

async function bind(tx: Queryable, { now }: People, { settings }: OtherIssuer, { person, subject }: Binding): Promise<void> {
  const { tenant_id, user_id } = person;
  const { chosen } = settings;
  // Otherwise whoever takes over an admin's session could add an issuer and come back as that admin, or as another one.
  if (chosen && (await listFactorKinds(tx, tenant_id, user_id)).length > 0) throw new OidcFault("has-second-factor");
  await saveExternalSubject(tx, tenant_id, { user_id, external_subject: subject });
  await deleteUnusedLinks(tx, tenant_id, user_id);
  await deleteUnusedLinks(tx, tenant_id, null);
  const resource = { type: "user" as const, id: user_id };
  const data = chosen && { data: { issuer_key: chosen.issuer_key } };
  await appendEvents(tx, tenant_id, [{ type: "user.joined", occurred_at: now(), actor: actorOf(person), resource, ...data }]);
}

// Returns the role that the person has then. The last admin stays one: otherwise nobody could correct the groups.
async function giveRole(
  tx: Queryable,
  { now, publicUrl, audit }: People,
  { settings }: OtherIssuer,
  { person, role }: { person: Person; role: string },
): Promise<string> {
  const { tenant_id, user_id, slug } = person;
  if (person.role === "admin" && (await lockActiveAdmins(tx, tenant_id)) <= 1) {
    audit("role kept", { tenant: slug, user_id, role, why: "the last active admin" });
    return person.role;
  }
  const by = { actor: `${settings.issuer} groups`, now: now(), publicUrl };
  await saveUserChange(tx, tenant_id, { userId: user_id, change: { role } }, by);
  audit("role given by groups", { tenant: slug, user_id, role, issuer: settings.issuer });
  return role;
}

// Whatever went wrong, the browser is sent to the sign-in page. The log gets only the code of the cause.
function refuse(people: People, issuer: OtherIssuer, error: unknown): Reply {
  const problem = problemOf(error);
  const cause = error instanceof OidcFault ? error.cause : error;
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  people.audit("sign-in failed", { how: "other issuer", tenant: issuer.settings.tenant, problem, code });
  return toSignIn(people, issuer, problem);
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
