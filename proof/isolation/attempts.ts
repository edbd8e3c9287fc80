import { randomUUID } from "node:crypto";
import type { Operation } from "../../service/src/api/operation.ts";
import type { Answer, Options } from "../../service/test/send.ts";
import type { Tally } from "./tally.ts";
import type { Twin } from "./twin.ts";

type Params = Record<string, string>;
export type Who = "token" | "session";

// Ids that do not exist, in the format of each path parameter.
function absentParams(): Params {
  const names = [
    "case_id",
    "backtest_id",
    "prediction_id",
    "user_id",
    "session_id",
    "device_id",
    "ip",
    "webhook_id",
    "snooze_id",
    "view_id",
    "scim_token_id",
    "scim_group_id",
    "approval_id",
  ];
  const plain = Object.fromEntries(names.map((name) => [name, randomUUID()]));
  const chosen = { website_account_id: `account-${randomUUID()}`, client_id: `t-${randomUUID()}-${randomUUID().slice(24)}` };
  return {
    ...plain,
    ...chosen,
    rule_id: `rule_${randomUUID().replaceAll("-", "")}`,
    role_name: `role-${randomUUID().slice(0, 8)}`,
    issuer_key: `issuer-${randomUUID().slice(0, 8)}`,
    list_name: `list_${randomUUID().replaceAll("-", "")}`,
    model_id: randomUUID().replaceAll("-", "").repeat(2),
  };
}

function namesIn({ path }: Operation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

function bodyOf(operation: Operation, params: Params): unknown {
  if (operation.id === "closeCases") return { cases: [{ case_id: params["case_id"], case_version: 1 }] };
  if (["checkApproval", "requestApproval"].includes(operation.id))
    return { cases: [{ case_id: params["case_id"], case_version: 1 }] };
  if (operation.id === "rotateAuthSecret" || operation.id === "rotateClientSecret") return {};
  // A tenant can have at most five valid secrets.
  if (operation.id === "createIdentitySecret") return { revoke_now: true };
  if (operation.id === "createClient") return { scopes: [operation.scope] };
  if (operation.example === undefined) throw new Error(`${operation.id} takes a body but has no example`);
  return operation.example;
}

type At = { operation: Operation; slug: string; params: Params; query?: string };

// The same request, except for its sender, the tenant in its path, and the ids in it.
function request(by: Twin, who: Who, { operation, slug, params, query = "" }: At): Promise<Answer> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`no value is known for the path parameter ${name} of ${operation.id}`);
    return encodeURIComponent(value);
  });
  const options: Options = {
    ...(who === "token" ? { token: by.token } : { headers: by.person }),
    ...(operation.body && { body: bodyOf(operation, params) }),
    ...(operation.wantsKey === true && { key: randomUUID() }),
  };
  return by.ask(operation.method, `/v2/${slug}${path}${query}`, options);
}

export type Pair = { by: Twin; on: Twin; tally: Tally };

// The other tenant's path is denied in the same way as the path of a tenant that does not exist.
export async function tryForeignPath({ by, on, tally }: Pair, operation: Operation, who: Who): Promise<void> {
  const what = `${operation.id} by ${who} on a foreign path`;
  const foreign = await request(by, who, { operation, slug: on.slug, params: on.own });
  tally.see(what, foreign, { wanted: 403 });
  const nowhere = await request(by, who, { operation, slug: `t-${randomUUID()}`, params: absentParams() });
  tally.seeSame(what, [foreign, nowhere]);
}

// On the caller's own path, the other tenant's ids are not found, like ids that do not exist.
export async function tryForeignIds({ by, on, tally }: Pair, operation: Operation, who: Who): Promise<void> {
  for (const name of namesIn(operation)) {
    const what = `${operation.id} by ${who} with a foreign ${name}`;
    const absent = { ...by.shared, [name]: absentParams()[name] ?? "" };
    const foreign = { ...by.shared, [name]: on.own[name] ?? "" };
    const ids = [foreign[name] ?? "", absent[name] ?? ""].flatMap((id) => [id, encodeURIComponent(id)]);
    const answer = await request(by, who, { operation, slug: by.slug, params: foreign });
    tally.see(what, answer, { wanted: 404, sent: ids });
    tally.seeSame(what, [answer, await request(by, who, { operation, slug: by.slug, params: absent })], ids);
  }
}

// Both tenants have objects of the same name, and each must get its own. Run this last, because it changes the caller's objects.
export async function tryOwn({ by, tally }: Pair, operation: Operation): Promise<void> {
  // Only people can request approval.
  const who = operation.id === "requestApproval" ? "session" : "token";
  const answer = await request(by, who, { operation, slug: by.slug, params: by.shared });
  tally.see(`${operation.id} on what both have`, answer);
  if (answer.status >= 300 && answer.status !== 409)
    tally.fault(`${operation.id} on the caller's own: ${answer.status} ${answer.text.slice(0, 300)}`);
}

// Filters with the other tenant's values find nothing of it, and its cursors are rejected.
export async function tryFilters(pair: Pair, operation: Operation): Promise<void> {
  const { by, on, tally } = pair;
  const values: Params = {
    website_account_id: on.own["website_account_id"] ?? "",
    crm_account_id: `crm-${on.word}`,
    case_ids: on.own["case_id"] ?? "",
    claimed_by: on.clientId,
    handed_to: on.own["user_id"] ?? "",
    case_id: on.own["case_id"] ?? "",
    closed_by: on.clientId,
    own_disposition: `outcome-${on.word}`,
    types: "case.opened",
    activity_id: `fraud_report-of-${on.own["website_account_id"] ?? ""}`,
    order_id: `order-${on.word}`,
    prefix: on.word,
    filter: `displayName co "${on.word}"`,
    attributes: `displayName,${on.word}`,
    excludedAttributes: `members,${on.word}`,
    q: on.word,
    a: on.own["model_id"] ?? "",
    b: on.own["model_id"] ?? "",
  };
  for (const [name, schema] of Object.entries(operation.query?.properties ?? {})) {
    if (name === "cursor") await tryCursor(pair, operation);
    const isFree = "type" in schema && schema.type === "string" && !("enum" in schema);
    const isTime = /date|time|_after|_before|since|^from$|^until$|metric|aggregation/.test(name);
    if (!isFree || isTime || name === "cursor") continue;
    const value = values[name];
    if (value === undefined)
      tally.fault(`${operation.id} has a filter ${name} that was not tried with a value of the other tenant`);
    else {
      const query = `?${name}=${encodeURIComponent(value)}`;
      const answer = await request(by, "token", { operation, slug: by.slug, params: by.shared, query });
      tally.see(`${operation.id} with a foreign ${name}`, answer, { sent: [value] });
    }
  }
}

async function tryCursor({ by, on, tally }: Pair, operation: Operation): Promise<void> {
  const first = await request(on, "token", { operation, slug: on.slug, params: on.shared, query: "?limit=1" });
  const { next_cursor: cursor } = (first.json.data ?? {}) as { next_cursor?: string | null };
  if (typeof cursor !== "string") return;
  const query = `?limit=1&cursor=${cursor}`;
  const answer = await request(by, "token", { operation, slug: by.slug, params: by.shared, query });
  tally.see(`${operation.id} with a foreign cursor`, answer, { wanted: 400 });
}

// The object must exist, so check that its own tenant can read it.
export async function isThere(on: Twin, operation: Operation): Promise<boolean> {
  const answer = await request(on, "token", { operation, slug: on.slug, params: on.own });
  return answer.status === 200;
}
