import { Type, type Static } from "typebox";
import { paymentMembers, sessionIdleMs } from "./activity.ts";
import { CountedIn } from "./decision.ts";
import { Time } from "./field.ts";
import { Score } from "./finding.ts";
import { ActivityLabel } from "./label.ts";
import { ClaimedAccount, SourceName } from "./source.ts";

export const addressesShownMax = 10;
// The limit for one session, because a bot may send more events than anybody can review.
export const sessionActivitiesMax = 20_000;

const Text = Type.Optional(Type.String());

const Client = Type.Object(
  {
    sdk: Text,
    locale: Text,
    zone_offset_minutes: Type.Optional(Type.Number()),
    screen: Text,
    viewport: Text,
    referrer: Text,
    session_started_at: Text,
  },
  { additionalProperties: false, description: "What the browser reports about itself. None of it is verified." },
);
export type Client = Static<typeof Client>;

export const Session = Type.Object(
  {
    session_id: Type.String(),
    session_status: Type.Enum(["ACTIVE", "FINISHED"], { description: "FINISHED after 30 minutes without an event." }),
    website_account_id: Type.Optional(Type.String({ description: "The last account that was seen in the session." })),
    device_id: Type.Optional(Type.String()),
    started_at: Time,
    last_activity_at: Time,
    ended_at: Type.Union([Time, Type.Null()], {
      description: "The time of the last activity once the session is FINISHED, otherwise null.",
    }),
    activities: Type.Integer({ description: "The number of events." }),
    page_views: Type.Integer(),
    accounts: Type.Integer({ description: "The number of accounts that were seen in the session, counted up to 16." }),
    is_webdriver: Type.Boolean({ description: "Whether the browser reported that a program controls it." }),
    ips: Type.Array(Type.String(), {
      description: `At most ${addressesShownMax} addresses from the first 200 events, as stored under the tenant's ip_policy.`,
    }),
    user_agent: Text,
    client: Type.Optional(Client),
  },
  { additionalProperties: false, $id: "Session" },
);
export type Session = Static<typeof Session>;

export const ScoredActivity = Type.Object(
  {
    activity_id: Type.String(),
    type: Type.String(),
    origin: Type.Enum(["server", "browser"]),
    source: SourceName,
    occurred_at: Time,
    received_at: Time,
    website_account_id: Text,
    claimed_account_id: ClaimedAccount,
    session_id: Text,
    device_id: Text,
    ip: Type.Optional(Type.String({ description: "As stored under the tenant's ip_policy." })),
    user_agent: Text,
    page_url: Text,
    page_title: Text,
    signs: Type.Optional(Type.Array(Type.String(), { description: "Weak signs that something about the browser is off." })),
    ...paymentMembers,
    attributes: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
    score: Score,
    log_odds: Type.Optional(
      Type.Number({
        description: "The log-odds that the score was computed from. They show finer differences than the five scores.",
      }),
    ),
    rules: Type.Array(Type.String(), { description: "The ids of the rules that fired." }),
    lists: Type.Optional(
      Type.Array(Type.String(), {
        description: "The lists that the activity hit, if any. If one is an allow list, the score may be 1 because of it.",
      }),
    ),
    prediction_id: Type.Optional(Type.String({ description: "The id of the decision, if the activity made an occurrence." })),
    case_id: Type.Optional(Type.String({ description: "The case that got this occurrence." })),
    cases: CountedIn,
    label: Type.Optional(ActivityLabel),
  },
  { additionalProperties: false, $id: "ScoredActivity" },
);
export type ScoredActivity = Static<typeof ScoredActivity>;

export function isActive(lastAt: string, nowMs: number): boolean {
  return nowMs - Date.parse(lastAt) < sessionIdleMs;
}
