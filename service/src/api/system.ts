import type { IncomingMessage } from "node:http";
import type { Database } from "../db/database.ts";
import { Failure, type FailureCode } from "../domain/failure.ts";
import { unauthorized } from "./auth.ts";
import { readBody, requireMediaType } from "./body.ts";
import { headerLines } from "./headers.ts";
import type { Issuer } from "./issuer.ts";
import { tokenFailure, tokenPath } from "./issuer.ts";
import { jsonMediaType } from "./operation.ts";
import { toFailure, type Reply } from "./problem.ts";

// What belongs to no tenant: no token, no scope.
export type SystemOperation = {
  id: string;
  method: "GET" | "POST";
  path: string;
  summary: string;
  handle: (request: IncomingMessage, onBody: () => void) => Promise<Reply> | Reply;
};

const formMediaType = "application/x-www-form-urlencoded";
const formBytesMax = 16 * 1024;

type Parts = { database: Database; issuer: Issuer; isStopping: () => boolean; openapi: () => string; docs: () => string };

export function systemOperations(parts: Parts): SystemOperation[] {
  return [
    {
      id: "getToken",
      method: "POST",
      path: tokenPath,
      summary: "Get an access token",
      handle: (request, onBody) => token(parts.issuer, request, onBody),
    },
    {
      id: "getKeys",
      method: "GET",
      path: "/.well-known/jwks.json",
      summary: "The keys that sign access tokens",
      handle: () => json(parts.issuer.jwks()),
    },
    {
      id: "getOpenapi",
      method: "GET",
      path: "/openapi.json",
      summary: "This API's OpenAPI document",
      handle: () => text(parts.openapi(), jsonMediaType),
    },
    { id: "getDocs", method: "GET", path: "/docs", summary: "This API's reference, as a page", handle: () => page(parts.docs()) },
    {
      id: "getLiveness",
      method: "GET",
      path: "/livez",
      summary: "Whether the process lives",
      handle: () => json({ status: "ok" }),
    },
    {
      id: "getReadiness",
      method: "GET",
      path: "/readyz",
      summary: "Whether requests can be served",
      handle: () => readiness(parts),
    },
  ];
}

const oauthErrors: { [code in FailureCode]?: string } = {
  "internal-error": "server_error",
  "bad-gateway": "server_error",
  "rate-limited": "temporarily_unavailable",
};

async function token(issuer: Issuer, request: IncomingMessage, onBody: () => void): Promise<Reply> {
  try {
    if (headerLines(request, "authorization").length > 1) throw unauthorized("There must be one Authorization header.");
    requireMediaType(request, formMediaType);
    return await issuer.token(request, await readBody(request, formBytesMax, onBody));
  } catch (error) {
    const failure = toFailure(error);
    return tokenFailure(failure, oauthErrors[failure.code] ?? "invalid_request");
  }
}

async function readiness({ database, isStopping }: Parts): Promise<Reply> {
  if (isStopping())
    throw new Failure("service-unavailable", "The service is shutting down.", { headers: { "retry-after": "1" } });
  await database.ping();
  return json({ status: "ready", database: "ok" });
}

function json(value: unknown): Reply {
  return text(JSON.stringify(value), jsonMediaType);
}

function text(body: string, type: string): Reply {
  return { status: 200, body, headers: { "content-type": type } };
}

// No script at all, so nothing can be loaded from anywhere.
function page(body: string): Reply {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  return { status: 200, body, headers };
}
