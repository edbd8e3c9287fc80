import { parseTime } from "../domain/field.ts";
import { uuidV7Time } from "../domain/uuid.ts";
import type { CasePage, Text } from "./case-filters.ts";
import { conditionsBy, splitBounds, type CasePlan } from "./case-plans.ts";
import { facetOf } from "./facets.ts";

// Lists that are ordered by one time and bounded by the other, week of creation by week of creation. An index has the cases of a
// week in the order of their changes, so one probe shows whether any case of the week is within the bound. The number of probes
// depends on the age of the tenant, not on its cases.

// As in the indexes. In their conditions it must be exactly this expression.
const weekOf = "date_bin('7 days', created_at, '2024-01-01T00:00:00Z')";

type Asked = {
  plan: CasePlan;
  page: CasePage;
  text: Text;
  position: string[];
  limit: string;
};

// Selects the ids of the page's cases as `found_id`.
export function weeksText(asked: Asked): string {
  return asked.page.sort === "-updated_at" ? byChange(asked) : byCreation(asked);
}

// The weeks are in the order of the list. So the first weeks that have enough cases within the bound make up the page.
function byCreation({ plan, page, text, position, limit }: Asked): string {
  const direction = page.sort === "created_at" ? "asc" : "desc";
  const facets = plan.hasEveryFacet ? [] : [`facet = any(${text.bind(facetsOf(plan))}::smallint[])`];
  const conditions = [...conditionsOf({ plan, page, text, position }), ...facets];
  // `offset 0` keeps the planner from walking an index in the order of creation instead.
  return `
    select found.sorted_id as found_id
    from (select week from ${weeks(page, text)} order by week ${direction}) as weeks
    cross join lateral (
      select sorted_id
      from (select sorted_id from cases where ${conditions.join(" and ")} offset 0) as matching
      order by sorted_id ${direction}
      ${limit}
    ) as found
    order by weeks.week ${direction}, found.sorted_id ${direction}
    ${limit}`;
}

// The page is in the weeks, or the slices of weeks, with the latest changes: at most as many as the page has cases.
function byChange({ plan, page, text, position, limit }: Asked): string {
  const slices = plan.hasEveryFacet
    ? weeks(page, text)
    : `${weeks(page, text)} cross join unnest(${text.bind(facetsOf(plan))}::smallint[]) as wanted (wanted_facet)`;
  const slice = plan.hasEveryFacet ? [] : ["facet = wanted_facet"];
  const conditions = [...conditionsOf({ plan, page, text, position }), ...slice].join(" and ");
  const order = "touched_at desc, sorted_id desc";
  const latestOf = (most: string) => `select touched_at, sorted_id from cases where ${conditions} order by ${order} ${most}`;
  return `
    select found.sorted_id as found_id
    from (
      select * from ${slices} cross join lateral (${latestOf("limit 1")}) as top order by ${order} ${limit}
    ) as slices (${["week", ...(plan.hasEveryFacet ? [] : ["wanted_facet"]), "top_touched_at", "top_id"].join(", ")})
    cross join lateral (${latestOf(limit)}) as found
    order by found.touched_at desc, found.sorted_id desc
    ${limit}`;
}

const facetsOf = ({ facets }: CasePlan) => `{${facets.map(facetOf).join(",")}}`;

function conditionsOf({ plan, page, text, position }: Omit<Asked, "limit">): string[] {
  const { along, across } = splitBounds(plan, page, text);
  const account = conditionsBy(plan.given, ["account"], text);
  return ["tenant_id = $1", `${weekOf} = week`, ...along, ...across, ...position, ...account];
}

const endOf = (direction: string) => `(select created_at from cases where tenant_id = $1 order by case_id ${direction} limit 1)`;

// The weeks in which a case of the page can have been created, and in which the tenant has any.
function weeks(page: CasePage, { bind }: Text): string {
  const time = (ms: number) => `${bind(new Date(ms).toISOString())}::timestamptz`;
  const from = [endOf("asc"), ...earliest(page).map(time)].join(", ");
  const until = [endOf("desc"), ...latest(page).map(time)].join(", ");
  const first = weekOf.replace("created_at", `greatest(${from})`);
  return `generate_series(${first}, least(${until}), interval '${7 * 24} hours') as weeks (week)`;
}

const given = (...times: (number | null | undefined)[]) => times.filter((ms) => ms !== undefined && ms !== null);

function earliest({ filter, sort, after }: CasePage): number[] {
  return given(filter.created_after_ms, after && sort === "created_at" ? uuidV7Time(after.case_id) : null);
}

// A case is created no later than it changes, so an upper bound of its changes is one of its creation too.
function latest({ filter, sort, after }: CasePage): number[] {
  const position = after && (sort === "-updated_at" ? parseTime(after.touched_at) : uuidV7Time(after.case_id));
  const before = filter.updated_before === undefined ? null : parseTime(filter.updated_before);
  return given(filter.created_before_ms, before, sort === "created_at" ? null : position);
}
