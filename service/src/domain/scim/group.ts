import type { Filter } from "./filter.ts";
import { entriesOf, matches, memberOf, namesIn } from "./matching.ts";
import { readMembers, readText, scimFault, type Change } from "./patch.ts";

export const groupsMax = 200;
const membersMax = 1_000;
const textMax = 256;
const externalIdMax = 512;
// Each comparison is made with every member.
const comparisonsMax = 100;

export type GroupDraft = { display_name: string; external_id: string | null; members: Set<string> };

// Also for a replacement, which clears what it does not name.
export function readNewGroup(body: object): GroupDraft {
  return changeGroup({ display_name: "", external_id: null, members: new Set() }, readMembers(body));
}

export function changeGroup(before: GroupDraft, changes: Change[]): GroupDraft {
  const draft = { ...before, members: new Set(before.members) };
  const comparisons = changes.reduce((sum, change) => sum + generalComparisons(change), 0);
  if (comparisons > comparisonsMax)
    throw scimFault("tooMany", `A request can compare members at most ${comparisonsMax} times, except by value eq "...".`);
  for (const change of changes) applyChange(draft, change);
  if (draft.display_name === "") throw scimFault("invalidValue", "displayName is required.");
  if (draft.members.size > membersMax) throw scimFault("invalidValue", `A group can have at most ${membersMax} members.`);
  return draft;
}

function generalComparisons({ path: { entries } }: Change): number {
  return entries === null || idWanted(entries) !== null ? 0 : namesIn(entries).length;
}

function applyChange(draft: GroupDraft, change: Change): void {
  const value = change.op === "remove" ? null : change.value;
  if (change.path.name === "displayname") draft.display_name = readName(value);
  else if (change.path.name === "externalid") draft.external_id = readText(value, "externalId", externalIdMax);
  else if (change.path.name === "members") applyMembers(draft.members, change);
}

function readName(value: unknown): string {
  const name = readText(value, "displayName", textMax) ?? "";
  if (/\p{Cc}/u.test(name)) throw scimFault("invalidValue", "displayName must not contain control characters.");
  return name;
}

function applyMembers(members: Set<string>, { op, path: { entries, sub }, value }: Change): void {
  if (sub !== null && sub !== "value") return;
  if (entries !== null) {
    if (op !== "remove") throw scimFault("noTarget", "Members can be added only as a list, not by a filter.");
    return removeWhere(members, entries);
  }
  const ids = idsIn(value);
  if (op === "remove" && value === null) members.clear();
  else if (op === "remove") for (const id of ids) members.delete(id);
  else {
    if (op === "replace") members.clear();
    for (const id of ids) members.add(id);
  }
}

function removeWhere(members: Set<string>, filter: Filter): void {
  const id = idWanted(filter);
  if (id !== null) members.delete(id);
  else for (const each of members) if (matches(filter, { value: each })) members.delete(each);
}

// The id in a filter such as value eq "2819c223", which needs no search.
function idWanted(filter: Filter): string | null {
  const isSimple = filter.kind === "compare" && filter.operator === "eq" && filter.path.name === "value";
  return isSimple && typeof filter.value === "string" ? filter.value : null;
}

function idsIn(value: unknown): string[] {
  return entriesOf(value ?? undefined).map((entry) => {
    const id = typeof entry === "string" ? entry : memberOf(entry, "value");
    if (typeof id !== "string") throw scimFault("invalidValue", "members must be a list of objects with the member value.");
    return id;
  });
}
