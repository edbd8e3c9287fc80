import type { AttributePath, Filter, Literal, Operator } from "./filter.ts";

// Evaluates a filter on a resource as it is shown. Nothing of a filter ever becomes part of a statement of the database.

// SCIM compares these exactly, and all other texts without regard to case.
const exactNames = new Set(["id", "externalid"]);

export function matches(filter: Filter, resource: unknown): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.every((part) => matches(part, resource));
    case "or":
      return filter.parts.some((part) => matches(part, resource));
    case "not":
      return !matches(filter.part, resource);
    case "entry":
      return entriesOf(memberOf(resource, filter.path.name)).some((entry) => matches(filter.part, entry));
    case "present":
      return valuesAt(resource, filter.path).some((value) => value !== "" && value !== null);
    default:
      return compareAny(valuesAt(resource, filter.path), filter);
  }
}

// The attribute that each comparison of a filter reads.
export function namesIn(filter: Filter): string[] {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.parts.flatMap(namesIn);
    case "not":
      return namesIn(filter.part);
    case "entry":
      return namesIn(filter.part).map(() => filter.path.name);
    default:
      return [filter.path.name];
  }
}

// Looks a member up by its name in lower case. Only own members count, so a name such as `constructor` finds nothing.
export function memberOf(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null || Array.isArray(holder)) return undefined;
  return Object.entries(holder).find(([each]) => each.toLowerCase() === name)?.[1];
}

export function entriesOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

// Without a member, a list of objects is compared by their `value`.
function valuesAt(resource: unknown, { name, sub }: AttributePath): unknown[] {
  const entries = entriesOf(memberOf(resource, name));
  const values = entries.map((entry) => {
    const isObject = typeof entry === "object" && entry !== null;
    return isObject ? memberOf(entry, sub ?? "value") : sub === null ? entry : undefined;
  });
  return values.filter((value) => value !== undefined);
}

type Comparison = { path: AttributePath; operator: Operator; value: Literal };

function compareAny(values: unknown[], { path, operator, value }: Comparison): boolean {
  if (value === null) return (values.length === 0) === (operator === "eq");
  // A negation is true if no value is equal, so that it also holds without any value.
  if (operator === "ne") return !compareAny(values, { path, operator: "eq", value });
  const isExact = exactNames.has(path.sub ?? path.name);
  return values.some((each) => compareOne(each, operator, value, isExact));
}

function compareOne(found: unknown, operator: Operator, wanted: Literal, isExact: boolean): boolean {
  // Microsoft Entra ID writes booleans as strings.
  if (typeof found === "boolean") return operator === "eq" && String(found) === String(wanted).toLowerCase();
  if (typeof found === "number" || typeof wanted !== "string" || typeof found !== "string")
    return operator === "eq" && found === wanted;
  const [one, other] = isExact ? [found, wanted] : [found.toLowerCase(), wanted.toLowerCase()];
  return compareTexts(one, operator, other);
}

function compareTexts(one: string, operator: Operator, other: string): boolean {
  switch (operator) {
    case "eq":
    case "ne":
      return (one === other) === (operator === "eq");
    case "co":
      return one.includes(other);
    case "sw":
      return one.startsWith(other);
    case "ew":
      return one.endsWith(other);
    case "gt":
      return one > other;
    case "ge":
      return one >= other;
    case "lt":
      return one < other;
    default:
      return one <= other;
  }
}
