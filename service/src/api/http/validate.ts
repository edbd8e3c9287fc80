import { isIP } from "node:net";
import { Failure, type FieldError } from "../../domain/failure.ts";
import { isRounded, memberNames } from "./json.ts";
import { characters, firstCharacters, isStorable, parseTime } from "../../domain/text.ts";

// Checks a value against the JSON Schemas of the resources. It reports all faults at once, in the order of the body, under plain
// member names. It does not coerce types, it counts lengths in characters, and it rejects strings that the database could not
// return unchanged.
export type Schema = {
  type?: string;
  enum?: unknown[];
  not?: { pattern: string };
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
};

const faultsMax = 1000;
const nameCharactersShown = 100;

export function validate(schema: Schema, body: unknown, more?: (body: never) => FieldError[]): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid([{ field: "body", message: "must be a JSON object" }]);
  }
  const faults: FieldError[] = [];
  // `more` runs before the schema check, so it may only assume that the body is an object.
  const further = new Map((more?.(body as never) ?? []).map((fault) => [fault.field, fault]));
  checkObject(schema, membersOf(body), null, faults, { names: memberNames(body), further });
  if (faults.length > 0) throw invalid(faults);
}

export function invalid(errors: FieldError[]): Failure {
  const named = errors.slice(0, 5).map((each) => each.field);
  const more = errors.length > named.length ? `, and ${errors.length - named.length} more` : "";
  return new Failure("validation-error", `The body failed validation: ${named.join(", ")}${more}.`, {
    errors: errors.slice(0, faultsMax),
  });
}

// Returns what is wrong with a value that has no members of its own, or null if it is valid.
export function faultOf(schema: Schema, value: unknown): string | null {
  if (schema.anyOf) {
    const faults = schema.anyOf.map((each) => faultOf(each, value));
    if (faults.includes(null)) return null;
    const kind = schema.anyOf.find((each) => kindOf(each) === kindOf(value));
    const own = kind && faultOf(kind, value);
    return own ?? `must be ${schema.anyOf.map((each) => describe(each)).join(" or ")}`;
  }
  if (schema.enum) return schema.enum.includes(value) ? null : `must be one of ${schema.enum.join(", ")}`;
  switch (schema.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "null":
      return value === null ? null : "must be null";
    case "integer":
    case "number":
      return numberFault(schema, value);
    case "string":
      return stringFault(schema, value);
    default:
      return null;
  }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun.replace(/y$/, "ie")}s`;
}

function kindOf(value: unknown): string {
  if (typeof value === "object" && value !== null && "type" in value)
    return String(value.type) === "integer" ? "number" : String(value.type);
  return value === null ? "null" : typeof value;
}

function describe(schema: Schema): string {
  if (schema.type === "boolean") return "true or false";
  return schema.type === "null" ? "null" : `a ${schema.type}`;
}

function numberFault(schema: Schema, value: unknown): string | null {
  const noun = schema.type === "integer" ? "an integer" : "a number";
  if (typeof value !== "number" || !Number.isFinite(value)) return `must be ${noun}`;
  if (schema.type === "integer" && !Number.isInteger(value)) return `must be ${noun}`;
  if (schema.minimum !== undefined && value < schema.minimum) return `must be ${schema.minimum} or more`;
  if (schema.maximum !== undefined && value > schema.maximum) return `must be ${schema.maximum} or less`;
  if (schema.type === "integer" && !Number.isSafeInteger(value))
    return `must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
  return null;
}

const formats: Record<string, { test: (text: string) => boolean; message: string }> = {
  "date-time": { test: (text) => parseTime(text) !== null, message: "must be a UTC time in the form YYYY-MM-DDTHH:mm:ss.sssZ" },
  date: { test: (text) => parseTime(`${text}T00:00:00Z`) !== null, message: "must be a date in the form YYYY-MM-DD" },
  ip: { test: (text) => isIP(text) !== 0, message: "must be an IPv4 or IPv6 address" },
};

const patterns = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let compiled = patterns.get(pattern);
  if (!compiled) patterns.set(pattern, (compiled = new RegExp(pattern, "u")));
  return compiled.test(text);
}

function stringFault(schema: Schema, value: unknown): string | null {
  if (typeof value !== "string") return "must be a string";
  if (schema.not && matches(schema.not.pattern, value)) return `must not be ${value}, which is reserved`;
  if (!isStorable(value)) return "must not contain U+0000 or a lone surrogate";
  // A character has one or two UTF-16 units, so the unit count usually settles the length without counting characters.
  const { minLength = 0, maxLength = Infinity } = schema;
  const isClear = value.length >= 2 * minLength && value.length <= maxLength;
  const length = isClear ? value.length : characters(value);
  if (schema.minLength !== undefined && length < schema.minLength)
    return `must have at least ${counted(schema.minLength, "character")}`;
  if (schema.maxLength !== undefined && length > schema.maxLength)
    return `must have at most ${counted(schema.maxLength, "character")}`;
  if (schema.pattern !== undefined && !matches(schema.pattern, value)) return "is not an allowed value or format";
  const format = schema.format === undefined ? undefined : formats[schema.format];
  return format && !format.test(value) ? format.message : null;
}

// Where a value is in the body. Its name is built only for a fault, because a valid body can have thousands of members.
type ValuePath = { within: ValuePath | null; holder: object; name: string | number };

function wordsOf({ within, name }: Omit<ValuePath, "holder">): string {
  const outer = within === null ? "" : wordsOf(within);
  if (typeof name === "number") return `${outer}[${name}]`;
  return outer === "" ? shownName(name) : `${outer}.${shownName(name)}`;
}

// The response repeats a name that the caller chose, so it is cut short and made well formed.
function shownName(name: string): string {
  return firstCharacters(name.toWellFormed(), nameCharactersShown);
}

// Any object can be read as named members of unknown type.
function membersOf(value: object): Record<string, unknown> {
  return value as Record<string, unknown>;
}

function check(schema: Schema, value: unknown, place: ValuePath, faults: FieldError[]): void {
  if (faults.length >= faultsMax) return;
  if (schema.type === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      faults.push({ field: wordsOf(place), message: "must be a JSON object" });
    else checkObject(schema, membersOf(value), place, faults);
    return;
  }
  if (schema.type === "array") return checkArray(schema, value, place, faults);
  const isInexact = schema.type === "integer" && isRounded(place.holder, place.name);
  const message = isInexact ? "must be an integer" : faultOf(schema, value);
  if (message !== null) faults.push({ field: wordsOf(place), message });
}

function checkArray(schema: Schema, value: unknown, place: ValuePath, faults: FieldError[]): void {
  const refuse = (message: string) => void faults.push({ field: wordsOf(place), message });
  if (!Array.isArray(value)) return refuse("must be an array");
  if (value.length < (schema.minItems ?? 0)) return refuse(`must have at least ${counted(schema.minItems ?? 0, "entry")}`);
  if (value.length > (schema.maxItems ?? Infinity)) return refuse(`must have at most ${counted(schema.maxItems ?? 0, "entry")}`);
  const { items } = schema;
  if (items) value.forEach((item: unknown, index) => check(items, item, { within: place, holder: value, name: index }, faults));
}

// For the body itself: its member names in the order sent, and the faults found beyond the schema.
type Outermost = { names: string[]; further: Map<string, FieldError> };

function checkObject(
  schema: Schema,
  value: Record<string, unknown>,
  place: ValuePath | null,
  faults: FieldError[],
  outermost?: Outermost,
): void {
  const names = outermost?.names ?? Object.keys(value);
  if (names.length > (schema.maxProperties ?? Infinity)) {
    faults.push({ field: place === null ? "" : wordsOf(place), message: `must have at most ${schema.maxProperties} members` });
    return;
  }
  for (const name of names) {
    const before = faults.length;
    checkMember(schema, { within: place, holder: value, name }, value[name], faults);
    const fault = outermost?.further.get(name);
    if (fault && faults.length === before) faults.push(fault);
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) faults.push({ field: wordsOf({ within: place, name }), message: "is required" });
  }
}

function checkMember(schema: Schema, place: ValuePath & { name: string }, value: unknown, faults: FieldError[]): void {
  const { name } = place;
  const known = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
  if (known) check(known, value, place, faults);
  else if (typeof schema.additionalProperties === "object") {
    const message = schema.propertyNames ? faultOf(schema.propertyNames, name) : null;
    if (message !== null) faults.push({ field: wordsOf(place), message: `has a name that ${message}` });
    else check(schema.additionalProperties, value, place, faults);
  } else if (faults.length < faultsMax) faults.push({ field: wordsOf(place), message: "is not a member that can be set" });
}
