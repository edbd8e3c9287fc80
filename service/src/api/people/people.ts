import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { Type, type Static, type TSchema } from "typebox";
import type { Database, Queryable } from "../../db/postgres/database.ts";
import { appendEvents, findLastEventIds } from "../../db/events.ts";
import { deleteUnusedLinks } from "../../db/user-links.ts";
import { findPasswordHash, findUsersByEmail, lockCheckedUser, savePassword, saveUsualAddress } from "../../db/users.ts";
import { deleteWebSession, deleteWebSessions, lockWebSession } from "../../db/web-sessions.ts";
import { passwordFaults } from "../../domain/common-passwords.ts";
import { Failure } from "../../domain/failure.ts";
import { scopesOfRole } from "../../domain/role.ts";
import { Password, actorOf, passwordCharacters, usualAddressesMax } from "../../domain/user.ts";
import { hostOf } from "../../domain/address.ts";
import { clientAddress } from "../http/address.ts";
import { limitOwnAttempts } from "./attempts.ts";
import { readBody, requireMediaType } from "../http/body.ts";
import type { Challenges } from "./challenges.ts";
import type { Devices } from "./devices.ts";
import type { Tickets } from "./tickets.ts";
import { parseJson } from "../http/json.ts";
import { jsonMediaType, type Audit } from "../operation.ts";
import { hashPassword, isPassword, type Asker } from "./password.ts";
import type { Reply } from "../http/problem.ts";
import { noSession, type OpenSession, type OpenedSession, type Sessions } from "./web-sessions.ts";
import { invalid, validate } from "../http/validate.ts";

// What signing in with a browser needs. People have cookie sessions instead of tokens, and their role decides on every request
// what they may do.
export type People = {
  database: Database;
  sessions: Sessions;
  devices: Devices;
  tickets: Tickets;
  challenges: Challenges;
  publicUrl: string;
  // Whether issuers that tenants choose may have private addresses.
  isPrivateAllowed: boolean;
  trustedProxies: BlockList;
  audit: Audit;
  now: () => string;
  newId: (at?: string) => string;
};

export type Asked = { request: IncomingMessage; onBody: () => void };

const bodyBytesMax = 16 * 1024;
export const tenantsMax = 10;

export const TypedPassword = Type.String({ minLength: 1, maxLength: passwordCharacters.max });

const PasswordChange = Type.Object({ current: TypedPassword, new: Password }, { additionalProperties: false });

export async function readInput<S extends TSchema>({ request, onBody }: Asked, schema: S): Promise<Static<S>> {
  requireMediaType(request, jsonMediaType);
  const body = parseJson(await readBody(request, bodyBytesMax, onBody));
  validate(schema, body);
  // validate has checked it against the schema.
  return body as Static<S>;
}

export function addressOf(people: People, request: IncomingMessage): string | undefined {
  return clientAddress(request, people.trustedProxies);
}

// Returns who is signed in, and what the page needs to act for that person. Whatever the page reads from now on includes every
// event up to last_event_id.
export async function signedIn(
  { database }: Pick<People, "database">,
  opened: Omit<OpenedSession, "cookie">,
  cookies: string[] = [],
): Promise<Reply> {
  const body = {
    user: { user_id: opened.user_id, email: opened.email, name: opened.name, role: opened.role },
    tenant: { tenant_id: opened.tenant_id, slug: opened.slug },
    // Until the person has a second factor, if the tenant requires one, the API refuses everything.
    scopes: opened.must_add_second_factor ? [] : scopesOfRole(opened.role, opened.role_scopes),
    must_add_second_factor: opened.must_add_second_factor,
    csrf_token: opened.csrf_token,
    expires_at: opened.expires_at,
    last_event_id: (await findLastEventIds(database, [opened.tenant_id])).get(opened.tenant_id) ?? 0,
  };
  return {
    status: 200,
    body: JSON.stringify(body),
    headers: { "content-type": jsonMediaType },
    cookies,
  };
}

type Remembered = { tenant_id: string; user_id: string; password_hash: string };

// Must run inside the transaction that has locked the person.
export async function rememberAddress(
  people: People,
  tx: Queryable,
  request: IncomingMessage,
  person: Remembered,
): Promise<void> {
  const address = addressOf(people, request);
  if (address === undefined) return;
  const seal = people.devices.sealAddress(hostOf(address), person);
  await saveUsualAddress(tx, person.tenant_id, { user_id: person.user_id, seal, keptMax: usualAddressesMax });
}

export function done(cookies: string[]): Reply {
  return { status: 204, body: "", headers: {}, cookies };
}

export function withHash<T extends { password_hash: string | null }>(user: T): (T & { password_hash: string })[] {
  const { password_hash } = user;
  return password_hash === null ? [] : [{ ...user, password_hash }];
}

// Hashes a new password with the salt that the e-mail has in other tenants, if there is one.
export async function hashPasswordOf(
  { database }: Pick<People, "database">,
  person: { tenant_id: string; email: string },
  password: string,
): Promise<string> {
  const all = await findUsersByEmail(database, { email: person.email, slug: null, limit: tenantsMax });
  const [sibling] = all.filter(({ tenant_id }) => tenant_id !== person.tenant_id).flatMap((each) => withHash(each));
  return hashPassword(password, sibling?.password_hash);
}

export async function readSession(people: People, { request }: Asked): Promise<Reply> {
  const session = await people.sessions.require(request);
  return signedIn(people, session);
}

// Clears the browser's cookie even if the session has already ended.
export async function signOut({ sessions, database, audit }: People, { request }: Asked): Promise<Reply> {
  const gone = [sessions.cookies.clear("session")];
  if (!(await sessions.find(request))) return done(gone);
  const session = await sessions.require(request);
  await database.transaction((tx) => deleteWebSession(tx, session.tenant_id, session.token_hash));
  audit("signed out", { tenant: session.slug, user_id: session.user_id });
  return done(gone);
}

export async function signOutEverywhere({ sessions, database, audit }: People, { request }: Asked): Promise<Reply> {
  const session = await sessions.require(request);
  const { tenant_id, user_id } = session;
  const ended = await database.transaction((tx) => deleteWebSessions(tx, tenant_id, { user_id }));
  audit("signed out everywhere", { tenant: session.slug, user_id, sessions: ended });
  return done([sessions.cookies.clear("session")]);
}

// For somebody who is signed in and must enter the password again.
function isOwnPassword(people: People, userId: string, given: { current: string; checked: string | null }): Promise<boolean> {
  const asker: Asker = { kind: "known", name: userId };
  const check = async () => ((await isPassword(given.current, given.checked, asker)) ? true : null);
  return limitOwnAttempts(people, [{ kind: "signedIn", text: userId }], check).then((isRight) => isRight === true);
}

// Changes of how a person signs in need the password, so that a session that was left open or stolen is not enough. Returns the
// hash that was checked, which the change must find unchanged.
export async function requireOwnPassword(people: People, session: OpenSession, password: string): Promise<string> {
  const { tenant_id, user_id } = session;
  const checked = await findPasswordHash(people.database, tenant_id, user_id);
  if (checked === null)
    throw new Failure("access-denied", "You have no password, because you sign in through an identity provider.");
  if (await isOwnPassword(people, user_id, { current: password, checked })) return checked;
  people.audit("password refused", { tenant: session.slug, user_id });
  throw invalid([{ field: "password", message: "is not your password" }]);
}

// Ends the person's other sessions, and links that would set another password.
export async function changePassword(people: People, asked: Asked): Promise<Reply> {
  const { sessions, devices, database, audit } = people;
  const session = await sessions.require(asked.request);
  const { tenant_id, user_id } = session;
  const { current, new: fresh } = await readInput(asked, PasswordChange);
  const faults = passwordFaults("new", fresh, { ...session, tenant: session.slug });
  if (faults.length > 0) throw invalid(faults);
  const checked = await findPasswordHash(database, tenant_id, user_id);
  const isRight = await isOwnPassword(people, user_id, { current, checked });
  const password_hash = isRight ? await savePasswordChange(people, asked.request, session, { checked, fresh }) : null;
  if (password_hash === null) {
    audit("password change refused", { tenant: session.slug, user_id, address: addressOf(people, asked.request) });
    throw invalid([{ field: "current", message: "is not your password" }]);
  }
  audit("password changed", { tenant: session.slug, user_id });
  return done([devices.remember(asked.request, { tenant_id, user_id, password_hash })]);
}

// Returns the hash of the new password, or null if the current password has changed since it was checked.
async function savePasswordChange(
  people: People,
  request: IncomingMessage,
  session: OpenSession,
  { checked, fresh }: { checked: string | null; fresh: string },
): Promise<string | null> {
  const { tenant_id, user_id, token_hash } = session;
  const { database, now } = people;
  const password_hash = await hashPasswordOf(people, session, fresh);
  const event = {
    type: "user.password_changed" as const,
    occurred_at: now(),
    actor: actorOf(session),
    resource: { type: "user" as const, id: user_id },
  };
  return database.transaction(async (tx) => {
    const isSame = (await lockCheckedUser(tx, tenant_id, { user_id, password_hash: checked })) !== undefined;
    if (!(await lockWebSession(tx, tenant_id, token_hash))) throw noSession();
    if (!isSame) return null;
    await savePassword(tx, tenant_id, { user_id, password_hash });
    await rememberAddress(people, tx, request, { tenant_id, user_id, password_hash });
    await deleteUnusedLinks(tx, tenant_id, user_id);
    await deleteWebSessions(tx, tenant_id, { user_id, kept: token_hash });
    await appendEvents(tx, tenant_id, [event]);
    return password_hash;
  });
}
