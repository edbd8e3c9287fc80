import type { IncomingMessage } from "node:http";
import { Type } from "typebox";
import { appendEvents } from "../../db/events.ts";
import { claimPasskeyUse, deletePasskey, findKeyHolder, insertPasskey, listPasskeys, type KeyHolder } from "../../db/passkeys.ts";
import { saveHasSecondFactor } from "../../db/second-factors.ts";
import { requiresSecondFactor } from "../../db/tenants.ts";
import { lockCheckedUser } from "../../db/users.ts";
import { Failure } from "../../domain/failure.ts";
import { PersonName } from "../../domain/user.ts";
import { isCanonicalUuid } from "../../domain/uuid.ts";
import { unauthorized } from "../http/identity.ts";
import type { Reply } from "../http/problem.ts";
import { invalid } from "../http/validate.ts";
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
import { addFactor, change, lockUserOf, ok, ownEvent } from "./second-factors.ts";
import {
  NewCredential,
  UsedCredential,
  readAssertion,
  readRegistration,
  registrationOptions,
  signInOptions,
  siteOfPasskeys,
  type Site,
} from "./webauthn.ts";
import { noSession, type OpenSession } from "./web-sessions.ts";

const passkeysMax = 10;
const signInPurpose = "sign-in";

const Begin = Type.Object({ password: TypedPassword }, { additionalProperties: false });
const Add = Type.Object({ name: PersonName, credential: NewCredential }, { additionalProperties: false });
const Use = Type.Object({ credential: UsedCredential }, { additionalProperties: false });
const Remove = Type.Object(
  { password: TypedPassword, passkey_id: Type.String({ maxLength: 36 }) },
  { additionalProperties: false },
);

function requireSite({ publicUrl }: People): Site {
  const site = siteOfPasskeys(publicUrl);
  if (!site) throw new Failure("item-not-found", "Passkeys need a PUBLIC_URL with https and a domain name.");
  return site;
}

function purposeOf({ user_id }: OpenSession): string {
  return `add ${user_id}`;
}

// A browser stores it with the passkey and returns it with every use. It names the person without personal data.
function handleOf({ tenant_id, user_id }: { tenant_id: string; user_id: string }): Buffer {
  return Buffer.from(`${tenant_id}${user_id}`.replaceAll("-", ""), "hex");
}

function ownerOf(handle: string): { tenant_id: string; user_id: string } | null {
  const hex = Buffer.from(handle, "base64url").toString("hex");
  const ids = [hex.slice(0, 32), hex.slice(32)].map((each) =>
    each.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  );
  const [tenant_id = "", user_id = ""] = ids;
  return isCanonicalUuid(tenant_id) && isCanonicalUuid(user_id) ? { tenant_id, user_id } : null;
}

// What the browser needs to create a passkey.
export async function beginPasskey(people: People, asked: Asked): Promise<Reply> {
  const session = await people.sessions.require(asked.request);
  const site = requireSite(people);
  const { password } = await readInput(asked, Begin);
  await requireOwnPassword(people, session, password);
  const known = await listPasskeys(people.database, session.tenant_id, session.user_id);
  if (known.length >= passkeysMax) throw new Failure("access-denied", `A person can have at most ${passkeysMax} passkeys.`);
  const { challenge, cookie } = people.challenges.issue(purposeOf(session), people.now());
  const owner = { ...session, handle: handleOf(session), known: known.map(({ credential_id }) => credential_id) };
  return { ...ok(registrationOptions(site, challenge, owner)), cookies: [cookie] };
}

// The challenge in the cookie says that the person has just entered the password. If this is the first second factor, all other
// sessions end, and the response contains recovery codes.
export async function addPasskey(people: People, asked: Asked): Promise<Reply> {
  const session = await people.sessions.require(asked.request);
  const site = requireSite(people);
  const { name, credential } = await readInput(asked, Add);
  const { tenant_id, user_id } = session;
  const challenge = people.challenges.read(asked.request, purposeOf(session), people.now());
  if (!challenge) throw new Failure("item-not-found", "The set-up took too long. Start again with your password.");
  const registered = readRegistration(site, challenge, credential);
  if (!registered) throw invalid([{ field: "credential", message: "is not a valid answer to the challenge" }]);
  const codes = await people.database.transaction(async (tx) => {
    if (!(await lockUserOf(tx, session))) throw noSession();
    const now = people.now();
    if ((await listPasskeys(tx, tenant_id, user_id)).length >= passkeysMax)
      throw new Failure("access-denied", `A person can have at most ${passkeysMax} passkeys.`);
    const made = { user_id, passkey_id: people.newId(now), ...registered, challenge_ms: challenge.expiresAtMs, name, now };
    if (!(await insertPasskey(tx, tenant_id, made))) throw new Failure("item-already-exists", "This passkey was added before.");
    return addFactor(tx, session, { kind: "passkey", name }, now);
  });
  people.audit("second factor added", { tenant: session.slug, user_id, kind: "passkey" });
  return { ...ok({ recovery_codes: codes }), cookies: [people.challenges.clear()] };
}

export function beginPasskeySignIn(people: People, { request }: Asked): Reply {
  people.sessions.requireOwnOrigin(request);
  const { challenge, cookie } = people.challenges.issue(signInPurpose, people.now());
  return { ...ok(signInOptions(requireSite(people), challenge)), cookies: [cookie] };
}

// A passkey replaces the password and the code: the authenticator has verified the person, by fingerprint, face or PIN.
export async function signInWithPasskey(people: People, asked: Asked): Promise<Reply> {
  const { sessions, devices, challenges, audit } = people;
  const { request } = asked;
  sessions.requireOwnOrigin(request);
  const site = requireSite(people);
  const { credential } = await readInput(asked, Use);
  const found = await findVerified(people, request, credential, site);
  const opened = found && (await openWithPasskey(people, request, found));
  const address = addressOf(people, request);
  if (!found || !opened) {
    audit("sign-in failed", { how: "passkey", address });
    throw unauthorized("This passkey is unknown or was removed. Sign in another way.", false);
  }
  const { holder } = found;
  await sessions.drop(request);
  audit("signed in", { tenant: holder.slug, user_id: holder.user_id, how: "passkey", address });
  const cookies = [opened.cookie, devices.remember(request, holder), challenges.clear()];
  return signedIn(people, opened, cookies);
}

type Verified = { holder: KeyHolder; newCounter: number; challengeMs: number };

async function findVerified(
  people: People,
  request: IncomingMessage,
  credential: UsedCredential,
  site: Site,
): Promise<Verified | null> {
  const challenge = people.challenges.read(request, signInPurpose, people.now());
  const owner = ownerOf(credential.user_handle);
  if (!challenge || !owner) return null;
  const wanted = { user_id: owner.user_id, credential_id: Buffer.from(credential.id, "base64url") };
  const holder = await findKeyHolder(people.database, owner.tenant_id, wanted);
  const newCounter = holder ? readAssertion(site, challenge, credential, holder) : null;
  return holder && newCounter !== null ? { holder, newCounter, challengeMs: challenge.expiresAtMs } : null;
}

async function openWithPasskey(people: People, request: IncomingMessage, { holder, newCounter, challengeMs }: Verified) {
  const { tenant_id, passkey_id, counter } = holder;
  return people.database.transaction(async (tx) => {
    if (!(await lockCheckedUser(tx, tenant_id, holder))) return null;
    const use = { passkey_id, counter, newCounter, challenge_ms: challengeMs, now: people.now() };
    if (!(await claimPasskeyUse(tx, tenant_id, use))) return null;
    await rememberAddress(people, tx, request, holder);
    return people.sessions.open(tx, holder, { hasSecondFactor: true });
  });
}

export async function removePasskey(people: People, asked: Asked): Promise<Reply> {
  const session = await people.sessions.require(asked.request);
  const { password, passkey_id } = await readInput(asked, Remove);
  const checked = await requireOwnPassword(people, session, password);
  const { tenant_id, user_id } = session;
  await change(people, session, checked, async (tx, now) => {
    const name = isCanonicalUuid(passkey_id) ? await deletePasskey(tx, tenant_id, { user_id, passkey_id }) : undefined;
    if (name === undefined) throw new Failure("item-not-found", "You have no such passkey.");
    const hasAnother = await saveHasSecondFactor(tx, tenant_id, user_id);
    if (!hasAnother && (await requiresSecondFactor(tx, tenant_id)))
      throw new Failure("access-denied", "Your tenant requires a second factor. Add another one first.");
    await appendEvents(tx, tenant_id, [ownEvent("user.second_factor_removed", session, now, { kind: "passkey", name })]);
  });
  people.audit("second factor removed", { tenant: session.slug, user_id, kind: "passkey" });
  return done([]);
}
