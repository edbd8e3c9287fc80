import type { Reason } from "./queries.ts";

// Short names for a table. Every entry also carries the full sentence.
export const reasonNames: Record<Reason, string> = {
  "bad-gzip": "Invalid gzip",
  "unpacked-too-large": "Too large when decompressed",
  "too-deep": "Nested too deeply",
  "too-many-members": "Too many members",
  "not-json": "Not JSON",
  "not-an-array": "Not an array of events",
  "too-many-events": "Too many events in one request",
  "not-an-object": "Event is not an object",
  "no-event-id": "No event_id",
  "no-event-type": "No event_type",
  "bad-timestamp": "No usable timestamp",
  "too-old": "More than 90 days old",
  unstorable: "Id cannot be stored",
  "id-reused": "Id of another event",
  "over-quota": "Over quota",
  "wrong-hash": "Hash does not match the body",
  "foreign-tenant-id": "Names another tenant",
};

// Events with these reasons are accepted anyway, and marked.
export const keptReasons: ReadonlySet<Reason> = new Set<Reason>(["wrong-hash", "foreign-tenant-id"]);
