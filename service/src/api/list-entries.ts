import { Type } from "typebox";
import { appendEvents } from "../db/events.ts";
import { findPolicy } from "../db/policies.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { lockSettings } from "../db/rules.ts";
import {
  countEntries,
  countEntriesOf,
  deleteEntries,
  listEntries,
  saveEntries,
  type EntryRow,
  type KeyedEntry,
} from "../db/value-lists.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { FieldError } from "../domain/failure.ts";
import { shownTime } from "../domain/text.ts";
import {
  EntriesChanged,
  Entry,
  EntryBatch,
  EntryValues,
  agentEntriesMax,
  entriesMax,
  entryFaults,
  keyOf,
  type NewEntry,
  type StoredList,
} from "../domain/list.ts";
import { requireReach } from "../domain/role.ts";
import { listEvent, requireList } from "./lists.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const batchBytesMax = 2 * 1024 * 1024;

function showEntry({ value, expires_at, reason, from_case_id, added_at, added_by }: EntryRow, now: string): Entry {
  return {
    value,
    ...(expires_at !== null && { expires_at }),
    ...(reason !== null && { reason }),
    ...(from_case_id !== null && { from_case_id }),
    is_expired: expires_at !== null && expires_at <= now,
    added_at,
    added_by,
  };
}

async function list(services: Services, call: Call<unknown, { prefix?: string }>): Promise<Reply> {
  const found = await requireList(services.database, call);
  const { prefix } = call.query;
  return listPage<EntryRow, string>(services, call, {
    id: "listListEntries",
    path: `/lists/${found.name}/entries`,
    name: "entries",
    key: { list_name: found.name, ...(prefix !== undefined && { prefix }) },
    read: (after, limit) =>
      listEntries(services.database, call.caller.tenant_id, {
        list_name: found.name,
        after,
        limit,
        prefix: prefixOf(found, prefix),
      }),
    positionOf: ({ key }) => key,
    show: (rows) => rows.map((row) => showEntry(row, services.now())),
  });
}

// Keys of some types are in lower case, and keys of IPv6 addresses have no `::`.
function prefixOf({ type }: StoredList, prefix = ""): string {
  if (type === "ip") return prefix.toLowerCase().replace(/::.*$/, ":");
  return ["email", "email_domain", "user_agent"].includes(type) ? prefix.toLowerCase() : prefix;
}

// An entry can hide a fraud if the list is an allow list, or if a row of the policy allows what is on it. So it takes the scope
// that can change lists.
export async function requireEntryReach(database: Queryable, caller: Caller, list: StoredList): Promise<void> {
  if (!(await mayAddEntries(database, caller, list))) requireReach(caller, ["manage:lists"]);
}

export async function mayAddEntries(
  database: Queryable,
  { tenant_id, scopes }: Pick<Caller, "tenant_id" | "scopes">,
  { name, kind }: StoredList,
): Promise<boolean> {
  if (scopes.has("manage:lists")) return true;
  const { rows } = await findPolicy(database, tenant_id);
  return kind !== "allow" && !rows.some(({ action, lists }) => action === "ALLOW" && lists?.includes(name));
}

async function add(services: Services, call: Call<EntryBatch>): Promise<Reply> {
  const { caller, body } = call;
  const now = services.now();
  const found = await requireList(services.database, call);
  await requireEntryReach(services.database, caller, found);
  const faults = body.entries.flatMap((entry, index) =>
    entryFaults(found.type, entry, Date.parse(now)).map(({ field, message }) => ({
      field: `entries[${index}].${field}`,
      message,
    })),
  );
  const unknown = await unknownCases(services, caller, body.entries);
  if (faults.length + unknown.length > 0) throw invalid([...faults, ...unknown]);
  return services.database.transaction(async (tx) =>
    dataReply(await storeEntries(tx, { caller, now, name: found.name, entries: body.entries })),
  );
}

async function unknownCases(services: Services, caller: Caller, entries: NewEntry[]): Promise<FieldError[]> {
  const ids = [...new Set(entries.flatMap(({ from_case_id }) => from_case_id ?? []))];
  const found = await Promise.all(ids.map((id) => services.findCase(caller.tenant_id, id)));
  const missing = new Set(ids.filter((_, index) => !found[index]));
  return entries.flatMap(({ from_case_id }, index) =>
    from_case_id !== undefined && missing.has(from_case_id)
      ? [{ field: `entries[${index}].from_case_id`, message: "must be the id of a case" }]
      : [],
  );
}

type Write = { caller: Caller; now: string; name: string; entries: NewEntry[] };

// Stores entries that were checked. The list is read again under the lock, because it may have been deleted meanwhile.
export async function storeEntries(tx: Queryable, { caller, now, name, entries }: Write): Promise<EntriesChanged> {
  const { tenant_id: tenantId } = caller;
  await lockSettings(tx, tenantId, now);
  const found = await requireList(tx, { caller, params: { list_name: name } });
  await requireEntryReach(tx, caller, found);
  const { added, updated, events } = await writeEntries(tx, found, { caller, now, entries, field: "entries" });
  if (events.length > 0) await appendEvents(tx, tenantId, events);
  return { added, updated, unchanged: entries.length - added - updated };
}

type Checked = Omit<Write, "name"> & { field: string };
type Written = Pick<EntriesChanged, "added" | "updated"> & { events: DomainEvent[] };

// Writes entries of a list that the caller has read under the lock. `field` is the member of the body that holds them.
export async function writeEntries(tx: Queryable, list: StoredList, checked: Checked): Promise<Written> {
  const { caller, now, entries, field } = checked;
  const byKey = new Map(entries.map((entry) => keyed(list, entry)).map((entry) => [entry.key, entry]));
  const write = { list_name: list.name, now, actor: caller.actor, entries: [...byKey.values()] };
  const { added, updated } = await saveEntries(tx, caller.tenant_id, write);
  if (added > 0) await requireRoom(tx, caller.tenant_id, list, field);
  if (added + updated === 0) return { added, updated, events: [] };
  return { added, updated, events: [listEvent("list.entries_changed", list.name, { caller, now }, { added, updated })] };
}

function keyed({ type }: StoredList, { value, expires_at, reason, from_case_id }: NewEntry): KeyedEntry {
  const made = keyOf(type, value);
  if ("problem" in made) throw new Error("an entry was not checked");
  return {
    key: made.key,
    value,
    expires_at: expires_at === undefined ? null : shownTime(expires_at),
    reason: reason ?? null,
    from_case_id: from_case_id ?? null,
  };
}

async function requireRoom(tx: Queryable, tenantId: string, { name, type }: StoredList, field: string): Promise<void> {
  const isAgents = type === "user_agent";
  const [count, max] = isAgents
    ? [await countEntriesOf(tx, tenantId, name), agentEntriesMax]
    : [await countEntries(tx, tenantId), entriesMax];
  const where = isAgents ? "in a list of user agents" : "in all lists";
  if (count > max)
    throw invalid([{ field, message: `would exceed the maximum of ${max.toLocaleString("en")} entries ${where}` }]);
}

async function remove(services: Services, call: Call<EntryValues>): Promise<Reply> {
  const { caller, body } = call;
  const now = services.now();
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    const found = await requireList(tx, call);
    const keys = body.values.flatMap((value) => {
      const made = keyOf(found.type, value);
      return "key" in made ? [made.key] : [];
    });
    const removed = await deleteEntries(tx, caller.tenant_id, { list_name: found.name, keys: [...new Set(keys)] });
    if (removed > 0)
      await appendEvents(tx, caller.tenant_id, [listEvent("list.entries_changed", found.name, { caller, now }, { removed })]);
    return dataReply({ removed });
  });
}

const path = "/lists/{list_name}/entries";

export const listEntryOperations: Operation[] = [
  operation({
    id: "listListEntries",
    method: "GET",
    path: path,
    scope: "read:lists",
    tag: "Lists",
    summary: "List the entries of a list",
    description: "By value.",
    query: Type.Object({
      prefix: Type.Optional(Type.String({ maxLength: 512, description: "Only values that begin like this." })),
      limit: Limit,
      cursor: Cursor,
    }),
    success: pageOf("entries", Entry, "A page of entries"),
    problems: ["bad-request", "item-not-found"],
    handle: list,
  }),
  operation({
    id: "addListEntries",
    method: "POST",
    path: path,
    scope: "update:lists",
    tag: "Lists",
    summary: "Add entries",
    description:
      "They take effect within a second. If one is wrong, none is added. An entry that is on the list already gets the new expiry and reason. Entries of an allow list also require the scope manage:lists, because they can hide a fraud.",
    body: EntryBatch,
    bodyBytesMax: batchBytesMax,
    success: {
      status: 200,
      description: "How many entries were added, updated, or already said the same",
      schema: EntriesChanged,
    },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { entries: [{ value: "203.0.113.0/24", expires_at: "2027-01-31T00:00:00.000Z", reason: "Attack of 14 November" }] },
    handle: add,
  }),
  operation({
    id: "removeListEntries",
    method: "POST",
    path: `${path}/remove`,
    scope: "update:lists",
    tag: "Lists",
    summary: "Remove entries",
    description: "They have no effect any more within a second. Values that are not on the list are ignored.",
    body: EntryValues,
    bodyBytesMax: batchBytesMax,
    success: {
      status: 200,
      description: "How many entries were removed",
      schema: Type.Object({ removed: Type.Integer() }, { additionalProperties: false }),
    },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { values: ["203.0.113.0/24"] },
    handle: remove,
  }),
];
