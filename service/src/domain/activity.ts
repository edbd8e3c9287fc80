import { Type, type Static } from "typebox";
import { AccountId } from "./account.ts";
import { Time } from "./field.ts";

export const activityTypes = [
  "login_succeeded",
  "login_failed",
  "signup",
  "password_changed",
  "email_changed",
  "mfa_changed",
  "payee_added",
  "payment",
  "transfer",
  "page_view",
  "logout",
  "fraud_report",
] as const;

const ActivityType = Type.String({
  pattern: `^(${activityTypes.join("|")}|custom:[A-Za-z0-9_.-]{1,64})$`,
  description: `${activityTypes.join(", ")}, or custom:<name>`,
});

const AttributeValue = Type.Union([
  Type.String({ maxLength: 1024 }),
  Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  Type.Boolean(),
]);

export const Activity = Type.Object(
  {
    activity_id: Type.String({ minLength: 1, maxLength: 64, description: "Unique in the tenant: a resend is harmless." }),
    type: ActivityType,
    occurred_at: Time,
    website_account_id: Type.Optional(AccountId),
    session_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    device_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ip: Type.Optional(Type.String({ minLength: 2, maxLength: 45, format: "ip" })),
    user_agent: Type.Optional(Type.String({ maxLength: 1024 })),
    attributes: Type.Optional(
      Type.Unsafe<Record<string, string | number | boolean>>({
        type: "object",
        additionalProperties: AttributeValue,
        propertyNames: { type: "string", minLength: 1, maxLength: 128 },
        maxProperties: 64,
        description:
          "Flat: strings, numbers and booleans. Of a fraud_report, `label` is what was reported (Account Takeover, Bot, Synthetic or Organic, which is also taken where it is none of these) and `note` is shown to the investigator; it stays in the case when the account is erased.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Activity" },
);
export type Activity = Static<typeof Activity>;

export const ActivityBatch = Type.Object(
  { activities: Type.Array(Activity, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false, $id: "ActivityBatch" },
);
export type ActivityBatch = Static<typeof ActivityBatch>;

export const sessionIdleMs = 30 * 60 * 1000;

// Whom a case from this activity is about. At most one case per subject is OPEN.
export function subjectOf(activity: Activity): string {
  if (activity.website_account_id !== undefined) return accountSubject(activity.website_account_id);
  if (activity.device_id !== undefined) return `device:${activity.device_id}`;
  if (activity.session_id !== undefined) return `session:${activity.session_id}`;
  return `activity:${activity.activity_id}`;
}

export function accountSubject(websiteAccountId: string): string {
  return `account:${websiteAccountId}`;
}
