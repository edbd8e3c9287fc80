import type { IncomingMessage } from "node:http";
import type { TObject } from "typebox";
import type { Database } from "../../db/postgres/database.ts";
import { Failure } from "../../domain/failure.ts";
import { isStorable } from "../../domain/text.ts";
import type { Authenticator } from "../tokens/auth.ts";
import { unauthorized, type Identity } from "./identity.ts";
import { admitBody, hasBody, readBody, requireMediaType } from "./body.ts";
import { csvListOf, exportCsv, prefersCsv } from "./csv-export.ts";
import { headerLines } from "./headers.ts";
import { parseJson } from "./json.ts";
import {
  jsonMediaType,
  scopesOf,
  type Call,
  type Caller,
  type LongPoll,
  type Operation,
  type Services,
  type StreamRequest,
} from "../operation.ts";
import { decodeSegment, parseQuery } from "./path.ts";
import type { Reply } from "./problem.ts";
import type { RateLimiter } from "./rate-limits.ts";
import type { Sessions } from "../people/web-sessions.ts";
import { scimMediaType } from "./scim-error.ts";
import { faultOf, invalid, validate, type Schema } from "./validate.ts";

const bodyBytesDefault = 64 * 1024;
// A body that takes longer is late: its sender is identified again.
const lateBodyMs = 1000;
const keyPattern = /^[A-Za-z0-9._:~+-]{1,255}$/;

// What the log records about a call. The path is left out because it contains account ids.
export type Trace = { operation: string; tenant?: string; actor?: string };

export type Routed = { operation: Operation; slug: string; params: Record<string, string>; query: string };

export type SharedServices = Omit<Services, "database"> & { database: Database };

// Identifies directories, which have tokens of their own.
export type ScimTokens = { identify: (authorization: string[], request: IncomingMessage) => Promise<Identity> | null };

type Runtime = {
  services: SharedServices;
  authenticator: Authenticator;
  sessions: Sessions;
  scimTokens: ScimTokens;
  limiter: RateLimiter;
  isStrictHost: boolean;
};

// Runs one call of an operation. The checks follow the contract's order, starting with the credentials.
export async function runOperation(
  runtime: Runtime,
  request: IncomingMessage,
  routed: Routed,
  trace: Trace,
  onBody: () => void,
): Promise<Reply> {
  const { operation } = routed;
  const known = identify(runtime, request);
  // Await only a promise: a cached identity is returned synchronously.
  const identity = known instanceof Promise ? await known : known;
  trace.actor = identity.actor;
  // A URL ends up in logs and browser histories, so a token in the query counts as leaked and is never accepted.
  if (/(^|&)access_token=/.test(routed.query)) throw unauthorized("Send the token in the Authorization header only.");
  // Rate-limit by caller, not by route: every request counts, and only against the caller's own tenant.
  const fields = runtime.limiter.admit(identity);
  const tenant = requireTenant(identity, routed.slug, runtime.isStrictHost ? (request.headers.host ?? "") : undefined);
  trace.tenant = tenant.slug;
  requireScopes(operation, identity);
  const identifiedAt = performance.now();
  const params = decodeParams(routed.params);
  const query = operation.query ? readQuery(operation.query, routed.query) : {};
  const early = callerOf(identity, tenant);
  // A caller who lost a permission while the body arrived, or while the request waited, must not use it.
  const callerNow = () => (performance.now() - identifiedAt > lateBodyMs ? identifyAgain(runtime, request, routed) : early);
  const { limiter } = runtime;
  const services = servicesOf(runtime, tenant.tenant_id);
  const schema = operation.body;
  const list = prefersCsv(request.headers.accept ?? "") ? csvListOf(operation) : null;
  const visit = () => visitOf(runtime, request, identity);
  const handle = (call: Call): Promise<Reply> => {
    const work = async () => {
      // After the wait for its turn.
      const caller = callerNow();
      if (caller !== early) call.caller = await caller;
      return list
        ? exportCsv({ operation, list, database: runtime.services.database, services, call, visit: visit() })
        : operation.handle(services, call);
    };
    const reply = operation.isLongPoll || operation.hasDeadline ? work() : limiter.inTurn(identity, work);
    return fields ? reply.then((each) => ({ ...each, headers: { ...each.headers, ...fields } })) : reply;
  };
  if (!schema) {
    // Read the whole request first, so a truncated one is rejected before any change.
    if (operation.method !== "GET") await readBody(request, bodyBytesDefault, onBody);
    const call: Call = { caller: early, params, query, body: undefined, key: "" };
    if (operation.isStream) call.visit = visit();
    if (operation.isLongPoll) call.hold = { inTurn: (work) => limiter.inTurn(identity, work), onLeave: onLeaveOf(request) };
    return await handle(call);
  }
  return admitBody(request, operation.bodyBytesMax ?? bodyBytesDefault, async () => {
    const body = await readJson(request, operation, onBody);
    const key = operation.wantsKey ? requireKey(request) : "";
    validate(schema, body, operation.faults);
    return handle({ caller: early, params, query, body, key });
  });
}

// A token takes precedence over a session cookie: a client sets the Authorization header on purpose.
function identify({ authenticator, sessions, scimTokens }: Runtime, request: IncomingMessage): Identity | Promise<Identity> {
  const authorization = headerLines(request, "authorization");
  const isPerson = authorization.length === 0 && sessions.hasCookie(request);
  if (isPerson) return sessions.identify(request);
  return scimTokens.identify(authorization, request) ?? authenticator.identify(authorization, request.socket);
}

async function identifyAgain(runtime: Runtime, request: IncomingMessage, { operation, slug }: Routed): Promise<Caller> {
  const identity = await identify(runtime, request);
  requireScopes(operation, identity);
  return callerOf(identity, requireTenant(identity, slug, undefined));
}

function requireScopes(operation: Operation, identity: Identity): void {
  if (identity.scim && operation.isScim !== true) throw new Failure("access-denied", "A SCIM token works only below /scim/v2.");
  for (const scope of scopesOf(operation)) if (!identity.scopes.has(scope)) throw missingScope(scope, identity);
}

const callers = new WeakMap<Identity, Caller>();

// Cached, so the caller of a cached identity is built only once.
function callerOf(identity: Identity, tenant: { tenant_id: string; slug: string }): Caller {
  const known = callers.get(identity);
  if (known) return known;
  const { actor, scopes, person, scim } = identity;
  const caller = { ...tenant, actor, scopes, ...(person && { person }), ...(scim && { scim }) };
  callers.set(identity, caller);
  return caller;
}

// Without row-level security all tenants use the same database handle, so nothing has to be built.
function servicesOf({ services }: Runtime, tenantId: string): Services {
  const database = services.database.forTenant(tenantId);
  return database === services.database ? services : { ...services, database };
}

function onLeaveOf({ socket }: IncomingMessage): LongPoll["onLeave"] {
  return (tell) => {
    for (const name of ["end", "close"]) socket.once(name, tell);
    if (socket.readableEnded || socket.destroyed) tell();
    return () => {
      for (const name of ["end", "close"]) socket.off(name, tell);
    };
  };
}

function visitOf(runtime: Runtime, request: IncomingMessage, identity: Identity): StreamRequest {
  const given = request.headers["last-event-id"];
  const isStillAllowed = async () => {
    try {
      // What the stream contains depends on all scopes, so it ends when the caller loses any of them.
      const { scopes } = await identify(runtime, request);
      return [...identity.scopes].every((each) => scopes.has(each));
    } catch (error) {
      // Nobody can tell while the database is unreachable, so the stream stays open. The token's own expiry still applies.
      return error instanceof Failure && error.code === "bad-gateway";
    }
  };
  return { lastEventId: typeof given === "string" ? given : undefined, expiresAtMs: identity.expiresAtMs, isStillAllowed };
}

// A foreign slug and an unknown slug get the same response, so a caller cannot probe for tenants.
function requireTenant(identity: Identity, rawSlug: string, host: string | undefined): { tenant_id: string; slug: string } {
  const { tenant } = identity;
  const isOwn = tenant !== null && tenant.slug === tryDecode(rawSlug);
  const isOwnHost = host === undefined || host.toLowerCase().split(/[.:]/)[0] === tenant?.slug;
  if (!isOwn || !isOwnHost) throw new Failure("access-denied", "The token is not for this tenant.");
  return tenant;
}

function tryDecode(segment: string): string | null {
  try {
    return decodeSegment(segment);
  } catch {
    return null;
  }
}

function missingScope(scope: string, { person }: Identity): Failure {
  const challenge = `Bearer realm="casehound", error="insufficient_scope", scope="${scope}"`;
  const who = person ? `The role ${person.role}` : "The token";
  return new Failure("access-denied", `${who} lacks the scope ${scope}.`, { headers: { "www-authenticate": challenge } });
}

function decodeParams(raw: Record<string, string>): Record<string, string> {
  const decoded: Record<string, string> = {};
  for (const name in raw) decoded[name] = decodeSegment(raw[name] ?? "");
  return decoded;
}

function readQuery(schema: TObject, raw: string): Record<string, unknown> {
  // typebox's objects are JSON Schemas.
  const properties = schema.properties as unknown as Record<string, Schema>;
  const values: Record<string, unknown> = {};
  for (const [name, text] of parseQuery(raw, Object.keys(properties))) {
    const parameter = properties[name] ?? {};
    const value = readParameter(parameter, text);
    const fault = text === "" || !isStorable(text) ? "must not be empty" : faultOf(parameter, value);
    if (fault !== null) throw new Failure("bad-request", `The parameter ${name} ${fault}.`);
    values[name] = value;
  }
  return values;
}

// Accept only one spelling of each value. Anything else stays a string and fails its schema.
function readParameter(schema: Schema, text: string): unknown {
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (schema.type === "integer") return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (schema.type === "number") return /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : text;
  return text;
}

async function readJson(request: IncomingMessage, operation: Operation, onBody: () => void): Promise<unknown> {
  if (operation.isBodyOptional && !hasBody(request)) return {};
  requireMediaType(request, ...(operation.isScim === true ? [scimMediaType, jsonMediaType] : [jsonMediaType]));
  const body = parseJson(await readBody(request, operation.bodyBytesMax ?? bodyBytesDefault, onBody));
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw invalid([{ field: "body", message: "must be a JSON object" }]);
  if (operation.precondition !== undefined && !Object.hasOwn(body, operation.precondition)) {
    throw new Failure("precondition-required", `The body must contain ${operation.precondition}, as read with the case.`);
  }
  return body;
}

function requireKey(request: IncomingMessage): string {
  const key = request.headers["idempotency-key"];
  if (key === undefined) throw new Failure("invalid-operation-id", "The header Idempotency-Key is required.");
  if (typeof key !== "string" || !keyPattern.test(key)) {
    throw new Failure(
      "invalid-operation-id",
      "The header Idempotency-Key must have 1 to 255 characters: letters, digits and . _ : ~ + -",
    );
  }
  return key;
}
