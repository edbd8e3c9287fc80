import { hash, randomBytes } from "node:crypto";
import { isCanonicalUuid } from "../../domain/uuid.ts";

// The token of a session's cookie or of a link. It names its tenant, so only that tenant's data is searched, and it contains a
// secret. Only a hash is stored. A fast hash is enough, because nobody can guess 256 bits.
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

// What a page must send in addition to the cookie. It is derived from the cookie, which no page can read, and does not reveal it.
export function csrfOf(text: string): string {
  return hash("sha256", `csrf ${text}`, "base64url");
}
