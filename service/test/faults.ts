import { randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import { insertTestModel } from "./models-lab.ts";
import type { Operation } from "../src/api/operation.ts";
import { scopes } from "../src/domain/scope.ts";
import type { Service } from "../src/service.ts";
import { ended, startBacktest } from "./backtest-lab.ts";
import { insertDecided, makeRule, makeTraces } from "./decided.ts";
import { makeList } from "./lists-lab.ts";
import { TestTenant, send, type Answer } from "./harness.ts";
import { makeOthers } from "./people.ts";
import { storeSnooze } from "./stored-snooze.ts";

// A tenant with one open case, and everything a request needs to be valid, or invalid in exactly one way.
export type World = {
  tenant: TestTenant;
  other: TestTenant;
  caseId: string;
  account: string;
  // The other ids a path may contain: a rule, a list, a finished backtest, a model, a decision, a webhook, a user, a client, a
  // session, a device, an address, a snooze.
  ids: Record<
    | "rule_id"
    | "list_name"
    | "backtest_id"
    | "model_id"
    | "prediction_id"
    | "user_id"
    | "webhook_id"
    | "client_id"
    | "session_id"
    | "device_id"
    | "ip"
    | "snooze_id",
    string
  >;
  expiredToken: string;
  // An idempotency key that was already used for another request.
  knownKey: string;
};

export async function createWorld(service: Service): Promise<World> {
  const [tenant, other] = await Promise.all([TestTenant.create(service), TestTenant.create(service)]);
  const account = `account-${randomUUID()}`;
  const opened = await tenant.openCase(account);
  const knownKey = randomUUID();
  // A stale version is rejected and changes nothing, but the rejection is bound to the key.
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1_000_000 }, knownKey);
  const expiredToken = await tenant.mint(undefined, -60);
  return { tenant, other, caseId: opened.case_id, account, ids: await makeIds(tenant), expiredToken, knownKey };
}

async function makeIds(tenant: TestTenant): Promise<World["ids"]> {
  const { rule_id } = await makeRule(tenant, newRuleId());
  const list_name = newRuleId();
  await makeList(tenant, { name: list_name, type: "ip", kind: "block" }, ["203.0.113.7"]);
  const { backtest_id } = await startBacktest(tenant, { expression: "device.accounts_1h >= 8" });
  await ended(tenant, backtest_id);
  // Without an account, because one of the operations erases an account.
  const prediction_id = randomUUID();
  await insertDecided(tenant, [{ prediction_id }]);
  const webhook_id = await makeWebhook(tenant);
  const model_id = await insertTestModel(tenant, { state: "RETIRED" });
  const snooze_id = await storeSnooze(tenant.service.database, tenant.tenantId, `account-${randomUUID()}`);
  return {
    rule_id,
    list_name,
    backtest_id,
    model_id,
    prediction_id,
    webhook_id,
    snooze_id,
    ...(await makeOthers(tenant)),
    ...(await makeTraces(tenant)),
  };
}

// Disabled, so that nothing is sent.
async function makeWebhook(tenant: TestTenant): Promise<string> {
  const made = await tenant.call("POST", "/webhooks", { body: { url: "https://crm.example/hook" } });
  const { webhook }: { webhook: { webhook_id: string } } = made.json.data;
  await tenant.call("PUT", `/webhooks/${webhook.webhook_id}`, { body: { is_enabled: false } });
  return webhook.webhook_id;
}

// Ids that do not exist.
export function absentParams(): Draft["params"] {
  const [case_id, backtest_id, prediction_id] = [randomUUID(), randomUUID(), randomUUID()];
  const people = { user_id: randomUUID(), client_id: `t-${randomUUID()}-${randomUUID().slice(24)}` };
  const [session_id, device_id, ip] = [randomUUID(), randomUUID(), randomUUID()];
  return {
    ...people,
    case_id,
    backtest_id,
    prediction_id,
    session_id,
    device_id,
    ip,
    website_account_id: `account-${randomUUID()}`,
    rule_id: newRuleId(),
    list_name: newRuleId(),
    model_id: randomUUID().replaceAll("-", "").repeat(2),
    webhook_id: randomUUID(),
    snooze_id: randomUUID(),
  };
}

function newRuleId(): string {
  return `rule_${randomUUID().replaceAll("-", "")}`;
}

// All rejections of a file share one world, because they change nothing. The tests check that.
export function useWorld(service: { current: Service }): { current: World } {
  const holder: { current: World } = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await createWorld(service.current);
  });
  return holder;
}

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
  return {
    method: operation.method,
    slug: world.tenant.slug,
    params: { case_id: world.caseId, website_account_id: encodeURIComponent(world.account), ...world.ids },
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
const mustHaveBody = (operation: Operation) => hasBody(operation) && operation.isBodyOptional !== true;
const hasParams = (operation: Operation) => operation.path.includes("{");
const hasQuery = (operation: Operation) => operation.query !== undefined;
const wantsKey = (operation: Operation) => operation.wantsKey === true;
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
  [1.2, "another method", "405 method-not-allowed", always, (draft) => (draft.method = "PATCH")],
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
  [10, "unknown member", "422 validation-error", hasBody, (draft) => Object.assign(draft.body ?? {}, { no_such_member: 1 })],
  [
    11,
    "known key",
    "409 operation-idempotency-conflict",
    wantsKey,
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
