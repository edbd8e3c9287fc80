import { ProblemError } from "@casehound/client";
import { ask, type Session } from "../session/session.ts";

// Recent browsers support this. In older ones, people sign in with a password.
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && typeof PublicKeyCredential.parseRequestOptionsFromJSON === "function";
}

// Asks the browser for a passkey, and signs in with it. Returns null if the person closed the browser's dialog.
export async function signInWithPasskey(): Promise<Session | null> {
  const options = await ask<PublicKeyCredentialRequestOptionsJSON>("/auth/passkey/challenge", { method: "POST" });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const found = await unlessDismissed(navigator.credentials.get({ publicKey }));
  if (!(found instanceof PublicKeyCredential) || !(found.response instanceof AuthenticatorAssertionResponse)) return null;
  const { clientDataJSON, authenticatorData, signature, userHandle } = found.response;
  const credential = {
    id: found.id,
    client_data: base64url(clientDataJSON),
    authenticator_data: base64url(authenticatorData),
    signature: base64url(signature),
    user_handle: base64url(userHandle ?? new ArrayBuffer(0)),
  };
  return ask<Session>("/auth/passkey", { method: "POST", body: { credential } });
}

// Creates a passkey in this browser or on a security key. Returns the recovery codes if this was the first second factor, and null
// if the person closed the browser's dialog.
export async function addPasskey(
  given: { name: string; password: string },
  csrfToken: string,
): Promise<{ codes: string[] } | null> {
  const body = { password: given.password };
  const options = await ask<PublicKeyCredentialCreationOptionsJSON>("/auth/passkeys/begin", { method: "POST", body, csrfToken });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await unlessDismissed(navigator.credentials.create({ publicKey }));
  if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse)) return null;
  const { response } = made;
  const publicKeyBytes = response.getPublicKey();
  if (!publicKeyBytes) throw refusal("Your browser does not support the kind of key that this device creates.");
  const credential = {
    id: made.id,
    client_data: base64url(response.clientDataJSON),
    authenticator_data: base64url(response.getAuthenticatorData()),
    public_key: base64url(publicKeyBytes),
  };
  const added = await ask<{ recovery_codes: string[] }>("/auth/passkeys", {
    method: "POST",
    body: { name: given.name, credential },
    csrfToken,
  });
  return { codes: added.recovery_codes };
}

export async function removePasskey(given: { passkey_id: string; password: string }, csrfToken: string): Promise<void> {
  await ask("/auth/passkeys/remove", { method: "POST", body: given, csrfToken });
}

async function unlessDismissed(dialog: Promise<Credential | null>): Promise<Credential | null> {
  try {
    return await dialog;
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotAllowedError") return null;
    if (error instanceof DOMException && error.name === "InvalidStateError")
      throw refusal("This device already has a passkey for your account.");
    throw error;
  }
}

function refusal(detail: string): ProblemError {
  return new ProblemError({ type: "bad-request", title: "Bad request", status: 400, detail, errors: null });
}

function base64url(bytes: ArrayBuffer): string {
  const text = Array.from(new Uint8Array(bytes), (byte) => String.fromCodePoint(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
