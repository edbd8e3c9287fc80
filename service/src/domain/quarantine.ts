import { Type, type Static } from "typebox";
import { Time, Uuid } from "./field.ts";
import { isObject, storableText } from "./raw-value.ts";

export const eventsMax = 2000;
export const depthMax = 32;
// 2,000 events from the SDK have about 140,000.
export const membersInBodyMax = 300_000;
export const unpackedMiBMax = 8;
export const daysKept = 14;
// Above the quotas, one in this many sessions is kept.
export const overQuotaKept = 16;

// The closed list of reasons for a quarantine entry, each with the sentence that the entry begins with.
export const quarantineMeanings = {
  "bad-gzip": "The body is declared as base64-encoded gzip, but it is not.",
  "unpacked-too-large": `The body unpacks to more than ${unpackedMiBMax} MiB.`,
  "too-deep": `The body is nested deeper than ${depthMax} levels.`,
  "too-many-members": `The body has more than ${membersInBodyMax} members and values.`,
  "not-json": "The body is not JSON.",
  "not-an-array": "The body is not an array of events.",
  "too-many-events": `The request has too many events. Only the first ${eventsMax} are kept.`,
  "not-an-object": "The event is not an object.",
  "no-event-id": "The event has no event_id of 1 to 64 characters.",
  "no-event-type": "The event has no event_type.",
  "bad-timestamp": "The event has no timestamp in milliseconds.",
  "too-old": "The event is more than 90 days old.",
  unstorable: "The event_id contains U+0000 or a lone surrogate.",
  "id-reused": "An earlier event with different content has the same event_id.",
  "over-quota": `More events or new sessions and devices were received than the quotas allow. One session in ${overQuotaKept} is kept. The first dropped event of each day is shown.`,
  "wrong-hash": "The hashCode does not match the body. The events are kept, and are marked with the sign wrong-hash.",
  "foreign-tenant-id":
    "The attribute tenant_id names another tenant. The events are kept, and are marked with the sign foreign-tenant-id. The first one of each day is shown.",
} as const;

export type QuarantineReason = keyof typeof quarantineMeanings;

// The cast is safe, because these are the keys of the table above.
export const quarantineReasons = Object.keys(quarantineMeanings) as QuarantineReason[];

// One entry per event would push everything else out of sight during a flood, or if a site sets its own id on every event.
export const shownOnceADay: ReadonlySet<QuarantineReason> = new Set(["foreign-tenant-id", "over-quota"]);

// Events with these reasons are kept, so nothing is missing.
export const keptReasons: ReadonlySet<QuarantineReason> = new Set(["wrong-hash", "foreign-tenant-id"]);

// What is wrong, and with how many events. The excerpt is from the first of them.
export type Rejection = { reason: QuarantineReason; detail: string; excerpt: string; received_at: string; count: number };

export const QuarantineEntry = Type.Object(
  {
    quarantine_id: Uuid,
    received_at: Time,
    reason: Type.Enum(quarantineReasons),
    detail: Type.String(),
    excerpt: Type.String({
      description: "The beginning of the event or the body, without user data and without the query strings of URLs.",
    }),
  },
  { additionalProperties: false, $id: "QuarantineEntry" },
);
export type QuarantineEntry = Static<typeof QuarantineEntry>;

export const QuarantineCount = Type.Object(
  {
    day: Type.String({ format: "date", description: "UTC, YYYY-MM-DD" }),
    reason: Type.Enum(quarantineReasons),
    count: Type.Integer(),
  },
  { additionalProperties: false, $id: "QuarantineCount" },
);
export type QuarantineCount = Static<typeof QuarantineCount>;

const excerptCharacters = 500;
const textCharacters = 200;
const membersMax = 40;
const excerptDepth = 3;

// The beginning of a text, safe to store and show: without identity tokens, and without the query strings of URLs, which may
// contain tokens.
export function excerptOfText(text: string): string {
  const beginning = storableText(text, 8 * excerptCharacters)
    .replace(/(https?:\/\/[^\s"'?#]*)[?#][^\s"']*/gi, "$1")
    .replace(/\bv1\.[0-9]+\.[\w-]+/g, "v1...");
  return storableText(beginning, excerptCharacters);
}

// Leaves out the user, because quarantined data is not searched when an account is erased. The most informative parts come first:
// the site's own attributes, then the SDK's if there is room.
export function excerptOfEvent(event: unknown): string {
  if (!isObject(event)) return excerptOfText(shown(event, excerptDepth));
  const { event_id, event_type, timestamp, attributes, user: _user, ...rest } = event;
  const own = isObject(attributes) ? ownFirst(attributes) : attributes;
  const ordered = Object.entries({ event_id, event_type, timestamp, attributes: own, ...rest });
  return excerptOfText(shown(Object.fromEntries(ordered.filter(([, value]) => value !== undefined)), excerptDepth));
}

function ownFirst(attributes: Record<string, unknown>): Record<string, unknown> {
  const [presets, own] = [true, false].map((isPreset) =>
    Object.entries(attributes).filter(([name]) => name.startsWith("_") === isPreset),
  );
  return Object.fromEntries([...(own ?? []), ...(presets ?? [])]);
}

// Formats a value like JSON, but no deeper and no longer than an excerpt needs. An event may be nested too deeply for
// JSON.stringify.
function shown(value: unknown, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, textCharacters));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth === 0) return Array.isArray(value) ? "[...]" : "{...}";
  if (Array.isArray(value))
    return `[${value
      .slice(0, membersMax)
      .map((each: unknown) => shown(each, depth - 1))
      .join(",")}]`;
  const members = Object.entries(value).slice(0, membersMax);
  return `{${members.map(([name, member]) => `${shown(name, 0)}:${shown(member, depth - 1)}`).join(",")}}`;
}
