// Signs which account is signed in to a page. Use it only on a server: anyone who has the secret can vouch for every account.
export type IdentityOptions = { secret: string; expiresInSeconds?: number };

const encoder = new TextEncoder();
const expiresInSecondsMax = 24 * 60 * 60;

export async function signIdentity(accountId: string, { secret, expiresInSeconds = 60 * 60 }: IdentityOptions): Promise<string> {
  if (typeof accountId !== "string" || accountId === "") throw new TypeError("the account id must be a non-empty string");
  if (typeof secret !== "string" || secret === "") throw new TypeError("the identity secret is missing");
  if (!(expiresInSeconds > 0 && expiresInSeconds <= expiresInSecondsMax))
    throw new RangeError(`expiresInSeconds must be more than 0 and at most ${expiresInSecondsMax}`);
  const expiry = Math.floor(Date.now() / 1000 + expiresInSeconds);
  const message = encoder.encode(`casehound-identity:v1:${expiry}:${accountId}`);
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
  const base64 = btoa(String.fromCharCode(...signature));
  return `v1.${expiry}.${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}
