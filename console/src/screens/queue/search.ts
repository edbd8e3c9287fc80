import { caseListMembers, unknownAccount, type Case, type CaseListItem } from "@casehound/client";
import type { CaseQuery } from "../../data/queries.ts";
import { isMet, readNarrowing, toNarrowingQuery, type Narrowing } from "./filters.ts";
import { isWithin, readRange, toRangeQuery, type QueueRange } from "./range.ts";

export const sorts = ["risk", "newest", "oldest", "changed"] as const;

// The address holds everything that the queue shows, so it can be pasted into a chat. An absent parameter means the default: open
// cases, highest risk first.
export type QueueFilter = Narrowing & QueueRange & { sort?: (typeof sorts)[number] };
// `case`: the one in the peek pane.
export type QueueSearch = QueueFilter & { case?: string };

export function readQueueSearch(raw: Record<string, unknown>): QueueSearch {
  const sort = sorts.find((each) => each === raw["sort"]);
  const { case: caseId } = raw;
  return {
    ...readNarrowing(raw),
    ...readRange(raw),
    ...(sort && sort !== "risk" && { sort }),
    ...(typeof caseId === "string" && { case: caseId }),
  };
}

const sortNames = { risk: "-overall_risk_score", newest: "-created_at", oldest: "created_at", changed: "-updated_at" } as const;

export function toCaseQuery(filter: QueueFilter, nowMs: number): CaseQuery {
  const { updated_since: recent = "", ...narrowing } = toNarrowingQuery(filter, nowMs);
  const { updated_since = "", ...range } = toRangeQuery(filter);
  // Both lower bounds apply, so use the later one.
  const since = recent > updated_since ? recent : updated_since;
  return { ...narrowing, ...range, ...(since !== "" && { updated_since: since }), sort: sortNames[filter.sort ?? "risk"] };
}

// Whether a case from the live stream belongs in the list.
export function isWanted(filter: QueueFilter, found: Case): boolean {
  return isMet(filter, found) && isWithin(filter, found);
}

export function toRow(found: Case): CaseListItem {
  const members = { ...found, ...found.details };
  return Object.fromEntries(caseListMembers.map((name) => [name, members[name]])) as CaseListItem;
}

export const evidenceMeaning = "New evidence since last review";

type View = {
  name: string;
  help?: string;
  filter: QueueFilter;
  counted: "open" | "claimed_by_me" | "new_evidence" | "blocked_accounts" | "no_account";
};

export const views: View[] = [
  { name: "Open, highest risk", filter: {}, counted: "open" },
  { name: "Mine", help: "Open cases that you have claimed", filter: { claimed: "me" }, counted: "claimed_by_me" },
  { name: "New evidence", help: evidenceMeaning, filter: { evidence: true, sort: "changed" }, counted: "new_evidence" },
  { name: "Blocked accounts with open cases", filter: { blocked: true }, counted: "blocked_accounts" },
  { name: "No account", filter: { account: unknownAccount }, counted: "no_account" },
];

export function isSameFilter(one: QueueFilter, other: QueueFilter): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof QueueFilter)[];
  return names.every((name) => one[name] === other[name]);
}

export const sortWords = {
  risk: "Highest risk first",
  newest: "Newest first",
  oldest: "Oldest first",
  changed: "Last changed first",
};
