import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IdentityVerdict } from "../../domain/activity.ts";
import { identityMessage, readIdentityToken } from "../../domain/identity.ts";

// A page's request has events of one or two users. A request with far more tokens is an attack, and each token costs 8 µs of
// hashing per secret.
const verifiedMax = 100;

export function newIdentitySecret(): string {
  return `idsec_${randomBytes(32).toString("base64url")}`;
}

export function signIdentity(secret: string, { accountId, expiry }: { accountId: string; expiry: string }): string {
  return createHmac("sha256", secret).update(identityMessage(expiry, accountId)).digest("base64url");
}

// Verifies the tokens of one request. Each pair of token and account is hashed once.
export function identityCheck(
  secrets: readonly string[],
  receivedAt: string,
): (token: unknown, accountId: string) => IdentityVerdict {
  const receivedMs = Date.parse(receivedAt);
  const verdicts = new Map<string, IdentityVerdict>();
  return (text, accountId) => {
    const token = readIdentityToken(text, receivedMs);
    if (token === null) return "bad-token";
    const { expiry, signature } = token;
    const pair = `${expiry}.${signature}.${accountId}`;
    const known = verdicts.get(pair);
    if (known !== undefined) return known;
    if (verdicts.size >= verifiedMax) return "bad-token";
    const isSigned = secrets.some((secret) => isEqual(signature, signIdentity(secret, { accountId, expiry })));
    verdicts.set(pair, isSigned ? "signed" : "bad-token");
    return isSigned ? "signed" : "bad-token";
  };
}

function isEqual(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
