import { unknownAccount } from "../domain/account.ts";
import { filterEntries, type CaseFilter, type CasePage, type CaseSort, type Filter, type Text } from "./case-filters.ts";
import { allFacets, facetOf, type Facets } from "./facets.ts";

type Given = { filter: Filter<unknown>; value: unknown };

function givenIn(filter: CaseFilter): Given[] {
  const given: Given[] = [];
  for (const [name, each] of filterEntries) if (filter[name] !== undefined) given.push({ filter: each, value: filter[name] });
  return given;
}

const openFacets = allFacets.filter(({ status }) => status === "OPEN");

function facetsOf(given: Given[], all: Facets[] = allFacets): Facets[] {
  const choosing = given.filter(({ filter }) => filter.admits !== undefined);
  if (choosing.length === 0) return all;
  return all.filter((facets) => choosing.every(({ filter, value }) => filter.admits?.(facets, value)));
}

// Highest first. Empty if no case can match.
export function scoresOf(filter: CaseFilter): number[] {
  return [...new Set(facetsOf(givenIn(filter)).map(({ score }) => score))];
}

function orderOf(sort: CaseSort): "creation" | "change" | "due" {
  if (sort === "due_at") return "due";
  return sort === "-updated_at" ? "change" : "creation";
}

const isBound = ({ by }: Filter<unknown>) => by === "creation" || by === "change";

export type CasePlan = { given: Given[]; facets: Facets[]; hasEveryFacet: boolean; isWhole: boolean; isCrossing: boolean };

export function planOf({ filter, sort }: CasePage): CasePlan {
  const given = givenIn(filter);
  const order = orderOf(sort);
  const listed = order === "due" ? openFacets : allFacets;
  const facets = facetsOf(given, listed);
  const hasEveryFacet = facets.length === listed.length;
  const isNarrowed = given.some(({ filter: { by } }) => ["account", "claim", "closing", "row"].includes(by));
  return {
    given,
    facets,
    hasEveryFacet,
    // The unfiltered list walks the primary key, or the index of due times, at most within bounds.
    isWhole: !isNarrowed && hasEveryFacet && order !== "change",
    // Ordered by one time and bounded by the other. No index that is in this order contains only the rows within the bound.
    isCrossing: given.some((each) => isBound(each.filter) && each.filter.by !== order),
  };
}

type Bounds = {
  // For a walk along the order: where it starts and ends, and conditions on single rows.
  along: string[];
  // Bounds on the other time.
  across: string[];
};

export function splitBounds({ given }: CasePlan, { sort, after }: CasePage, text: Text): Bounds {
  const order = orderOf(sort);
  // As in the index of that order, so that the planner sees that it can be used.
  const along = order === "due" ? ["status = 'OPEN'", "due_at is not null"] : [];
  const across: string[] = [];
  for (const { filter, value } of given) {
    const { by, condition, implied } = filter;
    // After a position, the upper bound adds nothing, and PostgreSQL would start at the bound and walk the index from there to
    // the position.
    const isPassed = by === "change" && order === "change" && filter.isUpper === true && after !== null;
    if (isPassed) continue;
    if (by === "row") along.push(condition(value, text));
    if (!isBound(filter)) continue;
    (by === order ? along : across).push(condition(value, text));
    // A case never changes before it is created, so a bound on one time implies a bound on the other. The list then starts at
    // that bound instead of reading past all rows outside it, which can be millions.
    if (implied && by !== order) along.push(implied(value, text));
  }
  return { along, across };
}

export function boundsOf(plan: CasePlan, page: CasePage, text: Text): string[] {
  const { along, across } = splitBounds(plan, page, text);
  return [...along, ...across];
}

export function positionOf({ sort, after }: CasePage, { id, bind }: Text): string[] {
  if (after === null) return [];
  if (sort === "-updated_at")
    return [`(touched_at, ${id}) < (${bind(after.touched_at)}::timestamptz, ${bind(after.case_id)}::uuid)`];
  if (sort === "due_at") return [`(due_at, ${id}) > (${bind(after.due_at)}::timestamptz, ${bind(after.case_id)}::uuid)`];
  return [`${id} ${sort === "created_at" ? ">" : "<"} ${bind(after.case_id)}::uuid`];
}

// The facets whose slices make up the list, and the conditions that all slices share. Without facets, the list is one slice.
export function slicesOf({ given, facets, isWhole }: CasePlan, { filter }: CasePage, text: Text): Slices {
  if (isWhole) return { conditions: [], facets: [] };
  if (isSmall(given, filter))
    return { conditions: conditionsBy(given, ["claim", "account", "closing", "facet"], text), facets: [] };
  return { conditions: conditionsBy(given, ["account"], text), facets: facets.map(facetOf) };
}

type Slices = { conditions: string[]; facets: number[] };

export function isSmall(
  given: Given[],
  { website_account_id: account, claimed_by: holder, handed_to: recipients }: CaseFilter,
): boolean {
  const isClosing = given.some((each) => each.filter.by === "closing");
  return isClosing || holder !== undefined || recipients !== undefined || (account !== undefined && account !== unknownAccount);
}

export function conditionsBy(given: Given[], kinds: Filter<unknown>["by"][], text: Text): string[] {
  return given.filter((each) => kinds.includes(each.filter.by)).map((each) => each.filter.condition(each.value, text));
}
