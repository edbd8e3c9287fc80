import type { FailureCode } from "../domain/failure.ts";
import { scopes } from "../domain/scope.ts";
import { tokenLifeSeconds, tokenPath } from "./issuer.ts";
import type { Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { problemMediaType, problems } from "./problem.ts";

type Json = { [name: string]: unknown };

export const version = "0.1.0";

const everyCall: FailureCode[] = [
  "bad-request",
  "unauthorized",
  "access-denied",
  "headers-too-large",
  "internal-error",
  "bad-gateway",
  "service-unavailable",
];
const everyBody: FailureCode[] = ["bad-request", "payload-too-large", "unsupported-media-type", "validation-error"];

const tags = [
  { name: "Cases", description: "Opened by detection, worked and closed by people and systems." },
  { name: "End-user accounts", description: "The website's accounts: flags and CRM link." },
  { name: "Activity", description: "What the website's servers report." },
  { name: "Tenant", description: "Your own tenant and its credentials." },
  { name: "Service", description: "Tokens, documents and health. No token needed." },
];

const Problem = {
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
      description: "One entry per invalid field, on 422 alone.",
      items: {
        type: "object",
        required: ["field", "message"],
        properties: { field: { type: "string" }, message: { type: "string" } },
      },
    },
    current_version: { type: "integer", description: "On item-version-conflict alone." },
  },
};

// Replaces every named schema by a reference, and collects it.
function refer(schema: unknown, named: Map<string, unknown>, isRoot = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => refer(each, named));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $id, ...rest } = schema as Json & { $id?: string };
  if ($id !== undefined && !isRoot) {
    if (!named.has($id)) {
      named.set($id, null);
      named.set($id, refer(schema, named, true));
    }
    return { $ref: `#/components/schemas/${$id}` };
  }
  return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, refer(member, named)]));
}

function problemResponses(codes: FailureCode[]): Json {
  const byStatus = Map.groupBy([...new Set(codes)], (code) => problems[code].status);
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, types]) => {
        const narrowed = { type: "object", properties: { type: { enum: types }, status: { const: status } } };
        const schema = { allOf: [{ $ref: "#/components/schemas/Problem" }, narrowed] };
        return [
          String(status),
          { description: types.join(", "), headers: problemHeaders(status), content: { [problemMediaType]: { schema } } },
        ];
      }),
  );
}

function problemHeaders(status: number): Json {
  if (status === 401 || status === 403)
    return { "WWW-Authenticate": { description: "The challenge; on 403 where a scope is missing.", schema: { type: "string" } } };
  return status === 503 ? { "Retry-After": { description: "Seconds.", schema: { type: "integer" } } } : {};
}

function parameters(operation: Operation, named: Map<string, unknown>): unknown[] {
  const inPath = [...`/{tenant_slug}${operation.path}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...(name === "tenant_slug" && { description: "The tenant's slug.", example: "demo" }),
  }));
  const query = Object.entries((refer(operation.query?.properties ?? {}, named) as Json) ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema,
  }));
  const key = {
    name: "Idempotency-Key",
    in: "header",
    required: true,
    description: "Made once per intended change; a UUID of version 7 is recommended.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._:~+-]{1,255}$" },
  };
  return [...inPath, ...query, ...(operation.wantsKey ? [key] : [])];
}

function describe(operation: Operation, named: Map<string, unknown>): Json {
  const { success } = operation;
  const headers = Object.fromEntries(
    Object.entries(success.headers ?? {}).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
  const data = {
    type: "object",
    required: ["data"],
    properties: { data: refer(success.schema, named) },
    additionalProperties: false,
  };
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    tags: [operation.tag],
    security: [{ oauth2: [operation.scope] }],
    parameters: parameters(operation, named),
    ...(operation.body && {
      requestBody: {
        required: !operation.isBodyOptional,
        content: {
          "application/json": {
            schema: refer(operation.body, named),
            ...(operation.example !== undefined && { example: operation.example }),
          },
        },
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers,
        ...(success.schema && { content: { "application/json": { schema: data } } }),
      },
      ...problemResponses([...everyCall, ...operation.problems, ...(operation.body ? everyBody : [])]),
    },
  };
}

const TokenRequest = {
  type: "object",
  required: ["grant_type"],
  properties: {
    grant_type: { type: "string", enum: ["client_credentials"] },
    client_id: { type: "string", description: "Here or by HTTP Basic." },
    client_secret: { type: "string" },
    scope: { type: "string", description: "Space-separated; all that the client has where left out." },
  },
};

const Token = {
  type: "object",
  required: ["access_token", "token_type", "expires_in"],
  properties: {
    access_token: { type: "string" },
    token_type: { type: "string", const: "Bearer" },
    expires_in: { type: "integer", examples: [tokenLifeSeconds] },
    scope: { type: "string" },
  },
};

function plain(operationId: string, summary: string, content: Json, codes: FailureCode[]): Json {
  return {
    operationId,
    summary,
    tags: ["Service"],
    security: [],
    responses: {
      200: { description: summary, content },
      ...problemResponses([...codes, "bad-request", "headers-too-large", "internal-error"]),
    },
  };
}

const jsonObject = { "application/json": { schema: { type: "object" } } };

function servicePaths(): Json {
  const token = plain("getToken", "Get an access token", { "application/json": { schema: Token } }, [
    "unauthorized",
    "payload-too-large",
    "unsupported-media-type",
    "bad-gateway",
  ]);
  return {
    [tokenPath]: {
      post: {
        ...token,
        description:
          "OAuth 2.0 client credentials. Errors carry OAuth's members error and error_description beside the problem's own.",
        security: [{}, { basic: [] }],
        requestBody: { required: true, content: { "application/x-www-form-urlencoded": { schema: TokenRequest } } },
      },
    },
    "/.well-known/jwks.json": { get: plain("getKeys", "The keys that sign access tokens", jsonObject, []) },
    "/openapi.json": { get: plain("getOpenapi", "This document", jsonObject, []) },
    "/docs": { get: plain("getDocs", "This API's reference, as a page", { "text/html": { schema: { type: "string" } } }, []) },
    "/livez": { get: plain("getLiveness", "Whether the process lives", jsonObject, []) },
    "/readyz": {
      get: plain("getReadiness", "Whether requests can be served", jsonObject, ["bad-gateway", "service-unavailable"]),
    },
  };
}

// The whole document, made from the table of operations.
export function openapiDocument(publicUrl: string): Json {
  const named = new Map<string, unknown>();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = `/v2/{tenant_slug}${operation.path}`;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, named) };
  }
  const flows = {
    clientCredentials: {
      tokenUrl: `${publicUrl}${tokenPath}`,
      scopes: Object.fromEntries(scopes.map((scope) => [scope, scope])),
    },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "Casehound",
      version,
      summary: "Fraud cases and end-user accounts",
      description:
        "Every answer is JSON. Success wraps the resource in `data`; errors are RFC 7807 problems, told apart by `type`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    tags,
    paths: { ...paths, ...servicePaths() },
    components: {
      schemas: { Problem, ...Object.fromEntries(named) },
      securitySchemes: { oauth2: { type: "oauth2", flows }, basic: { type: "http", scheme: "basic" } },
    },
  };
}
