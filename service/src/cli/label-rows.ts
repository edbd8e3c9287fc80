import type { NewLabel } from "@casehound/client";
import { clockToleranceMs } from "../domain/activity.ts";
import { characters, isStorable, parseTime } from "../domain/text.ts";
import { UsageFault } from "./command.ts";
import type { CsvRecord } from "../domain/csv.ts";

export const labelColumns = ["activity_id", "order_id", "fraudulent", "known_at"] as const;
type LabelColumn = (typeof labelColumns)[number];

// Reads --map: the file's own names of columns, as in "order_id=OrderRef,known_at=Date".
export function readMap(text: string | undefined): Partial<Record<LabelColumn, string>> {
  const pairs = (text === undefined || text === "" ? [] : text.split(",")).map((pair) => {
    const [name = "", ...rest] = pair.split("=");
    const column = labelColumns.find((each) => each === name.trim());
    const header = rest.join("=").trim();
    if (column === undefined || header === "")
      throw new UsageFault(`--map must be like order_id=OrderRef, with one of ${labelColumns.join(", ")}: ${pair}`);
    return [column, header] as const;
  });
  return Object.fromEntries(pairs);
}

type Parsed = { label: NewLabel } | { fault: string };

// Returns a function that turns a record into a label. The header must name the activity or the order. Without a column
// `fraudulent`, every record is a fraud, as in a file of chargebacks.
export function labelReader(
  { fields: header }: CsvRecord,
  { map, nowMs }: { map: Partial<Record<LabelColumn, string>>; nowMs: number },
): (record: CsvRecord) => Parsed {
  const names = header.map((name) => name.trim().toLowerCase());
  const placeOf = (column: LabelColumn): number => {
    const place = names.indexOf((map[column] ?? column).toLowerCase());
    if (place === -1 && map[column] !== undefined) throw new UsageFault(`the file has no column "${map[column]}"`);
    return place;
  };
  const [activity, order, fraudulent, known] = labelColumns.map(placeOf);
  if (activity === -1 && order === -1)
    throw new UsageFault("the file has no column activity_id or order_id: name the right one with --map");
  return ({ fields }) => {
    const at = (place = -1) => fields[place]?.trim() ?? "";
    if (fields.length !== header.length) return { fault: `has ${fields.length} fields instead of ${header.length}` };
    const id = at(activity) === "" ? { order_id: at(order) } : { activity_id: at(activity) };
    const idFault = faultOfId(id);
    if (idFault !== null) return { fault: idFault };
    const isFraud = fraudulent === -1 ? true : readFlag(at(fraudulent));
    if (isFraud === null) return { fault: `"${at(fraudulent)}" is neither true nor false` };
    if (known === -1 || at(known) === "") return { label: { ...id, fraudulent: isFraud } };
    const knownMs = readTime(at(known));
    if (knownMs === null) return { fault: `"${at(known)}" is not a time: use YYYY-MM-DD or YYYY-MM-DDTHH:mm:ssZ` };
    if (knownMs > nowMs + clockToleranceMs) return { fault: `${at(known)} is in the future` };
    return { label: { ...id, fraudulent: isFraud, known_at: new Date(knownMs).toISOString() } };
  };
}

function faultOfId({ activity_id, order_id }: { activity_id?: string; order_id?: string }): string | null {
  const [id, most] = activity_id === undefined ? [order_id ?? "", 128] : [activity_id, 64];
  if (id === "") return "names neither an activity nor an order";
  if (characters(id) > most) return `has an id of more than ${most} characters`;
  return isStorable(id) ? null : "has an id that cannot be stored";
}

// PostgreSQL exports booleans as t and f.
const flags = new Map([
  ...["true", "yes", "y", "t", "1"].map((text) => [text, true] as const),
  ...["false", "no", "n", "f", "0"].map((text) => [text, false] as const),
]);

export function readFlag(text: string): boolean | null {
  return flags.get(text.toLowerCase()) ?? null;
}

export function readTime(text: string): number | null {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return parseTime(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)) return null;
  const ms = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(ms) ? null : ms;
}
