import { hash } from "node:crypto";
import { parseJson } from "../api/http/json.ts";
import { validate, type Schema } from "../api/http/validate.ts";
import { Failure } from "../domain/failure.ts";
import { parseTime } from "../domain/text.ts";
import { PastActivity, pastFaults } from "../domain/history.ts";
import { isObject } from "../domain/raw-value.ts";
import { UsageFault } from "./command.ts";
import type { CsvRecord } from "../domain/csv.ts";
import { readFlag, readTime } from "./label-rows.ts";

// typebox builds JSON Schemas, which is what the validator reads.
const schema = PastActivity as unknown as Schema;
const instrumentMembers = ["instrument.type", "instrument.bin", "instrument.last4", "instrument.fingerprint"];
export const members = [
  ...Object.keys(PastActivity.properties).filter((name) => name !== "instrument" && name !== "attributes"),
  ...instrumentMembers,
];
const isMember = (name: string) => members.includes(name) || /^attributes\..+$/.test(name);

// Where the value of a member comes from: a column of the file, or a constant.
type Origin = { column: string } | { constant: string };
export type ColumnMap = Map<string, Origin>;

// Reads --map: the column or the constant for each member, as in "amount=Total,instrument.bin=Bin,type=:payment".
export function readColumnMap(texts: readonly string[]): ColumnMap {
  const pairs = texts.flatMap((text) => text.split(",")).filter((pair) => pair.trim() !== "");
  return new Map(
    pairs.map((pair): [string, Origin] => {
      const [name = "", ...rest] = pair.split("=");
      const member = name.trim();
      const value = rest.join("=").trim();
      if (!isMember(member) || value === "" || value === ":")
        throw new UsageFault(
          `--map must be like amount=Total, or like type=:payment for a constant, not ${pair}. Members: ${members.join(", ")}, attributes.<name>`,
        );
      return [member, value.startsWith(":") ? { constant: value.slice(1) } : { column: value }];
    }),
  );
}

export type ImportSettings = {
  slug: string;
  nowMs: number;
  // A fraud without a `known_at` counts as known after this many days.
  knownAfterDays: number;
};
export type Parsed = { past: PastActivity } | { fault: string };
type Reader<T> = (given: T) => Parsed;

// Returns a function that turns a line of JSON into an activity. If it has no id, the id is computed from the text of the line.
// So it is imported once, however often the file is read.
export function lineReader(settings: ImportSettings): Reader<string> {
  return (text) => {
    try {
      const parsed = parseJson(Buffer.from(text));
      return isObject(parsed) ? checked({ ...parsed }, text, settings) : { fault: "is not a JSON object" };
    } catch (error) {
      if (error instanceof Failure) return { fault: error.message };
      throw error;
    }
  };
}

// Returns a function that turns a record into an activity. A column that has the name of a member needs no map.
export function recordReader(
  { fields: header }: CsvRecord,
  { map, ...settings }: ImportSettings & { map: ColumnMap },
): Reader<CsvRecord> {
  const names = header.map((name) => name.trim().toLowerCase());
  const ofHeader = header.flatMap((name): [string, Origin][] => (isMember(name.trim()) ? [[name.trim(), { column: name }]] : []));
  const wanted = [...new Map([...ofHeader, ...map])].map(([member, origin]) => {
    if ("constant" in origin) return { member, valueOf: () => origin.constant };
    const place = names.indexOf(origin.column.trim().toLowerCase());
    if (place === -1) throw new UsageFault(`the file has no column "${origin.column}"`);
    return { member, valueOf: (fields: string[]) => fields[place]?.trim() ?? "" };
  });
  const has = (member: string) => wanted.some((each) => each.member === member);
  const missing = ["type", "occurred_at"].find((member) => !has(member));
  if (missing !== undefined)
    throw new UsageFault(
      `the file has no column ${missing}: name the right one with --map ${missing}=<column>${missing === "type" ? ", or use --map type=:payment" : ""}`,
    );
  return ({ fields }) => {
    if (fields.length !== header.length) return { fault: `has ${fields.length} fields instead of ${header.length}` };
    const draft: Draft = {};
    for (const { member, valueOf } of wanted) {
      const fault = put(draft, member, valueOf(fields));
      if (fault !== null) return { fault };
    }
    // If there is a date of a chargeback, there was a chargeback.
    if (!has("fraudulent") && draft["known_at"] !== undefined) draft["fraudulent"] = true;
    return checked(draft, JSON.stringify(fields), settings);
  };
}

type Draft = Record<string, unknown>;

// Sets a member from a cell, unless the cell is empty. Returns what is wrong with the cell, or null.
function put(draft: Draft, member: string, text: string): string | null {
  if (text === "") return null;
  const value = readValue(member, text);
  if (value === null) return `${member} "${text}" ${wordsOf(member)}`;
  const [outer = "", ...inner] = member.split(".");
  if (inner.length === 0) draft[outer] = value;
  else draft[outer] = { ...(isObject(draft[outer]) ? draft[outer] : {}), [inner.join(".")]: value };
  return null;
}

const numeric = /^-?(0|[1-9]\d*)(\.\d+)?$/;

function readValue(member: string, text: string): string | number | boolean | null {
  if (member === "amount") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null;
  if (member === "fraudulent") return readFlag(text);
  if (member === "occurred_at" || member === "known_at") return timeText(text);
  if (!member.startsWith("attributes.")) return text;
  if (text === "true" || text === "false") return text === "true";
  return numeric.test(text) && Number.isSafeInteger(Math.trunc(Number(text))) ? Number(text) : text;
}

function wordsOf(member: string): string {
  if (member === "amount") return "is not a number such as 12.50";
  if (member === "fraudulent") return "is neither true nor false";
  return "is not a time: use YYYY-MM-DD, YYYY-MM-DDTHH:mm:ssZ, or seconds or milliseconds since 1970";
}

// A time without a zone is in UTC.
function timeText(text: string): string | null {
  const ms = /^(\d{10}|\d{13})$/.test(text)
    ? Number(text) * (text.length === 10 ? 1_000 : 1)
    : (readTime(text) ?? readTime(`${text}Z`));
  return ms === null ? null : new Date(ms).toISOString();
}

const dayMs = 24 * 60 * 60 * 1000;

function checked(draft: Draft, content: string, { slug, nowMs, knownAfterDays }: ImportSettings): Parsed {
  draft["activity_id"] ??= `import-${hash("sha256", `${slug}\n${content}`, "hex").slice(0, 40)}`;
  try {
    validate(schema, draft);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { fault: wordsOfFaults(error.errors ?? []) };
  }
  // The schema has been checked.
  const past = draft as PastActivity;
  const faults = pastFaults(past, nowMs);
  if (faults.length > 0) return { fault: wordsOfFaults(faults) };
  if (past.fraudulent !== true || past.known_at !== undefined) return { past };
  const known = (parseTime(past.occurred_at) ?? 0) + knownAfterDays * dayMs;
  // A fraud of the last days is known as of now. The service sets that time itself.
  return known > nowMs ? { past } : { past: { ...past, known_at: new Date(known).toISOString() } };
}

function wordsOfFaults(faults: readonly { field: string; message: string }[]): string {
  return faults.map(({ field, message }) => `${field} ${message}`).join("; ");
}
