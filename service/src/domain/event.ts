// What goes into the one log: audit trail, timeline and feed. `data` holds no secrets.
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
  | "tenant.updated"
  | "rule.updated"
  | "thresholds.updated"
  | "user.invited"
  | "user.joined"
  | "user.updated"
  | "user.link_made"
  | "user.password_changed"
  | "user.sessions_ended"
  | "client.created"
  | "client.secret_rotated"
  | "client.revoked";

export type DomainEvent = {
  type: EventType;
  occurred_at: string;
  actor: string;
  resource: { type: "case" | "end_user_account" | "tenant" | "rule" | "user" | "client"; id: string; version?: number };
  data?: Record<string, unknown>;
};
