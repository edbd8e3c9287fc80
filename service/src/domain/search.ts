import { Type, type Static } from "typebox";
import { defaultReasons, type CaseDocument } from "./case.ts";
import { Time, idCharactersMax } from "./field.ts";
import { Score, labels } from "./finding.ts";
import { bytesOf, rangeOf, textOf } from "./ip-range.ts";
import { LinkedAccount, sharersMax } from "./link.ts";
import { CaseSubject } from "./subject.ts";

export const hitsMax = 20;
export const hitsDefault = 5;
export const accountsNamedMax = 3;
// The part of a reason or a note that a hit shows.
const excerptCharacters = 160;
// Trigram indexes cannot find anything shorter.
export const partCharactersMin = 3;

const { first_seen: _first, last_seen: _last, ...standing } = LinkedAccount.properties;

const AccountHit = Type.Object(
  {
    ...standing,
    matched: Type.Enum(["website_account_id", "email", "crm_account_id"]),
    value: Type.String({ description: "The id, the e-mail address or the CRM id that contains the text." }),
  },
  { additionalProperties: false, $id: "AccountHit" },
);
export type AccountHit = Static<typeof AccountHit>;

const CaseHit = Type.Object(
  {
    case_id: Type.String(),
    website_account_id: Type.String({ description: "`UNKNOWN` if the case has no account." }),
    subject: Type.Optional(CaseSubject),
    status: Type.Enum(["OPEN", "CLOSED"]),
    created_at: Time,
    overall_risk_score: Score,
    primary_fraud_label: Type.Enum([...labels]),
    matched: Type.Enum(["case_id", "subject", "reason", "note"]),
    value: Type.String({
      description: "The case's id, what the case is about, or the part of a person's reason or note that contains the phrase.",
    }),
  },
  { additionalProperties: false, $id: "CaseHit" },
);
export type CaseHit = Static<typeof CaseHit>;

const SharedHit = Type.Object(
  {
    value: Type.String({
      description: "The device's id, the payee's id, or the address as stored under the tenant's ip_policy.",
    }),
    accounts: Type.Integer({
      description: `The number of accounts that were seen with it. ${sharersMax + 1} means ${sharersMax + 1} or more.`,
    }),
    website_account_ids: Type.Array(Type.String(), { description: `At most ${accountsNamedMax} of them.` }),
    last_seen: Time,
  },
  { additionalProperties: false, $id: "SharedHit" },
);
export type SharedHit = Static<typeof SharedHit>;

const OrderHit = Type.Object(
  {
    order_id: Type.String(),
    occurred_at: Time,
    website_account_id: Type.Optional(Type.String()),
    case_id: Type.Optional(Type.String({ description: "The case that the payment led to." })),
  },
  { additionalProperties: false, $id: "OrderHit" },
);
export type OrderHit = Static<typeof OrderHit>;

const groups = {
  accounts: Type.Array(AccountHit),
  cases: Type.Array(CaseHit),
  devices: Type.Array(SharedHit),
  addresses: Type.Array(SharedHit),
  payees: Type.Array(SharedHit),
  orders: Type.Array(OrderHit),
};
export type SearchGroup = keyof typeof groups;
// The cast is safe, because these are the keys of the object above.
export const searchGroups = Object.keys(groups) as SearchGroup[];

export const SearchResult = Type.Object(
  {
    ...groups,
    more: Type.Array(Type.Enum([...searchGroups]), { description: "The groups that have more hits than were requested." }),
    is_complete: Type.Boolean({
      description:
        "False if the text is part of so many ids, reasons or notes that searching all of them would have taken too long. A longer text finds the rest.",
    }),
  },
  { additionalProperties: false, $id: "SearchResult" },
);
export type SearchResult = Static<typeof SearchResult>;

export const SearchText = Type.String({ maxLength: idCharactersMax });

// Texts from `from` on and before `until`, compared bytewise.
export type TextRange = { from: string; until: string };

// All texts that begin with this one. No text that can be an id continues with the last character of Unicode.
export function beginningWith(text: string): TextRange {
  return { from: text, until: `${text}\u{10FFFF}` };
}

function exactly(text: string): TextRange {
  return { from: text, until: `${text}\u0001` };
}

// A pattern for LIKE that finds the text anywhere.
export function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

const caseIdStart = /^[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/;
const caseIdForm = "00000000-0000-0000-0000-000000000000";

// The ids of cases that begin with this text, or null. A case's id begins with its time, so fewer than 8 characters would match
// weeks of cases.
export function caseIdsFrom(text: string): { least: string; most: string } | null {
  const given = text.toLowerCase();
  if (!caseIdStart.test(given) || given.length > caseIdForm.length) return null;
  const isPlaced = Array.from(given).every((each, index) => (each === "-") === (caseIdForm[index] === "-"));
  if (!isPlaced) return null;
  const rest = caseIdForm.slice(given.length);
  return { least: `${given}${rest}`, most: `${given}${rest.replaceAll("0", "f")}` };
}

// `isExact`: the ranges contain nothing else.
export type AddressSearch = { ranges: TextRange[]; isExact: boolean; isInside: (address: string) => boolean };

// How the addresses of a block are found: ranges of text that contain all of them, and a check for what else the ranges contain.
// Null if the text is not a block.
export function addressesOf(text: string): AddressSearch | null {
  if (!text.includes("/")) return null;
  const range = rangeOf(text);
  if ("problem" in range || range.bits === 0) return null;
  const { bytes, bits } = range;
  const isInside = (address: string) => {
    const own = bytesOf(address.split("/")[0] ?? "");
    return (
      own !== null &&
      own.length === bytes.length &&
      own.every((byte, index) => sharesBits(byte, bytes[index] ?? 0, bits - index * 8))
    );
  };
  const isExact = bytes.length === 4;
  return { ranges: isExact ? ranges4(bytes, bits) : [range6(bytes, bits)], isExact, isInside };
}

function sharesBits(one: number, other: number, bits: number): boolean {
  const mask = (0xff00 >> Math.min(Math.max(bits, 0), 8)) & 0xff;
  return (one & mask) === (other & mask);
}

// One range for each value of the byte in which the prefix ends, at most 256.
function ranges4(bytes: Uint8Array, bits: number): TextRange[] {
  const whole = Math.ceil(bits / 8);
  const count = 2 ** (whole * 8 - bits);
  const start = [...bytes.subarray(0, whole - 1)].map((byte) => `${byte}.`).join("");
  return Array.from({ length: count }, (_, index) => {
    const text = `${start}${(bytes[whole - 1] ?? 0) + index}`;
    return whole === 4 ? exactly(text) : beginningWith(`${text}.`);
  });
}

// An address may be written without its zero groups, so the range ends before the first of them.
function range6(bytes: Uint8Array, bits: number): TextRange {
  const given = textOf(bytes)
    .split(":")
    .slice(0, Math.floor(bits / 16));
  const zero = given.indexOf("0");
  return beginningWith((zero === -1 ? given : given.slice(0, zero)).map((group) => `${group}:`).join(""));
}

// The part of the text around the first of the words, cut at spaces where there are any.
export function excerptOf(text: string, searched: string): string {
  const plain = text.replaceAll(/\s+/g, " ");
  if (plain.length <= excerptCharacters) return plain;
  const word = searched
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .find((each) => each !== "");
  const at = Math.max(plain.toLowerCase().indexOf(word ?? ""), 0);
  const from = Math.max(at - excerptCharacters / 4, 0);
  const start = from === 0 ? 0 : Math.min(plain.indexOf(" ", from) + 1 || from, at);
  const cut = plain.slice(start, start + excerptCharacters);
  return `${start > 0 ? "…" : ""}${start + excerptCharacters < plain.length ? `${cut.replace(/\s\S*$/, "")}…` : cut}`.toWellFormed();
}

const reasonsSearchedMax = 10;

// What search finds a case by: the latest reasons that people gave, or null.
export function reasonsOf({ state_history: earlier, current_state: current }: CaseDocument): string | null {
  const standard: string[] = Object.values(defaultReasons);
  const given = [...earlier, current].filter(({ changed_by, reason }) => changed_by !== "system" && !standard.includes(reason));
  if (given.length === 0) return null;
  return given
    .slice(-reasonsSearchedMax)
    .map(({ reason }) => reason)
    .join("\n");
}
