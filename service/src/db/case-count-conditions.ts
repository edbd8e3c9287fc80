import type { Bind, CasePage } from "./case-filters.ts";
import { boundsOf, conditionsBy, isSmall, planOf } from "./case-plans.ts";
import { facetOf } from "./facets.ts";

export type CaseList = Pick<CasePage, "filter" | "sort">;

// The conditions of a count. All facets are one condition, because the order matters only if it leaves out cases. Null if no case
// can match.
export function countConditions({ filter, sort }: CaseList, bind: Bind): string[] | null {
  const page: CasePage = { filter, sort: sort === "due_at" ? sort : "-created_at", after: null, limit: 1 };
  const plan = planOf(page);
  const { given, facets, isWhole } = plan;
  if (facets.length === 0) return null;
  const text = { id: "sorted_id", bind };
  const bounds = boundsOf(plan, page, text);
  if (isWhole) return bounds;
  if (isSmall(given, filter)) return [...bounds, ...conditionsBy(given, ["claim", "account", "closing", "facet"], text)];
  return [...bounds, ...conditionsBy(given, ["account"], text), `facet in (${facets.map(facetOf).join(", ")})`];
}
