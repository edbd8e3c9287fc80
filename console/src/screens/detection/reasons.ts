import type { Reason } from "./queries.ts";

// Short names for a table. Every entry also carries the full sentence.
export const reasonNames: Record<Reason, string> = {
  "bad-gzip": "Not the gzip it is said to be",
  "unpacked-too-large": "Too large once unpacked",
  "too-deep": "Nested too deep",
  "too-many-members": "Too many members",
  "not-json": "No JSON",
  "not-an-array": "No array of events",
  "too-many-events": "Too many events in one request",
  "not-an-object": "The event is no object",
  "no-event-id": "Without an event_id",
  "no-event-type": "Without an event_type",
  "bad-timestamp": "Without a usable timestamp",
  "too-old": "More than 90 days old",
  unstorable: "An id that cannot be stored",
  "id-reused": "An id that another event has",
  "over-quota": "More than the quotas allow",
  "wrong-hash": "Hash differs from the body's",
  "foreign-tenant-id": "Names another tenant",
};

// Events with these reasons are accepted anyway, and marked.
export const keptReasons: ReadonlySet<Reason> = new Set<Reason>(["wrong-hash", "foreign-tenant-id"]);
