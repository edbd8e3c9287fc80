import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { Type, type Static, type TSchema } from "typebox";
import type { Database } from "../../db/postgres/database.ts";
import { appendEvents, findLastEventIds } from "../../db/events.ts";
import { deleteUnusedLinks } from "../../db/user-links.ts";
import { findPasswordHash, findUsersByEmail, lockCheckedUser, savePassword, type Candidate } from "../../db/users.ts";
import { deleteWebSession, deleteWebSessions, lockWebSession } from "../../db/web-sessions.ts";
import { passwordFaults } from "../../domain/common-passwords.ts";
import { roleScopes } from "../../domain/role.ts";
import { slugCharacters } from "../../domain/tenant.ts";
import { Password, actorOf, normalEmail, passwordCharacters, type Person } from "../../domain/user.ts";
import { siteOf } from "../../domain/address.ts";
import { clientAddress } from "../http/address.ts";
import { limitAttempts, limitOwnAttempts, type Checked } from "./attempts.ts";
import { unauthorized } from "../http/identity.ts";
import { readBody, requireMediaType } from "../http/body.ts";
import type { Devices } from "./devices.ts";
import { parseJson } from "../http/json.ts";
import { jsonMediaType, type Audit } from "../operation.ts";
import { findMatches, hashPassword, isPassword, type Asker } from "./password.ts";
import { problemMediaType, problemMembers, type Reply } from "../http/problem.ts";
import { noSession, type OpenSession, type OpenedSession, type Sessions } from "./web-sessions.ts";
import { invalid, validate } from "../http/validate.ts";

// What signing in with a browser needs. People have cookie sessions instead of tokens, and their role decides on every request
// what they may do.
export type People = {
  database: Database;
  sessions: Sessions;
  devices: Devices;
  publicUrl: string;
  trustedProxies: BlockList;
  audit: Audit;
  now: () => string;
  newId: (at?: string) => string;
};

export type Asked = { request: IncomingMessage; onBody: () => void };

const bodyBytesMax = 16 * 1024;
const tenantsMax = 10;

const TypedPassword = Type.String({ minLength: 1, maxLength: passwordCharacters.max });

const SignIn = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: TypedPassword,
    tenant: Type.Optional(Type.String({ minLength: 1, maxLength: slugCharacters.max })),
  },
  { additionalProperties: false },
);

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
  person: Person,
  opened: Pick<OpenedSession, "csrf_token" | "expires_at">,
  cookies: string[] = [],
): Promise<Reply> {
  const body = {
    user: { user_id: person.user_id, email: person.email, name: person.name, role: person.role },
    tenant: { tenant_id: person.tenant_id, slug: person.slug },
    scopes: roleScopes[person.role],
    csrf_token: opened.csrf_token,
    expires_at: opened.expires_at,
    last_event_id: (await findLastEventIds(database, [person.tenant_id])).get(person.tenant_id) ?? 0,
  };
  return {
    status: 200,
    body: JSON.stringify(body),
    headers: { "content-type": jsonMediaType },
    cookies,
  };
}

function done(cookies: string[]): Reply {
  return { status: 204, body: "", headers: {}, cookies };
}

export async function signIn(people: People, asked: Asked): Promise<Reply> {
  const { sessions, devices, database, audit } = people;
  const { request } = asked;
  sessions.requireOwnOrigin(request);
  const { email, password, tenant } = await readInput(asked, SignIn);
  const typed = { email: normalEmail(email), slug: tenant ?? null };
  const candidates = await findUsersByEmail(database, { ...typed, limit: tenantsMax });
  const slugs = tenant === undefined ? candidates.map(({ slug }) => slug) : [tenant];
  const device = devices.find(request, candidates);
  const [person, ...others] = await limitAttempts(people, request, { email: typed.email, slugs, device }, (open) =>
    checkPassword(
      password,
      candidates.filter(({ slug }) => open.has(slug)),
      device ? { kind: "known", name: device.id } : { kind: "stranger", name: siteOf(addressOf(people, request) ?? "unknown") },
    ),
  );
  const address = addressOf(people, request);
  const refuse = () => {
    audit("sign-in failed", { address });
    return unauthorized("The e-mail or the password is wrong.", false);
  };
  if (!person) throw refuse();
  if (others.length > 0) return whichTenant([person, ...others].map(({ slug }) => slug));
  // The check took a while, so the password may have changed since.
  const opened = await database.transaction(async (tx) =>
    (await lockCheckedUser(tx, person.tenant_id, person)) ? sessions.open(tx, person) : null,
  );
  if (!opened) throw refuse();
  await sessions.drop(request);
  audit("signed in", { tenant: person.slug, user_id: person.user_id, how: "password", address });
  return signedIn(people, person, opened, [opened.cookie, devices.remember(request, person)]);
}

// Always hashes once, so timing reveals neither unknown e-mail addresses nor people who are disabled or have no password yet, nor
// how many tenants know the e-mail. Passwords that an earlier release stored may have several salts, and take a hash for each.
async function checkPassword(password: string, candidates: Candidate[], asker: Asker): Promise<Checked<Candidate>> {
  const open = candidates.filter(({ is_disabled }) => !is_disabled).flatMap((each) => withHash(each));
  const matches = await findMatches(
    password,
    open.map(({ password_hash }) => password_hash),
    asker,
  );
  const { fitting = [], missed = [] } = Object.groupBy(open, (each) => (matches.has(each.password_hash) ? "fitting" : "missed"));
  return { fitting, missed };
}

function withHash<T extends { password_hash: string | null }>(user: T): (T & { password_hash: string })[] {
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

// The password was right, so its owner may learn where the e-mail is known.
function whichTenant(tenants: string[]): Reply {
  const fault = invalid([{ field: "tenant", message: `must be one of ${tenants.join(", ")}` }]);
  const body = JSON.stringify({ ...problemMembers(fault), tenants });
  return { status: 422, body, headers: { "content-type": problemMediaType }, fault };
}

export async function readSession(people: People, { request }: Asked): Promise<Reply> {
  const session = await people.sessions.require(request);
  return signedIn(people, session, session);
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

// Ends the person's other sessions, and links that would set another password.
export async function changePassword(people: People, asked: Asked): Promise<Reply> {
  const { sessions, devices, database, audit } = people;
  const session = await sessions.require(asked.request);
  const { tenant_id, user_id } = session;
  const { current, new: fresh } = await readInput(asked, PasswordChange);
  const faults = passwordFaults("new", fresh, { ...session, tenant: session.slug });
  if (faults.length > 0) throw invalid(faults);
  const checked = await findPasswordHash(database, tenant_id, user_id);
  const isRight = await limitOwnAttempts(people, user_id, () => isPassword(current, checked, { kind: "known", name: user_id }));
  const password_hash = isRight ? await savePasswordChange(people, session, { checked, fresh }) : null;
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
    const isSame = await lockCheckedUser(tx, tenant_id, { user_id, password_hash: checked });
    if (!(await lockWebSession(tx, tenant_id, token_hash))) throw noSession();
    if (!isSame) return null;
    await savePassword(tx, tenant_id, { user_id, password_hash });
    await deleteUnusedLinks(tx, tenant_id, user_id);
    await deleteWebSessions(tx, tenant_id, { user_id, kept: token_hash });
    await appendEvents(tx, tenant_id, [event]);
    return password_hash;
  });
}
