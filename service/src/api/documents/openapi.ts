import type { FailureCode } from "../../domain/failure.ts";
import { idCharactersMax } from "../../domain/field.ts";
import { scopeMeanings } from "../../domain/scope.ts";
import { slugCharacters, slugPattern } from "../../domain/slug.ts";
import { WebhookMessage } from "../../domain/webhook.ts";
import { streamMediaType } from "../event-stream.ts";
import { scimMediaType } from "../http/scim-error.ts";
import { csvListOf, csvMediaType } from "../http/csv-export.ts";
import { tokenPath } from "../tokens/issuer.ts";
import {
  Problem,
  ScimError,
  headerOf,
  problemResponses,
  rateLimitHeaders,
  requestIdHeader,
  scimErrorResponses,
  type Json,
} from "./openapi-responses.ts";
import { servicePaths } from "./openapi-service.ts";
import { jsonMediaType, scopesOf, type Operation } from "../operation.ts";
import { operations } from "../operations.ts";

const version = "0.1.0";

const everyCall: FailureCode[] = [
  "bad-request",
  "unauthorized",
  "access-denied",
  "rate-limited",
  "headers-too-large",
  "internal-error",
  "bad-gateway",
  "service-unavailable",
];
const everyBody: FailureCode[] = ["payload-too-large", "unsupported-media-type", "validation-error"];

const tags = [
  { name: "Cases", description: "Opened by detection, worked and closed by people and systems." },
  { name: "Approvals", description: "Changes that a second person approves." },
  { name: "Search", description: "One search for accounts, cases, devices, addresses, payees and orders." },
  { name: "Views", description: "Filters and sorts of the case list under a name, private or shared." },
  { name: "Figures", description: "What a team did in a period: closes, time to decision, precision, money." },
  { name: "End-user accounts", description: "The website's accounts: flags and CRM link." },
  { name: "Activity", description: "Activity that the website's servers report, and the outcome of its browsers' events." },
  { name: "Import", description: "Activity from before you started to use Casehound. It opens no case." },
  { name: "Labels", description: "Which activities turned out to be frauds." },
  { name: "Models", description: "Models that the service trains on labels." },
  { name: "Detection", description: "Rules and thresholds, backtests of drafts, and why a decision was made." },
  { name: "Lists", description: "Values that are allowed, blocked or watched, and what a value would have hit." },
  { name: "Events", description: "Every change, in order, as a list and as a stream." },
  { name: "Webhooks", description: "Every change, posted to a URL of yours." },
  { name: "Tenant", description: "Your own tenant and its credentials." },
  { name: "People", description: "Who may sign in, and with which role." },
  {
    name: "Provisioning",
    description: "People and groups that a directory such as Microsoft Entra ID or Okta keeps up to date over SCIM 2.0.",
  },
  { name: "Notifications", description: "E-mails to people about new cases, mentions, handovers and overdue cases." },
  { name: "Service", description: "Tokens, browsers' events, documents and health. No token needed." },
];

// Replaces every named schema with a reference, and collects it.
function refer(schema: unknown, named: Map<string, unknown>, isRoot = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => refer(each, named));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $id, ...rest }: Json & { $id?: string } = { ...schema };
  if ($id !== undefined && !isRoot) {
    if (!named.has($id)) {
      named.set($id, null);
      named.set($id, refer(schema, named, true));
    }
    return { $ref: `#/components/schemas/${$id}` };
  }
  return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, refer(member, named)]));
}

const slugParameter = {
  description: "The tenant's slug.",
  schema: { type: "string", pattern: slugPattern.source, minLength: slugCharacters.min, maxLength: slugCharacters.max },
  example: "demo",
};

const idParameter = {
  description: "The id as returned by the API, percent-encoded as one segment of the path.",
  schema: { type: "string", minLength: 1, maxLength: idCharactersMax },
};

const keyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: true,
  description: "Generate one key per intended change. A version 7 UUID is recommended.",
  schema: { type: "string", pattern: "^[A-Za-z0-9._:~+-]{1,255}$" },
};

const lastEventParameter = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "The id of the last message received. Browsers send it automatically.",
  schema: { type: "string", pattern: "^[0-9]{1,15}$" },
};

function parameters(operation: Operation, named: Map<string, unknown>): unknown[] {
  const inPath = [...`/{tenant_slug}${operation.path}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    ...(name === "tenant_slug" ? slugParameter : idParameter),
  }));
  const query = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema: refer(schema, named),
  }));
  const headers = [...(operation.wantsKey ? [keyParameter] : []), ...(operation.isStream ? [lastEventParameter] : [])];
  return [...inPath, ...query, ...headers];
}

function describe(operation: Operation, named: Map<string, unknown>): Json {
  const { success, body, example } = operation;
  const own = Object.entries(success.headers ?? {}).map(([name, description]) => headerOf(name, description));
  const headers: Json = Object.assign({}, requestIdHeader, rateLimitHeaders, ...own);
  const data = {
    type: "object",
    required: ["data"],
    properties: { data: refer(success.schema, named) },
    additionalProperties: false,
  };
  const content = body && { schema: refer(body, named), ...(example !== undefined && { example }) };
  const ofBody: FailureCode[] = operation.method === "GET" ? [] : ["payload-too-large"];
  const codes = [...everyCall, ...operation.problems, ...(body ? everyBody : ofBody)];
  const isScim = operation.isScim === true;
  const resource = isScim ? { [scimMediaType]: { schema: refer(success.schema, named) } } : { [jsonMediaType]: { schema: data } };
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    tags: [operation.tag],
    security: [{ oauth2: scopesOf(operation) }],
    parameters: parameters(operation, named),
    ...(content && {
      requestBody: {
        required: !operation.isBodyOptional,
        content: { [jsonMediaType]: content, ...(isScim && { [scimMediaType]: content }) },
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers,
        ...(success.schema && { content: { ...resource, ...(csvListOf(operation) && csvContent) } }),
        ...(operation.isStream && { content: { [streamMediaType]: { schema: { type: "string" } } } }),
      },
      ...(isScim ? scimErrorResponses(codes) : problemResponses(codes, { wantsKey: operation.wantsKey })),
    },
  };
}

const csvContent = { [csvMediaType]: { schema: { type: "string" } } };

// The request that a webhook's receiver gets, and the responses it may return.
function describeMessage(named: Map<string, unknown>): Json {
  const headers = {
    "webhook-id": "The same for every attempt to deliver a message.",
    "webhook-timestamp": "When this attempt was made, in seconds since 1970.",
    "webhook-signature":
      "`v1,` and the base64-encoded HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. There are two, separated by a space, while a secret is being replaced. The key is the base64 text after `whsec_`.",
  };
  return {
    operationId: "webhookMessage",
    summary: "A change, as posted to a webhook's URL",
    tags: ["Webhooks"],
    security: [],
    parameters: Object.entries(headers).map(([name, description]) => ({
      name,
      in: "header",
      required: true,
      description,
      schema: { type: "string" },
    })),
    requestBody: { required: true, content: { "application/json": { schema: refer(WebhookMessage, named) } } },
    responses: {
      "2XX": { description: "Delivered. The body is not read." },
      default: {
        description:
          "Not delivered. The message is retried with increasing delays for three days. A 410 switches the webhook off.",
      },
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
  const webhooks = { message: { post: describeMessage(named) } };
  const flows = { clientCredentials: { tokenUrl: `${publicUrl}${tokenPath}`, scopes: scopeMeanings } };
  return {
    openapi: "3.1.0",
    info: {
      title: "Casehound",
      version,
      summary: "Fraud cases and end-user accounts",
      description:
        "Every response is JSON, except the event stream. A list can also be read as CSV, with `Accept: text/csv`: the whole list as filtered, without pages. A success wraps the resource in `data`. Errors are RFC 7807 problems, distinguished by `type`. Below `/scim/v2`, resources and errors have the form of SCIM 2.0.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    tags,
    paths: { ...paths, ...servicePaths() },
    webhooks,
    components: {
      schemas: { Problem, ScimError, ...Object.fromEntries(named) },
      securitySchemes: { oauth2: { type: "oauth2", flows }, basic: { type: "http", scheme: "basic" } },
    },
  };
}
