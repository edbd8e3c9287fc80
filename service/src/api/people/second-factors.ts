import type { IncomingMessage } from "node:http";
import { Type } from "typebox";
import { encode } from "uqr";
import type { Queryable } from "../../db/postgres/database.ts";
import { appendEvents } from "../../db/events.ts";
import {
  claimRecoveryCode,
  claimTotpStep,
  confirmTotp,
  countRecoveryCodes,
  deleteTotp,
  findPendingPerson,
  findTotp,
  insertRecoveryCodes,
  saveHasSecondFactor,
  savePendingTotp,
  type PendingPerson,
} from "../../db/second-factors.ts";
import { listPasskeys } from "../../db/passkeys.ts";
import { requiresSecondFactor } from "../../db/tenants.ts";
import { lockCheckedUser, lockUser } from "../../db/users.ts";
import { deleteWebSessions, lockWebSession, saveSessionFactor } from "../../db/web-sessions.ts";
import type { DomainEvent, EventType } from "../../domain/event.ts";
import { Failure } from "../../domain/failure.ts";
import { actorOf } from "../../domain/user.ts";
import { unauthorized } from "../http/identity.ts";
import type { Reply } from "../http/problem.ts";
import { invalid } from "../http/validate.ts";
import { jsonMediaType } from "../operation.ts";
import { limitOwnAttempts, type Subject } from "./attempts.ts";
import {
  TypedPassword,
  addressOf,
  done,
  readInput,
  rememberAddress,
  requireOwnPassword,
  signedIn,
  type Asked,
  type People,
} from "./people.ts";
import { newRecoveryCodes, recoveryCodeHash } from "./recovery-codes.ts";
import { base32, findTotpStep, newTotpSecret, totpUri } from "./totp.ts";
import { siteOfPasskeys } from "./webauthn.ts";
import { noSession, type OpenSession } from "./web-sessions.ts";

const pendingMaxMs = 15 * 60 * 1000;

const Code = Type.Object({ code: Type.String({ minLength: 1, maxLength: 40 }) }, { additionalProperties: false });
const OwnPassword = Type.Object({ password: TypedPassword }, { additionalProperties: false });

type Factor = { kind: "totp" | "passkey"; name?: string };
type Owner = { tenant_id: string; user_id: string; name: string; email: string };

export function ok(body: unknown): Reply {
  return { status: 200, body: JSON.stringify(body), headers: { "content-type": jsonMediaType } };
}

export function ownEvent(type: EventType, owner: Owner, now: string, data: Record<string, unknown>): DomainEvent {
  return { type, occurred_at: now, actor: actorOf(owner), resource: { type: "user", id: owner.user_id }, data };
}

// The second step of signing in. The ticket in the cookie says that the password was right.
export async function giveSecondFactor(people: People, asked: Asked): Promise<Reply> {
  const { request } = asked;
  people.sessions.requireOwnOrigin(request);
  const { code } = await readInput(asked, Code);
  const person = await requireTicket(people, request);
  const device = people.devices.find(request, [person]);
  const subjects: Subject[] = device
    ? [
        { kind: "deviceCode", text: `${device.id} ${person.user_id}` },
        { kind: "deviceCodes", text: person.user_id },
      ]
    : [{ kind: "code", text: person.user_id }];
  const opened = await limitOwnAttempts(people, subjects, () => openWithCode(people, request, person, code));
  const about = { tenant: person.slug, user_id: person.user_id, address: addressOf(people, request) };
  if (!opened) {
    people.audit("second factor refused", about);
    throw unauthorized("The code is wrong, has expired, or was used before.", false);
  }
  await people.sessions.drop(request);
  people.audit("signed in", { ...about, how: `password and ${opened.kind}` });
  const cookies = [opened.session.cookie, people.devices.remember(request, person), people.tickets.clear()];
  return signedIn(people, opened.session, cookies);
}

type WithPassword = PendingPerson & { password_hash: string };

async function requireTicket({ tickets, database, now }: People, request: IncomingMessage): Promise<WithPassword> {
  const ticket = tickets.read(request, now());
  const person = ticket && (await findPendingPerson(database, ticket.tenantId, ticket.userId));
  const password_hash = person?.password_hash ?? null;
  if (!ticket || !person || password_hash === null || !tickets.isFor(ticket, person))
    throw unauthorized("The sign-in took too long. Enter your password again.", false);
  return { ...person, password_hash };
}

// Returns null if the code is wrong. The user is locked, so parallel requests cannot use one code twice.
async function openWithCode(people: People, request: IncomingMessage, person: WithPassword, code: string) {
  return people.database.transaction(async (tx) => {
    if (!(await lockCheckedUser(tx, person.tenant_id, person))) return null;
    const kind = await claimCode(tx, person, code, people.now());
    if (!kind) return null;
    await rememberAddress(people, tx, request, person);
    return { kind, session: await people.sessions.open(tx, person, { hasSecondFactor: true }) };
  });
}

async function claimCode(tx: Queryable, person: Owner, code: string, now: string): Promise<"totp" | "recovery code" | null> {
  const { tenant_id, user_id } = person;
  const totp = await findTotp(tx, tenant_id, user_id);
  const digits = code.replaceAll(/\s/g, "");
  const step = totp?.secret && findTotpStep(digits, totp.secret, { atMs: Date.parse(now), lastStep: totp.last_step });
  if (typeof step === "number") return (await claimTotpStep(tx, tenant_id, { user_id, step })) ? "totp" : null;
  const code_hash = recoveryCodeHash(code, person);
  if (!code_hash || !(await claimRecoveryCode(tx, tenant_id, { user_id, code_hash }))) return null;
  const left = await countRecoveryCodes(tx, tenant_id, user_id);
  await appendEvents(tx, tenant_id, [ownEvent("user.recovery_code_used", person, now, { left })]);
  return "recovery code";
}

export async function readSecondFactors({ sessions, database, publicUrl }: People, { request }: Asked): Promise<Reply> {
  const { tenant_id, user_id } = await sessions.require(request);
  const addedAt = (await findTotp(database, tenant_id, user_id))?.confirmed_at ?? null;
  return ok({
    totp: addedAt === null ? null : { added_at: addedAt },
    passkeys: (await listPasskeys(database, tenant_id, user_id)).map(({ credential_id: _id, ...shown }) => shown),
    can_add_passkeys: siteOfPasskeys(publicUrl) !== null,
    recovery_codes_left: await countRecoveryCodes(database, tenant_id, user_id),
    is_required: await requiresSecondFactor(database, tenant_id),
  });
}

// Returns a secret for an authenticator app, as text and as a QR code. It counts once a code has confirmed it.
export async function beginTotp(people: People, asked: Asked): Promise<Reply> {
  const session = await people.sessions.require(asked.request);
  const { password } = await readInput(asked, OwnPassword);
  const checked = await requireOwnPassword(people, session, password);
  const secret = newTotpSecret();
  await change(people, session, checked, (tx, now) =>
    savePendingTotp(tx, session.tenant_id, { user_id: session.user_id, secret, now }),
  );
  const uri = totpUri(secret, session);
  const { size, data } = encode(uri, { ecc: "M", border: 0 });
  const rows = data.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join(""));
  return ok({ secret: base32(secret), uri, qr: { size, rows } });
}

// Runs a change that the person has confirmed with the password. Fails if the password, the person or the session is no longer valid.
export async function change<T>(
  { database, now }: People,
  session: OpenSession,
  checked: string,
  run: (tx: Queryable, now: string) => Promise<T>,
): Promise<T> {
  const { tenant_id, user_id, token_hash } = session;
  return database.transaction(async (tx) => {
    const isSame = await lockCheckedUser(tx, tenant_id, { user_id, password_hash: checked });
    if (!isSame || !(await lockWebSession(tx, tenant_id, token_hash))) throw noSession();
    return run(tx, now());
  });
}

// The first right code activates the secret.
export async function confirmTotpCode(people: People, asked: Asked): Promise<Reply> {
  const { sessions, database, now, audit } = people;
  const session = await sessions.require(asked.request);
  const { code } = await readInput(asked, Code);
  const { tenant_id, user_id } = session;
  const confirm = async (tx: Queryable): Promise<string[] | null> => {
    if (!(await lockUserOf(tx, session))) throw noSession();
    const at = now();
    const totp = await findTotp(tx, tenant_id, user_id);
    const isPending = totp?.pending_since && Date.parse(at) - Date.parse(totp.pending_since) < pendingMaxMs;
    if (!isPending || !totp.pending_secret)
      throw new Failure("item-not-found", "The set-up took too long. Start again with your password.");
    const digits = code.replaceAll(/\s/g, "");
    const step = findTotpStep(digits, totp.pending_secret, { atMs: Date.parse(at), lastStep: 0 });
    if (step === null) return null;
    await confirmTotp(tx, tenant_id, { user_id, step, now: at });
    return addFactor(tx, session, { kind: "totp" }, at);
  };
  const subject = { kind: "signedIn" as const, text: `totp ${user_id}` };
  const codes = await limitOwnAttempts(people, [subject], () => database.transaction(confirm));
  if (!codes) throw invalid([{ field: "code", message: "is not the code that the app shows now" }]);
  audit("second factor added", { tenant: session.slug, user_id, kind: "totp" });
  return ok({ recovery_codes: codes });
}

export async function lockUserOf(tx: Queryable, { tenant_id, user_id, token_hash }: OpenSession): Promise<boolean> {
  const user = await lockUser(tx, tenant_id, user_id);
  return user?.is_disabled === false && lockWebSession(tx, tenant_id, token_hash);
}

// Runs after a factor was stored, in the same transaction. All other sessions end, because they were opened without it. Returns
// recovery codes if the person has none left, and an empty list otherwise.
export async function addFactor(tx: Queryable, session: OpenSession, data: Factor, now: string): Promise<string[]> {
  const { tenant_id, user_id, token_hash } = session;
  const isFirst = (await countRecoveryCodes(tx, tenant_id, user_id)) === 0;
  await saveHasSecondFactor(tx, tenant_id, user_id);
  await saveSessionFactor(tx, tenant_id, token_hash);
  await deleteWebSessions(tx, tenant_id, { user_id, kept: token_hash });
  await appendEvents(tx, tenant_id, [ownEvent("user.second_factor_added", session, now, data)]);
  return isFirst ? makeRecoveryCodes(tx, session) : [];
}

async function makeRecoveryCodes(tx: Queryable, owner: Owner): Promise<string[]> {
  const codes = newRecoveryCodes();
  const hashes = codes.flatMap((code) => recoveryCodeHash(code, owner) ?? []);
  await insertRecoveryCodes(tx, owner.tenant_id, { user_id: owner.user_id, hashes });
  return codes;
}

export async function renewRecoveryCodes(people: People, asked: Asked): Promise<Reply> {
  const session = await people.sessions.require(asked.request);
  const { password } = await readInput(asked, OwnPassword);
  const checked = await requireOwnPassword(people, session, password);
  const codes = await change(people, session, checked, async (tx, now) => {
    if (!(await saveHasSecondFactor(tx, session.tenant_id, session.user_id)))
      throw new Failure("item-not-found", "You have no second factor, so you cannot create recovery codes.");
    await appendEvents(tx, session.tenant_id, [ownEvent("user.recovery_codes_made", session, now, {})]);
    return makeRecoveryCodes(tx, session);
  });
  people.audit("recovery codes made", { tenant: session.slug, user_id: session.user_id });
  return ok({ recovery_codes: codes });
}

export async function removeTotp(people: People, asked: Asked): Promise<Reply> {
  const session = await people.sessions.require(asked.request);
  const { password } = await readInput(asked, OwnPassword);
  const checked = await requireOwnPassword(people, session, password);
  const { tenant_id, user_id } = session;
  await change(people, session, checked, async (tx, now) => {
    const totp = await findTotp(tx, tenant_id, user_id);
    await deleteTotp(tx, tenant_id, user_id);
    const hasAnother = await saveHasSecondFactor(tx, tenant_id, user_id);
    if (!hasAnother && (await requiresSecondFactor(tx, tenant_id)))
      throw new Failure("access-denied", "Your tenant requires a second factor. Replace the app, or add a passkey first.");
    if (totp?.secret) await appendEvents(tx, tenant_id, [ownEvent("user.second_factor_removed", session, now, { kind: "totp" })]);
  });
  people.audit("second factor removed", { tenant: session.slug, user_id, kind: "totp" });
  return done([]);
}
