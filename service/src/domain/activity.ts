import { Type, type Static } from "typebox";
import { AccountId } from "./account.ts";
import { hostOf } from "./address.ts";
import { Time } from "./field.ts";
import { countedRange } from "./metric.ts";

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

export const userAgentCharactersMax = 1024;

const AttributeValue = Type.Union([
  Type.String({ maxLength: 1024 }),
  Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  Type.Boolean(),
]);

const Instrument = Type.Object(
  {
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 32, description: "For example `card`, `iban` or `wallet`." })),
    bin: Type.Optional(Type.String({ pattern: "^[0-9]{6,8}$", description: "The first 6 to 8 digits of a card." })),
    last4: Type.Optional(Type.String({ pattern: "^[0-9]{4}$" })),
    fingerprint: Type.Optional(
      Type.String({
        maxLength: 128,
        // Rejects what looks like a card number, so that nobody stores one by mistake.
        pattern: "^(?![0-9 -]{12,23}$)[^\\r\\n]+$",
        description: "Your provider's stable id of the instrument. A card number is rejected.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Instrument", description: "What was paid with." },
);

const paymentStatuses = ["attempted", "approved", "declined"] as const;

// The members that describe a payment. Each may be absent.
export const paymentMembers = {
  amount: Type.Optional(
    Type.Number({
      minimum: -1e15,
      maximum: 1e15,
      description: "In units of `currency`, for example 12.5. It takes precedence over the attributes `amount` and `value`.",
    }),
  ),
  currency: Type.Optional(
    Type.String({
      pattern: "^[A-Z]{3}$",
      description: "ISO 4217, for example EUR. Amounts are compared only within one currency.",
    }),
  ),
  payee_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "Who receives the money: a shop, a terminal, a beneficiary." }),
  ),
  order_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "Chargebacks can be labelled by it." })),
  instrument: Type.Optional(Instrument),
  status: Type.Optional(Type.Enum([...paymentStatuses])),
};

export const Activity = Type.Object(
  {
    activity_id: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Unique in the tenant. Sending an activity again has no effect.",
    }),
    type: ActivityType,
    occurred_at: Time,
    website_account_id: Type.Optional(AccountId),
    session_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    device_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ip: Type.Optional(Type.String({ minLength: 2, maxLength: 45, format: "ip" })),
    // The visitor chooses it. If it had a limit, a visitor could cause the server's whole batch to be rejected.
    user_agent: Type.Optional(
      Type.String({
        description: `Any length is accepted. Only the first ${userAgentCharactersMax.toLocaleString("en")} characters are kept.`,
      }),
    ),
    ...paymentMembers,
    attributes: Type.Optional(
      Type.Unsafe<Record<string, string | number | boolean>>({
        type: "object",
        additionalProperties: AttributeValue,
        propertyNames: { type: "string", minLength: 1, maxLength: 128 },
        maxProperties: 64,
        description:
          "A flat object of strings, numbers and booleans. In a fraud_report, `label` is what was reported: Account Takeover, Bot, Synthetic or Organic. Any other value counts as Organic. `note` is shown to the investigator, and stays in the case when the account is erased.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Activity" },
);
export type Activity = Static<typeof Activity>;
export type Payment = Pick<Activity, keyof typeof paymentMembers>;

export const ActivityBatch = Type.Object(
  { activities: Type.Array(Activity, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false, $id: "ActivityBatch" },
);
export type ActivityBatch = Static<typeof ActivityBatch>;

export const sessionIdleMs = 30 * 60 * 1000;
// How far a sender's clock may be off before it is no longer trusted.
export const clockToleranceMs = 10 * 60 * 1000;

// What only a browser can report. All of it is claimed by the page, and none of it is trusted alone.
export type BrowserFacts = {
  sdk?: string;
  locale?: string;
  accept_language?: string;
  zone_offset_minutes?: number;
  screen?: string;
  viewport?: string;
  page_title?: string;
  page_url?: string;
  referrer?: string;
  session_started_at?: string;
  engagement_ms?: number;
  // The tag's summary of pointer, key, touch and scroll input since its previous summary.
  inputs?: number;
  input_spread?: number;
  is_webdriver?: boolean;
  // Weak signs that something is off: wrong-hash, foreign-tenant-id, session-id-mismatch, ...
  signs?: string[];
};

// `bad-token`: the token is expired, malformed, or not for the account. That is not evidence against anybody, because pages also
// send stale tokens.
export type IdentityVerdict = "signed" | "bad-token";

// One canonical event, whoever sent it. Ids from browsers and from servers are separate, so a page cannot take a server's id
// first.
export type RecordedActivity = Activity & {
  origin: "server" | "browser";
  received_at: string;
  // Set if a page named an account and sent an identity token. The token itself is never stored.
  identity?: IdentityVerdict;
  // The time by the sender's clock, if occurred_at was shifted.
  claimed_at?: string;
  browser?: BrowserFacts;
  // Its place among the activities that were stored together, if it was not the first. Activities with the same time are shown in
  // this order.
  place?: number;
  // The id that the decision will have. Set if the sender waits for the verdict.
  prediction_id?: string;
};

// If a sender's clock runs ahead, its events would stay the newest forever. If its clock was reset, everything that it names
// would look old. In both cases the time of receipt is used. Past times from 2000 on are accepted as history.
export function timeOf({ occurred_at, received_at }: Pick<RecordedActivity, "occurred_at" | "received_at">): number {
  const occurred = Date.parse(occurred_at);
  const received = Date.parse(received_at);
  return occurred > received + clockToleranceMs || occurred < countedRange.from ? received : occurred;
}

const paymentNames = Object.keys(paymentMembers) as (keyof Payment)[];

// Returns the members that describe the payment, or undefined if there are none. Most activities have none.
export function paymentOf(activity: Payment): Payment | undefined {
  const given = paymentNames.filter((name) => activity[name] !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given.map((name) => [name, activity[name]]));
}

// Returns what is kept of an erased account's pending activity. Reports are kept, because they were accepted and must become a
// case, but only with what the case shows.
export function pseudonymiseActivity(activity: RecordedActivity, pseudonym: string): RecordedActivity | null {
  const { activity_id, type, occurred_at, origin, received_at, attributes = {} } = activity;
  if (type !== "fraud_report") return null;
  const shown = Object.entries(attributes).filter(([name]) => name === "label" || name === "note");
  const kept = { activity_id, type, occurred_at, origin, received_at };
  return { ...kept, website_account_id: pseudonym, attributes: Object.fromEntries(shown) };
}

// Returns the subject of a case from this activity. At most one case per subject is OPEN.
export function subjectOf(activity: Activity): string {
  return activity.website_account_id === undefined ? sourceOf(activity) : accountSubject(activity.website_account_id);
}

// Returns where the activity came from, for a case without an account.
export function sourceOf(activity: Activity): string {
  if (activity.device_id !== undefined) return `device:${activity.device_id}`;
  if (activity.session_id !== undefined) return `session:${activity.session_id}`;
  return activity.ip === undefined ? `activity:${activity.activity_id}` : `ip:${hostOf(activity.ip)}`;
}

// Anybody can cause a failed log-in on an account, and the account that a sign-up creates has no history. So if a rule about the
// device, address or network matches one of them, the case is about that source, and one attack on many accounts is one case.
export function isOfSource({ type }: Pick<Activity, "type">): boolean {
  return type === "login_failed" || type === "signup";
}

export function accountSubject(websiteAccountId: string): string {
  return `account:${websiteAccountId}`;
}

export function isAccountSubject(subject: string): boolean {
  return subject.startsWith("account:");
}
