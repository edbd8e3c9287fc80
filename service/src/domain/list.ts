import { Type, type Static } from "typebox";
import { isReservedAccountId } from "./account.ts";
import type { FieldError } from "./failure.ts";
import { Time, Uuid, idCharactersMax } from "./field.ts";
import { characters, isStorable, parseTime } from "./text.ts";
import { labels, type Label as FraudLabel } from "./finding.ts";
import { rangeOf, textOf } from "./ip-range.ts";

export const listNamePattern = "^[a-z][a-z0-9_]{0,63}$";
// Words of the rule language. A rule could not name such a list.
const reservedNames = new Set(["in", "true", "false", "null", "has", "as", "break", "const", "continue", "else", "for"]);
for (const word of ["function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"])
  reservedNames.add(word);

export const listsMax = 100;
export const entriesMax = 1_000_000;
// All patterns are searched in every user agent.
export const agentEntriesMax = 1_000;
export const reasonCharactersMax = 500;

export const listTypes = [
  "account",
  "device",
  "ip",
  "country",
  "asn",
  "email",
  "email_domain",
  "payee",
  "instrument",
  "user_agent",
  "text",
] as const;
export type ListType = (typeof listTypes)[number];

export const listKinds = ["allow", "block", "watch", "custom"] as const;
export type ListKind = (typeof listKinds)[number];

// What each type holds, in words, and the field of an event that is looked up. A `text` list has none: only rules use it.
export const listTypeFacts: Record<ListType, { noun: string; field: string | null }> = {
  account: { noun: "account", field: "event.website_account_id" },
  device: { noun: "device", field: "event.device_id" },
  ip: { noun: "address", field: "event.ip" },
  country: { noun: "country", field: "event.country" },
  asn: { noun: "network", field: "event.asn" },
  email: { noun: "e-mail address", field: "event.email" },
  email_domain: { noun: "e-mail domain", field: "event.email" },
  payee: { noun: "payee", field: "event.payee_id" },
  instrument: { noun: "instrument", field: "event.instrument" },
  user_agent: { noun: "user agent", field: "event.user_agent" },
  text: { noun: "text", field: null },
};

// What detection needs to know about a list.
export type ListFacts = { name: string; type: ListType; kind: ListKind; label: FraudLabel };
// An entry as detection reads it.
export type ListedKey = { list_name: string; key: string; expires_at: string | null };
// What a row of the log says about the values that lists hold.
export type ListedRow = {
  origin: string;
  website_account_id: string | null;
  device_id: string | null;
  ip: string | null;
  user_agent: string | null;
  document: string;
  decision: string;
};

const ListName = Type.String({
  pattern: listNamePattern,
  description: "Rules use the list by this name, for example `lists.vip.has(event.ip)`. It never changes.",
});
const Kind = Type.Enum([...listKinds], {
  description:
    "`allow`: activity that hits the list gets score 1, unless it is a fraud report or also hits a block list. `block`: score 5. `watch`: the case says so. `custom`: only rules and the policy use it.",
});
const Label = Type.Enum([...labels], { description: "The label of cases that a block list opens." });
const Description = Type.String({ maxLength: 500 });

export const NewList = Type.Object(
  {
    name: ListName,
    type: Type.Enum([...listTypes], {
      description:
        "What the list holds. `ip` also takes blocks such as 203.0.113.0/24. `email_domain` includes subdomains. `user_agent` finds parts of a user agent, whatever their case. `text` is only for rules.",
    }),
    kind: Kind,
    label: Type.Optional({ ...Label, default: "Organic" }),
    description: Type.Optional(Description),
  },
  { additionalProperties: false, $id: "NewList" },
);
export type NewList = Static<typeof NewList>;

export const ListChange = Type.Object(
  { kind: Type.Optional(Kind), label: Type.Optional(Label), description: Type.Optional(Description) },
  { additionalProperties: false, $id: "ListChange" },
);
export type ListChange = Static<typeof ListChange>;

export const List = Type.Object(
  {
    ...NewList.properties,
    label: Label,
    description: Description,
    entries: Type.Integer({ description: "Entries that have expired count until they are deleted, 30 days later." }),
    hits_7d: Type.Integer({ description: "Activities that hit the list today and on the 6 days before, in UTC." }),
    used_by: Type.Array(Type.String(), { description: "The rules that use the list. A list in use cannot be deleted." }),
    is_in_policy: Type.Boolean({ description: "Whether the policy uses the list. If so, the list cannot be deleted." }),
    created_at: Time,
    created_by: Type.String(),
    updated_at: Time,
    updated_by: Type.String(),
  },
  { additionalProperties: false, $id: "List" },
);
export type List = Static<typeof List>;
export type StoredList = Omit<List, "entries" | "hits_7d" | "used_by" | "is_in_policy">;

export const NewEntry = Type.Object(
  {
    value: Type.String({ minLength: 1, maxLength: idCharactersMax }),
    expires_at: Type.Optional({ ...Time, description: "From then on the entry has no effect." }),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: reasonCharactersMax })),
    from_case_id: Type.Optional({ ...Uuid, description: "The case because of which the entry is added." }),
  },
  { additionalProperties: false, $id: "NewListEntry" },
);
export type NewEntry = Static<typeof NewEntry>;

export const EntryBatch = Type.Object(
  { entries: Type.Array(NewEntry, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false, $id: "ListEntryBatch" },
);
export type EntryBatch = Static<typeof EntryBatch>;

export const caseEntriesMax = 20;
const { from_case_id: _fromCase, ...ownMembers } = NewEntry.properties;

// An entry that a close adds. The case is the one that is closed.
export const CaseListEntry = Type.Object(
  { list: Type.String({ pattern: listNamePattern, description: "The name of the list." }), ...ownMembers },
  { additionalProperties: false, $id: "CaseListEntry" },
);
export type CaseListEntry = Static<typeof CaseListEntry>;

export const Entry = Type.Object(
  {
    ...NewEntry.properties,
    is_expired: Type.Boolean(),
    added_at: Time,
    added_by: Type.String(),
  },
  { additionalProperties: false, $id: "ListEntry" },
);
export type Entry = Static<typeof Entry>;

export const EntryValues = Type.Object(
  { values: Type.Array(Type.String({ minLength: 1, maxLength: idCharactersMax }), { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false, $id: "ListValues" },
);
export type EntryValues = Static<typeof EntryValues>;

export const EntriesChanged = Type.Object(
  { added: Type.Integer(), updated: Type.Integer(), unchanged: Type.Integer() },
  { additionalProperties: false, $id: "ListEntriesChanged" },
);
export type EntriesChanged = Static<typeof EntriesChanged>;

// Checks that the schema cannot express. They accept any object.
export function listFaults(list: Partial<Record<keyof NewList, unknown>>): FieldError[] {
  const { name } = list;
  const isReserved = typeof name === "string" && reservedNames.has(name);
  return [...(isReserved ? [{ field: "name", message: "is a word of the rule language" }] : []), ...kindFaults(list)];
}

// A visitor chooses their user agent, so on an allow list it would let anybody through. A text belongs to no field of an event, so
// only a rule can look it up.
export function kindFaults({ type, kind }: { type?: unknown; kind?: unknown }): FieldError[] {
  if (type === "user_agent" && kind === "allow")
    return [{ field: "kind", message: "must not be allow: every visitor can choose a user agent" }];
  if (type === "text" && kind !== "custom" && kind !== undefined)
    return [{ field: "kind", message: "must be custom for a list of texts, which only rules look up" }];
  return [];
}

export type Keyed = { key: string } | { problem: string };

const lengths: Partial<Record<ListType, { min: number; max: number }>> = {
  device: { min: 1, max: 128 },
  payee: { min: 1, max: 128 },
  // Shorter parts are in nearly every user agent.
  user_agent: { min: 4, max: 256 },
};
const countryForm = /^[A-Z]{2}$/;
const asnForm = /^[1-9]\d{0,9}$/;
const asnMax = 2 ** 32 - 1;
const domainLabel = /^(?!-)[\p{L}\p{N}-]{1,63}(?<!-)$/u;
const domainCharactersMax = 253;
const hashedIp = /^h-[0-9a-f]{24}$/;
const cardNumber = /^(?!\d{6,8} \d{4}$)[0-9 -]{12,23}$/;
// Larger blocks are mistakes: they hold a noticeable part of the internet.
const bitsMin = { 4: 8, 16: 16 } as const;

// Returns the only spelling of a value, by which it is found, or what is wrong with the value.
export function keyOf(type: ListType, value: string): Keyed {
  if (value === "" || characters(value) > idCharactersMax || !isStorable(value))
    return { problem: `must have 1 to ${idCharactersMax} characters` };
  const { min = 1, max = idCharactersMax } = lengths[type] ?? {};
  if (characters(value) < min || characters(value) > max) return { problem: `must have ${min} to ${max} characters` };
  switch (type) {
    case "account":
      return isReservedAccountId(value) ? { problem: "is a reserved account id" } : { key: value };
    case "ip":
      return hashedIp.test(value) ? { key: value } : ipKey(value);
    case "country":
      return countryForm.test(value) ? { key: value } : { problem: "must be two capital letters, such as DE" };
    case "asn":
      return asnForm.test(value) && Number(value) <= asnMax
        ? { key: value }
        : { problem: "must be the number of an autonomous system, such as 64500" };
    case "email":
      return emailKey(value);
    case "email_domain":
      return domainKey(value);
    case "instrument":
      return cardNumber.test(value) ? { problem: "looks like a card number, which must not be stored" } : { key: value };
    case "user_agent":
      return { key: value.toLowerCase() };
    default:
      return { key: value };
  }
}

function ipKey(value: string): Keyed {
  const range = rangeOf(value);
  if ("problem" in range) return range;
  const { bytes, bits } = range;
  const least = bytes.length === 4 ? bitsMin[4] : bitsMin[16];
  if (bits < least) return { problem: `covers too much: the prefix must be at least /${least}` };
  return { key: bits === bytes.length * 8 ? textOf(bytes) : `${textOf(bytes)}/${bits}` };
}

function emailKey(value: string): Keyed {
  const at = value.lastIndexOf("@");
  const domain = domainKey(value.slice(at + 1));
  if (at < 1 || /[\s@]/.test(value.slice(0, at)) || "problem" in domain) return { problem: "must be an e-mail address" };
  return { key: value.toLowerCase() };
}

function domainKey(value: string): Keyed {
  const labelsOf = value.split(".");
  const isDomain =
    labelsOf.length >= 2 && value.length <= domainCharactersMax && labelsOf.every((each) => domainLabel.test(each));
  return isDomain
    ? { key: value.toLowerCase() }
    : { problem: "must be a domain such as example.com; its subdomains are included" };
}

// Returns the faults of one entry that the schema cannot express.
export function entryFaults(type: ListType, entry: NewEntry, nowMs: number): FieldError[] {
  const keyed = keyOf(type, entry.value);
  const expiresMs = entry.expires_at === undefined ? null : parseTime(entry.expires_at);
  return [
    ...("problem" in keyed ? [{ field: "value", message: keyed.problem }] : []),
    ...(expiresMs !== null && expiresMs <= nowMs ? [{ field: "expires_at", message: "must be in the future" }] : []),
  ];
}
