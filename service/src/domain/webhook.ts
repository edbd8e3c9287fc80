import { Type, type Static } from "typebox";
import { LoggedEvent, eventFacts, type WebhookType } from "./event.ts";
import type { FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";

export const webhooksMax = 20;
export const webhookFormats = ["standard", "slack", "teams"] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
export const webhookDetails = ["none", "ids"] as const;
const urlCharactersMax = 2_000;

// The types of events that may be sent. Events about people and clients stay in the feed, which requires the scopes to read them.
export const webhookTypes = eventFacts.flatMap(([type, { webhook }]) => (webhook === undefined ? [] : [type as WebhookType]));

// The types that chat messages cover.
export const chatTypes = [
  "case.opened",
  "case.reopened",
  "case.closed",
  "case.overdue",
  "case.handed_over",
  "case.note_added",
] as const satisfies readonly WebhookType[];

type Chosen = { format: WebhookFormat; types?: string[]; details?: string; view_id?: string | null };

// Members that a webhook of this format cannot have.
export function formatFaults({ format, types = [], details = "none", view_id = null }: Chosen): FieldError[] {
  const faults: FieldError[] = [];
  if (format === "standard") {
    if (details !== "none") faults.push({ field: "details", message: "must be none, unless the format is slack or teams" });
    if (view_id !== null) faults.push({ field: "view_id", message: "must be absent, unless the format is slack or teams" });
  } else if (types.some((type) => !chatTypes.some((each) => each === type)))
    faults.push({ field: "types", message: `must contain only ${chatTypes.join(", ")}, because the format is ${format}` });
  return faults;
}

// The scopes that are required to manage webhooks, because their receiver can read everything that is sent.
export const webhookReach = ["read:events", "read:case", "read:enduseraccount", "read:rules"] as const;

const Url = Type.String({
  maxLength: urlCharactersMax,
  description: "The URL that messages are posted to. It must be https unless private addresses are allowed.",
  examples: ["https://crm.example/casehound"],
});
const Types = Type.Array(Type.Enum([...webhookTypes]), {
  maxItems: webhookTypes.length,
  description: "The types of events to send. An empty list means all types.",
});

const Format = Type.Enum([...webhookFormats], {
  description:
    "`standard`: signed events as in the feed. `slack`, `teams`: messages for an incoming webhook of Slack or a Workflows webhook of Microsoft Teams, at most one a minute. The format cannot be changed.",
});
const Details = Type.Enum([...webhookDetails], {
  description:
    "Only for `slack` and `teams`. `none`: scores, labels and links. `ids`: also account ids, and who made the change.",
});
const viewIdWords = "Only for `slack` and `teams`: a shared view. Only cases in this view are sent.";
const WantedView = Type.String({ minLength: 1, maxLength: 64, description: viewIdWords });

export const Webhook = Type.Object(
  {
    webhook_id: Uuid,
    url: Type.String(),
    format: Format,
    details: Details,
    view_id: Type.Optional(Uuid),
    types: Type.Array(Type.String()),
    is_enabled: Type.Boolean(),
    disabled_reason: Type.Optional(Type.String({ description: "Why the service disabled the webhook. Absent if it did not." })),
    waiting: Type.Integer({ minimum: 0, description: "The number of messages that have not been delivered yet." }),
    dead: Type.Integer({ minimum: 0, description: "The number of messages that the service stopped retrying." }),
    previous_secret_expires_at: Type.Optional(Time),
    created_at: Time,
    updated_at: Time,
  },
  { additionalProperties: false, $id: "Webhook" },
);
export type Webhook = Static<typeof Webhook>;

export const NewWebhook = Type.Object(
  {
    url: Url,
    types: Type.Optional(Types),
    format: Type.Optional({ ...Format, default: "standard" }),
    details: Type.Optional({ ...Details, default: "none" }),
    view_id: Type.Optional(WantedView),
  },
  { additionalProperties: false, $id: "NewWebhook" },
);
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookChange = Type.Object(
  {
    url: Type.Optional(Url),
    types: Type.Optional(Types),
    is_enabled: Type.Optional(Type.Boolean()),
    details: Type.Optional(Details),
    view_id: Type.Optional(Type.Union([WantedView, Type.Null()], { description: "null removes the view." })),
  },
  { additionalProperties: false, $id: "WebhookChange" },
);
export type WebhookChange = Static<typeof WebhookChange>;

export const WebhookSecret = Type.Object(
  {
    webhook: Webhook,
    secret: Type.String({ description: "The key that signs the messages. Shown only once." }),
  },
  { additionalProperties: false, $id: "WebhookSecret" },
);

export const WebhookTest = Type.Object(
  {
    delivered: Type.Boolean(),
    status: Type.Optional(Type.Integer({ description: "The status of the receiver's response." })),
    error: Type.Optional(Type.String({ description: "Why the message was not delivered." })),
    milliseconds: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false, $id: "WebhookTest" },
);

// The message that is posted: an event as in the feed.
export const WebhookMessage = Type.Object(
  {
    ...LoggedEvent.properties,
    event_id: Type.Integer({ minimum: 0, description: "The same number as in the feed; 0 in a test message." }),
    type: Type.String({
      description: [...webhookTypes, "webhook.test"].map((type) => `\`${type}\``).join(", "),
      examples: ["case.closed"],
    }),
  },
  { additionalProperties: false, $id: "WebhookMessage" },
);
export type WebhookMessage = Static<typeof WebhookMessage>;

export const deliveryStates = ["WAITING", "DELIVERED", "DEAD"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const Delivery = Type.Object(
  {
    event_id: Type.Integer(),
    type: Type.String(),
    resource: Type.Object({ type: Type.String(), id: Type.String() }, { additionalProperties: false }),
    state: Type.Enum([...deliveryStates]),
    attempts: Type.Integer({ minimum: 0 }),
    created_at: Time,
    last_attempt_at: Type.Optional(Time),
    next_attempt_at: Type.Optional(Time),
    waits_for: Type.Optional(
      Type.Integer({
        description: "An earlier event of the same case, account or rule. Its message must be delivered or abandoned first.",
      }),
    ),
    last_status: Type.Optional(Type.Integer()),
    last_error: Type.Optional(Type.String()),
  },
  { additionalProperties: false, $id: "WebhookDelivery" },
);
export type Delivery = Static<typeof Delivery>;

export const addressesHint =
  "plain http and private addresses are allowed only if the service is started with WEBHOOK_ADDRESSES=any";

// Returns what is wrong with an address, as far as it can be judged without a DNS lookup.
export function urlFault(text: string, { isPrivateAllowed }: { isPrivateAllowed: boolean }): string | null {
  // Parsers drop or repair these characters, so messages would not go to the address that is shown.
  if (/[\s\p{Cc}\p{Cf}\\]/u.test(text)) return "must not contain spaces, control characters or backslashes";
  const url = /^https?:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return "must be an https address";
  if (url.protocol === "http:" && !isPrivateAllowed) return `must be an https address; ${addressesHint}`;
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return "must not have a fragment";
  return null;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const pausesMs = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs, 2 * hourMs, 4 * hourMs];
const longestPauseMs = 8 * hourMs;
export const givenUpAfterMs = 72 * hourMs;

// Returns how long to wait after this many attempts, or null to give up. `jitter` is from 0 to 1.
export function nextPauseMs(attempts: number, sinceFirstMs: number, jitter: number): number | null {
  if (sinceFirstMs >= givenUpAfterMs) return null;
  const pause = (pausesMs[attempts - 1] ?? longestPauseMs) * (0.8 + 0.4 * jitter);
  // The last attempt is at the end of the period, not long before it.
  return Math.min(pause, givenUpAfterMs - sinceFirstMs);
}
