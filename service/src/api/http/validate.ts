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

// A schema, prepared for checking. Schemas differ in their members, which makes reading them slow, so all rules have the same
// members. Patterns are compiled once.
type Rule = {
  kind: string;
  type: string | undefined;
  values: unknown[] | null;
  not: RegExp | null;
  anyOf: Rule[] | null;
  members: Map<string, Rule>;
  required: string[];
  others: Rule | null;
  names: Rule | null;
  membersMax: number;
  items: Rule | null;
  itemsMin: number;
  itemsMax: number;
  charactersMin: number;
  charactersMax: number;
  minimum: number;
  maximum: number;
  pattern: RegExp | null;
  format: Format | null;
};

const rules = new WeakMap<Schema, Rule>();

function ruleOf(schema: Schema): Rule {
  const known = rules.get(schema);
  if (known) return known;
  const { additionalProperties: others } = schema;
  const rule: Rule = {
    kind: kindOf(schema),
    type: schema.type,
    values: schema.enum ?? null,
    not: schema.not ? new RegExp(schema.not.pattern, "u") : null,
    anyOf: schema.anyOf?.map(ruleOf) ?? null,
    members: new Map(Object.entries(schema.properties ?? {}).map(([name, member]) => [name, ruleOf(member)])),
    required: schema.required ?? [],
    others: typeof others === "object" ? ruleOf(others) : null,
    names: schema.propertyNames ? ruleOf(schema.propertyNames) : null,
    membersMax: schema.maxProperties ?? Infinity,
    items: schema.items ? ruleOf(schema.items) : null,
    itemsMin: schema.minItems ?? 0,
    itemsMax: schema.maxItems ?? Infinity,
    charactersMin: schema.minLength ?? 0,
    charactersMax: schema.maxLength ?? Infinity,
    minimum: schema.minimum ?? -Infinity,
    maximum: schema.maximum ?? Infinity,
    pattern: schema.pattern === undefined ? null : new RegExp(schema.pattern, "u"),
    format: formats[schema.format ?? ""] ?? null,
  };
  rules.set(schema, rule);
  return rule;
}

export function validate(schema: Schema, body: unknown, more?: (body: never) => FieldError[]): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid([{ field: "body", message: "must be a JSON object" }]);
  }
  const faults: FieldError[] = [];
  // `more` runs before the schema check, so it may only assume that the body is an object.
  const further = new Map((more?.(body as never) ?? []).map((fault) => [fault.field, fault]));
  checkObject(ruleOf(schema), membersOf(body), null, faults, { names: memberNames(body), further });
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
  return faultBy(ruleOf(schema), value);
}

function faultBy(rule: Rule, value: unknown): string | null {
  if (rule.anyOf) return anyFault(rule.anyOf, value);
  if (rule.values) return rule.values.includes(value) ? null : `must be one of ${rule.values.join(", ")}`;
  switch (rule.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "null":
      return value === null ? null : "must be null";
    case "integer":
    case "number":
      return numberFault(rule, value);
    case "string":
      return stringFault(rule, value);
    default:
      return null;
  }
}

function anyFault(anyOf: Rule[], value: unknown): string | null {
  const faults = anyOf.map((each) => faultBy(each, value));
  if (faults.includes(null)) return null;
  const kind = anyOf.findIndex((each) => each.kind === kindOf(value));
  return faults[kind] ?? `must be ${anyOf.map((each) => describe(each)).join(" or ")}`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun.replace(/y$/, "ie")}s`;
}

function kindOf(value: unknown): string {
  if (typeof value === "object" && value !== null && "type" in value)
    return String(value.type) === "integer" ? "number" : String(value.type);
  return value === null ? "null" : typeof value;
}

function describe({ type }: Rule): string {
  if (type === "boolean") return "true or false";
  return type === "null" ? "null" : `a ${type}`;
}

function numberFault({ type, minimum, maximum }: Rule, value: unknown): string | null {
  const isInteger = type === "integer";
  if (typeof value !== "number" || !Number.isFinite(value) || (isInteger && !Number.isInteger(value)))
    return `must be ${isInteger ? "an integer" : "a number"}`;
  if (value < minimum) return `must be ${minimum} or more`;
  if (value > maximum) return `must be ${maximum} or less`;
  if (isInteger && !Number.isSafeInteger(value))
    return `must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
  return null;
}

type Format = { test: (text: string) => boolean; message: string };

const formats: Record<string, Format> = {
  "date-time": { test: (text) => parseTime(text) !== null, message: "must be a UTC time in the form YYYY-MM-DDTHH:mm:ss.sssZ" },
  date: { test: (text) => parseTime(`${text}T00:00:00Z`) !== null, message: "must be a date in the form YYYY-MM-DD" },
  ip: { test: (text) => isIP(text) !== 0, message: "must be an IPv4 or IPv6 address" },
};

function stringFault({ not, charactersMin, charactersMax, pattern, format }: Rule, value: unknown): string | null {
  if (typeof value !== "string") return "must be a string";
  if (not?.test(value) === true) return `must not be ${value}, which is reserved`;
  if (!isStorable(value)) return "must not contain U+0000 or a lone surrogate";
  // A character has one or two UTF-16 units, so the unit count usually settles the length without counting characters.
  const isClear = value.length >= 2 * charactersMin && value.length <= charactersMax;
  const length = isClear ? value.length : characters(value);
  if (length < charactersMin) return `must have at least ${counted(charactersMin, "character")}`;
  if (length > charactersMax) return `must have at most ${counted(charactersMax, "character")}`;
  if (pattern?.test(value) === false) return "is not an allowed value or format";
  return format?.test(value) === false ? format.message : null;
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

function check(rule: Rule, value: unknown, place: ValuePath, faults: FieldError[]): void {
  if (faults.length >= faultsMax) return;
  if (rule.type === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      faults.push({ field: wordsOf(place), message: "must be a JSON object" });
    else checkObject(rule, membersOf(value), place, faults);
    return;
  }
  if (rule.type === "array") return checkArray(rule, value, place, faults);
  const isInexact = rule.type === "integer" && isRounded(place.holder, place.name);
  const message = isInexact ? "must be an integer" : faultBy(rule, value);
  if (message !== null) faults.push({ field: wordsOf(place), message });
}

function checkArray(rule: Rule, value: unknown, place: ValuePath, faults: FieldError[]): void {
  const refuse = (message: string) => void faults.push({ field: wordsOf(place), message });
  if (!Array.isArray(value)) return refuse("must be an array");
  const { items, itemsMin, itemsMax } = rule;
  if (value.length < itemsMin) return refuse(`must have at least ${counted(itemsMin, "entry")}`);
  if (value.length > itemsMax) return refuse(`must have at most ${counted(itemsMax, "entry")}`);
  if (items) value.forEach((item: unknown, index) => check(items, item, { within: place, holder: value, name: index }, faults));
}

// For the body itself: its member names in the order sent, and the faults found beyond the schema.
type Outermost = { names: string[]; further: Map<string, FieldError> };

function checkObject(
  rule: Rule,
  value: Record<string, unknown>,
  place: ValuePath | null,
  faults: FieldError[],
  outermost?: Outermost,
): void {
  const names = outermost?.names ?? Object.keys(value);
  if (names.length > rule.membersMax) {
    faults.push({ field: place === null ? "" : wordsOf(place), message: `must have at most ${rule.membersMax} members` });
    return;
  }
  for (const name of names) {
    const before = faults.length;
    checkMember(rule, { within: place, holder: value, name }, value[name], faults);
    const fault = outermost?.further.get(name);
    if (fault && faults.length === before) faults.push(fault);
  }
  for (const name of rule.required) {
    if (!Object.hasOwn(value, name)) faults.push({ field: wordsOf({ within: place, name }), message: "is required" });
  }
}

function checkMember(rule: Rule, place: ValuePath & { name: string }, value: unknown, faults: FieldError[]): void {
  const { name } = place;
  const known = rule.members.get(name);
  if (known) check(known, value, place, faults);
  else if (rule.others) {
    const message = rule.names ? faultBy(rule.names, name) : null;
    if (message !== null) faults.push({ field: wordsOf(place), message: `has a name that ${message}` });
    else check(rule.others, value, place, faults);
  } else if (faults.length < faultsMax) faults.push({ field: wordsOf(place), message: "is not a member that can be set" });
}
