import { randomUUID } from "node:crypto";
import type { Operation } from "../src/api/operation.ts";
import { scopes } from "../src/domain/scope.ts";
import type { Service } from "../src/service.ts";
import type { World } from "./fault-world.ts";
import { send, type Answer } from "./harness.ts";

// A request before it is serialized, so that several faults can be put into it.
export type Draft = {
  method: string;
  slug: string;
  // As they appear in the path, with escapes.
  params: Record<string, string>;
  path: string;
  suffix: string;
  query: string;
  token: string | null;
  headers: Record<string, string>;
  body: Record<string, unknown> | null;
  spoils: Set<"empty" | "names" | "array" | "cut" | "byte" | "large">;
  bodyBytesMax: number;
};

// The request that the operation answers with success.
export function draftOf(operation: Operation, world: World): Draft {
  // The other case is closed by an earlier operation, or has another version by then.
  const case_id = operation.id === "handOverCase" ? world.spareCaseId : world.caseId;
  return {
    method: operation.method,
    slug: world.tenant.slug,
    params: { case_id, website_account_id: encodeURIComponent(world.account), ...world.ids },
    path: operation.path,
    suffix: "",
    query: "",
    token: world.tenant.token,
    headers: {
      ...(operation.body && { "content-type": "application/json" }),
      ...(operation.wantsKey && { "idempotency-key": randomUUID() }),
    },
    body: operation.body ? bodyOf(operation, world) : null,
    spoils: new Set(),
    bodyBytesMax: operation.bodyBytesMax ?? 64 * 1024,
  };
}

function bodyOf(operation: Operation, world: World): Record<string, unknown> {
  // Use the document's example, so that new operations are tested at once. For the following, the example would not fit or
  // would change nothing visible.
  if (operation.id === "closeCases") return { cases: [{ case_id: world.caseId, case_version: 1 }] };
  if (["checkApproval", "requestApproval"].includes(operation.id))
    return { cases: [{ case_id: world.spareCaseId, case_version: 1 }] };
  if (operation.id === "rotateAuthSecret" || operation.id === "createIdentitySecret") return { revoke_now: true };
  if (operation.id === "createClient") return { scopes: [operation.scope] };
  if (operation.example === undefined) throw new Error(`${operation.id} takes a body and has no example of one`);
  return { ...(operation.example as Record<string, unknown>) };
}

function pathOf(draft: Draft): string {
  const path = draft.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = draft.params[name];
    if (value === undefined) throw new Error(`no value is known for the path parameter ${name}`);
    return value;
  });
  return `/v2/${draft.slug}${path}${draft.suffix}${draft.query}`;
}

function bytesOf({ body, spoils, bodyBytesMax }: Draft): Buffer<ArrayBuffer> {
  let text = JSON.stringify(body);
  if (spoils.has("names")) text = text.replace("{", '{"twice":1,"twice":1,').replace(",}", "}");
  if (spoils.has("array")) text = `[${text}]`;
  if (spoils.has("cut")) text = text.slice(0, -1);
  if (spoils.has("empty")) text = "";
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from(spoils.has("byte") ? [0xff] : [])]);
  return spoils.has("large") ? Buffer.concat([bytes, Buffer.alloc(bodyBytesMax + 1 - bytes.length, " ")]) : bytes;
}

export function sendDraft(service: Service, draft: Draft): Promise<Answer> {
  const options = { token: draft.token, headers: draft.headers };
  return send(service.port, draft.method, pathOf(draft), draft.body === null ? options : { ...options, rawBody: bytesOf(draft) });
}

// Everything that could have changed, as the API shows it.
export async function snapshot({ tenant, caseId }: World): Promise<string> {
  const paths = [
    `/cases/${caseId}`,
    "/cases",
    "/enduseraccounts",
    "/tenants",
    "/rules",
    "/thresholds",
    "/backtests",
    "/lists",
    "/models",
    "/users",
    "/clients",
  ];
  const answers = await Promise.all(paths.map((path) => tenant.call("GET", path)));
  return answers.map((answer) => `${answer.status} ${answer.text}`).join("\n");
}

export type Fault = {
  // The position in the contract's order of checks. It is a fraction if one row lists several.
  check: number;
  name: string;
  answer: string;
  applies: (operation: Operation) => boolean;
  spoil: (draft: Draft, world: World, operation: Operation) => unknown;
};

const always = () => true;
const hasBody = (operation: Operation) => operation.body !== undefined;
// SCIM ignores members that it does not know.
const checksMembers = (operation: Operation) => hasBody(operation) && operation.isScim !== true;
const mustHaveBody = (operation: Operation) => hasBody(operation) && operation.isBodyOptional !== true;
const hasParams = (operation: Operation) => operation.path.includes("{");
const hasQuery = (operation: Operation) => operation.query !== undefined;
const wantsKey = (operation: Operation) => operation.wantsKey === true;
// Only people can request approval, and that is checked before the key.
const repliesToClients = (operation: Operation) => wantsKey(operation) && operation.id !== "requestApproval";
const wantsVersion = (operation: Operation) => operation.precondition !== undefined;

function forParams(draft: Draft, change: (value: string) => string): void {
  draft.params = Object.fromEntries(Object.entries(draft.params).map(([name, value]) => [name, change(value)]));
}

function firstParameter(operation: Operation): string {
  return Object.keys(operation.query?.properties ?? {})[0] ?? "";
}

type Row = [Fault["check"], Fault["name"], Fault["answer"], Fault["applies"], Fault["spoil"]];

const rows: Row[] = [
  [1.1, "no such path", "404 item-not-found", always, (draft) => (draft.suffix = "/no/such/path")],
  [1.2, "another method", "405 method-not-allowed", always, (draft) => (draft.method = "REPORT")],
  [2, "no token", "401 unauthorized", always, (draft) => (draft.token = null)],
  [2, "expired token", "401 unauthorized", always, (draft, world) => (draft.token = world.expiredToken)],
  [2, "no token at all but text", "401 unauthorized", always, (draft) => (draft.token = "not-a-token")],
  [3, "foreign slug", "403 access-denied", always, (draft, world) => (draft.slug = world.other.slug)],
  [3, "unknown slug", "403 access-denied", always, (draft) => (draft.slug = "no-such-tenant")],
  [
    4,
    "missing scope",
    "403 access-denied",
    always,
    async (draft, world, { scope }) => (draft.token = await world.tenant.mint(scopes.filter((each) => each !== scope))),
  ],
  [5, "broken escape", "400 bad-request", hasParams, (draft) => forParams(draft, (value) => `${value}%zz`)],
  [5, "U+0000 in an id", "400 bad-request", hasParams, (draft) => forParams(draft, (value) => `${value}%00`)],
  [5, "empty parameter", "400 bad-request", hasQuery, (draft, _world, of) => (draft.query = `?${firstParameter(of)}=`)],
  [6.1, "media type", "415 unsupported-media-type", hasBody, (draft) => (draft.headers["content-type"] = "text/plain")],
  [6.1, "encoding", "415 unsupported-media-type", hasBody, (draft) => (draft.headers["content-encoding"] = "gzip")],
  [6.2, "too large", "413 payload-too-large", hasBody, (draft) => draft.spoils.add("large")],
  [6.3, "not UTF-8", "400 bad-request", hasBody, (draft) => draft.spoils.add("byte")],
  [6.4, "broken JSON", "400 bad-request", hasBody, (draft) => draft.spoils.add("cut")],
  [6.4, "no body", "400 bad-request", mustHaveBody, (draft) => draft.spoils.add("empty")],
  [6.5, "a name twice", "400 bad-request", hasBody, (draft) => draft.spoils.add("names")],
  [7, "no object", "422 validation-error", hasBody, (draft) => draft.spoils.add("array")],
  [8, "no version", "428 precondition-required", wantsVersion, (draft) => delete draft.body?.["case_version"]],
  [9, "no key", "400 invalid-operation-id", wantsKey, (draft) => delete draft.headers["idempotency-key"]],
  [9, "bad key", "400 invalid-operation-id", wantsKey, (draft) => (draft.headers["idempotency-key"] = "a b")],
  [
    10,
    "unknown member",
    "422 validation-error",
    checksMembers,
    (draft) => Object.assign(draft.body ?? {}, { no_such_member: 1 }),
  ],
  [
    11,
    "known key",
    "409 operation-idempotency-conflict",
    repliesToClients,
    (draft, world) => (draft.headers["idempotency-key"] = world.knownKey),
  ],
  [12, "absent id", "404 item-not-found", hasParams, (draft) => forParams(draft, () => randomUUID())],
  [
    13,
    "stale version",
    "409 item-version-conflict",
    wantsVersion,
    (draft) => Object.assign(draft.body ?? {}, { case_version: 7 }),
  ],
];

const faults: Fault[] = rows.map(([check, name, answer, applies, spoil]) => ({ check, name, answer, applies, spoil }));

export function faultsOf(operation: Operation): Fault[] {
  return faults.filter((fault) => fault.applies(operation));
}

// Apply later checks first. If two faults are in the same place, the one that determines the response stays.
export async function spoil(draft: Draft, put: Fault[], world: World, operation: Operation): Promise<Draft> {
  for (const fault of put.toSorted((a, b) => b.check - a.check)) await fault.spoil(draft, world, operation);
  return draft;
}
