import { Type } from "typebox";
import { appendEvents } from "../db/events.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { findPolicy } from "../db/policies.ts";
import { countHits } from "../db/rule-report.ts";
import { listRules, lockSettings } from "../db/rules.ts";
import { deleteList, findList, insertList, listLists, raiseListsRevision, saveList, type ListRow } from "../db/value-lists.ts";
import { compileRule } from "../detection/compile.ts";
import { RuleFault } from "../detection/fault.ts";
import { listRuleId } from "../detection/list-rules.ts";
import { readOfList } from "../detection/list-view.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { List, ListChange, NewList, kindFaults, listFaults, listNamePattern, listsMax, type StoredList } from "../domain/list.ts";
import { daysUpTo } from "../domain/rule-report.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const nameForm = new RegExp(listNamePattern);

// A name that no list can have is treated as not found.
export async function requireList(database: Queryable, { caller, params }: Pick<Call, "caller" | "params">): Promise<StoredList> {
  const name = params["list_name"] ?? "";
  const list = nameForm.test(name) ? await findList(database, caller.tenant_id, name) : undefined;
  if (!list) throw notFound("List", name);
  return list;
}

export function listEvent(
  type: "list.created" | "list.updated" | "list.deleted" | "list.entries_changed",
  name: string,
  { caller, now }: { caller: Caller; now: string },
  data?: Record<string, unknown>,
): DomainEvent {
  const resource = { type: "list" as const, id: name };
  return { type, occurred_at: now, actor: caller.actor, resource, ...(data && { data }) };
}

type Uses = Pick<List, "used_by" | "is_in_policy">;

// Returns a function that says what uses a list, by the list's name. An expression that no longer compiles uses no list.
async function findUses(database: Queryable, tenantId: string): Promise<(name: string) => Uses> {
  const rules = (await listRules(database, tenantId)).map(({ rule_id, expression }) => ({ rule_id, reads: readsOf(expression) }));
  const { rows } = await findPolicy(database, tenantId);
  return (name) => ({
    used_by: rules.filter(({ reads }) => reads.includes(readOfList(name))).map(({ rule_id }) => rule_id),
    is_in_policy: rows.some(({ lists }) => lists?.includes(name)),
  });
}

function useWords({ used_by: rules, is_in_policy: isInPolicy }: Uses): string | null {
  const words = rules.length === 0 ? [] : [`the ${rules.length === 1 ? "rule" : "rules"} ${rules.join(", ")}`];
  const users = isInPolicy ? [...words, "the policy"] : words;
  return users.length === 0 ? null : `is used by ${users.join(" and ")}`;
}

function readsOf(expression: string): string[] {
  // Most rules use no list, and compiling takes a while.
  if (!expression.includes("lists")) return [];
  try {
    return compileRule(expression).reads;
  } catch (error) {
    if (error instanceof RuleFault) return [];
    throw error;
  }
}

async function measure(services: Services, tenantId: string, lists: ListRow[]): Promise<List[]> {
  const [since = ""] = daysUpTo(services.now(), 7);
  const [usesOf, hitsOf] = await Promise.all([
    findUses(services.database, tenantId),
    countHits(services.database, tenantId, since),
  ]);
  return lists.map((list) => ({
    ...list,
    hits_7d: hitsOf({ rule_id: listRuleId(list.name), is_shadow: false }),
    ...usesOf(list.name),
  }));
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ lists: await measure(services, caller.tenant_id, await listLists(services.database, caller.tenant_id)) });
}

async function read(services: Services, call: Call): Promise<Reply> {
  const { name } = await requireList(services.database, call);
  return dataReply(await readMeasured(services, call.caller.tenant_id, name));
}

async function readMeasured(services: Services, tenantId: string, name: string): Promise<List> {
  const all = await listLists(services.database, tenantId);
  const found = all.filter((each) => each.name === name);
  const [measured] = await measure(services, tenantId, found);
  if (!measured) throw notFound("List", name);
  return measured;
}

async function create(services: Services, { caller, body }: Call<NewList>): Promise<Reply> {
  const now = services.now();
  const { actor, tenant_id: tenantId } = caller;
  const { label = "Organic", description = "" } = body;
  const stamps = { created_at: now, created_by: actor, updated_at: now, updated_by: actor };
  const made: StoredList = { ...body, label, description, ...stamps };
  await services.database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    const all = await listLists(tx, tenantId);
    if (all.some(({ name }) => name === made.name))
      throw new Failure("item-already-exists", `The list ${made.name} already exists.`);
    if (all.length >= listsMax)
      throw invalid([{ field: "name", message: `must not be added: a tenant has at most ${listsMax} lists` }]);
    await insertList(tx, tenantId, made);
    await raiseListsRevision(tx, tenantId);
    const { type, kind } = made;
    await appendEvents(tx, tenantId, [listEvent("list.created", made.name, { caller, now }, { type, kind })]);
  });
  return dataReply({ ...made, entries: 0, hits_7d: 0, used_by: [], is_in_policy: false } satisfies List, 201);
}

async function update(services: Services, call: Call<ListChange>): Promise<Reply> {
  const { caller, body } = call;
  const now = services.now();
  const { name } = await services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    const found = await requireList(tx, call);
    const changed = { ...found, ...body };
    const faults = kindFaults(changed);
    if (faults.length > 0) throw invalid(faults);
    const members = (["kind", "label", "description"] as const).filter((member) => found[member] !== changed[member]);
    if (members.length === 0) return found;
    await saveList(tx, caller.tenant_id, { ...changed, updated_at: now, updated_by: caller.actor });
    await raiseListsRevision(tx, caller.tenant_id);
    const data = { changed: members, kind: changed.kind };
    await appendEvents(tx, caller.tenant_id, [listEvent("list.updated", found.name, { caller, now }, data)]);
    return found;
  });
  return dataReply(await readMeasured(services, caller.tenant_id, name));
}

// The lock also keeps rules and the policy from changing, so neither can start to use the list meanwhile.
async function remove(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  const now = services.now();
  await services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    const { name } = await requireList(tx, call);
    const message = useWords((await findUses(tx, caller.tenant_id))(name));
    if (message !== null) throw invalid([{ field: "list_name", message }]);
    await deleteList(tx, caller.tenant_id, name);
    await appendEvents(tx, caller.tenant_id, [listEvent("list.deleted", name, { caller, now })]);
  });
  return { status: 204, body: "", headers: {} };
}

const example: NewList = {
  name: "stolen_phones",
  type: "device",
  kind: "block",
  label: "Account Takeover",
  description: "Devices that were reported as stolen.",
};

export const listOperations: Operation[] = [
  operation({
    id: "listLists",
    method: "GET",
    path: "/lists",
    scope: "read:lists",
    tag: "Lists",
    summary: "List the lists",
    success: {
      status: 200,
      description: "All lists, by name",
      schema: Type.Object({ lists: Type.Array(List) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "createList",
    method: "POST",
    path: "/lists",
    scope: "manage:lists",
    tag: "Lists",
    summary: "Create a list",
    body: NewList,
    faults: listFaults,
    success: { status: 201, description: "The new list, without entries", schema: List },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example,
    handle: create,
  }),
  operation({
    id: "getList",
    method: "GET",
    path: "/lists/{list_name}",
    scope: "read:lists",
    tag: "Lists",
    summary: "Read a list",
    success: { status: 200, description: "The list", schema: List },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    id: "updateList",
    method: "PUT",
    path: "/lists/{list_name}",
    scope: "manage:lists",
    tag: "Lists",
    summary: "Change a list",
    description: "Members that are left out do not change. The name and the type never change. It takes effect within a second.",
    body: ListChange,
    success: { status: 200, description: "The list", schema: List },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { kind: "watch" },
    handle: update,
  }),
  operation({
    id: "deleteList",
    method: "DELETE",
    path: "/lists/{list_name}",
    scope: "manage:lists",
    tag: "Lists",
    summary: "Delete a list",
    description:
      "With all its entries. A list that a rule or the policy uses cannot be deleted: 422, and the message says what uses it.",
    success: { status: 204, description: "The list is deleted" },
    problems: ["bad-request", "item-not-found", "validation-error", "transaction-contended"],
    handle: remove,
  }),
];
