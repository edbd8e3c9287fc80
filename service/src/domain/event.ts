import { Type, type Static } from "typebox";
import { Time } from "./field.ts";

// The types of events in the single log that serves as audit trail, timeline and feed. `data` contains no secrets.
export type EventType =
  | "case.opened"
  | "case.evidence_added"
  | "case.closed"
  | "case.reopened"
  | "case.pseudonymised"
  | "account.created"
  | "account.updated"
  | "account.erased"
  | "tenant.secret_rotated"
  | "tenant.identity_secret_rotated"
  | "tenant.updated"
  | "rule.changed"
  | "thresholds.updated"
  | "user.invited"
  | "user.joined"
  | "user.updated"
  | "user.link_made"
  | "user.password_changed"
  | "user.sessions_ended"
  | "client.created"
  | "client.secret_rotated"
  | "client.revoked"
  | "webhook.created"
  | "webhook.updated"
  | "webhook.secret_rotated"
  | "webhook.deleted";

export type DomainEvent = {
  type: EventType;
  occurred_at: string;
  actor: string;
  resource: {
    type: "case" | "end_user_account" | "tenant" | "rule" | "user" | "client" | "webhook";
    id: string;
    version?: number;
  };
  data?: Record<string, unknown>;
};

// An event as it is read back. The list of types is open: a reader must ignore types that it does not know.
export const LoggedEvent = Type.Object(
  {
    event_id: Type.Integer({ minimum: 1, description: "Counts up by one in the tenant, in the order of commits." }),
    type: Type.String({
      description: "`case.opened`, `case.closed`, `account.updated`, ... More may come.",
      examples: ["case.closed"],
    }),
    occurred_at: Time,
    actor: Type.String({ description: "`system` for detection, else who did it." }),
    resource: Type.Object(
      {
        type: Type.String({ description: "`case`, `end_user_account`, `rule`, `tenant`, `user`, `client` or `webhook`." }),
        id: Type.String(),
        version: Type.Optional(
          Type.Integer({ description: "Of a case, a rule or the thresholds, after the change. Others have none." }),
        ),
      },
      { additionalProperties: false },
    ),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "What was set: the flags of an account, the disposition of a case. Of a reopened case, what was taken back: `closed_at` and `disposition`.",
      }),
    ),
    current: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "The case, account or rule, whole, as it is when the event is read: with this change, and with later ones where there were any. In the feed and in webhooks, for who may read it; absent where it is gone.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Event" },
);
export type LoggedEvent = Static<typeof LoggedEvent>;
