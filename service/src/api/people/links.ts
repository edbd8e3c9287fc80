import { Type, type Static } from "typebox";
import type { Queryable } from "../../db/postgres/database.ts";
import { appendEvents } from "../../db/events.ts";
import { lockTenant } from "../../db/tenants.ts";
import { claimLink, deleteUnusedLinks, findLink, insertLink, type Link } from "../../db/user-links.ts";
import { hasJoinedUsers, insertUser, lockCheckedUser, lockUser, savePassword, saveUser } from "../../db/users.ts";
import { deleteWebSessions } from "../../db/web-sessions.ts";
import { passwordFaults } from "../../domain/common-passwords.ts";
import { Failure, type FieldError } from "../../domain/failure.ts";
import {
  Email,
  Password,
  PersonName,
  actorOf,
  emailFaults,
  linkLifeMs,
  normalEmail,
  type LinkPurpose,
  type Person,
  type UserLink,
} from "../../domain/user.ts";
import { jsonMediaType } from "../operation.ts";
import { addressOf, hashPasswordOf, readInput, rememberAddress, signedIn, type Asked, type People } from "./people.ts";
import { askSecondFactor } from "./sign-in.ts";
import type { Reply } from "../http/problem.ts";
import { invalid } from "../http/validate.ts";
import { newWebToken, parseWebToken, type WebToken } from "./web-token.ts";

// The token is sent in the body, because URLs end up in access logs.
const Token = Type.String({ maxLength: 200 });
const LinkRead = Type.Object({ token: Token }, { additionalProperties: false });
const LinkUse = Type.Object(
  { token: Token, email: Type.Optional(Email), name: Type.Optional(PersonName), password: Password },
  { additionalProperties: false },
);
type LinkUse = Static<typeof LinkUse>;

type Wanted = { purpose: LinkPurpose; userId: string | null; publicUrl: string; now: string };

// The token is in the URL's fragment, which browsers do not send, so it never ends up in an access log.
export async function makeLink(tx: Queryable, tenantId: string, wanted: Wanted): Promise<UserLink> {
  const { purpose, userId, publicUrl, now } = wanted;
  const token = newWebToken(tenantId);
  const expires_at = new Date(Date.parse(now) + linkLifeMs[purpose]).toISOString();
  await insertLink(tx, tenantId, { token_hash: token.hash, purpose, user_id: userId, created_at: now, expires_at });
  return { purpose, url: `${publicUrl}/link#${token.text}`, expires_at };
}

// For the first admin of a tenant. Returns null if somebody has already joined.
export async function makeSetUpLink(
  tx: Queryable,
  slug: string,
  wanted: Pick<Wanted, "publicUrl" | "now">,
): Promise<UserLink | null> {
  const tenant = await lockTenant(tx, slug);
  if (!tenant || (await hasJoinedUsers(tx, tenant.tenant_id))) return null;
  return makeLink(tx, tenant.tenant_id, { purpose: "set-up", userId: null, ...wanted });
}

// A used, an expired and an unknown link get the same response.
function noLink(): Failure {
  return new Failure("item-not-found", "The link was used, has expired, or was replaced. Ask for a new one.");
}

async function requireLink(people: People, text: string): Promise<{ token: WebToken; link: Link }> {
  const token = parseWebToken(text);
  const link = token && (await findLink(people.database, token.tenantId, { token_hash: token.hash, now: people.now() }));
  if (!link) throw noLink();
  return { token, link };
}

export async function readLink(people: People, asked: Asked): Promise<Reply> {
  people.sessions.requireOwnOrigin(asked.request);
  const { link } = await requireLink(people, (await readInput(asked, LinkRead)).token);
  const { purpose, slug, email, name, expires_at } = link;
  const body = JSON.stringify({ purpose, tenant: slug, email, name, expires_at });
  return { status: 200, body, headers: { "content-type": jsonMediaType } };
}

// Sets the password and signs in. If several requests use one link at once, only one succeeds.
export async function takeLink(people: People, asked: Asked): Promise<Reply> {
  const { sessions, devices, database, audit } = people;
  sessions.requireOwnOrigin(asked.request);
  const given = await readInput(asked, LinkUse);
  const { token, link } = await requireLink(people, given.token);
  const faults = faultsOf(link, given);
  if (faults.length > 0) throw invalid(faults);
  const email = link.email ?? normalEmail(given.email ?? "");
  const password_hash = await hashPasswordOf(people, { tenant_id: link.tenant_id, email }, given.password);
  const now = people.now();
  const { person, opened } = await database.transaction(async (tx) => {
    if (link.purpose === "set-up") await requireNobody(tx, link);
    // Locks the user before the link, in the same order as the code that creates links or disables users.
    const person = await settle(tx, link, given, { user_id: people.newId(), created_at: now });
    if (!(await claimLink(tx, link.tenant_id, { token_hash: token.hash, now }))) throw noLink();
    const { tenant_id, user_id } = person;
    await savePassword(tx, tenant_id, { user_id, password_hash });
    await deleteWebSessions(tx, tenant_id, { user_id });
    // The first person to join completes the set-up, so the other set-up links are deleted.
    await deleteUnusedLinks(tx, tenant_id, null);
    // A link replaces the password, not the second factor.
    const needsFactor = (await lockCheckedUser(tx, tenant_id, { user_id, password_hash }))?.has_second_factor === true;
    if (!needsFactor) await rememberAddress(people, tx, asked.request, { tenant_id, user_id, password_hash });
    const opened = needsFactor ? null : await sessions.open(tx, person, { hasSecondFactor: false });
    const type = link.purpose === "password-reset" ? ("user.password_changed" as const) : ("user.joined" as const);
    const resource = { type: "user" as const, id: user_id };
    await appendEvents(tx, tenant_id, [{ type, occurred_at: now, actor: actorOf(person), resource }]);
    return { person, opened };
  });
  await sessions.drop(asked.request);
  if (!opened) return askSecondFactor(people, { ...person, password_hash });
  const about = { tenant: person.slug, user_id: person.user_id, address: addressOf(people, asked.request) };
  audit("signed in", { ...about, how: link.purpose });
  return signedIn(people, opened, [opened.cookie, devices.remember(asked.request, { ...person, password_hash })]);
}

function faultsOf(link: Link, { email, name, password }: LinkUse): FieldError[] {
  const { purpose, slug } = link;
  const owner = { email: email ?? link.email ?? "", name: name ?? link.name ?? "", tenant: slug };
  const faults: FieldError[] = [...emailFaults(email), ...passwordFaults("password", password, owner)];
  if (purpose === "set-up" && email === undefined) faults.push({ field: "email", message: "is required" });
  if (purpose === "set-up" && name === undefined) faults.push({ field: "name", message: "is required" });
  if (purpose !== "set-up" && email !== undefined) faults.push({ field: "email", message: "cannot be changed by this link" });
  if (purpose === "password-reset" && name !== undefined)
    faults.push({ field: "name", message: "cannot be changed by this link" });
  return faults;
}

async function requireNobody(tx: Queryable, { slug, tenant_id }: Link): Promise<void> {
  await lockTenant(tx, slug);
  if (await hasJoinedUsers(tx, tenant_id)) throw noLink();
}

type Fresh = { user_id: string; created_at: string };

// Returns the user that the link is for. A set-up link creates the user.
async function settle(tx: Queryable, link: Link, { email = "", name }: LinkUse, fresh: Fresh): Promise<Person> {
  const { tenant_id, slug, user_id } = link;
  if (user_id === null) {
    const made = { ...fresh, email: normalEmail(email), name: name ?? "", role: "admin" as const };
    if (!(await insertUser(tx, tenant_id, made)))
      throw new Failure("item-already-exists", "A person with this e-mail has already been invited.");
    return { tenant_id, slug, ...made };
  }
  const user = await lockUser(tx, tenant_id, user_id);
  if (!user || user.is_disabled) throw noLink();
  if (name !== undefined) await saveUser(tx, tenant_id, { ...user, name });
  return { tenant_id, slug, user_id, email: user.email, name: name ?? user.name, role: user.role };
}
