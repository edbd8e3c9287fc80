import type { FailureCode } from "../../domain/failure.ts";
import { tokenLifeSeconds, tokenPath } from "../tokens/issuer.ts";
import { problemResponses, requestIdHeader, type Json } from "./openapi-responses.ts";

// The paths that belong to no tenant.
const TokenRequest = {
  type: "object",
  required: ["grant_type"],
  properties: {
    grant_type: { type: "string", enum: ["client_credentials"] },
    client_id: { type: "string", description: "Sent here or with HTTP Basic." },
    client_secret: { type: "string" },
    scope: { type: "string", description: "Space-separated. If omitted, the token has all scopes of the client." },
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

const OAuthError = {
  type: "object",
  required: ["error", "error_description"],
  properties: { error: { type: "string" }, error_description: { type: "string" } },
};

const Jwk = {
  type: "object",
  required: ["kty", "kid", "alg", "use"],
  properties: { kty: { const: "EC" }, kid: { type: "string" }, alg: { const: "ES256" }, use: { const: "sig" } },
};

type Plain = { id: string; summary: string; content: Json; problems?: FailureCode[]; refusal?: Json };

function plain({ id, summary, content, problems = [], refusal }: Plain): Json {
  const codes: FailureCode[] = [...problems, "bad-request", "headers-too-large", "internal-error", "service-unavailable"];
  return {
    operationId: id,
    summary,
    tags: ["Service"],
    security: [],
    responses: {
      200: { description: summary, headers: requestIdHeader, content },
      ...problemResponses(codes, { schema: refusal }),
    },
  };
}

function jsonOf(always: Json, sometimes: Json = {}): Json {
  const properties = { ...always, ...sometimes };
  return { "application/json": { schema: { type: "object", required: Object.keys(always), properties } } };
}

// Parameters that the SDK sends with the events.
const collectParameters = [
  { name: "app_key", in: "path", required: true, description: "The tenant's `clickstream_app_id`.", schema: { type: "string" } },
  ...[
    ["upload_timestamp", "When it was sent, in milliseconds, by the sender's clock."],
    ["hashCode", "The first 8 hexadecimal digits of the body's SHA-256."],
    ["compression", "`gzip` if the body is base64-encoded gzip, as mobile SDKs send it."],
  ].map(([name, description]) => ({ name, in: "query", required: false, description, schema: { type: "string" } })),
];

const exampleEvent = {
  event_type: "add_to_cart",
  event_id: "39fcef9f-6642-4a1c-94fc-ca949b670c41",
  device_id: "bedac25e-e11d-417e-8a7a-25f1c899520b",
  timestamp: 1_794_703_559_739,
  user: { _user_id: { value: "user-42" } },
  attributes: { _session_id: "a13e16e2-20261115-004554475", _page_url: "https://shop.example/shoes" },
};

function collectorPaths(): Json {
  const collect = plain({
    id: "collectEvents",
    summary: "Send a browser's events",
    content: { "application/json": { schema: { type: "object", additionalProperties: false } } },
    problems: ["access-denied", "payload-too-large"],
  });
  const events = {
    type: "array",
    items: { type: "object" },
    description: "Events of the Clickstream SDK. At most 2,000 events and 2 MiB.",
  };
  return {
    "/collect/{app_key}": {
      post: {
        ...collect,
        description:
          "The endpoint of the Clickstream web SDK and of the browser tag. 200 means that every valid event was stored; the others are in the tenant's quarantine. A page's origin must be among the tenant's `allowed_origins`.",
        parameters: collectParameters,
        requestBody: { required: true, content: { "application/json": { schema: events, example: [exampleEvent] } } },
      },
    },
    "/tag.js": {
      get: plain({
        id: "getTag",
        summary: "The browser tag",
        content: { "text/javascript": { schema: { type: "string" } } },
      }),
    },
  };
}

const docsContent = {
  "text/html": { schema: { type: "string" } },
  "text/css": { schema: { type: "string" } },
  "text/javascript": { schema: { type: "string" } },
  "application/json": { schema: { type: "array" } },
};

export function servicePaths(): Json {
  const token = plain({
    id: "getToken",
    summary: "Get an access token",
    content: { "application/json": { schema: Token } },
    problems: ["unauthorized", "rate-limited", "payload-too-large", "unsupported-media-type", "bad-gateway"],
    refusal: OAuthError,
  });
  const keys = jsonOf({ keys: { type: "array", items: Jwk } });
  const file = { type: "object", properties: { type: { type: "string" }, built_at: { type: "string", format: "date-time" } } };
  const count = { type: "integer", minimum: 0 };
  const nodes = {
    type: "object",
    description: "Only on a Citus cluster. While a node is down, its tenants get 502, and the others are served.",
    required: ["all", "reachable"],
    properties: { all: count, reachable: count },
  };
  const ready = jsonOf(
    {
      status: { const: "ready" },
      database: { const: "ok" },
      address_data: { type: "array", items: file, description: "The files that locate IP addresses, and their age." },
    },
    { nodes },
  );
  return {
    [tokenPath]: {
      post: {
        ...token,
        description: "OAuth 2.0 client credentials. Errors have the OAuth members in addition to the problem members.",
        security: [{}, { basic: [] }],
        requestBody: { required: true, content: { "application/x-www-form-urlencoded": { schema: TokenRequest } } },
      },
    },
    "/.well-known/jwks.json": { get: plain({ id: "getKeys", summary: "The keys that sign access tokens", content: keys }) },
    "/openapi.json": {
      get: plain({ id: "getOpenapi", summary: "This document", content: jsonOf({ openapi: { type: "string" } }) }),
    },
    "/docs": {
      get: plain({
        id: "getDocs",
        summary: "The documentation's first page",
        content: { "text/html": { schema: { type: "string" } } },
      }),
    },
    "/docs/{page}": {
      get: {
        ...plain({
          id: "getDocsPage",
          summary: "A page of the documentation, or one of its assets",
          content: docsContent,
          problems: ["item-not-found"],
        }),
        parameters: [{ name: "page", in: "path", required: true, schema: { type: "string" }, example: "tutorial" }],
      },
    },
    ...collectorPaths(),
    "/livez": {
      get: plain({ id: "getLiveness", summary: "Whether the process is alive", content: jsonOf({ status: { const: "ok" } }) }),
    },
    "/readyz": {
      get: plain({ id: "getReadiness", summary: "Whether requests can be served", content: ready, problems: ["bad-gateway"] }),
    },
  };
}
