import { caseListMembers, unknownAccount, type Case, type CaseCounts, type CaseListItem } from "@casehound/client";
import type { CaseQuery } from "../../data/queries.ts";
import { fromNarrowingQuery, isMet, readNarrowing, toNarrowingQuery, type Narrowing } from "./filters.ts";
import { fromRangeQuery, isWithin, readRange, toRangeQuery, type QueueRange } from "./range.ts";

export const sorts = ["risk", "newest", "oldest", "changed", "due"] as const;

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

const sortNames = {
  risk: "-overall_risk_score",
  newest: "-created_at",
  oldest: "created_at",
  changed: "-updated_at",
  due: "due_at",
} as const;

export function toCaseQuery(filter: QueueFilter): CaseQuery {
  return { ...toNarrowingQuery(filter), ...toRangeQuery(filter), sort: sortNames[filter.sort ?? "risk"] };
}

export function fromCaseQuery(query: CaseQuery): QueueFilter {
  const sort = sorts.find((each) => sortNames[each] === query.sort) ?? "newest";
  return { ...fromNarrowingQuery(query), ...fromRangeQuery(query), ...(sort !== "risk" && { sort }) };
}

// Whether a case from the live stream belongs in the list.
export function isWanted(filter: QueueFilter, found: Case): boolean {
  const isListed = filter.sort !== "due" || (found.status === "OPEN" && found.due_at !== undefined);
  return isListed && isMet(filter, found) && isWithin(filter, found);
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
  counted: Exclude<keyof CaseCounts, "last_activity_at">;
  // Offered only if there is something in it, because many tenants have no due times.
  isHiddenIfEmpty?: true;
};

export const views: View[] = [
  { name: "Open, highest risk", filter: {}, counted: "open" },
  { name: "Mine", help: "Open cases that you have claimed", filter: { claimed: "me" }, counted: "claimed_by_me" },
  {
    name: "Handed to me",
    help: "Open cases that were handed over to you or to your role",
    filter: { handed: "me" },
    counted: "handed_to_me",
  },
  {
    name: "Overdue",
    help: "Open cases whose due time has passed",
    filter: { late: true, sort: "due" },
    counted: "overdue",
    isHiddenIfEmpty: true,
  },
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
  changed: "Recently changed first",
  due: "Earliest due first",
};
