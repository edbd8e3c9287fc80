import { hash, randomBytes } from "node:crypto";
import { isCanonicalUuid } from "../../domain/uuid.ts";

// The token of a session's cookie or of a link: which tenant it is of, so that one tenant alone is asked, and a secret. Only
// a hash is kept; it may be a fast one, for nobody guesses 256 bits.
export type WebToken = { tenantId: string; hash: Buffer };

export function newWebToken(tenantId: string): WebToken & { text: string } {
  const text = `${tenantId}.${randomBytes(32).toString("base64url")}`;
  return { text, tenantId, hash: hash("sha256", text, "buffer") };
}

export function parseWebToken(text: string): WebToken | null {
  const [tenantId = "", secret = "", more] = text.split(".");
  const isToken = isCanonicalUuid(tenantId) && /^[A-Za-z0-9_-]{43}$/.test(secret) && more === undefined;
  return isToken ? { tenantId, hash: hash("sha256", text, "buffer") } : null;
}

// What a page must send beside the cookie. It follows from the cookie, which no page can read, and does not lead back to it.
export function csrfOf(text: string): string {
  return hash("sha256", `csrf ${text}`, "base64url");
}
