import { createHmac } from "node:crypto";

export const voices = ["server", "signed", "snippet"] as const;

// Who reports what happens in a shop.
// server: its servers report log-ins, payments and changes, and its pages send what they see.
// signed: its pages report everything, with a token in which the shop's server vouches for the user who is logged in.
// snippet: its pages report everything, and nobody vouches for them.
export type Voice = { kind: "server" } | { kind: "signed"; secret: string } | { kind: "snippet" };

export function hasServers(voice: Voice | undefined): boolean {
  return voice === undefined || voice.kind === "server";
}

const tokenLifetimeMs = 60 * 60 * 1000;

// The token that the shop's server puts into a page.
export function identityToken(secret: string, accountId: string, nowMs: number): string {
  const expiry = String(Math.floor((nowMs + tokenLifetimeMs) / 1000));
  return `v1.${expiry}.${createHmac("sha256", secret).update(`casehound-identity:v1:${expiry}:${accountId}`).digest("base64url")}`;
}
