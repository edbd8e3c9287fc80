import type { Queryable } from "../db/postgres/database.ts";
import { lockSettings } from "../db/rules.ts";
import { findList } from "../db/value-lists.ts";
import type { DomainEvent } from "../domain/event.ts";
import { entryFaults, type CaseListEntry, type NewEntry, type StoredList } from "../domain/list.ts";
import { requireReach } from "../domain/role.ts";
import { requireEntryReach, writeEntries } from "./list-entries.ts";
import { invalid } from "./http/validate.ts";
import type { Caller } from "./operation.ts";

// The entries that a close adds to one list.
export type Listing = { caller: Caller; list: StoredList; entries: NewEntry[]; at: string };

// The same scopes as for adding the entries in a request of their own. Checked before the key, so that nobody gets a stored reply
// of a request that they may not make. A list that does not exist is a fault of the body, which is found later.
export async function requireListingReach(database: Queryable, caller: Caller, entries: CaseListEntry[]): Promise<void> {
  requireReach(caller, ["update:lists"]);
  for (const name of namesOf(entries)) {
    const list = await findList(database, caller.tenant_id, name);
    if (list) await requireEntryReach(database, caller, list);
  }
}

type Asked = { caller: Caller; entries: CaseListEntry[]; case_id: string; at: string };

// Checks the entries under the lock on the settings, because a list may have been changed or deleted meanwhile.
export async function listingsOf(tx: Queryable, { caller, entries, case_id, at }: Asked): Promise<Listing[]> {
  await lockSettings(tx, caller.tenant_id, at);
  const lists = new Map<string, StoredList>();
  for (const name of namesOf(entries)) {
    const list = await findList(tx, caller.tenant_id, name);
    if (!list) continue;
    await requireEntryReach(tx, caller, list);
    lists.set(name, list);
  }
  const faults = entries.flatMap(({ list: name, ...entry }, index) => {
    const list = lists.get(name);
    const own = list ? entryFaults(list.type, entry, Date.parse(at)) : [{ field: "list", message: "must be the name of a list" }];
    return own.map(({ field, message }) => ({ field: `list_entries[${index}].${field}`, message }));
  });
  if (faults.length > 0) throw invalid(faults);
  return [...lists.values()].map((list) => ({
    caller,
    list,
    at,
    entries: entries.flatMap(({ list: name, ...entry }) => (name === list.name ? [{ ...entry, from_case_id: case_id }] : [])),
  }));
}

function namesOf(entries: CaseListEntry[]): Set<string> {
  return new Set(entries.map(({ list }) => list));
}

// Returns the events.
export async function saveListings(tx: Queryable, listings: Listing[]): Promise<DomainEvent[]> {
  const events: DomainEvent[] = [];
  for (const { list, at, ...listing } of listings)
    events.push(...(await writeEntries(tx, list, { ...listing, now: at, field: "list_entries" })).events);
  return events;
}
