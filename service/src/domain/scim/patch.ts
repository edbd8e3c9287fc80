import { Failure, type ScimType } from "../failure.ts";
import { characters, isStorable } from "../text.ts";
import { parsePath, type TargetPath } from "./filter.ts";
import { memberOf } from "./matching.ts";

// Changes of a SCIM resource (RFC 7644, section 3.5.2), as one list in which each entry names one attribute.
export type Change = { op: "add" | "replace" | "remove"; path: TargetPath; value: unknown };

export const changesMax = 1_000;

export function scimFault(scimType: ScimType, detail: string): Failure {
  return new Failure("bad-request", detail, { scimType });
}

// Microsoft Entra ID writes the names of the operations with a capital letter.
function readOp(text: unknown): Change["op"] {
  const op = typeof text === "string" ? text.toLowerCase() : "";
  if (op === "add" || op === "replace" || op === "remove") return op;
  throw scimFault("invalidSyntax", "An operation must be add, replace or remove.");
}

export function readChanges(body: object): Change[] {
  const operations = memberOf(body, "operations");
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimFault("invalidSyntax", "The body must have Operations, a list of at least one operation.");
  if (operations.length > changesMax) throw scimFault("tooMany", `A request can have at most ${changesMax} operations.`);
  const changes = operations.flatMap((each: unknown) => readOperation(each));
  if (changes.length > changesMax) throw scimFault("tooMany", `A request can set at most ${changesMax} attributes.`);
  return changes;
}

function readOperation(operation: unknown): Change[] {
  const op = readOp(memberOf(operation, "op"));
  const path = memberOf(operation, "path") ?? null;
  const value = memberOf(operation, "value") ?? null;
  if (path !== null && typeof path !== "string") throw scimFault("invalidPath", "A path must be a string.");
  if (path !== null && path !== "") return [{ op, path: parsePath(path), value }];
  if (op === "remove") throw scimFault("noTarget", "A remove operation must have a path.");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw scimFault("invalidValue", "Without a path, the value of an operation must be an object.");
  // Their names may be whole paths, such as name.givenName.
  return Object.entries(value).map(([name, each]) => ({ op, path: parsePath(name), value: each as unknown }));
}

// The members of a whole resource, as if each were set.
export function readMembers(body: object): Change[] {
  return Object.entries(body).map(([name, value]) => ({
    op: "replace",
    path: { name: name.toLowerCase(), sub: null, entries: null },
    value: value as unknown,
  }));
}

// Returns null for an attribute without a value.
export function readText(value: unknown, name: string, charactersMax: number): string | null {
  if (value === null || value === "") return null;
  if (typeof value !== "string" || !isStorable(value)) throw scimFault("invalidValue", `${name} must be a string.`);
  if (characters(value) > charactersMax)
    throw scimFault("invalidValue", `${name} must have at most ${charactersMax} characters.`);
  return value;
}

// Whether the last value for `active` is false.
export function isDisabling(changes: Change[]): boolean {
  const last = changes.findLast(({ path }) => path.name === "active");
  return last !== undefined && last.op !== "remove" && [false, "false"].includes(lowered(last.value));
}

function lowered(value: unknown): string | boolean {
  return typeof value === "string" ? value.toLowerCase() : value !== false;
}

// Microsoft Entra ID sends booleans as strings, unless it is configured otherwise.
export function readBoolean(value: unknown, name: string): boolean {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  if (text === false || text === "false") return false;
  throw scimFault("invalidValue", `${name} must be true or false.`);
}
