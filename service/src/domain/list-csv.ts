import { Type, type Static } from "typebox";
import { CsvFault, csvRecords, formula, type CsvRecord } from "./csv.ts";
import { characters, firstCharacters, isStorable, parseTime } from "./text.ts";
import { EntriesChanged, entryFaults, reasonCharactersMax, type ListType, type NewEntry } from "./list.ts";

export const csvCharactersMax = 1_000_000;
const refusalsShownMax = 100;
const valueCharactersShown = 100;

export const CsvImport = Type.Object(
  {
    csv: Type.String({
      minLength: 1,
      maxLength: csvCharactersMax,
      description:
        "The first line names the columns: `value`, and optionally `expires_at` and `reason`. Others are ignored. A single column needs no header. Send a larger file in parts, each with the first line.",
    }),
    first_line: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000_000,
        description: "The line of the file on which the part's first record is, so that refusals name the right line.",
      }),
    ),
  },
  { additionalProperties: false, $id: "ListCsvImport" },
);
export type CsvImport = Static<typeof CsvImport>;

export const CsvImportResult = Type.Object(
  {
    ...EntriesChanged.properties,
    refused: Type.Integer({ description: "Records that are not on the list, because something is wrong with them." }),
    reasons: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() }, { additionalProperties: false }), {
      description: "Why records were refused, most frequent first.",
    }),
    refusals: Type.Array(
      Type.Object({ line: Type.Integer(), value: Type.String(), reason: Type.String() }, { additionalProperties: false }),
      { description: `The first ${refusalsShownMax} refused records.` },
    ),
  },
  { additionalProperties: false, $id: "ListCsvImportResult" },
);
export type CsvImportResult = Static<typeof CsvImportResult>;

type Refusals = Pick<CsvImportResult, "refused" | "reasons" | "refusals">;
export type ReadCsv = { entries: NewEntry[] } & Refusals;

const dayForm = /^\d{4}-\d\d-\d\d$/;

function textOfCell(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

// Returns the names of the columns, or null if the first line is a value already. Throws CsvFault.
export function columnsOf({ fields }: CsvRecord): string[] | null {
  const names = fields.map((name) => name.trim().toLowerCase());
  if (names.includes("value")) return names;
  if (names.length > 1) throw new CsvFault("line 1: there is no column named value");
  return null;
}

// Reads the entries of a file. Throws CsvFault if it is not CSV, or if its first line does not name the column `value`.
export function readEntries(type: ListType, { csv, first_line }: CsvImport, nowMs: number): ReadCsv {
  const [header, ...rest] = csvRecords(csv);
  if (!header) throw new CsvFault("line 1: the header is missing");
  const names = columnsOf(header);
  const records = names ? rest : [header, ...rest];
  const offset = first_line === undefined ? 0 : first_line - (records[0]?.line ?? 1);
  const counts = new Map<string, number>();
  const refusals: Refusals["refusals"] = [];
  const entries: NewEntry[] = [];
  for (const record of records) {
    const entry = entryOf(record, names ?? ["value"]);
    const reason = reasonAgainst(type, entry, nowMs);
    if (reason === null) entries.push(withTime(entry));
    else {
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      const value = firstCharacters(entry.value, valueCharactersShown).toWellFormed();
      if (refusals.length < refusalsShownMax) refusals.push({ line: record.line + offset, value, reason });
    }
  }
  const reasons = [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count);
  return { entries, refused: records.length - entries.length, reasons, refusals };
}

// A day stands for its beginning in UTC.
export function expiryOf(given: string): string {
  return dayForm.test(given) ? `${given}T00:00:00.000Z` : given;
}

function entryOf({ fields }: CsvRecord, names: string[]): NewEntry {
  const cell = (name: string) => textOfCell(fields[names.indexOf(name)] ?? "");
  const [expires_at, reason] = [cell("expires_at").trim(), cell("reason")];
  return {
    // Spaces around a value come from spreadsheets. No value needs them.
    value: cell("value").trim(),
    ...(expires_at !== "" && { expires_at: expiryOf(expires_at) }),
    ...(reason !== "" && { reason }),
  };
}

// The reasons are sentences without the value, so that the same fault counts as one reason.
function reasonAgainst(type: ListType, entry: NewEntry, nowMs: number): string | null {
  const { expires_at, reason = "" } = entry;
  if (expires_at !== undefined && parseTime(expires_at) === null)
    return "expires_at must be a day such as 2026-12-31, or a UTC time such as 2026-12-31T12:00:00.000Z";
  if (characters(reason) > reasonCharactersMax || !isStorable(reason))
    return `reason must have at most ${reasonCharactersMax} characters`;
  const [fault] = entryFaults(type, entry, nowMs);
  return fault ? `${fault.field} ${fault.message.replace(/; the block is .*$/, "")}` : null;
}

function withTime(entry: NewEntry): NewEntry {
  const ms = entry.expires_at === undefined ? null : parseTime(entry.expires_at);
  return ms === null ? entry : { ...entry, expires_at: new Date(ms).toISOString() };
}
