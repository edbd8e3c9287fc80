import type { FailureCode } from "../../domain/failure.ts";
import { problemMediaType, problems } from "../http/problem.ts";
import { scimMediaType } from "../http/scim-error.ts";

export type Json = { [name: string]: unknown };

export const Problem = {
  type: "object",
  description: "RFC 7807. Clients branch on `type`.",
  required: ["type", "title", "status", "detail", "errors"],
  properties: {
    type: { type: "string", enum: Object.keys(problems) },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    errors: {
      type: ["array", "null"],
      description: "One entry per invalid field. Only on 422.",
      items: {
        type: "object",
        required: ["field", "message"],
        properties: { field: { type: "string" }, message: { type: "string" } },
      },
    },
    current_version: { type: "integer", description: "Only on item-version-conflict." },
  },
};

const { status: _status, ...problemProperties } = Problem.properties;

export const ScimError = {
  type: "object",
  description: "An error of SCIM 2.0 (RFC 7644) with the members of a problem. `status` is a text, as SCIM requires.",
  required: ["schemas", ...Problem.required],
  properties: {
    schemas: { type: "array", items: { type: "string" } },
    status: { type: "string" },
    scimType: { type: "string" },
    ...problemProperties,
  },
};

export function headerOf(name: string, description: string): Json {
  return { [name]: { description, schema: { type: "string" } } };
}

export const requestIdHeader = headerOf(
  "X-Request-Id",
  "The id sent with the request if it is well formed, else a generated one.",
);

// Sent if the caller has reached a limit or is near one.
export const rateLimitHeaders = {
  ...headerOf("RateLimit-Policy", "The quotas that apply: `q` requests in `w` seconds, per client and per tenant."),
  ...headerOf(
    "RateLimit",
    "What is left of the quotas: `r` requests in the next `t` seconds. Sent once half of a quota is used.",
  ),
};

type More = { wantsKey?: boolean | undefined; schema?: Json | undefined };

// One response per status, each with the problem types that the operation can return with it.
export function problemResponses(codes: FailureCode[], more: More = {}): Json {
  const byStatus = Map.groupBy([...new Set(codes)], (code) => problems[code].status);
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, types]) => {
        const own = problemSchema(status, types);
        const schema = more.schema ? { allOf: [own, more.schema] } : own;
        const headers = { ...requestIdHeader, ...problemHeaders(status, more.wantsKey === true) };
        return [String(status), { description: types.join(", "), headers, content: { [problemMediaType]: { schema } } }];
      }),
  );
}

// The same for operations of SCIM.
export function scimErrorResponses(codes: FailureCode[]): Json {
  const answers = Object.entries(problemResponses(codes)).map(([status, response]) => {
    const types = [...new Set(codes)].filter((code) => problems[code].status === Number(status));
    const errors = { type: Number(status) === 422 ? "array" : "null" };
    const own = { type: "object", properties: { type: { enum: types }, status: { const: status }, errors } };
    const schema = { allOf: [{ $ref: "#/components/schemas/ScimError" }, own] };
    return [status, { ...Object(response), content: { [scimMediaType]: { schema } } }];
  });
  return Object.fromEntries(answers);
}

// Narrows `Problem`: `errors` has entries only on 422, and `current_version` is present only on a version conflict.
function problemSchema(status: number, types: FailureCode[]): Json {
  const conflict: FailureCode = "item-version-conflict";
  const others = types.filter((type) => type !== conflict);
  const kinds = [
    ...(others.length > 0 ? [narrowed(status, others, {}, false)] : []),
    ...(types.includes(conflict) ? [narrowed(status, [conflict], { required: ["current_version"] }, { type: "integer" })] : []),
  ];
  return kinds.length === 1 ? { ...kinds[0] } : { oneOf: kinds };
}

function narrowed(status: number, types: FailureCode[], more: Json, current_version: Json | false): Json {
  const errors = { type: status === 422 ? "array" : "null" };
  const properties = { type: { enum: types }, status: { const: status }, errors, current_version };
  return { allOf: [{ $ref: "#/components/schemas/Problem" }, { type: "object", ...more, properties }] };
}

function problemHeaders(status: number, wantsKey: boolean): Json {
  if (status === 401 || status === 403) return headerOf("WWW-Authenticate", "The challenge. On 403 only if a scope is missing.");
  if (status === 409 && wantsKey) return headerOf("Idempotent-Replayed", "`true` if this is a stored result.");
  if (status === 429) return { ...headerOf("Retry-After", "Seconds."), ...rateLimitHeaders };
  return status === 503 ? headerOf("Retry-After", "Seconds.") : {};
}
