import { askAll, type Asked, type Context } from "./context.ts";
import type { DocumentOperation, Path, Schema } from "./document.ts";
import { bytesOf, type Request } from "./request.ts";
import { validRequest, withJson } from "./valid.ts";

const kind = "a valid request";

// A service that rejected everything would pass the rest of this part, so valid requests must be accepted. They have effects, so
// they go to a separate tenant, and those that delete things come last.
export async function sendValid(context: Context): Promise<void> {
  const { operations, spare } = context;
  const those = operations.filter((each) => each.isOfTenant && each.id !== "streamEvents");
  for (const some of [those.filter((each) => !takesAway(each)), those.filter(takesAway)]) {
    await askAll(
      context,
      kind,
      some.flatMap((operation) =>
        variantsOf(operation, validRequest(operation, spare)).map((request) => toAsked(operation, request)),
      ),
    );
  }
}

function takesAway({ method }: DocumentOperation): boolean {
  return method === "DELETE";
}

function toAsked(operation: DocumentOperation, request: Request): Asked {
  const judge = ({ status }: { status: number }) => (isTaken(operation, status) ? null : `expected ${operation.success}`);
  return { bytes: bytesOf(request), about: operation.id, judge };
}

// A conflict is detected only after the request itself has been validated. Few backtests may be pending at once.
function isTaken(operation: DocumentOperation, status: number): boolean {
  // Clients can neither request approval nor approve.
  const isForPeople = ["requestApproval", "decideApproval"].includes(operation.id) && status === 403;
  // A tenant has few tokens for directories.
  const isFull = operation.id === "createScimToken" && status === 422;
  return (
    isForPeople ||
    isFull ||
    status === operation.success ||
    status === 409 ||
    (operation.id === "createBacktest" && status === 429)
  );
}

// Texts with a meaning and numbers that depend on each other have no other valid value that a schema could describe.
const meaningful = new Set([
  "expression",
  "sentence",
  "email",
  "from",
  "allowed_origins",
  "case_id",
  "handed_to",
  "score_2",
  "score_3",
  "score_4",
  "score_5",
  "cases_per_day",
  "members",
  "occurrence_ids",
  "snooze",
  "account",
  "list_entries",
  "own_disposition",
  "occurred_at",
  "is_disabled",
  "url",
  "issuer",
  "event_id",
  "order_id",
  "time_zone",
  "type",
  "value",
  "values",
  "csv",
  "from_case_id",
  "views",
  "details",
  "view_id",
]);
const parametersOfMeaning = new Set(["cursor", "filter", "start_date", "end_date", "case_ids", "types", "wait"]);

function variantsOf(operation: DocumentOperation, { request, body }: { request: Request; body: unknown }): Request[] {
  const parameters = operation.parameters.filter((each) => each.in === "query" && !parametersOfMeaning.has(each.name));
  const queried = parameters.flatMap(({ name, schema }) =>
    validValues(schema).map((value): Request => ({ ...request, query: [[name, encodeURIComponent(String(value))]] })),
  );
  // Instead of cases, which the body already has.
  const isRequest = ["checkApproval", "requestApproval"].includes(operation.id);
  const bodies = operation.body
    ? placesOf(operation.body.schema, [])
        .filter(({ path }) => !(isRequest && path[0] === "website_account_id"))
        .flatMap(({ path, schema }) => bodiesWith(body, path, schema))
    : [];
  return [request, ...queried, ...bodies.map((each) => withJson(request, each))];
}

type SchemaPosition = { path: Path; schema: Schema };

function placesOf(schema: Schema, path: Path): SchemaPosition[] {
  const members = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).filter(
    ([name]) => !meaningful.has(name),
  );
  const items = schema["items"] === undefined ? [] : placesOf(schema["items"] as Schema, [...path, 0]);
  return [{ path, schema }, ...members.flatMap(([name, member]) => placesOf(member, [...path, name])), ...items];
}

function bodiesWith(body: unknown, path: Path, schema: Schema): unknown[] {
  return validValues(schema).map((value) => replaceAt(body, path, value));
}

function replaceAt(value: unknown, path: Path, changed: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return changed;
  if (Array.isArray(value)) return value.map((each: unknown, index) => (index === step ? replaceAt(each, rest, changed) : each));
  const members = value as Record<string, unknown>;
  const others = step === "status" ? { ...members, disposition: undefined } : members;
  return { ...others, [step]: replaceAt(members[step], rest, changed) };
}

// Values at the very limits that the schema allows.
function validValues(schema: Schema): unknown[] {
  if (schema["anyOf"] !== undefined) return (schema["anyOf"] as Schema[]).flatMap(validValues);
  if (schema["enum"] !== undefined) return schema["enum"] as unknown[];
  if (schema["pattern"] !== undefined || schema["format"] !== undefined) return [];
  const edges = (...names: string[]) => names.filter((name) => schema[name] !== undefined).map((name) => Number(schema[name]));
  switch (schema["type"]) {
    case "boolean":
      return [true, false];
    case "null":
      return [null];
    case "integer":
    case "number":
      return edges("minimum", "maximum").filter((value) => Math.abs(value) < 1e15);
    case "string":
      return edges("minLength", "maxLength").flatMap((length) => ["é".repeat(length), "😀".repeat(length)]);
    default:
      return [];
  }
}
