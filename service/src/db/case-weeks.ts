import type { Bind, CasePage } from "./case-filters.ts";
import { conditionsBy, positionOf, splitBounds, type CasePlan } from "./case-plans.ts";
import { facetOf } from "./facets.ts";

// Lists that are ordered by one time and bounded by the other, week of creation by week of creation. An index has the cases of a
// week in the order of their changes, so one probe shows whether any case of the week is within the bound. The number of probes
// depends on the age of the tenant, not on its cases.

// The expression of both indexes. PostgreSQL uses them only for conditions with exactly this expression.
const weekOf = "date_bin('7 days', created_at, '2024-01-01T00:00:00Z')";

type Asked = { plan: CasePlan; page: CasePage; bind: Bind; limit: string };

// Selects the ids of the page's cases as `found_id`.
export function weeksText(asked: Asked): string {
  return asked.page.sort === "-updated_at" ? byChange(asked) : byCreation(asked);
}

// Searches the weeks in the order of the list, until the page is full.
function byCreation(asked: Asked): string {
  const { plan, page, bind, limit } = asked;
  const direction = page.sort === "created_at" ? "asc" : "desc";
  const facets = plan.hasEveryFacet ? [] : [`facet = any(${bind(facetsOf(plan))}::smallint[])`];
  const conditions = [...conditionsOf(asked), ...facets].join(" and ");
  // `offset 0` keeps the planner from walking an index in the order of creation instead.
  return `
    select found.sorted_id as found_id
    from (select week from ${weeks(asked)} order by week ${direction}) as weeks
    cross join lateral (
      select sorted_id
      from (select sorted_id from cases where ${conditions} offset 0) as matching
      order by sorted_id ${direction}
      ${limit}
    ) as found
    order by weeks.week ${direction}, found.sorted_id ${direction}
    ${limit}`;
}

// All cases of the page are in the weeks, or the facets of weeks, with the latest changes. At most as many of these are searched as
// the page has cases.
function byChange(asked: Asked): string {
  const { plan, bind, limit } = asked;
  const wanted = plan.hasEveryFacet ? "" : `cross join unnest(${bind(facetsOf(plan))}::smallint[]) as wanted (wanted_facet)`;
  const names = plan.hasEveryFacet ? ["week"] : ["week", "wanted_facet"];
  const conditions = [...conditionsOf(asked), ...(plan.hasEveryFacet ? [] : ["facet = wanted_facet"])].join(" and ");
  const order = "touched_at desc, sorted_id desc";
  const latest = (most: string) => `select touched_at, sorted_id from cases where ${conditions} order by ${order} ${most}`;
  return `
    select found.sorted_id as found_id
    from (
      select ${names.join(", ")}
      from ${weeks(asked)}
      ${wanted}
      cross join lateral (${latest("limit 1")}) as top
      order by ${order}
      ${limit}
    ) as slices
    cross join lateral (${latest(limit)}) as found
    order by found.touched_at desc, found.sorted_id desc
    ${limit}`;
}

const facetsOf = ({ facets }: CasePlan) => `{${facets.map(facetOf).join(",")}}`;

function conditionsOf({ plan, page, bind }: Asked): string[] {
  const text = { id: "sorted_id", bind };
  const { along, across } = splitBounds(plan, page, text);
  const account = conditionsBy(plan.given, ["account"], text);
  return ["tenant_id = $1", `${weekOf} = week`, ...along, ...across, ...positionOf(page, text), ...account];
}

// The weeks from the first case to the last one whose id allows it to be on the page. A case is created no later than it changes,
// so an upper bound on its changes is also one on its creation.
function weeks({ plan, page, bind }: Asked): string {
  const text = { id: "case_id", bind };
  const bounds = plan.given.flatMap(({ filter: { by, condition, implied }, value }) => {
    if (by === "creation") return [condition(value, text)];
    return by === "change" && implied ? [implied(value, text)] : [];
  });
  const position = page.sort === "-updated_at" ? [] : positionOf(page, text);
  const within = ["tenant_id = $1", ...bounds, ...position].join(" and ");
  const end = (direction: string) => `(select created_at from cases where ${within} order by case_id ${direction} limit 1)`;
  return `generate_series(${weekOf.replace("created_at", end("asc"))}, ${end("desc")}, interval '${7 * 24} hours') as weeks (week)`;
}
