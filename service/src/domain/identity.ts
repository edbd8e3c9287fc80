import { Type, type Static } from "typebox";
import { clockToleranceMs } from "./activity.ts";
import { Time, Uuid } from "./field.ts";
import { identitySetting } from "./tenant.ts";

// The name under which a page passes the token: as a user attribute (the tag) or as a global attribute (the Clickstream SDK,
// which sends user attributes only with _profile_set).
export const identityAttribute = "casehound_identity";

// A well-formed token. Its signature is not verified yet.
export type IdentityToken = { expiry: string; signature: string };

const tokenPattern = /^v1\.([1-9][0-9]{0,11})\.([A-Za-z0-9_-]{43})$/;
const tokenLifetimeMsMax = 24 * 60 * 60 * 1000;

// Null if the token is malformed, has expired, or expires too far ahead. The sender chooses an event's own time, so only the
// time of receipt counts.
export function readIdentityToken(text: unknown, receivedMs: number): IdentityToken | null {
  const [, expiry, signature] = (typeof text === "string" && tokenPattern.exec(text)) || [];
  if (expiry === undefined || signature === undefined) return null;
  const leftMs = Number(expiry) * 1000 - receivedMs;
  const isCurrent = leftMs > -clockToleranceMs && leftMs <= tokenLifetimeMsMax + clockToleranceMs;
  return isCurrent ? { expiry, signature } : null;
}

// The message that is signed. The expiry consists only of digits, so two different pairs of expiry and account never have the
// same message.
export function identityMessage(expiry: string, accountId: string): string {
  return `casehound-identity:v1:${expiry}:${accountId}`;
}

// What vouched for a browser event that named an account.
export type IdentitySource = "signed" | "tied" | "unvouched" | "bad-token";

// How many secrets may be valid at once, the current one included.
export const identitySecretsMax = 5;

const IdentitySecret = Type.Object(
  {
    secret_id: Uuid,
    created_at: Time,
    expires_at: Type.Optional(Type.String({ format: "date-time", description: "Absent if this is the current secret." })),
  },
  { additionalProperties: false, $id: "IdentitySecret" },
);
export type IdentitySecret = Static<typeof IdentitySecret>;

const IdentityDay = Type.Object(
  {
    day: Type.String({ format: "date", description: "UTC, YYYY-MM-DD" }),
    signed: Type.Integer({ description: "Events with a valid token for the account that they name." }),
    tied: Type.Integer({ description: "Events of a session that your server tied to the account." }),
    unvouched: Type.Integer({ description: "Events that neither a valid token nor your server vouches for." }),
    bad_token: Type.Integer({ description: "Events with a token that is expired, malformed, or not for the account." }),
  },
  { additionalProperties: false, $id: "IdentityDay" },
);
export type IdentityDay = Static<typeof IdentityDay>;

export const Identity = Type.Object(
  {
    identity_verification: identitySetting,
    secrets: Type.Array(IdentitySecret, { description: "The secrets that are valid now, newest first, without their text." }),
    days: Type.Array(IdentityDay, {
      description: "Browser events that named an account, for each of the last 7 days, oldest first. The last entry is today.",
    }),
    is_snippet_only: Type.Boolean({
      description:
        "Whether the tenant uses only the snippet: verification is off, and no server has reported activity of an account for 30 days. Then a page's events count for the account that they name, with a score of at most 3.",
    }),
  },
  { additionalProperties: false, $id: "Identity" },
);

export const NewIdentitySecret = Type.Object(
  {
    secret_id: Uuid,
    secret: Type.String({ description: "Shown only once. It signs identity tokens, so keep it on your servers." }),
    identity_verification: identitySetting,
    previous_secret_expires_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "NewIdentitySecret" },
);
export type NewIdentitySecret = Static<typeof NewIdentitySecret>;
