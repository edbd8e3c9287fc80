import { createPublicKey, hash, verify, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import { Type, type Static } from "typebox";
import type { Challenge } from "./challenges.ts";

// The server's part of WebAuthn, without attestation: who made an authenticator does not matter here.

// What the console sends, in base64url.
const bytes = (max: number) => Type.String({ minLength: 1, maxLength: max, pattern: "^[A-Za-z0-9_-]+$" });
const answer = { id: bytes(1400), client_data: bytes(4000), authenticator_data: bytes(4000) };
export const NewCredential = Type.Object({ ...answer, public_key: bytes(2000) }, { additionalProperties: false });
export const UsedCredential = Type.Object(
  { ...answer, signature: bytes(2000), user_handle: bytes(86) },
  { additionalProperties: false },
);
type NewCredential = Static<typeof NewCredential>;
export type UsedCredential = Static<typeof UsedCredential>;
type Answer = Pick<NewCredential, "client_data" | "authenticator_data">;

export type Site = { id: string; origin: string };

// Passkeys belong to a domain. Browsers offer none for addresses without a name, and none without https except on this machine.
export function siteOfPasskeys(publicUrl: string): Site | null {
  const { hostname, origin, protocol } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  const isNamed = isIP(hostname) === 0 && !hostname.startsWith("[");
  return isNamed && (protocol === "https:" || isLocal) ? { id: hostname, origin } : null;
}

const algorithms = { es256: -7, ed25519: -8, rs256: -257 };
const rsaBits = { min: 2048, max: 4096 };

type Owner = { email: string; name: string; slug: string; handle: Buffer; known: Buffer[] };

// PublicKeyCredentialCreationOptionsJSON. A discoverable credential that verifies the person replaces password and code.
export function registrationOptions(site: Site, challenge: Challenge, owner: Owner) {
  const user = { id: owner.handle.toString("base64url"), name: owner.email, displayName: owner.name };
  return {
    rp: { id: site.id, name: `Casehound (${owner.slug})` },
    user,
    challenge: challenge.text,
    pubKeyCredParams: Object.values(algorithms).map((alg) => ({ type: "public-key", alg })),
    excludeCredentials: owner.known.map((id) => ({ type: "public-key", id: id.toString("base64url") })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
  };
}

// PublicKeyCredentialRequestOptionsJSON. It names no credentials, so it reveals nothing about anybody.
export function signInOptions(site: Site, challenge: Challenge) {
  return { rpId: site.id, challenge: challenge.text, userVerification: "required" };
}

const flags = { isPresent: 0x01, isVerified: 0x04, hasCredential: 0x40 };
// The hash of the site's id, the flags, the counter.
const headBytes = 32 + 1 + 4;
const modelBytes = 16;

type Checked = { data: Buffer; counter: number };

// Returns null unless the answer is for this site, this challenge and this kind of request, and the authenticator has verified the
// person.
function checkAnswer(site: Site, challenge: Challenge, given: Answer, type: string): Checked | null {
  const client = parse(Buffer.from(given.client_data, "base64url").toString());
  const isOurs = client?.["type"] === type && client["challenge"] === challenge.text && client["origin"] === site.origin;
  const data = Buffer.from(given.authenticator_data, "base64url");
  if (!isOurs || client["crossOrigin"] === true || data.length < headBytes) return null;
  const wanted = flags.isPresent | flags.isVerified | (type === "webauthn.create" ? flags.hasCredential : 0);
  const isVerified = ((data[32] ?? 0) & wanted) === wanted;
  const isSite = data.subarray(0, 32).equals(hash("sha256", site.id, "buffer"));
  return isVerified && isSite ? { data, counter: data.readUInt32BE(33) } : null;
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    // An object can be read like a record.
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

export type Registered = { credential_id: Buffer; public_key: Buffer; counter: number };

// Returns null if the answer is not valid. The browser extracts the public key (`getPublicKey`). Its numbers must be those that the
// authenticator wrote.
export function readRegistration(site: Site, challenge: Challenge, given: NewCredential): Registered | null {
  const checked = checkAnswer(site, challenge, given, "webauthn.create");
  const public_key = Buffer.from(given.public_key, "base64url");
  const key = readKey(public_key);
  if (!checked || !key) return null;
  const { data, counter } = checked;
  const start = headBytes + modelBytes + 2;
  if (data.length < start) return null;
  const end = start + data.readUInt16BE(start - 2);
  const credential_id = data.subarray(start, end);
  const { x, y, n } = key.export({ format: "jwk" });
  const numbers = [x, y, n].flatMap((each) => (each === undefined ? [] : [Buffer.from(each, "base64url")]));
  const isWritten = numbers.every((each) => data.subarray(end).includes(each));
  const isSame = credential_id.length > 0 && credential_id.equals(Buffer.from(given.id, "base64url"));
  return isWritten && isSame ? { credential_id, public_key, counter } : null;
}

// Returns null if it is not a public key of one of the algorithms.
function readKey(der: Buffer): KeyObject | null {
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const { namedCurve, modulusLength = 0, publicExponent } = key.asymmetricKeyDetails ?? {};
    // With a large exponent, checking one signature would take as long as thousands of others.
    const isUsual = publicExponent === 65_537n && modulusLength >= rsaBits.min && modulusLength <= rsaBits.max;
    const isRsa = key.asymmetricKeyType === "rsa" && isUsual;
    return isRsa || namedCurve === "prime256v1" || key.asymmetricKeyType === "ed25519" ? key : null;
  } catch {
    return null;
  }
}

// Returns the authenticator's new counter, or null if the answer is not valid. A counter that does not rise means that the passkey
// was copied. Synchronized passkeys do not count, and always send 0.
export function readAssertion(site: Site, challenge: Challenge, given: UsedCredential, known: Registered): number | null {
  const checked = checkAnswer(site, challenge, given, "webauthn.get");
  const key = readKey(known.public_key);
  if (!checked || !key) return null;
  const { data, counter } = checked;
  if (counter <= known.counter && (counter > 0 || known.counter > 0)) return null;
  const signed = Buffer.concat([data, hash("sha256", Buffer.from(given.client_data, "base64url"), "buffer")]);
  const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  return verify(algorithm, signed, key, Buffer.from(given.signature, "base64url")) ? counter : null;
}
