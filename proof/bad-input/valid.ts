import { randomUUID } from "node:crypto";
import type { DocumentOperation, Schema } from "./document.ts";
import { anyName } from "./document.ts";
import { bearer, json, type Request } from "./request.ts";
import type { World } from "./world.ts";

// Values that no schema can describe: texts with a meaning, and current versions.
const meant: Record<string, unknown> = {
  from: "2026-11-01",
  type: "login_failed",
  ip: "203.0.113.9",
  url: "https://crm.example/hook",
  time_zone: "Europe/Berlin",
  requires_second_factor: false,
  notification_details: "none",
  role: "investigator",
  extra_scopes: "groups",
  default_role: "investigator",
  currency: "EUR",
  bin: "411111",
  last4: "1111",
  lists: "in_policies",
};

// A body with every member of its schema: the document's example, with values of the right type for what it omits.
function wholeBody(schema: Schema, example: unknown, name = ""): unknown {
  if (schema["anyOf"] !== undefined) return example ?? wholeBody((schema["anyOf"] as Schema[])[0] ?? {}, undefined, name);
  if (schema["type"] === "object") {
    const given = (example ?? {}) as Record<string, unknown>;
    const members = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
    const own = members.map(([member, each]) => [member, wholeBody(each, given[member], member)]);
    const any = typeof schema["additionalProperties"] === "object" ? [[anyName, "a value"]] : [];
    return Object.fromEntries([...own, ...any]) as unknown;
  }
  if (schema["type"] === "array") {
    const items = schema["items"] as Schema;
    const [first] = (example ?? []) as unknown[];
    return [wholeBody(items, first, name)];
  }
  return example ?? plainValue(schema, name);
}

function plainValue(schema: Schema, name: string): unknown {
  if (Object.hasOwn(meant, name)) return meant[name];
  if (schema["enum"] !== undefined) return (schema["enum"] as unknown[])[0];
  switch (schema["type"]) {
    case "boolean":
      return false;
    case "integer":
    case "number":
      return Math.max(Number(schema["minimum"] ?? 1), 1);
    default:
      return schema["format"] === "date-time" ? new Date().toISOString() : "a text";
  }
}

// A valid request for the operation, with ids that exist in the world.
export function validRequest(operation: DocumentOperation, world: World): { request: Request; body: unknown } {
  const { method, path, body, parameters } = operation;
  const params = Object.fromEntries(
    parameters.filter((each) => each.in === "path").map(({ name }) => [name, world.ids[name] ?? "absent"]),
  );
  const headers: [string, string][] = operation.isOfTenant ? [bearer(world.token)] : [];
  if (parameters.some((each) => each.name === "Idempotency-Key")) headers.push(["Idempotency-Key", randomUUID()]);
  // A stream ends by itself only with `wait=0`.
  const query: [string, string][] = operation.id === "streamEvents" ? [["wait", "0"]] : [];
  const request: Request = { method, path, params, query, headers };
  if (!body) return { request, body: undefined };
  if (body.isForm) {
    const { client_id, client_secret } = world.credentials;
    const form = { grant_type: "client_credentials", client_id, client_secret, scope: "read:cases" };
    return { request: withForm(request, form), body: form };
  }
  const whole = adapted(wholeBody(body.schema, body.example), world);
  return { request: withJson(request, whole), body: whole };
}

// A label names an activity or an order.
function withoutOrder({ order_id: _order, ...label }: { order_id?: string }) {
  return label;
}

// For members that exclude each other, or that must name something that exists.
function without(whole: object, ...members: string[]): unknown {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !members.includes(name)));
}

const ofOneCase = ["members", "occurrence_ids", "snooze", "account", "list_entries"];

// The ids and versions of the example do not exist.
function adapted(whole: unknown, world: World): unknown {
  if (typeof whole !== "object" || whole === null) return whole;
  // Resends all failed deliveries, because no event was ever sent.
  if ("event_id" in whole) return {};
  // Only one view can have a key.
  if ("filter" in whole && "key" in whole) return without(whole, "key");
  if ("score_2" in whole && "cases_per_day" in whole) return without(whole, "cases_per_day");
  if ("status" in whole && "members" in whole) return without(whole, "own_disposition", ...ofOneCase);
  if ("pace" in whole && "views" in whole) return { ...whole, views: [world.ids["view_id"]] };
  // Only chat messages can be limited to a view.
  if ("url" in whole && "view_id" in whole) return without(whole, "view_id");
  // What a directory sends is checked by the rules of SCIM, not by the schema.
  if ("userName" in whole) return without(whole, "name", "emails", "active", anyName);
  if ("rows" in whole) return { ...whole, rows: (whole.rows as object[]).map((row) => ({ ...row, min_score: 1, max_score: 5 })) };
  if ("labels" in whole) return { labels: (whole.labels as { order_id?: string }[]).map(withoutOrder) };
  if ("entries" in whole && Array.isArray(whole.entries)) {
    const entries = (whole.entries as object[]).map((entry) => ({ ...entry, from_case_id: world.caseIds[0] }));
    return { entries };
  }
  if (!("cases" in whole)) return whole;
  const plain = without(whole, "own_disposition", "website_account_id", ...ofOneCase) as object;
  return { ...plain, cases: [{ case_id: world.caseIds[1], case_version: 1 }] };
}

export function withJson(request: Request, body: unknown): Request {
  return withBody(request, JSON.stringify(body));
}

export function withBody(request: Request, text: string | Buffer): Request {
  const headers = [...request.headers.filter(([name]) => name !== json[0]), json];
  return { ...request, headers, body: Buffer.from(text) };
}

export function withForm(request: Request, form: Record<string, unknown>): Request {
  const text = Object.entries(form).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const others = request.headers.filter(([name]) => name !== json[0]);
  const headers: Request["headers"] = [...others, [json[0], "application/x-www-form-urlencoded"]];
  return { ...request, headers, body: Buffer.from(text.join("&")) };
}
