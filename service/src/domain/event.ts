import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import type { Scope } from "./scope.ts";

// Every type of event in the single log that serves as audit trail, timeline, feed and source of webhooks. `data` contains no
// secrets. `webhook`: webhooks can send this type, and the console lists it under these words. `deed`: what the audit trail says
// that the actor did. `leavesVersion`: an event of a case that does not change the case itself.
const eventTypes = {
  "case.opened": { webhook: "A case is opened", deed: "Opened the case" },
  "case.evidence_added": { webhook: "A case gets more evidence", deed: "Added evidence" },
  "case.closed": { webhook: "A case is closed", deed: "Closed the case" },
  "case.reopened": { webhook: "A case is reopened", deed: "Opened the case again" },
  "case.note_added": { webhook: "A note is added to a case", deed: "Added a note" },
  "case.handed_over": { webhook: "A case is handed over", deed: "Handed the case over" },
  // The case itself does not change, but its place in lists does.
  "case.overdue": { webhook: "A case is overdue", deed: "The case is overdue" },
  // Not sent by webhooks: a claim changes nothing that other systems act on.
  "case.claimed": { deed: "Claimed the case", leavesVersion: true },
  "case.released": { deed: "Released the case", leavesVersion: true },
  "case.snooze_ended": { deed: "Ended the quiet period of the case's rules" },
  "case.saved_as_file": { deed: "Saved the case as a file" },
  "case.pseudonymised": { deed: "Erased the account: the case has a pseudonym" },
  "account.created": { webhook: "An account is created", deed: "Created the account" },
  "account.updated": { webhook: "An account's flags change" },
  "account.erased": { webhook: "An account is erased", deed: "Erased the account" },
  "activity.decided": {
    webhook: "A decision differs from the answer to an assessment",
    deed: "Decided differently from the answer",
  },
  "tenant.secret_rotated": {},
  "tenant.identity_secret_rotated": {},
  "tenant.updated": {},
  "tenant.list_exported": { deed: "Exported a list" },
  "rule.changed": { webhook: "A rule changes" },
  "thresholds.updated": {},
  "list.created": { deed: "Created the list" },
  "list.updated": { deed: "Changed the list" },
  "list.deleted": { deed: "Deleted the list" },
  // One event per request. The entries themselves say who added them, and may name accounts.
  "list.entries_changed": { deed: "Changed entries of the list" },
  // Private views are in the log too, without their name and their filter.
  "view.created": { deed: "Saved a view" },
  "view.updated": { deed: "Changed a view" },
  "view.deleted": { deed: "Deleted a view" },
  "approval.requested": { webhook: "Approval is requested", deed: "Requested approval" },
  "approval.decided": { webhook: "An approval request is decided", deed: "Decided the approval request" },
  "approval_settings.updated": { deed: "Changed the approval settings" },
  "policy.updated": { deed: "Changed the policy" },
  "due_times.updated": { deed: "Changed the due times" },
  "dispositions.updated": { deed: "Changed the tenant's own dispositions" },
  "reason_templates.updated": { deed: "Changed the reason templates" },
  "model.trained": { deed: "Trained a model" },
  "model.promoted": { deed: "Promoted the model" },
  "model.retired": { deed: "Retired the model" },
  "model.drifted": { deed: "Found that activity differs from what the model learned" },
  "model.settings_updated": { deed: "Changed the model settings" },
  // One event per request, not one per label: the labels come from the tenant's own systems, which know them.
  "labels.stored": {},
  // One event per request and one per start, so that it is known who imported what.
  "history.stored": {},
  "history.started": {},
  "role.created": {},
  "role.updated": {},
  "role.deleted": {},
  "issuer.created": {},
  "issuer.updated": {},
  "issuer.deleted": {},
  "provisioning.updated": {},
  "provisioning.token_created": {},
  "provisioning.token_revoked": {},
  "provisioning.group_created": {},
  "provisioning.group_updated": {},
  "provisioning.group_deleted": {},
  "user.provisioned": {},
  "user.deprovisioned": {},
  "user.invited": {},
  "user.joined": {},
  "user.updated": {},
  "user.link_made": {},
  "user.password_changed": {},
  "user.sessions_ended": {},
  "user.second_factor_added": {},
  "user.second_factor_removed": {},
  "user.second_factor_reset": {},
  "user.recovery_codes_made": {},
  "user.recovery_code_used": {},
  "client.created": {},
  "client.secret_rotated": {},
  "client.revoked": {},
  "webhook.created": {},
  "webhook.updated": {},
  "webhook.secret_rotated": {},
  "webhook.deleted": {},
} as const satisfies Record<string, EventFacts>;

type EventFacts = { webhook?: string; deed?: string; leavesVersion?: true };
export type EventType = keyof typeof eventTypes;
export type WebhookType = { [T in EventType]: (typeof eventTypes)[T] extends { webhook: string } ? T : never }[EventType];

export const eventFacts: [EventType, EventFacts][] = Object.entries(eventTypes) as [EventType, EventFacts][];

// The scope `read:events` is enough for all others.
const scopesByNoun: Record<string, Scope> = {
  user: "read:users",
  role: "read:users",
  issuer: "read:users",
  provisioning: "read:users",
  client: "read:clients",
  webhook: "manage:webhooks",
  model: "read:models",
  list: "read:lists",
  view: "read:cases",
  approval: "read:case",
};

// The scope that a reader of the log needs to be shown events of this type.
export function scopeOfEvent(type: string): Scope | undefined {
  return scopesByNoun[type.slice(0, type.indexOf("."))];
}

export type DomainEvent = {
  type: EventType;
  occurred_at: string;
  actor: string;
  resource: {
    type:
      | "case"
      | "end_user_account"
      | "activity"
      | "tenant"
      | "rule"
      | "user"
      | "role"
      | "issuer"
      | "provisioning"
      | "client"
      | "webhook"
      | "model"
      | "list"
      | "view"
      | "approval";
    id: string;
    version?: number;
  };
  data?: Record<string, unknown>;
};

// An event as it is read back. The list of types is open: a reader must ignore types that it does not know.
export const LoggedEvent = Type.Object(
  {
    event_id: Type.Integer({
      minimum: 1,
      description: "A number per tenant that increases by one with each event, in commit order.",
    }),
    type: Type.String({
      description: "`case.opened`, `case.closed`, `account.updated`, ... Types may be added.",
      examples: ["case.closed"],
    }),
    occurred_at: Time,
    actor: Type.String({
      description:
        "`system` for detection, otherwise the person, client or directory (`scim:` and the name of its token) that made the change.",
    }),
    resource: Type.Object(
      {
        type: Type.String({
          description:
            "`case`, `end_user_account`, `activity`, `rule`, `tenant`, `user`, `role`, `issuer`, `provisioning`, `client`, `webhook`, `model`, `list`, `view` or `approval`.",
        }),
        id: Type.String(),
        version: Type.Optional(
          Type.Integer({
            description:
              "The version after the change. Only cases, rules, views, the thresholds, the policy, reason templates, own dispositions and the approval settings have versions.",
          }),
        ),
      },
      { additionalProperties: false },
    ),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "The values that were set, such as an account's flags or a case's disposition. For a reopened case, the values that were removed: `closed_at` and `disposition`.",
      }),
    ),
    current: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "The complete case, account or rule at the time when the event is read. It includes this change, and any later ones. Sent in the feed and in webhooks if the reader may read the resource. Absent if the resource no longer exists.",
      }),
    ),
  },
  { additionalProperties: false, $id: "Event" },
);
export type LoggedEvent = Static<typeof LoggedEvent>;
