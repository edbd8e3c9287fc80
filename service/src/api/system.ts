import { gzipSync } from "node:zlib";
import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { countNodes } from "../db/citus/nodes.ts";
import type { Database } from "../db/postgres/database.ts";
import { Failure, type FailureCode } from "../domain/failure.ts";
import { clientAddress } from "./http/address.ts";
import { unauthorized } from "./http/identity.ts";
import { readBody, requireMediaType } from "./http/body.ts";
import type { Collector } from "./collector/collector.ts";
import type { Documents } from "./documents/on-request.ts";
import { headerLines } from "./http/headers.ts";
import type { Issuer } from "./tokens/issuer.ts";
import { tokenPath } from "./tokens/issuer.ts";
import { TokenRefusal } from "./tokens/token-request.ts";
import { jsonMediaType } from "./operation.ts";
import { problemMembers, problemReply, toFailure, type Reply } from "./http/problem.ts";
import type { SystemOperation } from "./http/system-operation.ts";

const formMediaType = "application/x-www-form-urlencoded";
const formBytesMax = 16 * 1024;

type SystemOptions = {
  database: Database;
  trustedProxies: BlockList;
  issuer: Issuer;
  collector: Collector;
  isReady: () => boolean;
  documents: Documents;
  addressData: { type: string; built_at: string }[];
  people: SystemOperation[];
};

export function systemOperations(options: SystemOptions): SystemOperation[] {
  return [
    {
      id: "getToken",
      role: "api",
      method: "POST",
      path: tokenPath,
      summary: "Get an access token",
      handle: (request, onBody) => token(options, request, onBody),
    },
    {
      id: "getKeys",
      role: "api",
      method: "GET",
      path: "/.well-known/jwks.json",
      summary: "The keys that sign access tokens",
      handle: () => json(options.issuer.jwks()),
    },
    {
      id: "getOpenapi",
      role: "api",
      method: "GET",
      path: "/openapi.json",
      summary: "This API's OpenAPI document",
      handle: () => text(options.documents.openapi(), jsonMediaType),
    },
    {
      id: "getDocs",
      role: "api",
      method: "GET",
      path: "/docs",
      summary: "The documentation's first page",
      handle: () => docsPage(options, ""),
    },
    {
      id: "getDocsSlash",
      role: "api",
      method: "GET",
      path: "/docs/",
      summary: "Redirects to the documentation's first page",
      // The redirect is relative, so that it also works behind a path prefix.
      handle: () => redirect("../docs"),
    },
    {
      id: "getDocsPage",
      role: "api",
      method: "GET",
      path: "/docs/{page}",
      summary: "A page of the documentation, or one of its assets",
      handle: (_request, _onBody, { params }) => docsPage(options, params["page"] ?? ""),
    },
    ...options.people,
    ...collectorOperations(options),
    {
      id: "getLiveness",
      method: "GET",
      path: "/livez",
      summary: "Whether the process is alive",
      handle: () => json({ status: "ok" }),
    },
    {
      id: "getReadiness",
      method: "GET",
      path: "/readyz",
      summary: "Whether requests can be served",
      handle: () => readiness(options),
    },
  ];
}

function collectorOperations({ collector, documents }: SystemOptions): SystemOperation[] {
  const path = "/collect/{app_key}";
  return [
    {
      id: "collectEvents",
      role: "collector",
      method: "POST",
      path,
      summary: "Send a browser's events",
      handle: (request, onBody, call) => collector.collect(request, onBody, call),
    },
    {
      id: "preflightEvents",
      role: "collector",
      method: "OPTIONS",
      path,
      summary: "Whether a page may send events",
      handle: (request, _onBody, call) => collector.preflight(request, call),
    },
    {
      id: "getTag",
      role: "collector",
      method: "GET",
      path: "/tag.js",
      summary: "The browser tag",
      handle: async (request) => script(request, await documents.tag()),
    },
  ];
}

const oauthErrors: { [code in FailureCode]?: string } = {
  "internal-error": "server_error",
  "bad-gateway": "server_error",
  "rate-limited": "temporarily_unavailable",
};

async function token({ issuer, trustedProxies }: SystemOptions, request: IncomingMessage, onBody: () => void): Promise<Reply> {
  try {
    if (headerLines(request, "authorization").length > 1)
      throw unauthorized("The request must have exactly one Authorization header.");
    requireMediaType(request, formMediaType);
    const address = clientAddress(request, trustedProxies) ?? "unknown";
    const body = await readBody(request, formBytesMax, onBody);
    return json(await issuer.token(body, request.headers.authorization, address));
  } catch (error) {
    return tokenFailure(toFailure(error));
  }
}

// The members of OAuth and of a problem, and no others.
function tokenFailure(failure: Failure): Reply {
  const { error, description } =
    failure instanceof TokenRefusal
      ? failure
      : { error: oauthErrors[failure.code] ?? "invalid_request", description: failure.message };
  const members = { error, error_description: description, ...problemMembers(failure) };
  return { ...problemReply(failure), body: JSON.stringify(members), fault: failure };
}

async function readiness({ database, isReady, addressData }: SystemOptions): Promise<Reply> {
  if (!isReady())
    throw new Failure("service-unavailable", "The service is starting or shutting down.", { headers: { "retry-after": "1" } });
  await database.requireWrites();
  const nodes = database.isCluster ? await countNodes(database) : undefined;
  return json({ status: "ready", database: "ok", ...(nodes && { nodes }), address_data: addressData });
}

const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

async function docsPage({ documents }: SystemOptions, name: string): Promise<Reply> {
  const file = await documents.docs(name);
  if (!file) throw new Failure("item-not-found", "There is nothing at this path.");
  const headers = { "content-type": file.type, "content-security-policy": docsPolicy, "referrer-policy": "no-referrer" };
  return { status: 200, body: file.body, headers };
}

function redirect(location: string): Reply {
  return { status: 308, body: JSON.stringify({ location }), headers: { "content-type": jsonMediaType, location } };
}

function json(value: unknown): Reply {
  return text(JSON.stringify(value), jsonMediaType);
}

function text(body: string, type: string): Reply {
  return { status: 200, body, headers: { "content-type": type } };
}

let packed: { body: string; bytes: Buffer } | null = null;

// Every page of every site loads this file, and it is the same for all of them, so it is compressed once.
function script(request: IncomingMessage, body: string): Reply {
  if (packed?.body !== body) packed = { body, bytes: gzipSync(body, { level: 9 }) };
  const etag = `"${hash("sha256", body, "base64url").slice(0, 22)}"`;
  const headers = { etag, "cache-control": "public, max-age=3600", "access-control-allow-origin": "*", vary: "Accept-Encoding" };
  const known = (request.headers["if-none-match"] ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  if (known.includes(etag)) return { status: 304, body: "", headers };
  const type = { "content-type": "text/javascript; charset=utf-8" };
  const all = { ...headers, ...type, "cross-origin-resource-policy": "cross-origin" };
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?(\s*,|\s*$))/.test(request.headers["accept-encoding"] ?? "");
  if (!takesGzip) return { status: 200, body, headers: all };
  return { status: 200, body: "", bytes: packed.bytes, headers: { ...all, "content-encoding": "gzip" } };
}
